//! Every model in `models/boolean` is read without a word, and takes as many rounds as its header says: `// rounds: K` is
//! the fewest contexts per thread that break it, `// rounds: none up to K` says that so many do not.

use crate::common;

use common::fails_within;
use preempt_boolean::{BooleanOptions, load};

/// Programs with more states than this are left to faster engines.
const LIMIT: usize = 40_000;

#[test]
fn the_headers_say_how_many_rounds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/boolean");
    let (mut read, mut decided, mut wrong) = (0, 0, Vec::new());
    for entry in std::fs::read_dir(folder).expect("there are models").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "bp") {
            continue;
        }
        let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let text = std::fs::read_to_string(&path).expect("a readable model");
        let loaded = load(&name, &text, &BooleanOptions::default());
        assert!(loaded.diagnostics.is_empty(), "{name}: {:?}", loaded.diagnostics);
        let model = loaded.model.expect("no errors");
        read += 1;
        let mut header = text.lines().take_while(|line| line.starts_with("//"));
        let Some(rounds) = header.find_map(|line| line.strip_prefix("// rounds: ")) else { continue };
        let (needed, last) = match rounds.strip_prefix("none up to ") {
            Some(last) => (None, last.parse().expect(&name)),
            None => (Some(rounds.parse().expect(&name)), rounds.parse().expect(&name)),
        };
        for bound in 1..=last {
            let Some(fails) = fails_within(&model, &loaded.sources, bound, LIMIT) else { break };
            decided += 1;
            if fails != (needed == Some(bound)) {
                wrong.push(format!(
                    "{name}: with {bound} rounds it {}",
                    if fails { "fails" } else { "holds" }
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read > 50 && decided > 60, "{read} read, {decided} decided");
}
