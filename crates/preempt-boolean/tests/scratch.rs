mod common;
use preempt_boolean::{Options, load};
#[test]
fn rounds() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/boolean");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let only = std::env::var("ONLY").unwrap_or_default();
    for f in files.iter().filter(|f| f.to_str().unwrap().contains(&only)) {
        let text = std::fs::read_to_string(f).unwrap();
        let loaded = load("x.bp", &text, &Options::default());
        let Some(model) = loaded.model else { println!("ROUNDS {} {:?}", f.display(), loaded.diagnostics); continue };
        for d in loaded.diagnostics { println!("ROUNDS warn {d:?}") }
        let mut out = String::new();
        for k in 1..=3 {
            let start = std::time::Instant::now();
            let r = common::fails_within(&model, &loaded.sources, k, 60_000);
            out += &format!(" {k}:{r:?}/{}ms", start.elapsed().as_millis());
            if r != Some(false) { break }
        }
        println!("ROUNDS {}{out}", f.file_name().unwrap().to_str().unwrap());
    }
}
