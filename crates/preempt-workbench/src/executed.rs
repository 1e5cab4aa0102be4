//! Which statements of a model a search has executed, from the marks that it left to places in the text; and which transitions of
//! a net, and which rules of other systems, no run has.
//!
//! A statement is what stands at one place of one process: an inline that is used twice there is one text, and was executed
//! if it was executed anywhere.

use crate::frontend::LoadedNet;
use crate::model::LoadedModel;
use preempt_core::{Budget, Executed, ExecutedPart, ExecutedUnit, Location, SourceMap, Span, Unit};
use preempt_model::coverage::{EdgeMarks, Marks, REFUSED, TAKEN};
use preempt_model::{Code, CodeKind, Command, Edge, Expr};
use preempt_net::dead::dead_transitions;
use preempt_net::protocol::Protocol;
use preempt_net::protocol::unused::unused_rules;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

/// The model with marks that whoever searches it sets.
pub(crate) fn marked(loaded: Cow<'_, LoadedModel>) -> LoadedModel {
    let mut loaded = loaded.into_owned();
    loaded.model.marks = Some(Marks::of(&loaded.model));
    loaded
}

/// How much of the model a search has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Only part.
    Part,
    /// Every step that can be made, but not in every state.
    EveryStep,
    /// Every state.
    EveryState,
}

/// What became of the statements; `None` if nobody has looked.
pub(crate) fn executed(loaded: &LoadedModel, seen: Seen) -> Option<Executed> {
    let LoadedModel { model, sources, .. } = loaded;
    let marks = model.marks.as_ref()?;
    let mut parts = Vec::new();
    for (number, code) in model.codes.iter().enumerate() {
        if code.kind != CodeKind::Observer {
            let starts = model.start.iter().any(|start| usize::from(start.code.0) == number);
            parts.push(part(number, code, marks, sources, seen, starts));
        }
    }
    // A text that is executed in several modes is one text.
    parts.retain(|part| part.total > 0);
    Some(Executed { unit: ExecutedUnit::Statement, complete: seen != Seen::Part, processes: None, parts })
}

/// The transitions of a net that can never fire, as far as that follows from where tokens can ever be. One that the text has
/// once may be several in the net.
pub(crate) fn executed_transitions(net: &LoadedNet, budget: &Budget) -> Option<Executed> {
    let transitions = &net.problem.net.transitions;
    let dead = dead_transitions(&net.problem, budget)?;
    let mut units: BTreeMap<Unit, bool> = BTreeMap::new();
    for (number, transition) in transitions.iter().enumerate() {
        let location = net.problem.spans.get(number).map(|span| net.sources.location(*span));
        let unit = Unit { location, text: transition.name.clone() };
        *units.entry(unit).or_insert(true) &= dead.binary_search(&number).is_ok();
    }
    let total = units.len();
    let never_reached = units.into_iter().filter(|(_, is_dead)| *is_dead).map(|(unit, _)| unit).collect();
    let part = ExecutedPart { total, entered: true, never_reached, ..ExecutedPart::default() };
    Some(Executed { unit: ExecutedUnit::Transition, complete: true, processes: None, parts: vec![part] })
}

/// The rules of a protocol that no run uses. One that the text has once may be several in the protocol.
pub(crate) fn executed_protocol(
    protocol: &Protocol,
    sources: &SourceMap,
    budget: &Budget,
) -> Option<Executed> {
    let unused = unused_rules(protocol, budget)?;
    let processes = (unused.processes > 0).then_some(unused.processes);
    // For each of the text: whether all its instances are unused, by few processes and by any number.
    let mut units: BTreeMap<Unit, (bool, bool)> = BTreeMap::new();
    for (number, rule) in protocol.rules.iter().enumerate() {
        let location = rule.span.map(|span| sources.location(span));
        let name = if location.is_some() { rule.name.split('(').next() } else { None };
        let unit = Unit { location, text: name.unwrap_or(&rule.name).to_string() };
        let (by_few, by_any) = units.entry(unit).or_insert((processes.is_some(), true));
        *by_few &= unused.by_few.contains(&number);
        *by_any &= unused.by_any.contains(&number);
    }
    let mut part = ExecutedPart { total: units.len(), entered: true, ..ExecutedPart::default() };
    for (unit, known) in units {
        match known {
            (_, true) if processes.is_some() => part.never_true.push(unit),
            (_, true) | (true, _) => part.never_reached.push(unit),
            (false, false) => {}
        }
    }
    Some(Executed { unit: ExecutedUnit::Rule, complete: true, processes, parts: vec![part] })
}

/// Rules, each with where it stands and what it says; those with the given numbers are never used.
pub(crate) fn executed_rules(
    rules: impl Iterator<Item = (Span, String)>,
    unused: &[usize],
    sources: &SourceMap,
) -> Executed {
    let mut part = ExecutedPart { entered: true, ..ExecutedPart::default() };
    for (number, (span, text)) in rules.enumerate() {
        part.total += 1;
        if unused.contains(&number) {
            part.never_reached.push(Unit { location: Some(sources.location(span)), text });
        }
    }
    Executed { unit: ExecutedUnit::Rule, complete: true, processes: None, parts: vec![part] }
}

/// What is known of a statement.
#[derive(Debug, Default)]
struct Known {
    seen: u8,
    /// A guard that can be false, as far as its text says.
    is_guard: bool,
}

type Statements = BTreeMap<(Location, String), Known>;

fn part(
    number: usize,
    code: &Code,
    marks: &Marks,
    sources: &SourceMap,
    seen: Seen,
    starts: bool,
) -> ExecutedPart {
    let mut statements = Statements::new();
    let mut entered = starts;
    for (at, location) in code.locations.iter().enumerate() {
        for (nth, edge) in location.edges.iter().enumerate() {
            let Some(marks) = marks.edge(number, at, nth) else { continue };
            entered |= marks.seen() != 0;
            note(&mut statements, edge, marks, sources);
        }
    }
    let mut part =
        ExecutedPart { name: code.name.clone(), total: statements.len(), entered, ..Default::default() };
    let mut never_false = Vec::new();
    for ((location, text), known) in statements {
        let unit = Unit { location: Some(location), text };
        match (known.seen & TAKEN != 0, known.seen & REFUSED != 0) {
            (true, false) if known.is_guard => never_false.push(unit),
            (true, _) => {}
            (false, true) => part.never_true.push(unit),
            (false, false) => part.never_reached.push(unit),
        }
    }
    part.never_false = (seen == Seen::EveryState).then_some(never_false);
    part
}

fn note(statements: &mut Statements, edge: &Edge, marks: &EdgeMarks, sources: &SourceMap) {
    let mut add = |span: Span, text: &str, seen: u8, is_guard: bool| {
        let known = statements.entry((sources.location(span), text.to_string())).or_default();
        known.seen |= seen;
        known.is_guard |= is_guard;
    };
    let block = match &edge.command {
        Command::Deterministic(block) => block,
        // That a process may end is written nowhere.
        Command::End => return,
        command => return add(edge.span, &edge.text, marks.seen(), is_guard(command)),
    };
    let mut inner = marks.inner().iter().map(|mark| mark.load(Relaxed));
    for (node, edges) in block.nodes.iter().enumerate() {
        for within in edges {
            let mut seen = inner.next().unwrap_or(0);
            // Where a block begins, it may have to wait.
            if node == 0 && seen == 0 {
                seen = marks.seen() & REFUSED;
            }
            if within.command.is_some() {
                add(within.span, &within.text, seen, false);
            }
        }
    }
}

/// Can it be false, as far as its text says? What `timeout` is, is asked of states in which nobody has it yet.
fn is_guard(command: &Command) -> bool {
    let Command::Guard(expr) = command else { return false };
    let mut can_be_false = !matches!(expr, Expr::Const(_));
    expr.visit(&mut |inner| can_be_false &= *inner != Expr::Timeout);
    can_be_false
}
