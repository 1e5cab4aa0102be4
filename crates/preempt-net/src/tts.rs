//! Thread-transition systems (`.tts`, as BFC and SATABS write them) with their targets (`.prop`): finitely many shared states,
//! of which there is one at a time, and any number of threads, each in a local state.
//!
//! `S L` says how many shared and local states there are. Then `s l -> s' l'` moves one thread, `s l -> s' l' a ~> b` also
//! all others from `a` to `b`, `s l ~> s' l'` all threads of `l` and nobody else, and `s l +> s' l'` starts a thread in `l'`
//! while the one in `l` stays. At first the shared state is 0 and any number of threads is in local state 0. A target `s|a,b`
//! is the shared state with threads in these local states at least.
//!
//! As a net: a place `s0`, `s1`, ... for each shared state and `l0`, `l1`, ... for each local one.

use crate::formula::{Formula, Linear};
use crate::marking::{Marking, Place};
use crate::net::{Move, Net, Transition};
use crate::problem::{Problem, Range};
use crate::property::{Collected, NetProperty, Quantifier};
use preempt_core::{Budget, Diagnostic, SourceId, Span};

/// So many states of a kind are refused.
const MOST_STATES: u64 = 1 << 22;

/// Reads a system as a net. The problem is whole only if no diagnostic is an error.
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::{Marking, tts};
///
/// let text = "2 2\n0 0 -> 1 1\n1|1,1";
/// let (problem, mistakes) = tts::read_within(SourceMap::new().add("x.tts", text), text, &Budget::unlimited());
/// assert!(mistakes.is_empty());
/// assert_eq!(problem.net.places, ["s0", "s1", "l0", "l1"]);
/// assert_eq!(problem.targets, [Marking::from_pairs([(1, 1), (3, 2)])]);
/// ```
pub fn read_within(source: SourceId, text: &str, budget: &Budget) -> (Problem, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut problem = Problem::default();
    let mut size: Option<(Place, Place)> = None;
    let mut counted = 0;
    for (number, line) in lines(source, text).enumerate() {
        if number.is_multiple_of(256) && budget.exhausted().is_some() {
            diagnostics.push(crate::stopped());
            break;
        }
        if crate::too_many_mistakes(&mut diagnostics, &mut counted) {
            break;
        }
        let Some((shared, local)) = size else {
            match dimensions(&line) {
                Ok((shared, local)) => {
                    size = Some((shared, local));
                    let names =
                        (0..shared).map(|s| format!("s{s}")).chain((0..local).map(|l| format!("l{l}")));
                    problem.net.places = names.collect();
                    problem.initial = vec![Range::exactly(0); problem.net.places.len()];
                    problem.initial[0] = Range::exactly(1);
                    problem.initial[shared as usize] = Range::ANY;
                }
                Err(error) => {
                    diagnostics.push(error);
                    return (problem, diagnostics);
                }
            }
            continue;
        };
        let read = if line.text.contains('|') {
            target(&line, shared, local).map(|target| problem.targets.push(target))
        } else {
            rule(&line, shared, local).map(|transition| {
                let name = format!("t{}", problem.net.transitions.len() + 1);
                problem.net.transitions.push(Transition { name, ..transition });
                problem.spans.push(line.span());
            })
        };
        diagnostics.extend(read.err());
    }
    if size.is_none() && diagnostics.is_empty() {
        diagnostics.push(Diagnostic::global_error("there is nothing in this file").hint(SIZE_HINT));
    }
    (problem, diagnostics)
}

/// Is this a file of targets of a thread-transition system?
pub fn is_prop(text: &str) -> bool {
    let rest = text.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < text.trim_start().len() && rest.trim_start().starts_with('|')
}

/// Reads targets, a line each. Each is a property of its own, named by its line.
pub fn read_prop_within(
    net: &Net,
    source: SourceId,
    text: &str,
    wanted: Option<&str>,
    budget: &Budget,
) -> (Vec<NetProperty>, Vec<Diagnostic>) {
    let shared = net.places.iter().filter(|name| name.starts_with('s')).count() as Place;
    let local = net.places.len() as Place - shared;
    let mut collected = Collected::default();
    let mut found = false;
    for line in lines(source, text) {
        if wanted.is_some_and(|wanted| wanted != line.text) {
            continue;
        }
        found = true;
        if budget.exhausted().is_some() {
            collected.diagnostics.push(crate::stopped());
            break;
        }
        let id = line.text.to_string();
        let read = target(&line, shared, local).and_then(|target| {
            let limit = |(place, least): (Place, u64)| {
                Formula::AtMost(Linear::new([(place, -1)], -i64::try_from(least).unwrap_or(i64::MAX)))
            };
            let body = Formula::All(target.iter().map(limit).collect());
            NetProperty::new(net, id.clone(), Quantifier::Reachable, body, budget)
        });
        collected.add(id, read);
    }
    if !found {
        let what = wanted.map_or("a target".to_string(), |wanted| format!("the target `{wanted}`"));
        collected.diagnostics.push(Diagnostic::global_error(format!("{what} is not in this file")));
    }
    collected.finish()
}

const SIZE_HINT: &str = "the first line says how many shared and local states there are, as in `8 38`";
const RULE_HINT: &str =
    "as in `0 1 -> 2 3`: from shared state 0 and local state 1 to shared state 2 and local state 3";

struct Line<'a> {
    source: SourceId,
    start: usize,
    text: &'a str,
}

/// Without comments and white space at the ends, and without empty ones.
fn lines(source: SourceId, text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    text.split('\n').filter_map(move |whole| {
        let start = at;
        at += whole.len() + 1;
        let said = whole.split('#').next().unwrap_or("");
        let text = said.trim();
        let start = start + (said.len() - said.trim_start().len());
        (!text.is_empty()).then_some(Line { source, start, text })
    })
}

impl<'a> Line<'a> {
    fn span(&self) -> Span {
        self.part(self.text)
    }

    /// Where a part of the line stands.
    fn part(&self, part: &str) -> Span {
        let from = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        let start = self.start + from;
        Span::new(self.source, start as u32, (start + part.len()) as u32)
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.span(), message)
    }

    fn number(&self, word: &str) -> Result<u64, Diagnostic> {
        word.parse().map_err(|_| {
            let whole = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            let message =
                if whole { "this number is too large".into() } else { format!("`{word}` is not a number") };
            Diagnostic::error(if word.is_empty() { self.span() } else { self.part(word) }, message)
        })
    }

    /// A state, counted from 0, of so many.
    fn state(&self, word: &'a str, count: Place, kind: &str) -> Result<Place, Diagnostic> {
        let number = self.number(word)?;
        match Place::try_from(number).ok().filter(|number| *number < count) {
            Some(number) => Ok(number),
            None => {
                let error = Diagnostic::error(self.part(word), format!("there is no {kind} state {number}"));
                Err(error.hint(format!("there are {count}, counted from 0")))
            }
        }
    }
}

fn dimensions(line: &Line<'_>) -> Result<(Place, Place), Diagnostic> {
    let words: Vec<&str> = line.text.split_whitespace().collect();
    let [shared, local] = words.as_slice() else {
        return Err(line.error("expected two numbers").hint(SIZE_HINT));
    };
    let (shared, local) = (line.number(shared)?, line.number(local)?);
    if shared == 0 || local == 0 {
        return Err(line.error("there is at least one shared and one local state").hint(SIZE_HINT));
    }
    if shared > MOST_STATES || local > MOST_STATES {
        return Err(line
            .error("there are too many states")
            .hint(format!("the most is {MOST_STATES} of each kind")));
    }
    Ok((shared as Place, local as Place))
}

fn rule(line: &Line<'_>, shared: Place, local: Place) -> Result<Transition, Diagnostic> {
    let words: Vec<&str> = line.text.split_whitespace().collect();
    let [s, l, arrow, s2, l2, passive @ ..] = words.as_slice() else {
        return Err(line.error("this is not a whole rule").hint(RULE_HINT));
    };
    let (s, s2) = (line.state(s, shared, "shared")?, line.state(s2, shared, "shared")?);
    let place = |word| line.state(word, local, "local").map(|state| shared + state);
    let (l, l2) = (place(l)?, place(l2)?);
    let mut transition = Transition::default();
    let (mut consume, mut produce) = (vec![(s, 1)], vec![(s2, 1)]);
    match *arrow {
        "->" => {
            consume.push((l, 1));
            produce.push((l2, 1));
        }
        "+>" => {
            consume.push((l, 1));
            produce.extend([(l, 1), (l2, 1)]);
        }
        "~>" if l != l2 => transition.moves.push(Move { from: l, to: vec![l2] }),
        "~>" => {}
        other => {
            let error = Diagnostic::error(line.part(other), format!("`{other}` is no arrow"));
            return Err(error.hint("the arrows are `->`, `+>` and `~>`"));
        }
    }
    if *arrow != "->" && !passive.is_empty() {
        return Err(line.error("only a rule with `->` moves other threads as well"));
    }
    let mut moved: Vec<(Place, Place)> = Vec::new();
    for transfer in passive.chunks(3) {
        let [from, "~>", to] = transfer else {
            return Err(line.error("other threads are moved by `a ~> b`").hint(RULE_HINT));
        };
        moved.push((place(from)?, place(to)?));
    }
    moved.sort_unstable();
    moved.dedup();
    if let Some(pair) = moved.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let message = format!("threads of local state {} are moved to two states", pair[0].0 - shared);
        return Err(line.error(message).hint("each thread could choose, which no transfer says"));
    }
    for (from, to) in moved.into_iter().filter(|(from, to)| from != to) {
        transition.moves.push(Move { from, to: vec![to] });
    }
    transition.consume = Marking::from_pairs(consume);
    transition.produce = Marking::from_pairs(produce);
    Ok(transition)
}

fn target(line: &Line<'_>, shared: Place, local: Place) -> Result<Marking, Diagnostic> {
    let (state, threads) = line.text.split_once('|').unwrap_or((line.text, ""));
    let mut pairs = vec![(line.state(state.trim(), shared, "shared")?, 1)];
    for thread in threads.split(',').map(str::trim).filter(|_| !threads.trim().is_empty()) {
        pairs.push((shared + line.state(thread, local, "local")?, 1));
    }
    Ok(Marking::from_pairs(pairs))
}
