//! "See it again": the shortest command that shows the same run, whichever engine found it.
//!
//! What decides which run is found stays: the model with its macros and its kind, the question, and the order, the store
//! and the reductions of the search. Limits and outputs go, except where they decide it too. The bound becomes that of the run,
//! within which the search ends soonest.

use super::model::Ready;
use crate::args::{CheckArgs, CostUnit, ReductionKind, SearchOrder, Statics, StoreKind};
use crate::backend::{Check, search};
use crate::files;
use crate::plan::{Engine, Input};
use clap::ValueEnum;
use preempt_core::{SwitchKind, Trace};

/// What was found, as far as the command depends on it.
#[derive(Debug, Clone, Copy)]
pub enum Found<'a> {
    /// By an engine that goes state by state; does the step back to the beginning of its loop take a preemption that the
    /// run does not show?
    Run { engine: Engine, trace: &'a Trace, closing: bool },
    /// Within so many contexts of each thread.
    Contexts(u32),
    /// A covering run, by this engine for nets.
    Covering(&'static str),
}

/// `None` where no command does it: a model from stdin cannot be read again, and a swarm is different each time.
pub fn command(args: &CheckArgs, input: Input, found: Found<'_>) -> Option<String> {
    // Several runs have no command in common but the one that was given.
    if args.all_errors || args.search.search == Some(SearchOrder::Swarm) {
        return None;
    }
    let file = args.model.file.to_str().filter(|file| *file != "-")?;
    let mut line = Line { words: vec![file_name(file)] };
    let stored = args.trace.as_ref().filter(|path| files::keeps(path)).and_then(|path| path.to_str());
    if let (Some(path), false) = (stored, matches!(found, Found::Covering(_))) {
        line.words.push(file_name(path));
        line.model(args);
        return Some(format!("preempt replay {}", line.words.join(" ")));
    }
    line.model(args);
    line.question(args);
    match found {
        Found::Run { engine, trace, closing } => {
            // The usual engine for Promela needs no name.
            if engine != Engine::Explicit || input != Input::Promela {
                line.option("--engine", engine.name());
            }
            line.search(args);
            line.bound(args, trace, closing);
        }
        Found::Contexts(contexts) => {
            line.symbolic(args);
            line.option("--contexts", &contexts.to_string());
        }
        Found::Covering(engine) => line.option("--engine", engine),
    }
    Some(format!("preempt check {}", line.words.join(" ")))
}

/// The words after the verb, ready for a shell.
struct Line {
    words: Vec<String>,
}

impl Line {
    fn flag(&mut self, name: &str, given: bool) {
        if given {
            self.words.push(name.to_string());
        }
    }

    /// A value that looks like an option is tied to its name.
    fn option(&mut self, name: &str, value: &str) {
        let between = if value.starts_with('-') { '=' } else { ' ' };
        self.words.push(format!("{name}{between}{}", quoted(value)));
    }

    fn number(&mut self, name: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.option(name, &value.to_string());
        }
    }

    fn choice(&mut self, name: &str, value: Option<impl ValueEnum>) {
        if let Some(value) = value.and_then(|value| value.to_possible_value()) {
            self.option(name, value.get_name());
        }
    }

    fn model(&mut self, args: &CheckArgs) {
        for define in &args.model.defines {
            self.words.push(quoted(&format!("-D{}={}", define.name, define.value)));
        }
        self.choice("--input", args.model.input);
        self.choice("--dialect", args.model.dialect);
        if let Some(label) = &args.model.error_label {
            self.option("--error-label", label);
        }
    }

    fn question(&mut self, args: &CheckArgs) {
        if let Some(path) = args.properties.as_ref().and_then(|path| path.to_str()) {
            self.option("--properties", path);
        }
        if let Some(name) = &args.property {
            self.option("--property", name);
        }
        if let Some(formula) = &args.ltl {
            self.option("--ltl", formula);
        }
        self.flag("--non-progress", args.non_progress);
        self.flag("--weak-fairness", args.weak_fairness);
    }

    fn symbolic(&mut self, args: &CheckArgs) {
        self.choice("--method", args.symbolic.method);
        self.number("--instances", args.symbolic.instances.map(u64::from));
        self.choice("--bdd-order", args.symbolic.bdd_order);
    }

    fn search(&mut self, args: &CheckArgs) {
        let search = &args.search;
        self.choice("--search", search.search.filter(|order| *order != SearchOrder::FewestPreemptions));
        self.choice("--store", search.store.filter(|store| *store != StoreKind::Exact));
        self.number("--fingerprint-bits", search.fingerprint_bits.map(u64::from));
        self.number("--hashes", search.hashes.map(u64::from));
        if search.store == Some(StoreKind::Bitstate) {
            // The size of the array: what it takes for visited depends on it.
            self.number("--max-memory", search.max_memory);
        }
        self.number("--seed", search.seed);
        self.number("--walks", search.walks);
        self.choice("--cost", search.cost.filter(|cost| *cost != CostUnit::Preemptions));
        self.flag("--paper-cycles", search.paper_cycles);
        self.flag("--iterative-shortening", search.iterative_shortening);
        self.choice("--successors", search.successors);
        self.choice("--statics", search.statics.filter(|statics| *statics == Statics::On));
        self.flag("--fair-switch", search.fair_switch);
        self.choice("--reduction", args.reduction.filter(|kind| *kind != ReductionKind::Auto));
        self.flag("--stutter-invariant", args.stutter_invariant);
        self.flag("--shortest", args.shortest);
        // They may have kept the search from a shorter run, and cut random walks.
        self.number("--max-states", search.max_states);
        self.number("--max-depth", search.max_depth);
    }

    fn bound(&mut self, args: &CheckArgs, trace: &Trace, closing: bool) {
        let search = &args.search;
        let by_cost = search.search.is_none_or(|order| order == SearchOrder::FewestPreemptions);
        if !by_cost {
            return self.number("--bound", search.bound.map(u64::from));
        }
        // Depth first, or fair: a bound is not part of such a question.
        if args.reduction == Some(ReductionKind::Strong) || args.weak_fairness {
            return;
        }
        let charged = match search.cost {
            None | Some(CostUnit::Preemptions) => trace.preemptions() + usize::from(closing),
            Some(CostUnit::Switches) => trace.switches(),
            Some(CostUnit::Steps) => trace.steps.len(),
        };
        self.number("--bound", Some(charged as u64));
    }
}

/// A run without end and without a stem does not show the switch that leads back to its beginning: the first step of the
/// loop, taken once more, tells whether it is a preemption.
pub fn closing_preemption(ready: &Ready, question: &Check, trace: &Trace, fair_switch: bool) -> bool {
    if trace.loop_start != Some(0) || trace.steps.is_empty() {
        return false;
    }
    let last_switch = || {
        let model = question.model_of(&ready.model);
        let interpreter = ready.interpreter_of(&model).ok()?;
        let found = search::recognise(&interpreter, trace).ok()?;
        let once_more: Vec<_> = found.steps.iter().chain(found.steps.first()).cloned().collect();
        let run = search::replay(&interpreter, &found.initial, &once_more, fair_switch).ok()?;
        run.trace.steps.last().map(|step| step.switch)
    };
    // Where it cannot be told, a bound that is too large shows the run as well.
    last_switch().is_none_or(|switch| switch == SwitchKind::Preemption)
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
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn again(arguments: &[&str]) -> Option<String> {
        let arguments = ["preempt", "check"].iter().chain(arguments);
        let Ok(Cli { command: Command::Check(args) }) = Cli::try_parse_from(arguments) else {
            panic!("not a check");
        };
        let trace = Trace::default();
        command(&args, Input::Promela, Found::Run { engine: Engine::Explicit, trace: &trace, closing: false })
    }

    #[test]
    fn every_word_survives_a_shell() {
        assert_eq!(again(&["a.pml"]).as_deref(), Some("preempt check a.pml --bound 0"));
        assert_eq!(
            again(&["it's here.pml", "-DN=3", "-D", "X", "--fair-switch", "--max-time", "3s"]).as_deref(),
            Some(r"preempt check 'it'\''s here.pml' -DN=3 -DX=1 --fair-switch --bound 0")
        );
        assert_eq!(
            again(&["--ltl=-x < 3", "--", "-a.pml"]).as_deref(),
            Some("preempt check ./-a.pml --ltl='-x < 3' --bound 0")
        );
    }

    #[test]
    fn what_cannot_be_seen_again_has_no_command() {
        for arguments in [&["-"][..], &["a.pml", "--all-errors"], &["a.pml", "--search", "swarm"]] {
            assert_eq!(again(arguments), None, "{arguments:?}");
        }
    }

    #[test]
    fn a_stored_run_is_replayed() {
        assert_eq!(
            again(&["a.pml", "-DN", "--fair-switch", "--trace=-t.json"]).as_deref(),
            Some("preempt replay a.pml ./-t.json -DN=1")
        );
        assert_eq!(
            again(&["a.pml", "--trace", "/dev/null"]).as_deref(),
            Some("preempt check a.pml --bound 0")
        );
    }
}
