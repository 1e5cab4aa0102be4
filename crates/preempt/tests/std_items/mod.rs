//! Every stable item of std that a concurrent test may use, by name: the mirror takes the same call. The guide's table
//! (`docs/src/rust-std.md`) has exactly these, and those that are missing with the reason.

use std::collections::BTreeSet;

/// The names, each with a call that is compiled and never run.
macro_rules! named {
    ($($name:literal: $call:expr;)*) => {
        pub fn names() -> Vec<&'static str> {
            $(_ = $call;)*
            vec![$($name),*]
        }
    };
}

/// That std itself takes these calls shows that they are what std has.
#[allow(deprecated, unused_imports, clippy::all)]
mod of_std {
    use std as root;
    include!("list.rs");
}

#[allow(deprecated, unused_imports, clippy::all)]
mod of_preempt {
    use preempt as root;
    include!("list.rs");
}

/// The names in backticks of a cell; methods stand without the type of their row.
fn cell(kind: &str, text: &str) -> Vec<String> {
    let names = text.split('`').skip(1).step_by(2);
    names.map(|name| if kind.ends_with("::") { format!("{kind}{name}") } else { name.to_string() }).collect()
}

#[test]
fn the_guide_names_what_is_mirrored() {
    assert_eq!(of_std::names(), of_preempt::names());
    let guide = include_str!("../../../../docs/src/rust-std.md");
    let (mut mirrored, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for row in guide.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [kind, has, lacks] = cells[..] else { panic!("three cells: {row}") };
        let kind = format!("{}::", kind.trim().trim_matches('`'));
        assert!(
            !has.contains("(") && (lacks.contains('(') || !lacks.contains('`')),
            "a reason for each: {row}"
        );
        mirrored.extend(cell(&kind, has));
        missing.extend(cell(&kind, lacks));
    }
    let tested: BTreeSet<String> = of_preempt::names().into_iter().map(str::to_string).collect();
    assert_eq!(mirrored, tested);
    assert!(missing.is_disjoint(&tested) && !missing.is_empty());
}
