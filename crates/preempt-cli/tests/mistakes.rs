//! The page of mistakes in the guide is what `preempt` really prints: every model on it is read, and the messages
//! must be those on the page. `PREEMPT_UPDATE=1` writes the page anew; read the difference before committing it.

use preempt_promela::{Additions, load};
use preempt_report::{render_diagnostics, style::Style};
use std::path::Path;

const WIDTH: usize = 80;

#[test]
fn the_page_of_mistakes_shows_what_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/mistakes.md");
    let page = std::fs::read_to_string(&path).expect("the guide has a page of mistakes");
    let (written, mistakes) = rewritten(&page);
    assert!(mistakes >= 40, "only {mistakes} mistakes on the page");
    if std::env::var_os("PREEMPT_UPDATE").is_some() {
        std::fs::write(&path, written).expect("the page can be written");
        return;
    }
    for (line, (expected, found)) in page.lines().zip(written.lines()).enumerate() {
        assert_eq!(expected, found, "docs/src/mistakes.md, line {}", line + 1);
    }
    assert_eq!(page, written);
}

/// The page with every text block replaced by the messages for the model before it, and how many there are.
fn rewritten(page: &str) -> (String, usize) {
    let mut written = String::new();
    let mut model = String::new();
    let mut mistakes = 0;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        written += &format!("{line}\n");
        match line {
            "```promela" => {
                model.clear();
                for line in lines.by_ref().take_while(|line| *line != "```") {
                    model += &format!("{line}\n");
                }
                written += &format!("{model}```\n");
            }
            "```text" => {
                lines.by_ref().take_while(|line| *line != "```").for_each(drop);
                written += &format!("{}```\n", messages(&model));
                mistakes += 1;
            }
            _ => {}
        }
    }
    (written, mistakes)
}

fn messages(model: &str) -> String {
    let loaded = load("model.pml", model, &Additions::default(), &mut |name| Err(format!("no {name}")));
    assert!(!loaded.diagnostics.is_empty(), "nothing is said about:\n{model}");
    let text = render_diagnostics(&loaded.diagnostics, &loaded.sources, WIDTH, Style::plain());
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
