//! From the text's constraints and assignments to a net.
//!
//! A rule says m' = A m + b for m >= g. With r = m - g that is m' = A r + (A g + b): consume g, move the rest by
//! A, produce A g + b, which must not be negative. That is the whole translation.

use super::parser::{Constraint, Effect, File, Rule};
use crate::MOST_HINTS;
use crate::marking::{Marking, Place};
use crate::net::{Move, Transition};
use crate::problem::{Problem, Range};
use crate::scan::Name;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use preempt_core::diagnostic::nearest;
use preempt_core::{Budget, Diagnostic};

/// An interval in a guard of at most so many values becomes one transition for each value, which is exact;
/// a longer one keeps only its lower end.
const LONGEST_SPLIT: u64 = 16;

/// If the budget is exhausted afterwards, the problem is not whole.
pub(super) fn lower(file: &File<'_>, budget: &Budget, diagnostics: &mut Vec<Diagnostic>) -> Problem {
    let mut lowering = Lowering { places: HashMap::new(), diagnostics, implied: HashSet::new() };
    let mut problem = Problem::default();
    for (at, (name, span)) in file.vars.iter().enumerate() {
        if lowering.places.insert(*name, at as Place).is_some() {
            lowering.diagnostics.push(Diagnostic::error(*span, format!("`{name}` is declared twice")));
        }
        problem.net.places.push((*name).to_string());
    }
    let mut counted = 0;
    for rule in &file.rules {
        if budget.exhausted().is_some() {
            return problem;
        }
        if crate::too_many_mistakes(lowering.diagnostics, &mut counted) {
            return problem;
        }
        lowering.rule(rule, &mut problem);
    }
    problem.initial = vec![Range::ANY; file.vars.len()];
    for (place, constraint) in lowering.constraints(&file.init) {
        problem.initial[place as usize] = Range { low: constraint.low, high: constraint.high };
    }
    for conjunction in &file.target {
        let target = lowering.target(conjunction);
        problem.targets.push(target);
    }
    lowering.invariants(file, budget, &problem);
    problem
}

struct Lowering<'a, 'd> {
    places: HashMap<&'a str, Place>,
    diagnostics: &'d mut Vec<Diagnostic>,
    /// Where the warning about a guard that is implied has been given: a rule may be read several times.
    implied: HashSet<u32>,
}

/// `place' = terms + constant`, of one effect or of several.
struct Assignment<'e, 'a> {
    place: Place,
    terms: Vec<Place>,
    constant: i64,
    /// The first one.
    effect: &'e Effect<'a>,
}

/// A rule for one value of an interval in its guard, or for all of them.
struct Case<'g> {
    name: String,
    guards: &'g [(Place, Range)],
}

impl<'a> Lowering<'a, '_> {
    fn place(&mut self, name: Name<'_>) -> Option<Place> {
        let found = self.places.get(name.0).copied();
        if found.is_none() {
            let error = Diagnostic::error(name.1, format!("there is no variable `{}`", name.0));
            let few = self.diagnostics.len() < MOST_HINTS;
            let near = few.then(|| nearest(name.0, self.places.keys().copied())).flatten();
            self.diagnostics.push(match near {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("variables are declared in the section `vars`"),
            });
        }
        found
    }

    /// The constraints whose variable exists and is not limited twice.
    fn constraints<'c>(&mut self, conjunction: &'c [Constraint<'a>]) -> Vec<(Place, &'c Constraint<'a>)> {
        let mut seen = HashSet::new();
        let mut found = Vec::with_capacity(conjunction.len());
        for constraint in conjunction {
            let Some(place) = self.place(constraint.name) else { continue };
            if seen.insert(place) {
                found.push((place, constraint));
            } else {
                self.diagnostics.push(
                    Diagnostic::error(
                        constraint.span,
                        format!("`{}` is limited twice in this conjunction", constraint.name.0),
                    )
                    .hint("write both limits as `x in [low, high]`; conjunctions of a target are separated by white space"),
                );
            }
        }
        found
    }

    fn target(&mut self, conjunction: &[Constraint<'a>]) -> Marking {
        let mut target = Vec::new();
        for (place, constraint) in self.constraints(conjunction) {
            let name = constraint.name.0;
            match constraint.high {
                None => {}
                Some(0) => self.diagnostics.push(
                    Diagnostic::warning(
                        constraint.span,
                        format!("`{name} = 0` is read as no condition on `{name}`"),
                    )
                    .hint("a target is what can be covered: everything with at least so many tokens"),
                ),
                Some(_) => self.diagnostics.push(
                    Diagnostic::warning(
                        constraint.span,
                        format!("this is read as `{name} >= {}`", constraint.low),
                    )
                    .hint("a target is what can be covered: everything with at least so many tokens"),
                ),
            }
            target.push((place, constraint.low));
        }
        Marking::from_pairs(target)
    }

    fn rule(&mut self, rule: &Rule<'a>, problem: &mut Problem) {
        let number = problem.net.transitions.len();
        let Some(effects) = self.effects(rule) else { return };
        let mut guards: Vec<(Place, Range)> = Vec::new();
        let mut split = None;
        for (place, constraint) in self.constraints(&rule.guards) {
            if let Some(high) = constraint.high
                && high > constraint.low
                && high - constraint.low < LONGEST_SPLIT
                && split.is_none()
            {
                split = Some((guards.len(), constraint.low..=high));
            }
            guards.push((place, Range { low: constraint.low, high: constraint.high }));
        }
        // One transition for each value of the interval, or just one.
        let Some((at, values)) = split else {
            let case = Case { name: format!("r{}", number + 1), guards: &guards };
            self.transition(&case, rule, &effects, problem);
            return;
        };
        for value in values {
            guards[at].1 = Range::exactly(value);
            let case = Case { name: format!("r{}_{value}", number + 1), guards: &guards };
            self.transition(&case, rule, &effects, problem);
        }
    }

    /// What is assigned to each place that exists; `None` if something is wrong.
    fn effects<'e>(&mut self, rule: &'e Rule<'a>) -> Option<Vec<Assignment<'e, 'a>>> {
        let mut found: Vec<Assignment<'e, 'a>> = Vec::with_capacity(rule.effects.len());
        let mut index: HashMap<Place, usize> = HashMap::new();
        let mut whole = true;
        for effect in &rule.effects {
            let place = self.place(effect.target);
            let terms: Vec<Option<Place>> = effect.terms.iter().map(|term| self.place(*term)).collect();
            let (Some(place), Some(terms)) = (place, terms.into_iter().collect::<Option<Vec<Place>>>())
            else {
                whole = false;
                continue;
            };
            let Some(first) = index.get(&place) else {
                index.insert(place, found.len());
                found.push(Assignment { place, terms, constant: effect.constant, effect });
                continue;
            };
            let name = effect.target.0;
            let warning =
                Diagnostic::warning(effect.span, format!("`{name}` is assigned twice in this rule"));
            self.diagnostics.push(
                warning
                    .label(found[*first].effect.span, "first here")
                    .hint("as in mist, the variables of both are added, and the last number counts"),
            );
            let assignment = &mut found[*first];
            assignment.constant = effect.constant;
            let more: Vec<Place> =
                terms.into_iter().filter(|term| !assignment.terms.contains(term)).collect();
            assignment.terms.extend(more);
        }
        whole.then_some(found)
    }

    /// What is consumed: what the guards need, and what is taken away without a guard, which is said.
    fn consumed(&mut self, guards: &[(Place, Range)], effects: &[Assignment<'_, 'a>]) -> Marking {
        let mut consume = Marking::from_pairs(guards.iter().map(|(place, range)| (*place, range.low)));
        for Assignment { terms, constant, effect, .. } in effects {
            let ([term], Some(taken)) =
                (terms.as_slice(), 0u64.checked_add_signed(constant.saturating_neg()))
            else {
                continue;
            };
            let given = consume.get(*term);
            let high = guards.iter().find(|(place, _)| place == term).and_then(|(_, range)| range.high);
            if given >= taken || high.is_some_and(|high| high < taken) {
                continue;
            }
            let name = effect.terms.first().map_or("", |term| term.0);
            if self.implied.insert(effect.span.start) {
                let message = format!("this takes {taken} but the guard needs only {given}");
                self.diagnostics.push(
                    Diagnostic::warning(effect.span, message)
                        .hint(format!("it is read as if there were a guard `{name} >= {taken}`")),
                );
            }
            consume.set(*term, taken);
        }
        consume
    }

    fn transition(
        &mut self,
        Case { name, guards }: &Case<'_>,
        rule: &Rule<'a>,
        effects: &[Assignment<'_, 'a>],
        problem: &mut Problem,
    ) {
        let consume = self.consumed(guards, effects);
        let mut at_most: Vec<(Place, u64)> =
            guards.iter().filter_map(|(place, range)| range.high.map(|high| (*place, high))).collect();
        at_most.sort_unstable();
        // Where the tokens of each place go, for the places that do not just keep them.
        let mut goes: Vec<(Place, Place)> = Vec::new();
        let mut produce: Vec<(Place, u64)> = Vec::new();
        for Assignment { place, terms, constant, effect } in effects {
            goes.extend(terms.iter().map(|term| (*term, *place)));
            let given: u64 = terms.iter().map(|term| consume.get(*term)).sum();
            let Some(after) = given.checked_add_signed(*constant) else {
                let taken = constant.unsigned_abs();
                self.diagnostics.push(
                    Diagnostic::error(
                        effect.span,
                        format!("this takes {taken} but the guard needs only {given}"),
                    )
                    .hint("the number must not exceed what the guard needs"),
                );
                continue;
            };
            produce.push((*place, after));
        }
        let assigned: HashSet<Place> = effects.iter().map(|assigned| assigned.place).collect();
        // A variable that is not assigned keeps its tokens.
        for (place, tokens) in consume.iter() {
            if !assigned.contains(&place) {
                produce.push((place, tokens));
            }
        }
        let mut moved: Vec<Place> =
            assigned.iter().copied().chain(goes.iter().map(|(from, _)| *from)).collect();
        moved.extend(at_most.iter().map(|(place, _)| *place));
        moved.sort_unstable();
        moved.dedup();
        goes.sort_unstable();
        let mut moves = Vec::new();
        for from in moved {
            let first = goes.partition_point(|(place, _)| *place < from);
            let own = goes[first..].iter().take_while(|(place, _)| *place == from);
            let mut to: Vec<Place> = own.map(|(_, to)| *to).collect();
            if !assigned.contains(&from) {
                if !to.is_empty() {
                    self.copied(rule, from, problem);
                }
                to.push(from);
            }
            to.sort_unstable();
            // Exactly so many tokens and no more: the rest is empty, and the relaxation may lose it.
            if at_most.binary_search(&(from, consume.get(from))).is_ok() {
                to.clear();
            }
            if to != [from] {
                moves.push(Move { from, to });
            }
        }
        let produce = Marking::from_pairs(produce);
        problem.net.transitions.push(Transition { name: name.clone(), consume, produce, moves, at_most });
        problem.spans.push(rule.span);
    }

    fn copied(&mut self, rule: &Rule<'a>, from: Place, problem: &Problem) {
        if self.diagnostics.len() >= MOST_HINTS {
            return;
        }
        let name = &problem.net.places[from as usize];
        let term = rule.effects.iter().flat_map(|effect| &effect.terms).find(|term| term.0 == *name);
        if let Some(term) = term {
            self.diagnostics.push(
                Diagnostic::warning(term.1, format!("the tokens of `{name}` are copied, not moved"))
                    .hint(format!("for a transfer, add `{name}' = 0`")),
            );
        }
    }

    /// Invariants that a file gives are verified, and otherwise not used.
    fn invariants(&mut self, file: &File<'a>, budget: &Budget, problem: &Problem) {
        for weights in &file.invariants {
            if budget.exhausted().is_some() {
                return;
            }
            let Some((first, last)) = weights.first().zip(weights.last()) else { continue };
            let mut invariant: HashMap<Place, i128> = HashMap::new();
            for (name, weight) in weights {
                if let Some(place) = self.place(*name) {
                    invariant.insert(place, i128::from(*weight));
                }
            }
            let product = |change: Vec<(Place, i128)>| -> i128 {
                change.iter().map(|(place, n)| n * invariant.get(place).copied().unwrap_or(0)).sum()
            };
            let broken = problem.net.transitions.iter().position(|t| {
                product(t.displacement()) != 0
                    || t.moves.iter().any(|moved| product(moved.displacement()) != 0)
            });
            if let Some(rule) = broken {
                let warning = Diagnostic::warning(first.0.1.to(last.0.1), "this is not an invariant");
                self.diagnostics.push(match problem.spans.get(rule) {
                    Some(span) => {
                        warning.label(*span, "this rule changes it").hint("is there a comma missing?")
                    }
                    None => warning,
                });
            }
        }
    }
}
