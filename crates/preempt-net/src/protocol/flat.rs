//! Small protocols with every local state numbered, as a well-structured system (Bingham and Hu 2005, paper 004, Example 5):
//! a state is the global part with a multiset of local states, the order is equal global parts and inclusion, and the weight
//! is the number of processes, which no step changes.
//!
//! All firings are listed once: every global part with every mover (and partner) that a rule applies to, and for a broadcast
//! what becomes of each local state. That takes the product of the variables, so that only small protocols are flattened.
//! Guards over the others are no part of a well-structured system: they are removed before.

use super::state::{View, packed};
use super::{Bad, Pattern, Protocol, ProtocolState, Rule, Scope};
use crate::wsts::WellStructured;
use preempt_core::Budget;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The global part and the local states of all processes, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlatState {
    /// The global part, as a number.
    pub global: u64,
    /// A multiset: sorted, with repetitions.
    pub locals: Vec<u32>,
}

/// A protocol with its firings.
#[derive(Debug)]
pub struct Flat<'p> {
    protocol: &'p Protocol,
    locals: u32,
    /// For each rule, by the global part that they lead to.
    firings: Vec<HashMap<u64, Vec<Firing>>>,
}

#[derive(Debug)]
struct Firing {
    global: u64,
    /// Who takes part: the local state before and after.
    participants: Vec<(u32, u32)>,
    /// What becomes of the others; nothing if that is nothing.
    others: Option<Arc<Reactions>>,
}

#[derive(Debug)]
struct Reactions {
    /// For each local state after those before.
    before: Vec<Vec<u32>>,
}

/// Protocols with more local states are not flattened, nor those whose rules would be tried more often.
const MOST_LOCALS: u64 = 1 << 10;
const MOST_TRIES: u64 = 1 << 23;
/// Elements in the basis of the bad states.
const MOST_TARGETS: usize = 1 << 16;

impl<'p> Flat<'p> {
    /// Why the protocol is not flattened, if it is not.
    pub fn refuses(protocol: &Protocol) -> Option<String> {
        let (Some(globals), Some(locals)) = (protocol.global_states(), protocol.local_states()) else {
            return Some("there are too many states".into());
        };
        if locals > MOST_LOCALS {
            return Some(format!("a process has {locals} local states, and each must be numbered"));
        }
        let tries = |rule: &Rule| {
            let movers = globals.saturating_mul(locals);
            if rule.with.is_some() { movers.saturating_mul(locals) } else { movers }
        };
        let tries = protocol.rules.iter().map(tries).fold(0, u64::saturating_add);
        (tries > MOST_TRIES).then(|| format!("its rules would have to be tried {tries} times"))
    }

    /// Lists the firings; `None` if the budget was exhausted. A guard over the others is not looked at.
    pub fn new(protocol: &'p Protocol, budget: &Budget) -> Option<Flat<'p>> {
        let locals = protocol.local_states()?;
        let globals = protocol.global_states()?;
        let values: Vec<Vec<i64>> = (0..locals).map(|it| protocol.local_values(it)).collect();
        let mut firings = Vec::new();
        for rule in &protocol.rules {
            let mut of_rule: HashMap<u64, Vec<Firing>> = HashMap::new();
            let mut reactions = HashMap::new();
            for global in 0..globals {
                let global_values = protocol.global_values(global);
                for (mover, mover_values) in (0u32..).zip(&values) {
                    if mover % 64 == 0 && budget.exhausted().is_some() {
                        return None;
                    }
                    let alone =
                        View { global: &global_values, mover: mover_values, partner: &[], other: &[] };
                    if !alone.holds(&rule.when) {
                        continue;
                    }
                    let partners: &[Vec<i64>] = if rule.with.is_some() { &values } else { &[Vec::new()] };
                    for (partner, partner_values) in (0u32..).zip(partners) {
                        let view = View { partner: partner_values, ..alone };
                        if !rule.with.as_ref().is_none_or(|with| view.holds(with)) {
                            continue;
                        }
                        let after = |scope: Scope, before: &[i64]| {
                            packed(protocol.variables(scope), &view.after(&rule.effects, scope, before))
                        };
                        let mut participants = vec![(mover, after(Scope::Mover, mover_values) as u32)];
                        if rule.with.is_some() {
                            participants.push((partner, after(Scope::Partner, partner_values) as u32));
                        }
                        let others = reacting(protocol, rule, view, &values, &mut reactions);
                        let to = after(Scope::Global, &global_values);
                        let firing = Firing { global, participants, others };
                        of_rule.entry(to).or_default().push(firing);
                    }
                }
            }
            firings.push(of_rule);
        }
        Some(Flat { protocol, locals: locals as u32, firings })
    }

    /// The protocol itself.
    pub fn protocol(&self) -> &'p Protocol {
        self.protocol
    }

    /// A basis of the bad states; `None` if it has too many elements.
    pub fn targets(&self, bad: &Bad) -> Option<Vec<FlatState>> {
        let mut all = BTreeSet::new();
        for pattern in &bad.patterns {
            for global in 0..self.protocol.global_states()? {
                self.matching(pattern, global, &mut all)?;
            }
        }
        Some(all.into_iter().collect())
    }

    fn matching(&self, pattern: &Pattern, global: u64, all: &mut BTreeSet<FlatState>) -> Option<()> {
        let values = self.protocol.global_values(global);
        let view = View { global: &values, mover: &[], partner: &[], other: &[] };
        if !view.holds(&pattern.global) {
            return Some(());
        }
        let mut found: BTreeSet<Vec<u32>> = BTreeSet::from([Vec::new()]);
        for part in &pattern.processes {
            let fit = |local: &u32| {
                View { mover: &self.protocol.local_values(u64::from(*local)), ..view }.holds(part)
            };
            let fitting: Vec<u32> = (0..self.locals).filter(fit).collect();
            if found.len().saturating_mul(fitting.len()) > 4 * MOST_TARGETS {
                return None;
            }
            let with = |before: &Vec<u32>| {
                let before = before.clone();
                fitting.iter().map(move |local| inserted(&before, *local)).collect::<Vec<_>>()
            };
            found = found.iter().flat_map(with).collect();
        }
        all.extend(found.into_iter().map(|locals| FlatState { global, locals }));
        (all.len() <= MOST_TARGETS).then_some(())
    }

    /// Is there an initial state above this one?
    pub fn below_initial(&self, state: &FlatState) -> bool {
        self.protocol.is_initial(&self.named(state))
    }

    /// With names for the processes.
    pub fn named(&self, state: &FlatState) -> ProtocolState {
        let processes = state.locals.iter().map(|local| u64::from(*local)).collect();
        ProtocolState { global: state.global, processes }
    }

    /// Without names.
    pub fn unnamed(state: &ProtocolState) -> FlatState {
        let mut locals: Vec<u32> = state.processes.iter().map(|process| *process as u32).collect();
        locals.sort_unstable();
        FlatState { global: state.global, locals }
    }

    /// The smallest states from which this firing leads above one with these local states.
    fn before(&self, firing: &Firing, to: &FlatState, found: &mut BTreeSet<FlatState>) {
        let count = firing.participants.len();
        // Which of those who take part are among the wanted.
        for wanted in 0..1u32 << count {
            if wanted == 0 && firing.others.is_none() && firing.global == to.global {
                // The step does nothing that is wanted.
                continue;
            }
            let mut rest = to.locals.clone();
            let present = firing.participants.iter().enumerate().all(|(number, (_, after))| {
                wanted >> number & 1 == 0
                    || rest.binary_search(after).is_ok_and(|at| {
                        rest.remove(at);
                        true
                    })
            });
            if !present {
                continue;
            }
            let mut multisets: BTreeSet<Vec<u32>> = BTreeSet::from([Vec::new()]);
            for after in rest {
                let one = [after];
                let before: &[u32] = match &firing.others {
                    Some(reactions) => &reactions.before[after as usize],
                    None => &one,
                };
                let with = |multiset: &Vec<u32>| {
                    let multiset = multiset.clone();
                    before.iter().map(move |local| inserted(&multiset, *local)).collect::<Vec<_>>()
                };
                multisets = multisets.iter().flat_map(with).collect();
            }
            for mut locals in multisets {
                locals.extend(firing.participants.iter().map(|(before, _)| *before));
                locals.sort_unstable();
                found.insert(FlatState { global: firing.global, locals });
            }
        }
    }
}

/// What becomes of every local state; computed once for whatever the reactions can see.
fn reacting(
    protocol: &Protocol,
    rule: &Rule,
    view: View<'_>,
    values: &[Vec<i64>],
    known: &mut HashMap<Vec<i64>, Arc<Reactions>>,
) -> Option<Arc<Reactions>> {
    if rule.others.is_empty() {
        return None;
    }
    let mut places: Vec<_> = rule
        .others
        .iter()
        .flat_map(|it| {
            let values = it.effects.iter().flat_map(|effect| effect.value.places());
            it.condition.places().into_iter().chain(values).collect::<Vec<_>>()
        })
        .filter(|place| place.scope != Scope::Other)
        .collect();
    places.sort_unstable();
    places.dedup();
    let key: Vec<i64> = places.iter().map(|place| view.read(*place)).collect();
    let computed = known.entry(key).or_insert_with(|| {
        let mut before = vec![Vec::new(); values.len()];
        for (local, other) in (0u32..).zip(values) {
            let after = packed(&protocol.locals, &View { other, ..view }.reaction(rule));
            before[after as usize].push(local);
        }
        Arc::new(Reactions { before })
    });
    Some(computed.clone())
}

fn inserted(multiset: &[u32], local: u32) -> Vec<u32> {
    let at = multiset.partition_point(|it| *it < local);
    let mut with = multiset.to_vec();
    with.insert(at, local);
    with
}

impl WellStructured for Flat<'_> {
    type State = FlatState;
    type Rule = usize;

    fn below(&self, small: &FlatState, large: &FlatState) -> bool {
        let mut rest = large.locals.iter();
        small.global == large.global && small.locals.iter().all(|local| rest.any(|it| it == local))
    }

    fn weight(&self, state: &FlatState) -> u64 {
        state.locals.len() as u64
    }

    fn rules(&self) -> Vec<usize> {
        (0..self.protocol.rules.len()).collect()
    }

    fn fire(&self, state: &FlatState, rule: &usize) -> Vec<FlatState> {
        let steps = self.protocol.steps_of(&self.named(state), *rule);
        let after: BTreeSet<FlatState> = steps.iter().map(|(_, after)| Flat::unnamed(after)).collect();
        after.into_iter().collect()
    }

    fn predecessor_basis(&self, state: &FlatState, rule: &usize) -> Vec<FlatState> {
        let mut found = BTreeSet::new();
        for firing in self.firings[*rule].get(&state.global).into_iter().flatten() {
            self.before(firing, state, &mut found);
        }
        found.into_iter().collect()
    }

    fn lift(&self, state: &FlatState) -> Vec<FlatState> {
        let with = |local: u32| FlatState { global: state.global, locals: inserted(&state.locals, local) };
        (0..self.locals).map(with).collect()
    }

    fn deflation(&self) -> Option<u64> {
        Some(self.protocol.deflation())
    }

    fn respects_weight(&self) -> bool {
        true
    }
}
