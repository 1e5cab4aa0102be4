//! What the pages point at exists: other pages and their headings, files, folders; and the guide's list has all its pages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository has a root")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every page: at the root, of the guide, of the results, of the examples and of the crates.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut folders = vec![root.clone(), root.join("docs/src"), root.join("results"), root.join("examples")];
    for parent in ["crates", "compat", "examples"] {
        folders.extend(entries(&root.join(parent)).into_iter().filter(|path| path.is_dir()));
    }
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    folders.iter().flat_map(|folder| entries(folder)).filter(is_page).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.sort();
    paths
}

/// The page without what is shown as it is typed, line by line.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let outside = |(_, line): &(usize, &str)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    };
    (1..).zip(text.lines()).filter(outside).collect()
}

/// What stands between `](` and `)`.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link.trim())
}

/// What stands between backticks.
fn code(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The names by which headings are pointed at, as mdbook and GitHub make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let heading =
        |line: &str| line.starts_with('#').then(|| line.trim_start_matches('#').trim().to_lowercase());
    let anchor = |heading: String| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    prose(text).into_iter().filter_map(|(_, line)| heading(line)).map(anchor).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut followed = 0;
    for page in pages() {
        let text = read(&page);
        for (number, line) in prose(&text) {
            for link in links(line).filter(|link| !link.contains("://")) {
                let (path, anchor) = link.split_once('#').map_or((link, None), |(path, at)| (path, Some(at)));
                let target = if path.is_empty() { page.clone() } else { page.with_file_name("").join(path) };
                let here = format!("{}:{number}", page.display());
                assert!(target.exists(), "{here}: there is no `{path}`");
                if let Some(anchor) = anchor {
                    assert!(anchors(&read(&target)).contains(anchor), "{here}: `{link}` has no such heading");
                }
                followed += 1;
            }
        }
    }
    assert!(followed > 50, "only {followed} links");
}

/// Files that are named in passing: what begins with one of our folders and holds no place for something else.
#[test]
fn every_file_that_is_named_exists() {
    const FOLDERS: [&str; 8] =
        ["benches/", "compat/", "crates/", "docs/", "examples/", "fuzz/", "models/", "results/"];
    let mut named = 0;
    for page in pages() {
        let text = read(&page);
        for (number, line) in prose(&text) {
            for word in code(line).filter_map(|code| code.split_whitespace().next()) {
                let placeholder = word.contains(|c: char| c.is_uppercase() || "*<{".contains(c));
                if !FOLDERS.iter().any(|folder| word.starts_with(folder)) || placeholder {
                    continue;
                }
                let path = word.split("::").next().unwrap_or_default();
                assert!(root().join(path).exists(), "{}:{number}: there is no `{path}`", page.display());
                named += 1;
            }
        }
    }
    assert!(named > 30, "only {named} names");
}

#[test]
fn the_list_of_the_guide_has_all_its_pages() {
    let folder = root().join("docs/src");
    let summary = read(&folder.join("SUMMARY.md"));
    let listed: BTreeSet<&str> = summary.lines().flat_map(links).collect();
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    for page in entries(&folder).into_iter().filter(is_page) {
        let name = page.file_name().unwrap_or_default().to_string_lossy().to_string();
        assert!(name == "SUMMARY.md" || listed.contains(name.as_str()), "{name} is not in SUMMARY.md");
    }
}
