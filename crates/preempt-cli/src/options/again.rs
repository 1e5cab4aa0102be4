//! "See it again": the shortest command that shows the same run, whichever engine found it.
//!
//! What decides which run is found stays; the table says of each option whether it does. Limits and outputs go, except
//! where they decide it too. What the run itself knows (its bound, the engine that found it) takes the place of what was
//! given, so that the search ends soonest.

use super::{CommandLine, rows};
use crate::files;
use preempt_core::Report;
use preempt_workbench::request::Given;
use preempt_workbench::settings::{Again, Value};
use preempt_workbench::{Plan, Request, Verb};

/// `None` where no command does it: a model from stdin cannot be read again, and a swarm is different each time.
pub fn command(line: &CommandLine, plan: &Plan, report: &Report) -> Option<String> {
    report.counterexample.as_ref()?;
    let file = file_name(line.file.to_str().filter(|file| *file != "-")?);
    let stored = line.path("trace").filter(|path| files::keeps(path)).and_then(|path| path.to_str());
    let replays = Request::new(Verb::Replay);
    if let (Some(path), Ok(_)) = (stored, Plan::new(replays, plan.front_end)) {
        let of_replay = |given: &&Given| {
            let row = rows(Verb::Replay).find(|row| row.name == given.setting.name);
            row.is_some_and(|row| row.value.check(given.text()).is_ok())
        };
        let kept = kept(plan)?.into_iter().filter(of_replay).map(spelled);
        let words: Option<Vec<String>> =
            [Some(file), Some(file_name(path))].into_iter().chain(kept).collect();
        return Some(format!("preempt replay {}", words?.join(" ")));
    }
    // What is kept and what the run says may choose the engine by themselves.
    let row = |name: &str| rows(Verb::Check).find(|row| row.name == name);
    let (mut own, engines): (Vec<_>, Vec<_>) = report.again.iter().partition(|(name, _)| *name != "engine");
    let wanted = engines.first().map(|(_, name)| name.as_str()).or(plan.engine.map(|engine| engine.name))?;
    let mut again = Request::new(Verb::Check);
    kept(plan)?.into_iter().for_each(|given| again.give(given.setting, given.value.clone()));
    let mut complete = again.clone();
    for (name, value) in &own {
        complete.give(row(name)?, value.into());
    }
    let chosen = Plan::new(complete, plan.front_end).ok().and_then(|plan| plan.engine);
    let named = ("engine", wanted.to_string());
    if chosen.is_none_or(|engine| engine.name != wanted) {
        own.insert(0, &named);
    }
    for (name, value) in own {
        again.give(row(name)?, value.into());
    }
    let words: Option<Vec<String>> =
        std::iter::once(Some(file)).chain(again.given().iter().map(spelled)).collect();
    Some(format!("preempt check {}", words?.join(" ")))
}

/// The options that decide which run is found; `None` if one of them lets nothing be seen again.
fn kept(plan: &Plan) -> Option<Vec<&Given>> {
    let request = &plan.request;
    let mut kept = Vec::new();
    for given in request.given() {
        let is = |values: &[&str]| values.contains(&given.text());
        let is_kept = match given.setting.again {
            Again::Never => return None,
            Again::KeptUnless(values) if is(values) => return None,
            Again::Kept | Again::KeptUnless(_) => !is(given.setting.usual),
            Again::KeptWith(other, values) => request.text(other).is_some_and(|it| values.contains(&it)),
            Again::KeptFor(values) => is(values),
            Again::Dropped | Again::Replaced => false,
        };
        if is_kept {
            kept.push(given);
        }
    }
    Some(kept)
}

/// As it is typed; `None` if the name of a file is not Unicode.
fn spelled(given: &Given) -> Option<String> {
    let (flag, value) = (given.setting.flag(), given.value.to_str()?);
    Some(match given.setting.value {
        Value::Flag => flag,
        Value::Definition => quoted(&format!("{flag}{value}")),
        // A value that looks like an option is tied to its name.
        _ if value.starts_with('-') => format!("{flag}={}", quoted(value)),
        _ => format!("{flag} {}", quoted(value)),
    })
}

/// A name that begins with a dash would be taken for an option.
fn file_name(name: &str) -> String {
    if name.starts_with('-') { quoted(&format!("./{name}")) } else { quoted(name) }
}

/// For a shell.
fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Command, command as options};
    use preempt_core::{Guarantee, Trace, Verdict};
    use preempt_workbench::FrontEnd;

    fn again(arguments: &[&str]) -> Option<String> {
        let arguments = ["preempt", "check"].iter().chain(arguments).map(|word| (*word).into());
        let Ok(Command::Do(line)) = options::parse(arguments) else { panic!("not a check") };
        let promela = FrontEnd::find("promela").expect("it is registered");
        let plan = Plan::new(line.request.clone(), promela).expect("a check that can be done");
        let report = Report {
            counterexample: Some(Trace::default()),
            again: vec![("bound", "0".into())],
            ..Report::new(Verdict::Violated, Guarantee::Exhaustive)
        };
        command(&line, &plan, &report)
    }

    #[test]
    fn every_word_survives_a_shell() {
        assert_eq!(again(&["a.pml"]).as_deref(), Some("preempt check a.pml --bound 0"));
        assert_eq!(
            again(&["it's here.pml", "-DN=3", "-D", "X", "--fair-switch", "--max-time", "3s"]).as_deref(),
            Some(r"preempt check 'it'\''s here.pml' -DN=3 -DX --fair-switch --bound 0")
        );
        assert_eq!(
            again(&["--ltl=-x < 3", "--", "-a.pml"]).as_deref(),
            Some("preempt check ./-a.pml --ltl='-x < 3' --bound 0")
        );
    }

    #[test]
    fn an_engine_is_named_where_nothing_else_chooses_it() {
        let named = |arguments: &[&str]| again(arguments).is_some_and(|line| line.contains("--engine"));
        assert!(!named(&["a.pml"]) && !named(&["a.pml", "--engine", "explicit"]));
        assert!(named(&["a.pml", "--engine", "reference"]));
    }

    #[test]
    fn what_cannot_be_seen_again_has_no_command() {
        for arguments in
            [&["-"][..], &["a.pml", "--all-errors"], &["a.pml", "--search", "swarm", "--max-time", "1s"]]
        {
            assert_eq!(again(arguments), None, "{arguments:?}");
        }
    }

    #[test]
    fn a_stored_run_is_replayed() {
        assert_eq!(
            again(&["a.pml", "-DN", "--fair-switch", "--trace=-t.json"]).as_deref(),
            Some("preempt replay a.pml ./-t.json -DN")
        );
        assert_eq!(
            again(&["a.pml", "--trace", "/dev/null"]).as_deref(),
            Some("preempt check a.pml --bound 0")
        );
    }
}
