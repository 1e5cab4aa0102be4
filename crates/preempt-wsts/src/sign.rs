//! Sign analysis: which places can ever have a token at all. What cannot is the largest siphon that is empty at
//! first; transitions that need such a place never fire.
//!
//! Numbers of tokens are forgotten but for whether there are any, and a transition fires if none of its places is known to
//! be empty. That allows everything that a run can do, so that what stays empty here stays empty in every run. A worklist
//! looks at every arc once: linear in the size of the net.

use preempt_net::{Place, Problem};

/// The places that stay empty if only live transitions fire, in order.
pub(crate) fn always_empty(problem: &Problem, live: &[bool]) -> Vec<Place> {
    let net = &problem.net;
    let count = net.places.len();
    let mut marked = vec![false; count];
    // For each place, who waits for it; for each transition, how many of its places are still missing.
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut moved_by: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    let mut missing = vec![0usize; net.transitions.len()];
    let mut found: Vec<Place> = Vec::new();
    let mut ready: Vec<usize> = Vec::new();
    for (number, transition) in net.transitions.iter().enumerate() {
        if !live[number] {
            missing[number] = usize::MAX;
            continue;
        }
        missing[number] = transition.consume.support_len();
        for (place, _) in transition.consume.iter() {
            waiting[place as usize].push(number);
        }
        for (at, moved) in transition.moves.iter().enumerate() {
            moved_by[moved.from as usize].push((number, at));
        }
        if missing[number] == 0 {
            ready.push(number);
        }
    }
    let mark = |place: Place, marked: &mut Vec<bool>, found: &mut Vec<Place>| {
        if !std::mem::replace(&mut marked[place as usize], true) {
            found.push(place);
        }
    };
    for place in 0..count as Place {
        if problem.range(place).high != Some(0) {
            mark(place, &mut marked, &mut found);
        }
    }
    loop {
        if let Some(number) = ready.pop() {
            let transition = &net.transitions[number];
            for (place, _) in transition.produce.iter() {
                mark(place, &mut marked, &mut found);
            }
            for moved in
                transition.moves.iter().filter(|moved| marked[moved.from as usize]).collect::<Vec<_>>()
            {
                for to in &moved.to {
                    mark(*to, &mut marked, &mut found);
                }
            }
        } else if let Some(place) = found.pop() {
            for number in &waiting[place as usize] {
                missing[*number] -= 1;
                if missing[*number] == 0 {
                    ready.push(*number);
                }
            }
            for (number, at) in &moved_by[place as usize] {
                if missing[*number] == 0 {
                    for to in &net.transitions[*number].moves[*at].to {
                        mark(*to, &mut marked, &mut found);
                    }
                }
            }
        } else {
            break;
        }
    }
    (0..count as Place).filter(|place| !marked[*place as usize]).collect()
}

/// Excludes the transitions that need one of the places. Were there any?
pub(crate) fn exclude(problem: &Problem, empty: &[Place], live: &mut [bool]) -> bool {
    let mut some = false;
    for (number, transition) in problem.net.transitions.iter().enumerate() {
        if live[number] && transition.consume.iter().any(|(place, _)| empty.binary_search(&place).is_ok()) {
            live[number] = false;
            some = true;
        }
    }
    some
}
