//! The checker of certificates of channel systems. It shares no code with the engines: it goes through every value of the
//! variables, every rule, every parameter and every message by itself, and is written to be read against the definition.
//!
//! A certificate is right if every smallest bad state lies above one of its elements, no element lies below an initial state, and
//! whatever leads above an element lies above one: then the states above the elements are never entered.

use super::{ChannelCertificate, symbolic_checker};
use preempt_core::{Budget, StopReason};
use preempt_net::channels::{ChannelSystem, Message, Scope, State};
use std::collections::BTreeMap;

/// Values of the variables are gone through one by one, up to so many.
const MOST: u64 = 1 << 22;

/// Does the certificate show that nothing bad can be reached? The error says what is missing.
pub fn verify(system: &ChannelSystem, certificate: &ChannelCertificate) -> Result<(), String> {
    verify_within(system, certificate, &Budget::unlimited()).unwrap_or_else(|_| Err("it was stopped".into()))
}

/// The same, unless the budget is exhausted first.
pub fn verify_within(
    system: &ChannelSystem,
    certificate: &ChannelCertificate,
    budget: &Budget,
) -> Result<Result<(), String>, StopReason> {
    let basis = match certificate {
        ChannelCertificate::Basis(basis) => basis,
        ChannelCertificate::Diagram(proof) => return symbolic_checker::verify(system, proof, budget),
    };
    let mut elements: BTreeMap<&[u64], Vec<&State>> = BTreeMap::new();
    for element in basis {
        if element.words.len() != system.channels.len() || element.control.len() != system.variables.len() {
            return Ok(Err("an element is not a state of this system".into()));
        }
        elements.entry(&element.control).or_default().push(element);
    }
    let above = |control: &[u64], words: &[Vec<Message>]| {
        let candidates = elements.get(control).into_iter().flatten();
        candidates
            .into_iter()
            .any(|element| element.words.iter().zip(words).all(|(small, large)| is_below(small, large)))
    };
    let sizes: Vec<u64> = system.variables.iter().map(|(_, size)| *size).collect();
    if sizes.iter().try_fold(1u64, |count, size| count.checked_mul(*size)).is_none_or(|count| count > MOST) {
        return Ok(Err("the variables have too many values".into()));
    }
    let mut control = vec![0; sizes.len()];
    loop {
        if let Some(reason) = budget.exhausted() {
            return Err(reason);
        }
        if let Err(reason) = verify_from(system, &elements, &control, &above, budget)? {
            return Ok(Err(reason));
        }
        if !next(&mut control, &sizes) {
            return Ok(Ok(()));
        }
    }
}

type Elements<'c> = BTreeMap<&'c [u64], Vec<&'c State>>;
type Above<'c> = dyn Fn(&[u64], &[Vec<Message>]) -> bool + 'c;

/// Everything about the states with these values of the variables.
fn verify_from(
    system: &ChannelSystem,
    elements: &Elements<'_>,
    control: &[u64],
    above: &Above<'_>,
    budget: &Budget,
) -> Result<Result<(), String>, StopReason> {
    let here = Scope { control, parameters: &[], received: &[] };
    for bad in &system.bad {
        if bad.conditions.iter().all(|condition| condition.holds(here)) {
            let mut words = vec![Vec::new(); system.channels.len()];
            for (channel, word) in &bad.words {
                words[*channel] =
                    word.iter().map(|message| message.iter().map(|value| value.of(here)).collect()).collect();
            }
            if !above(control, &words) {
                return Ok(Err(format!("a bad state with the values {control:?} is not in the set")));
            }
        }
    }
    let empty =
        elements.get(control).into_iter().flatten().any(|element| element.words.iter().all(Vec::is_empty));
    if empty && system.initial.iter().all(|condition| condition.holds(here)) {
        return Ok(Err(format!("an initial state with the values {control:?} is in the set")));
    }
    for rule in &system.rules {
        let fields: &[u64] = rule.receive.map_or(&[], |channel| &system.channels[channel].1);
        let (mut parameters, mut steps) = (vec![0; rule.parameters.len()], 0u32);
        loop {
            let mut received = vec![0; fields.len()];
            loop {
                steps = steps.wrapping_add(1);
                if steps.is_multiple_of(1024)
                    && let Some(reason) = budget.exhausted()
                {
                    return Err(reason);
                }
                let scope = Scope { control, parameters: &parameters, received: &received };
                if rule.guard.iter().all(|condition| condition.holds(scope)) {
                    let mut after = control.to_vec();
                    rule.assign.iter().for_each(|(variable, value)| after[*variable] = value.of(scope));
                    for element in elements.get(after.as_slice()).into_iter().flatten() {
                        let mut words = element.words.clone();
                        for (channel, message) in &rule.send {
                            let sent: Message = message.iter().map(|value| value.of(scope)).collect();
                            // The smallest word to which the message is appended, or that has lost it already.
                            if words[*channel].last() == Some(&sent) {
                                words[*channel].pop();
                            }
                        }
                        if let Some(channel) = rule.receive {
                            words[channel].insert(0, received.clone());
                        }
                        if !above(control, &words) {
                            let name = &rule.name;
                            return Ok(Err(format!("`{name}` enters the set from {control:?} {words:?}")));
                        }
                    }
                }
                if !next(&mut received, fields) {
                    break;
                }
            }
            if !next(&mut parameters, &rule.parameters) {
                break;
            }
        }
    }
    Ok(Ok(()))
}

/// The next list of values; none if this was the last.
fn next(values: &mut [u64], sizes: &[u64]) -> bool {
    for (value, size) in values.iter_mut().zip(sizes) {
        *value += 1;
        if *value < *size {
            return true;
        }
        *value = 0;
    }
    false
}

/// Is the first word a subword of the second?
fn is_below(small: &[Message], large: &[Message]) -> bool {
    match (small.split_first(), large.split_first()) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some((a, rest)), Some((b, behind))) if a == b => is_below(rest, behind),
        (Some(_), Some((_, behind))) => is_below(small, behind),
    }
}
