//! `preempt explain TOPIC`: the short form of what the guide says about a word.

use crate::ExitStatus;
use crate::console::{self, Failure};
use preempt_core::diagnostic::nearest;

/// A word, what it is in a line, and what there is to know about it.
struct Topic {
    name: &'static str,
    about: &'static str,
    text: &'static str,
    /// The page of the guide that has the rest.
    page: &'static str,
}

macro_rules! topics {
    ($(($name:literal, $about:literal, $page:literal)),* $(,)?) => {
        &[$(Topic {
            name: $name,
            about: $about,
            text: include_str!(concat!("../topics/", $name, ".txt")),
            page: $page,
        }),*]
    };
}

/// In the order of the list: what everybody meets, then what each input has.
const TOPICS: &[Topic] = topics![
    ("verdict", "holds, violated, inconclusive, and what each promises", "verdict.md"),
    ("preemption", "what makes a run simple", "introduction.md"),
    ("bound", "only runs with at most K preemptions, but of those all", "searching.md"),
    ("deadlock", "nobody can move, and somebody should", "promela.md"),
    ("coverage", "statements that no run executes", "coverage.md"),
    ("report", "the run as a page and as a picture", "counterexample.md"),
    ("ltl", "formulas about runs: always, eventually, until", "ltl.md"),
    ("lasso", "a run without end: a stem and a loop", "liveness.md"),
    ("fairness", "leaving out runs in which somebody is starved", "liveness.md"),
    ("smaller", "what to do when there are too many states", "smaller.md"),
    ("reduction", "leaving out orders that make no difference", "searching.md"),
    ("store", "keeping less than the states", "searching.md"),
    ("contexts", "a number of turns for each thread", "symbolic.md"),
    ("coverability", "nets and protocols with any number of tokens", "nets.md"),
    ("certificate", "a proof that can be checked by itself", "nets.md"),
    ("rust", "tests of Rust code", "tutorial-rust.md"),
    ("system", "a protocol as a Rust type", "tutorial-system.md"),
    ("spin", "what to write instead of Spin's options", "from-spin.md"),
    ("status", "the exit status, for scripts", "json.md"),
];

pub fn run(topic: Option<&str>) -> Result<ExitStatus, Failure> {
    let Some(name) = topic else {
        console::print(&list())?;
        return Ok(ExitStatus::Holds);
    };
    let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) else {
        let hint = match nearest(name, TOPICS.iter().map(|topic| topic.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`preempt explain` lists the topics".into(),
        };
        return Err(Failure::new(format!("there is no topic `{name}`")).hint(hint));
    };
    console::print(&format!("{}\nMore: docs/src/{}\n", topic.text, topic.page))?;
    Ok(ExitStatus::Holds)
}

fn list() -> String {
    let column = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    TOPICS.iter().map(|topic| format!("{:<column$}  {}\n", topic.name, topic.about)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_topic_fits_a_screen_and_has_its_page() {
        for topic in TOPICS {
            let Topic { name, text, page, .. } = topic;
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{name} is too wide");
            assert!((4..=22).contains(&text.lines().count()), "{name} has {} lines", text.lines().count());
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{name}");
            let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(page);
            assert!(guide.is_file(), "{name}: the guide has no {page}");
        }
    }
}
