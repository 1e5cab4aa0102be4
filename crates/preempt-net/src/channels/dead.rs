//! Rules of a channel system that are never used, as far as that follows from which values the variables may have together and which
//! messages were ever sent.
//!
//! A message that was sent once may be received from then on, in any order and any number of times: that only adds runs, so a rule
//! that is listed has none. (What is lost makes no difference.)

use super::wsts::MOST;
use super::{ChannelSystem, Message, Scope, product};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use preempt_core::Budget;

/// More often no rule is tried.
const MOST_WORK: usize = 1 << 20;

/// The numbers of rules that are never used; `None` if the system is too large to tell, or there is no time.
pub fn dead_rules(system: &ChannelSystem, budget: &Budget) -> Option<Vec<usize>> {
    let begins = |control: &Vec<u64>| {
        let scope = Scope { control, parameters: &[], received: &[] };
        system.initial.iter().all(|condition| condition.holds(scope))
    };
    let controls: Vec<Vec<u64>> = system.controls(MOST / 16)?.into_iter().filter(begins).collect();
    let mut known: HashSet<Vec<u64>> = controls.iter().cloned().collect();
    let mut controls = controls;
    let mut sent: Vec<Vec<Message>> = vec![Vec::new(); system.channels.len()];
    let mut is_sent: HashSet<(usize, Message)> = HashSet::new();
    let mut parameters: HashMap<usize, Vec<Vec<u64>>> = HashMap::new();
    for (number, rule) in system.rules.iter().enumerate() {
        parameters.insert(number, product(&rule.parameters, MOST_WORK)?);
    }
    let mut used = vec![false; system.rules.len()];
    let mut work = 0;
    loop {
        let before = (known.len(), is_sent.len());
        for (number, rule) in system.rules.iter().enumerate() {
            let nothing = [Message::new()];
            let received = rule.receive.map_or(nothing.to_vec(), |channel| sent[channel].clone());
            for control in controls.clone() {
                work += received.len() * parameters[&number].len();
                if work > MOST_WORK || budget.exhausted().is_some() {
                    return None;
                }
                for (parameters, received) in parameters[&number]
                    .iter()
                    .flat_map(|it| received.iter().map(move |message| (it, message)))
                {
                    let scope = Scope { control: &control, parameters, received };
                    if !rule.guard.iter().all(|condition| condition.holds(scope)) {
                        continue;
                    }
                    used[number] = true;
                    let mut after = control.clone();
                    for (variable, value) in &rule.assign {
                        after[*variable] = value.of(scope);
                    }
                    if known.insert(after.clone()) {
                        controls.push(after);
                    }
                    for (channel, message) in &rule.send {
                        let message: Message = message.iter().map(|value| value.of(scope)).collect();
                        if is_sent.insert((*channel, message.clone())) {
                            sent[*channel].push(message);
                        }
                    }
                }
            }
        }
        if (known.len(), is_sent.len()) == before {
            return Some((0..used.len()).filter(|number| !used[*number]).collect());
        }
    }
}
