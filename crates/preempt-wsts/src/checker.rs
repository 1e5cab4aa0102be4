//! The independent checker of certificates.
//!
//! It shares no code with the engines: it reads the net's data and does everything else itself, with exact
//! integers. It is written to be read against the definitions in [`certificate`](crate::certificate).

use crate::certificate::{Certificate, Combination, InductiveBasis, Refutation, RefutationStep};
use num_bigint::{BigInt, BigUint};
use num_traits::{Signed, Zero};
use preempt_core::{Budget, StopReason};
use preempt_net::{Marking, Place, Problem, Transition};
use std::collections::{BTreeMap, BTreeSet};

/// Does the certificate show that no target can be covered? The error says what is missing.
///
/// ```
/// use preempt_core::SourceMap;
/// use preempt_wsts::{Certificate, checker::verify};
///
/// let text = "vars a b rules a >= 1 -> a' = a - 1, b' = b + 1; init a = 1, b = 0 target b >= 2";
/// let (problem, _) = preempt_net::spec::read(SourceMap::new().add("net.spec", text), text);
/// // One token in all: a + b never grows, begins with 1, and the target needs 2.
/// let proof = "preempt certificate 1\nrefute 1\n  contradiction 1*a 1*b";
/// let certificate = Certificate::parse(&problem.net, proof)?;
/// assert_eq!(verify(&problem, &certificate), Ok(()));
/// let wrong = Certificate::parse(&problem.net, &proof.replace(" 1*a", ""))?;
/// assert!(verify(&problem, &wrong).is_err(), "b alone grows");
/// # Ok::<(), String>(())
/// ```
pub fn verify(problem: &Problem, certificate: &Certificate) -> Result<(), String> {
    verify_within(problem, certificate, &Budget::unlimited()).unwrap_or_else(|_| Err("it was stopped".into()))
}

/// The same, unless the budget is exhausted first. Memory does not depend on the numbers in the certificate.
pub fn verify_within(
    problem: &Problem,
    certificate: &Certificate,
    budget: &Budget,
) -> Result<Result<(), String>, StopReason> {
    match verified(problem, certificate, budget) {
        Ok(()) => Ok(Ok(())),
        Err(Fault::Wrong(reason)) => Ok(Err(reason)),
        Err(Fault::Stopped(reason)) => Err(reason),
    }
}

/// Why a certificate does not count.
enum Fault {
    Wrong(String),
    Stopped(StopReason),
}

impl From<String> for Fault {
    fn from(reason: String) -> Fault {
        Fault::Wrong(reason)
    }
}

impl From<&str> for Fault {
    fn from(reason: &str) -> Fault {
        Fault::Wrong(reason.into())
    }
}

fn go_on(budget: &Budget) -> Result<(), Fault> {
    budget.exhausted().map_or(Ok(()), |reason| Err(Fault::Stopped(reason)))
}

fn verified(problem: &Problem, certificate: &Certificate, budget: &Budget) -> Result<(), Fault> {
    go_on(budget)?;
    let mut done = BTreeSet::new();
    for refutation in &certificate.refutations {
        verify_refutation(problem, refutation, budget).map_err(|fault| match fault {
            Fault::Wrong(e) => Fault::Wrong(format!("target {}: {e}", refutation.target.saturating_add(1))),
            stopped @ Fault::Stopped(_) => stopped,
        })?;
        done.insert(refutation.target);
    }
    let open: Vec<usize> = (0..problem.targets.len()).filter(|target| !done.contains(target)).collect();
    match &certificate.basis {
        Some(basis) => verify_basis(problem, basis, &open, budget),
        None if open.is_empty() => Ok(()),
        None => Err(format!("nothing is said about target {}", open[0] + 1).into()),
    }
}

type Weights = BTreeMap<Place, BigInt>;

fn weights(problem: &Problem, pairs: &[(Place, BigUint)]) -> Result<Weights, String> {
    let mut weights = Weights::new();
    for (place, weight) in pairs {
        if *place as usize >= problem.net.places.len() {
            return Err(format!("there is no place {place}"));
        }
        *weights.entry(*place).or_default() += BigInt::from(weight.clone());
    }
    weights.retain(|_, weight| !weight.is_zero());
    Ok(weights)
}

fn value(weights: &Weights, marking: &Marking) -> BigInt {
    marking.iter().filter_map(|(place, n)| weights.get(&place).map(|weight| weight * BigInt::from(n))).sum()
}

/// The largest value at first; `None` if there is none, because a place with a weight is parametric.
fn initial_value(problem: &Problem, weights: &Weights) -> Option<BigInt> {
    let mut sum = BigInt::zero();
    for (place, weight) in weights {
        sum += weight * BigInt::from(problem.initial.get(*place as usize)?.high?);
    }
    Some(sum)
}

/// By how much a firing changes the value, at most: consumed and produced tokens change it by the same always,
/// and every token that is moved must not add to it. `None` if one does.
fn growth(weights: &Weights, transition: &Transition) -> Option<BigInt> {
    for moved in &transition.moves {
        let before = weights.get(&moved.from).cloned().unwrap_or_default();
        let after: BigInt = moved.to.iter().filter_map(|to| weights.get(to)).sum();
        if after > before {
            return None;
        }
    }
    Some(value(weights, &transition.produce) - value(weights, &transition.consume))
}

fn never_grows(weights: &Weights, transition: &Transition) -> bool {
    growth(weights, transition).is_some_and(|by| !by.is_positive())
}

fn meets(marking: &Marking, places: &BTreeSet<Place>) -> bool {
    marking.iter().any(|(place, n)| n > 0 && places.contains(&place))
}

fn place_set(problem: &Problem, places: &[Place]) -> Result<BTreeSet<Place>, String> {
    match places.iter().find(|place| **place as usize >= problem.net.places.len()) {
        Some(place) => Err(format!("there is no place {place}")),
        None => Ok(places.iter().copied().collect()),
    }
}

/// Empty at first, and every live transition that could put a token there needs one from there.
fn is_empty_siphon(problem: &Problem, places: &BTreeSet<Place>, live: impl Fn(usize) -> bool) -> bool {
    let empty = places.iter().all(|place| problem.range(*place).high == Some(0));
    let kept = problem.net.transitions.iter().enumerate().all(|(number, t)| {
        let arrives = t
            .moves
            .iter()
            .any(|moved| !places.contains(&moved.from) && moved.to.iter().any(|to| places.contains(to)));
        !live(number) || meets(&t.consume, places) || !(meets(&t.produce, places) || arrives)
    });
    empty && kept
}

/// Marked at first, and marked after every live transition if it was before.
fn is_marked_trap(problem: &Problem, places: &BTreeSet<Place>, live: impl Fn(usize) -> bool) -> bool {
    let marked = places.iter().any(|place| problem.range(*place).low > 0);
    let kept = problem.net.transitions.iter().enumerate().all(|(number, t)| {
        let loses = t
            .moves
            .iter()
            .any(|moved| places.contains(&moved.from) && !moved.to.iter().any(|to| places.contains(to)));
        !live(number) || meets(&t.produce, places) || !(meets(&t.consume, places) || loses)
    });
    marked && kept
}

fn verify_refutation(problem: &Problem, refutation: &Refutation, budget: &Budget) -> Result<(), Fault> {
    let target = problem.targets.get(refutation.target).ok_or("there is no such target")?;
    let mut live = vec![true; problem.net.transitions.len()];
    let mut traps: Vec<BTreeSet<Place>> = Vec::new();
    for (number, step) in refutation.steps.iter().enumerate() {
        go_on(budget)?;
        let here = |reason: &str| Fault::Wrong(format!("step {}: {reason}", number + 1));
        match step {
            RefutationStep::Empty(places) => {
                let places = place_set(problem, places)?;
                if !is_empty_siphon(problem, &places, |t| live[t]) {
                    return Err(here("these places do not stay empty"));
                }
                if meets(target, &places) {
                    return Ok(());
                }
                for (t, transition) in problem.net.transitions.iter().enumerate() {
                    live[t] &= !meets(&transition.consume, &places);
                }
            }
            RefutationStep::Trap(places) => {
                let places = place_set(problem, places)?;
                if !is_marked_trap(problem, &places, |t| live[t]) {
                    return Err(here("these places can become empty"));
                }
                traps.push(places);
            }
            RefutationStep::Unused(combination) | RefutationStep::Contradiction(combination) => {
                let (sum, needed) = combined(problem, target, &traps, combination)?;
                let Some(first) = initial_value(problem, &sum) else {
                    return Err(here("a parametric place has a weight"));
                };
                for (t, transition) in problem.net.transitions.iter().enumerate() {
                    if live[t] && !never_grows(&sum, transition) {
                        return Err(here(&format!("`{}` can make the sum grow", transition.name)));
                    }
                }
                if matches!(step, RefutationStep::Contradiction(_)) {
                    return if first < needed {
                        Ok(())
                    } else {
                        Err(here("the sum is large enough at first"))
                    };
                }
                if first > needed {
                    return Err(here("the sum may shrink"));
                }
                for (t, transition) in problem.net.transitions.iter().enumerate() {
                    live[t] &= growth(&sum, transition).is_some_and(|by| by.is_zero());
                }
            }
        }
    }
    Err("the argument has no end".into())
}

/// The weighted sum, and what it is at least when the target is covered.
fn combined(
    problem: &Problem,
    target: &Marking,
    traps: &[BTreeSet<Place>],
    combination: &Combination,
) -> Result<(Weights, BigInt), String> {
    let mut sum = weights(problem, &combination.places)?;
    let mut needed = value(&sum, target);
    for (trap, weight) in &combination.traps {
        let places = traps.get(*trap).ok_or("a trap that was not shown")?;
        let weight = BigInt::from(weight.clone());
        for place in places {
            *sum.entry(*place).or_default() += &weight;
        }
        needed += weight;
    }
    sum.retain(|_, weight| !weight.is_zero());
    Ok((sum, needed))
}

fn verify_basis(
    problem: &Problem,
    basis: &InductiveBasis,
    open: &[usize],
    budget: &Budget,
) -> Result<(), Fault> {
    let empty = place_set(problem, &basis.empty)?;
    if !is_empty_siphon(problem, &empty, |_| true) {
        return Err("the places given as empty do not stay empty".into());
    }
    let live: Vec<&Transition> =
        problem.net.transitions.iter().filter(|t| !meets(&t.consume, &empty)).collect();
    let mut bounds = Vec::new();
    for (number, pairs) in basis.bounds.iter().enumerate() {
        go_on(budget)?;
        let sum = weights(problem, pairs)?;
        if !live.iter().all(|transition| never_grows(&sum, transition)) {
            return Err(format!("bound {} can grow", number + 1).into());
        }
        let first = initial_value(problem, &sum).ok_or(format!("bound {} is parametric", number + 1))?;
        bounds.push((sum, first));
    }
    for element in &basis.elements {
        let initial = element.iter().all(|(place, tokens)| match problem.initial.get(place as usize) {
            Some(range) => range.high.is_none_or(|high| tokens <= high),
            None => false,
        });
        if initial {
            return Err(format!("an initial marking covers {}", problem.net.show(element)).into());
        }
    }
    // Each element is listed under one of its places, and under none if it has no tokens.
    let mut listed: BTreeMap<Option<Place>, Vec<&Marking>> = BTreeMap::new();
    for element in &basis.elements {
        listed.entry(element.iter().last().map(|(place, _)| place)).or_default().push(element);
    }
    let inside = |marking: &Marking| {
        let keys = marking.iter().map(|(place, _)| Some(place)).chain([None]);
        keys.filter_map(|key| listed.get(&key)).flatten().any(|element| {
            element.iter().all(|(place, n)| marking.iter().any(|(p, have)| p == place && have >= n))
        })
    };
    let excluded = |marking: &Marking| {
        meets(marking, &empty) || bounds.iter().any(|(sum, first)| value(sum, marking) > *first)
    };
    for target in open {
        let target = &problem.targets[*target];
        if !inside(target) && !excluded(target) {
            return Err(format!("the target {} is not in the set", problem.net.show(target)).into());
        }
    }
    for element in &basis.elements {
        for transition in &live {
            go_on(budget)?;
            let mut looked_at = 0u32;
            each_before(transition, element, &mut |before| {
                looked_at = looked_at.wrapping_add(1);
                if looked_at.is_multiple_of(POLL) {
                    go_on(budget)?;
                }
                if inside(before) || excluded(before) {
                    return Ok(());
                }
                let (name, before) = (&transition.name, problem.net.show(before));
                Err(Fault::Wrong(format!("`{name}` leads from {before} into the set")))
            })?;
        }
    }
    Ok(())
}

/// Markings between two looks at the budget.
const POLL: u32 = 64;

/// A place that is wanted after the firing, how many tokens are not produced there, and where they can come from: each
/// source with the number of tokens that arrive for one of its own.
struct Wanted {
    missing: u128,
    sources: Vec<(Place, u128)>,
}

/// One by one the markings below which every marking lies from which the transition leads above `wanted`: for each token
/// that is not produced, every place it can come from. Not minimal. None at all where the transition does not help, since
/// then already the marking before lies above `wanted`.
fn each_before(
    transition: &Transition,
    wanted: &Marking,
    look: &mut dyn FnMut(&Marking) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let produced: BTreeMap<Place, u64> = transition.produce.iter().collect();
    let wants = |place: Place| wanted.iter().any(|(p, _)| p == place);
    let helps = wanted.iter().any(|(place, _)| produced.contains_key(&place))
        || transition.moves.iter().any(|moved| {
            moved.to.iter().any(|to| *to != moved.from && wants(*to))
                || moved.to.iter().filter(|to| **to == moved.from).count() > 1
        });
    if !helps {
        return Ok(());
    }
    let mut needs: Vec<Wanted> = Vec::new();
    for (place, tokens) in wanted.iter() {
        let mut sources = Vec::new();
        if !transition.moves.iter().any(|moved| moved.from == place) {
            sources.push((place, 1));
        }
        for moved in &transition.moves {
            let copies = moved.to.iter().filter(|to| **to == place).count() as u128;
            if copies > 0 {
                sources.push((moved.from, copies));
            }
        }
        let missing = tokens.saturating_sub(produced.get(&place).copied().unwrap_or(0));
        needs.push(Wanted { missing: u128::from(missing), sources });
    }
    splits(&needs, &mut |rest| {
        let tokens = rest.iter().map(|(place, n)| (*place, u64::try_from(*n).unwrap_or(u64::MAX)));
        look(&tokens.chain(transition.consume.iter()).collect::<Marking>())
    })
}

/// What is left on each place after consuming.
type Rest = BTreeMap<Place, u128>;

/// Every way in which the sources can give what is missing, one after the other: a counter whose digits are the tokens that
/// each source adds for each place. A source that comes last gives all that is still missing.
fn splits(needs: &[Wanted], look: &mut dyn FnMut(&Rest) -> Result<(), Fault>) -> Result<(), Fault> {
    let digits: Vec<(usize, usize)> =
        needs.iter().enumerate().flat_map(|(n, need)| (0..need.sources.len()).map(move |s| (n, s))).collect();
    if needs.iter().any(|need| need.missing > 0 && need.sources.is_empty()) {
        return Ok(());
    }
    let mut rest = Rest::new();
    // For each digit what it adds, and the most that it may.
    let mut added: Vec<(u128, u128)> = Vec::new();
    loop {
        while added.len() < digits.len() {
            let (need, at) = digits[added.len()];
            let Wanted { missing, sources } = &needs[need];
            let arrives: u128 =
                sources.iter().map(|(p, each)| rest.get(p).copied().unwrap_or(0) * each).sum();
            let (source, each) = sources[at];
            let most = missing.saturating_sub(arrives).div_ceil(each);
            let least = if at + 1 == sources.len() { most } else { 0 };
            *rest.entry(source).or_default() += least;
            added.push((least, most));
        }
        look(&rest)?;
        // The last digit that can grow does, and those after it begin again.
        loop {
            let Some((now, most)) = added.pop() else { return Ok(()) };
            let (need, at) = digits[added.len()];
            let tokens = rest.entry(needs[need].sources[at].0).or_default();
            if now < most {
                *tokens += 1;
                added.push((now + 1, most));
                break;
            }
            *tokens -= now;
        }
    }
}
