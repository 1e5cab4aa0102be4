//! Context-free grammars: the text `.grammar`.

use super::{Certified, Coverable, FrontEnd, Input, Kind, LoadRequest, Loaded, LoadedSystem, Written};
use crate::engine::reported;
use crate::error::Error;
use crate::executed::executed_rules;
use crate::plan::Plan;
use preempt_core::{
    Budget, CertificateText, Change, Diagnostic, Guarantee, Measure, Progress, Property, PropertyKind,
    Report, SourceMap, Statistics, Step, SwitchKind, Trace, Value, Verdict, run_supervised,
};
use preempt_net::grammar::{Grammar, Letter, read_within};
use preempt_wsts::Engine as Way;
use preempt_wsts::grammars::{GrammarEngine, GrammarVerdict, check, verify};
use std::time::Instant;

pub const GRAMMAR: FrontEnd = FrontEnd {
    name: "grammar",
    alias: None,
    title: "grammar",
    noun: "a grammar",
    plural: "grammars",
    extensions: &["grammar"],
    kind: Kind::System,
    engines: &["coverability"],
    has_runtime_errors: true,
    any_threads: false,
    load,
    reads_properties: false,
    write_net: None,
    write_trail: None,
};

fn load(request: &mut LoadRequest<'_>) -> Loaded {
    let mut sources = SourceMap::new();
    let source = sources.add(request.name, request.text);
    let (grammar, mut diagnostics) = read_within(source, request.text, request.budget);
    if request.settings.property.is_some() {
        let error = Diagnostic::global_error("a grammar has no properties with names");
        diagnostics.push(error.hint("leave out --property"));
    }
    let input = match diagnostics.iter().any(Diagnostic::is_error) {
        true => Err(sources),
        false => {
            let file = request.name.to_string();
            Ok(Input::System(LoadedSystem { file, sources, system: Box::new(LoadedGrammar(grammar)) }))
        }
    };
    Loaded { input, diagnostics, hint: None }
}

#[derive(Debug)]
struct LoadedGrammar(Grammar);

impl Coverable for LoadedGrammar {
    fn refuses(&self, way: Way) -> Option<String> {
        match way {
            Way::Auto | Way::Basis | Way::Weight => None,
            _ => Some("grammars are decided backward, by `basis` or by `weight`".into()),
        }
    }

    fn check(
        &self,
        way: Way,
        plan: &Plan,
        sources: &SourceMap,
        progress: &mut dyn Progress,
    ) -> Result<Report, Error> {
        let begin = Instant::now();
        let (engine, answered_by) = match way {
            Way::Weight => (GrammarEngine::Weight, Way::Weight),
            _ => (GrammarEngine::Basis, Way::Basis),
        };
        let budget = Budget::within(&plan.settings.limits);
        let owned = (self.0.clone(), budget.clone());
        let snapshot = || budget.counters().snapshot();
        let found = run_supervised(&budget, progress, snapshot, move || check(&owned.0, engine, &owned.1));
        let found = match found {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => return Err(Error::refused(format!("internal error: {error}"))),
            Err(reason) => GrammarVerdict::Unknown(reason),
        };
        let (undone, violated) = match &found {
            GrammarVerdict::Derived(_) => (None, true),
            GrammarVerdict::Safe(_) => (None, false),
            GrammarVerdict::Unknown(reason) => (Some(*reason), false),
        };
        let mut report = Report::new(Verdict::conclude(violated, undone), Guarantee::Parameterised);
        match &found {
            GrammarVerdict::Derived(words) => {
                let name = "a bad word can be derived".to_string();
                report.violation = Some(Property::new(PropertyKind::Coverability, name, None));
                report.counterexample = Some(trace(&self.0, words, sources));
                report.again = vec![("engine", answered_by.name().to_string())];
            }
            GrammarVerdict::Safe(basis) => {
                report.statement = Some("no bad word can be derived".into());
                let text = write(&self.0, basis);
                report.certificate = Some(CertificateText { text, summary: summary(basis) });
            }
            GrammarVerdict::Unknown(_) => {}
        }
        report.run.answered_by = Some(answered_by.name().into());
        let counters = budget.counters().snapshot();
        report.statistics = Statistics::of(begin.elapsed(), counters.bytes)
            .with([(Measure::BasisElements, counters.states), (Measure::Predecessors, counters.transitions)]);
        let rules = self.0.rules.iter().zip(&self.0.spans);
        let rules = rules
            .map(|((from, to), span)| (*span, format!("{} -> {}", self.0.show(&[*from]), self.0.show(to))));
        report.executed = Some(executed_rules(rules, &self.0.unused_rules(), sources));
        report.run.options = reported(&[]);
        Ok(report)
    }

    fn certify(&self, certificate: &str, _: &Budget) -> Result<Certified, Error> {
        let basis = parse(&self.0, certificate)
            .map_err(|error| Error::refused(format!("the certificate cannot be read: {error}")))?;
        verify(&self.0, &basis).map_err(|reason| {
            Error::refused(format!("the certificate does not show it: {reason}"))
                .hint("was the grammar changed since?")
        })?;
        Ok(Certified { statement: "no bad word can be derived".into(), summary: summary(&basis) })
    }

    fn write_promela(&self, _: &Plan, _: &Budget) -> Result<Vec<Written>, Error> {
        Err(Error::refused("a grammar cannot be written as Promela"))
    }
}

const HEADER: &str = "preempt grammar certificate 1";

fn write(grammar: &Grammar, basis: &[Vec<Letter>]) -> String {
    let words: String = basis.iter().map(|word| format!("{}\n", grammar.show(word))).collect();
    format!("{HEADER}\n{words}")
}

fn parse(grammar: &Grammar, text: &str) -> Result<Vec<Vec<Letter>>, String> {
    let mut lines = text.lines();
    if lines.next().map(str::trim) != Some(HEADER) {
        return Err(format!("line 1: expected `{HEADER}`"));
    }
    let letter = |name: &str| {
        let at = grammar.letters.iter().position(|it| it == name);
        at.map(|at| at as Letter).ok_or_else(|| format!("there is no letter `{name}`"))
    };
    let word = |line: &str| line.split_whitespace().filter(|name| *name != "eps").map(letter).collect();
    lines.filter(|line| !line.trim().is_empty()).map(word).collect()
}

fn summary(basis: &[Vec<Letter>]) -> Vec<String> {
    let count = basis.len();
    vec![format!("an inductive basis of {count} word{}", if count == 1 { "" } else { "s" })]
}

/// The derivation for people: which rule made each word of the one before.
fn trace(grammar: &Grammar, words: &[Vec<Letter>], sources: &SourceMap) -> Trace {
    let change = |word: &Vec<Letter>| Change { name: "word".into(), value: Value::Name(grammar.show(word)) };
    let mut steps = Vec::new();
    for pair in words.windows(2) {
        let made = |rule: &usize| grammar.replaced(&pair[0], *rule).contains(&pair[1]);
        let rule = (0..grammar.rules.len()).find(made);
        let text = rule.map(|rule| {
            let (from, to) = &grammar.rules[rule];
            format!("{} -> {}", grammar.show(&[*from]), grammar.show(to))
        });
        steps.push(Step {
            process: "grammar".into(),
            pid: 0,
            location: rule.and_then(|rule| grammar.spans.get(rule)).map(|span| sources.location(*span)),
            calls: Vec::new(),
            text: text.unwrap_or_default(),
            choice: None,
            switch: SwitchKind::None,
            changed: vec![change(&pair[1])],
            output: None,
            partner: None,
        });
    }
    Trace { initial: words.first().map(change).into_iter().collect(), steps, loop_start: None, processes: 1 }
}
