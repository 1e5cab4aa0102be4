//! What the first page shows is what a newcomer will see; and so do pages of the guide with transcripts.

use std::path::Path;

#[test]
fn the_transcript_in_the_readme() {
    // The commands there are typed at the root of the repository.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::set_current_dir(root).expect("the repository has a root");
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .env("COLUMNS", "80")
        .register_bin("preempt", Path::new(env!("CARGO_BIN_EXE_preempt")))
        .case("README.md")
        .case("docs/src/liveness.md");
}
