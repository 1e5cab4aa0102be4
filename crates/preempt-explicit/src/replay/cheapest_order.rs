//! The same steps in another order: a run with as few preemptions as its steps allow.
//!
//! Fig. 5 of Holzmann and Florian (2011, paper 000) takes safe steps ahead of their time and does not count the switches
//! to them and back, so a run that it finds has more preemptions than the search says.
//!
//! Musuvathi and Qadeer (2007, paper 001, the end of section 2) give the fewest preemptions of any order of some steps by
//! a recursive equation over the prefixes `x` of the run: `CB(x, t)` is the least, over the processes `u` that may have
//! done the last step of `x`, of `CB(x - u, u)` plus one if `u` could go on in `x` and is not `t`. The stateless engine
//! solves it backward and keeps the results by prefix; here it is solved forward from the empty prefix, by a breadth-first
//! search with two queues (a step costs 0 or 1), so that prefixes that cost more than the answer are never looked at. There
//! are exponentially many prefixes (the problem is NP-complete, Theorem 5 there), hence the limit [`MOST_PREFIXES`].
//!
//! Whether steps may change places is not judged by what they touch: a step is done only where its process can do it,
//! and the new run must end in the same violation. Steps that the violation does not need are left out on the way.
//!
//! **Invariant:** a process does its steps in the order in which it did them before, from the first.

use super::Run;
use preempt_core::Property;
use preempt_model::search::{settled, wrong_with};
use preempt_model::system::{Successor, System};
use std::collections::{HashMap, VecDeque};

/// Prefixes that are looked at before the search for a cheaper order is given up.
pub const MOST_PREFIXES: usize = 50_000;

/// A step of the run, and who takes part in it.
struct Event<A> {
    process: usize,
    /// The process that runs afterwards: in a rendezvous the other one.
    runs: usize,
    action: A,
}

/// How far each process is, in which state, and who ran last.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Prefix<S> {
    done: Vec<u32>,
    state: S,
    last: Option<usize>,
}

/// The number of the step that led to a prefix, and the prefix before it.
type Predecessor<S> = (usize, Prefix<S>);

/// An order of the run's steps with the fewest preemptions that ends in the same violation; `None` if more than `most`
/// prefixes would have to be looked at, or the system's budget ends.
pub fn cheapest_order<S: System>(
    system: &S,
    run: &Run<S>,
    violated: &Property,
    in_state: bool,
    most: usize,
) -> Option<Run<S>> {
    let budget = system.budget();
    let events = events(system, run)?;
    let parts = parts(&events);
    let start =
        Prefix { done: vec![0; parts.len()], state: settled(system, run.initial.clone()), last: None };
    let mut from: HashMap<Prefix<S::State>, Option<Predecessor<S::State>>> = HashMap::new();
    // Within a cost, in the order of steps.
    let mut now = VecDeque::from([(Some(start), None)]);
    let mut later = VecDeque::new();
    loop {
        let Some((prefix, by)) = now.pop_front() else {
            if later.is_empty() {
                return None;
            }
            now = std::mem::take(&mut later);
            continue;
        };
        let Some(prefix) = prefix else { return Some(order_of(run, &events, &from, by)) };
        if from.contains_key(&prefix) {
            continue;
        }
        if in_state && is_violated(system, &prefix.state, violated) {
            return Some(order_of(run, &events, &from, by));
        }
        if from.len() >= most || from.len() % 64 == 63 && budget.exhausted().is_some() {
            return None;
        }
        from.insert(prefix.clone(), by);
        let could_go_on = prefix.last.is_some_and(|last| !moves(system, &prefix.state, last).is_empty());
        for (process, own) in parts.iter().enumerate() {
            let Some(&number) = own.get(prefix.done[process] as usize) else { continue };
            let event = &events[number];
            // Both sides of a rendezvous must have come this far.
            let other = parts[event.runs].get(prefix.done[event.runs] as usize);
            if event.process != process || other != Some(&number) {
                continue;
            }
            let same = |step: &Successor<S::State, S::Action>| {
                step.action == event.action && step.runs == event.runs
            };
            let Some(step) = moves(system, &prefix.state, process).into_iter().find(same) else { continue };
            let violates = step.violation.is_some_and(|violation| Property::from(violation) == *violated);
            let next = match step.state {
                _ if violates && !in_state => None,
                None => continue,
                Some(state) => {
                    let mut done = prefix.done.clone();
                    done[process] += 1;
                    if event.runs != process {
                        done[event.runs] += 1;
                    }
                    Some(Prefix { done, state: settled(system, state), last: Some(event.runs) })
                }
            };
            let preempts = could_go_on && prefix.last != Some(process);
            let queue = if preempts { &mut later } else { &mut now };
            queue.push_back((next, Some((number, prefix.clone()))));
        }
    }
}

/// The steps of the run, executed once.
fn events<S: System>(system: &S, run: &Run<S>) -> Option<Vec<Event<S::Action>>> {
    let mut state = Some(run.initial.clone());
    let mut events = Vec::new();
    for (process, action) in &run.steps {
        let before = settled(system, state.take()?);
        let step = system.successors(&before, *process).into_iter().find(|step| step.action == *action)?;
        events.push(Event { process: *process, runs: step.runs, action: action.clone() });
        state = step.state;
    }
    Some(events)
}

/// For each process the numbers of the events that it takes part in.
fn parts<A>(events: &[Event<A>]) -> Vec<Vec<usize>> {
    let processes = events.iter().map(|event| event.process.max(event.runs) + 1).max().unwrap_or(0);
    let mut parts = vec![Vec::new(); processes];
    for (number, event) in events.iter().enumerate() {
        parts[event.process].push(number);
        if event.runs != event.process {
            parts[event.runs].push(number);
        }
    }
    parts
}

/// None for a process that does not exist yet, or no more.
fn moves<S: System>(system: &S, state: &S::State, process: usize) -> Vec<Successor<S::State, S::Action>> {
    match process < system.process_count(state) {
        true => system.successors(state, process),
        false => Vec::new(),
    }
}

fn is_violated<S: System>(system: &S, state: &S::State, violated: &Property) -> bool {
    system.exclusive(state).is_none()
        && wrong_with(system, state).is_some_and(|violation| violation == *violated)
}

/// The steps that led to a prefix.
fn order_of<S: System>(
    run: &Run<S>,
    events: &[Event<S::Action>],
    from: &HashMap<Prefix<S::State>, Option<Predecessor<S::State>>>,
    mut by: Option<Predecessor<S::State>>,
) -> Run<S> {
    let mut steps = Vec::new();
    while let Some((number, before)) = by {
        steps.push((events[number].process, events[number].action.clone()));
        by = from.get(&before).cloned().flatten();
    }
    steps.reverse();
    Run { initial: run.initial.clone(), steps }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Replayer;
    use crate::search::Counterexample;
    use preempt_core::Budget;
    use preempt_model::Interpreter;
    use preempt_model::generator::faulty_program_from_seed;

    /// A random run to the first violation, and whether that is one of its last state.
    fn random_run<'m>(system: &Interpreter<'m>, mut seed: u64) -> Option<(Run<Interpreter<'m>>, bool)> {
        let initial = system.initial_states().pop()?;
        let mut run = Run { initial: initial.clone(), steps: Vec::new() };
        let mut state = settled(system, initial);
        for _ in 0..LONGEST {
            if system.exclusive(&state).is_none() && wrong_with(system, &state).is_some() {
                return Some((run, true));
            }
            let all = (0..system.process_count(&state)).flat_map(|process| {
                moves(system, &state, process).into_iter().map(move |step| (process, step))
            });
            let all: Vec<_> = all.collect();
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let chosen = (seed >> 33) as usize % all.len().max(1);
            let (process, step) = all.into_iter().nth(chosen)?;
            run.steps.push((process, step.action));
            if step.violation.is_some() {
                return Some((run, false));
            }
            state = settled(system, step.state?);
        }
        None
    }

    const LONGEST: usize = 12;

    fn executed<'m>(system: &Interpreter<'m>, run: &Run<Interpreter<'m>>, in_state: bool) -> Counterexample {
        let state_of = |_: &[u8]| run.initial.clone();
        let replayer = Replayer { system, state_of: &state_of, budget: &Budget::unlimited() };
        replayer.execute(run, in_state, false).expect("no limit")
    }

    /// The fewest preemptions of any order, by trying them all.
    fn by_force(
        system: &Interpreter<'_>,
        events: &[Event<<Interpreter<'_> as System>::Action>],
        parts: &[Vec<usize>],
        prefix: &Prefix<<Interpreter<'_> as System>::State>,
        (violated, in_state): (&Property, bool),
    ) -> Option<u32> {
        if in_state && is_violated(system, &prefix.state, violated) {
            return Some(0);
        }
        let mut least = None;
        for (process, own) in parts.iter().enumerate() {
            let Some(&number) = own.get(prefix.done[process] as usize) else { continue };
            let event = &events[number];
            if event.process != process
                || parts[event.runs].get(prefix.done[event.runs] as usize) != Some(&number)
            {
                continue;
            }
            let leaves = prefix.last.filter(|last| *last != process);
            let preempts = leaves.is_some_and(|last| !moves(system, &prefix.state, last).is_empty());
            let all = moves(system, &prefix.state, process);
            let Some(step) = all.into_iter().find(|it| it.action == event.action && it.runs == event.runs)
            else {
                continue;
            };
            let rest = match (step.violation.map(Property::from), step.state) {
                (Some(found), _) if !in_state && found == *violated => Some(0),
                (_, None) => None,
                (_, Some(state)) => {
                    let mut done = prefix.done.clone();
                    done[process] += 1;
                    done[event.runs] += u32::from(event.runs != process);
                    let next = Prefix { done, state: settled(system, state), last: Some(event.runs) };
                    by_force(system, events, parts, &next, (violated, in_state))
                }
            };
            let cost = rest.map(|rest| rest + u32::from(preempts));
            least = [least, cost].into_iter().flatten().min();
        }
        least
    }

    #[test]
    fn no_order_of_the_same_steps_is_cheaper() {
        let (mut compared, mut better) = (0, 0);
        for seed in 0..400 {
            let (model, sources) = faulty_program_from_seed(seed).to_model();
            let Ok(system) = Interpreter::new(&model, &sources) else { continue };
            let Some((run, in_state)) = random_run(&system, seed) else { continue };
            let error = executed(&system, &run, in_state);
            let found = cheapest_order(&system, &run, &error.property, in_state, usize::MAX);
            let found = found.expect("the order of the run itself is one");
            let again = executed(&system, &found, in_state);
            assert_eq!(again.property, error.property, "seed {seed}");
            let events = events(&system, &run).expect("a run that replays");
            let parts = parts(&events);
            let state = settled(&system, run.initial.clone());
            let start = Prefix { done: vec![0; parts.len()], state, last: None };
            let least = by_force(&system, &events, &parts, &start, (&error.property, in_state));
            assert_eq!(Some(again.trace.preemptions() as u32), least, "seed {seed}");
            compared += 1;
            better += u32::from(again.trace.preemptions() < error.trace.preemptions());
        }
        assert!(compared > 100 && better > 20, "{compared} runs, {better} with a cheaper order");
    }

    #[test]
    fn the_budget_is_kept() {
        let (model, sources) = faulty_program_from_seed(3).to_model();
        let system = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let found = (0..100).find_map(|seed| random_run(&system, seed));
        let (run, in_state) = found.expect("a faulty program");
        let error = executed(&system, &run, in_state);
        assert!(cheapest_order(&system, &run, &error.property, in_state, 0).is_none());
    }
}
