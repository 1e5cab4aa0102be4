//! Rules of a protocol that are never used: with no number of processes, as far as that follows from looking at one process at a
//! time; and by no run with few processes, which is exact.
//!
//! **With any number.** For every global part that may occur, the local states that a process may be in beside it. A rule leads
//! from a global part and a mover (and a partner) that may be there to new ones, and every other process that may be there and
//! satisfies the guard reacts. That forgets who is there together, which only adds runs: a rule that is listed has no run.
//!
//! **With few.** Every state of 1, 2, ... processes, by the definition, as far as a small number of steps goes.

use super::state::{View, packed};
use super::{Protocol, ProtocolState, Rule, Scope};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use preempt_core::Budget;
use std::collections::BTreeSet;

/// What is known of the rules of a protocol, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnusedRules {
    /// Every run with up to so many processes was looked at; 0 if that was too much.
    pub processes: usize,
    /// Used by none of these runs.
    pub by_few: BTreeSet<usize>,
    /// Used by no run whatever.
    pub by_any: BTreeSet<usize>,
}

/// More initial states are not tried, and more often no condition is looked at.
const MOST_BEGINNINGS: u64 = 1 << 16;
const MOST_WORK: u64 = 1 << 20;
/// So many processes at most, and so many steps of all of them together.
const FEW: usize = 4;
const MOST_STEPS: usize = 20_000;

/// Which rules are never used; `None` if the protocol is too large to tell, or there is no time.
pub fn unused_rules(protocol: &Protocol, budget: &Budget) -> Option<UnusedRules> {
    let beginnings = protocol.local_states()?.checked_mul(protocol.global_states()?)?;
    if beginnings > MOST_BEGINNINGS {
        return None;
    }
    let rules = 0..protocol.rules.len();
    let by_any = match used_one_by_one(protocol, budget) {
        Some(used) => rules.clone().filter(|rule| !used.contains(rule)).collect(),
        None => BTreeSet::new(),
    };
    let mut found = UnusedRules { processes: 0, by_few: rules.collect(), by_any };
    let mut steps = MOST_STEPS;
    for processes in 1..=FEW {
        let Some(used) = used_by(protocol, processes, &mut steps, budget) else { break };
        found.processes = processes;
        found.by_few.retain(|rule| !used.contains(rule));
    }
    (found.processes > 0 || !found.by_any.is_empty()).then_some(found)
}

/// The rules that may be used, by what one process and the global part may be together.
fn used_one_by_one(protocol: &Protocol, budget: &Budget) -> Option<HashSet<usize>> {
    let mut together: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut known: HashSet<(u64, u64)> = HashSet::new();
    for global in 0..protocol.global_states()? {
        let values = protocol.global_values(global);
        for local in 0..protocol.local_states()? {
            if protocol.may_begin(&values, &protocol.local_values(local)) && known.insert((global, local)) {
                together.entry(global).or_default().push(local);
            }
        }
    }
    let mut used = HashSet::new();
    let mut work = 0u64;
    loop {
        let before = known.len();
        for (global, locals) in together.clone() {
            let values = protocol.global_values(global);
            let locals: Vec<Vec<i64>> = locals.iter().map(|local| protocol.local_values(*local)).collect();
            for (number, rule) in protocol.rules.iter().enumerate() {
                work += (locals.len() as u64).pow(rule.participants() as u32);
                if work > MOST_WORK || budget.exhausted().is_some() {
                    return None;
                }
                for (global, local) in successors(protocol, rule, &values, &locals, &mut work) {
                    used.insert(number);
                    if known.insert((global, local)) {
                        together.entry(global).or_default().push(local);
                    }
                }
            }
        }
        if known.len() == before {
            return Some(used);
        }
    }
}

/// What a rule leads to, from any of these local states.
fn successors(
    protocol: &Protocol,
    rule: &Rule,
    global: &[i64],
    locals: &[Vec<i64>],
    work: &mut u64,
) -> BTreeSet<(u64, u64)> {
    let nobody = [Vec::new()];
    let partners = if rule.with.is_some() { locals } else { &nobody[..] };
    let mut found = BTreeSet::new();
    for mover in locals {
        let view = View { global, mover, partner: &[], other: &[] };
        if !view.holds(&rule.when) {
            continue;
        }
        for partner in partners {
            let view = View { partner, ..view };
            if !rule.with.as_ref().is_none_or(|with| view.holds(with)) {
                continue;
            }
            let after = packed(&protocol.globals, &view.after(&rule.effects, Scope::Global, global));
            let mut add = |local: &[i64]| found.insert((after, packed(&protocol.locals, local)));
            add(&view.after(&rule.effects, Scope::Mover, mover));
            if rule.with.is_some() {
                add(&view.after(&rule.effects, Scope::Partner, partner));
            }
            *work += locals.len() as u64;
            for other in locals {
                let view = View { other, ..view };
                if rule.all_others.as_ref().is_none_or(|guard| view.holds(guard)) {
                    add(&view.reaction(rule));
                }
            }
        }
    }
    found
}

/// The rules that runs with so many processes use; `None` if there are too many steps.
fn used_by(protocol: &Protocol, count: usize, steps: &mut usize, budget: &Budget) -> Option<HashSet<usize>> {
    let mut waiting: Vec<ProtocolState> = Vec::new();
    let mut known: HashSet<ProtocolState> = HashSet::new();
    for global in 0..protocol.global_states()? {
        let values = protocol.global_values(global);
        let begins = |local: &u64| protocol.may_begin(&values, &protocol.local_values(*local));
        let begins: Vec<u64> = (0..protocol.local_states()?).filter(begins).collect();
        let mut multisets = vec![Vec::new()];
        for _ in 0..count {
            let longer = |list: &Vec<u64>| -> Vec<Vec<u64>> {
                let more = begins.iter().filter(|local| list.last().is_none_or(|last| last <= *local));
                more.map(|local| [list.as_slice(), &[*local]].concat()).collect()
            };
            multisets = multisets.iter().flat_map(longer).collect();
            *steps = steps.checked_sub(multisets.len())?;
        }
        waiting.extend(multisets.into_iter().map(|processes| ProtocolState { global, processes }));
    }
    known.extend(waiting.iter().cloned());
    let mut used = HashSet::new();
    while let Some(state) = waiting.pop() {
        if budget.exhausted().is_some() {
            return None;
        }
        for rule in 0..protocol.rules.len() {
            *steps = steps.checked_sub(count)?;
            for (_, mut after) in protocol.steps_of(&state, rule) {
                used.insert(rule);
                after.processes.sort_unstable();
                if known.insert(after.clone()) {
                    waiting.push(after);
                }
            }
        }
    }
    Some(used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::read;
    use preempt_core::SourceMap;

    fn names(text: &str) -> (usize, Vec<String>, Vec<String>) {
        let (protocol, mistakes) = read(SourceMap::new().add("p.protocol", text), text, &[]);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        let found = unused_rules(&protocol, &Budget::unlimited()).expect("it is small");
        let name = |rule: &usize| protocol.rules[*rule].name.clone();
        (found.processes, found.by_few.iter().map(name).collect(), found.by_any.iter().map(name).collect())
    }

    #[test]
    fn what_needs_nobody_or_more_than_there_are() {
        let text = "local state : { idle, busy, lost, pair } = idle
                    rule enter  when state = idle  all others state = idle  do state := busy
                    rule leave  when state = busy  do state := idle
                    rule find   when state = lost  do state := idle
                    rule both   when state = busy  with state = busy  do state := pair
                    bad together: two with state = pair";
        // That two are busy at once is not seen by looking at one of them.
        assert_eq!(names(text), (FEW, vec!["find".into(), "both".into()], vec!["find".into()]));
    }

    #[test]
    fn reactions_lead_somewhere() {
        let text = "local state : { idle, busy, woken } = idle
                    rule call  when state = idle  do state := busy  others where state = idle do state := woken
                    rule on    when state = woken  do state := idle
                    bad never: one with state = busy";
        assert_eq!(names(text), (FEW, vec![], vec![]));
    }

    /// The number of states is no matter: then nothing is said.
    #[test]
    fn a_large_protocol_is_left_alone() {
        let variables = (0..17).map(|it| format!("local b{it} : bool = false\n")).collect::<String>();
        let text = format!("{variables}rule r when not b0 do b0 := true\nbad it: one with b0");
        let (protocol, mistakes) = read(SourceMap::new().add("p.protocol", &text), &text, &[]);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        assert_eq!(unused_rules(&protocol, &Budget::unlimited()), None);
    }
}
