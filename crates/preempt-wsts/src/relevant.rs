//! The cone of influence: what a run to a target can make use of, backward from the targets. Linear in the size of the net.

use preempt_net::{Place, Problem};

pub(crate) struct Relevant {
    pub(crate) places: Vec<bool>,
    pub(crate) transitions: Vec<bool>,
}

/// Places that a useful transition needs, and transitions that put a token on a useful place. In a monotone net
/// the others only take tokens away.
pub(crate) fn relevant(problem: &Problem, live: &[bool], open: &[usize]) -> Relevant {
    let net = &problem.net;
    let mut places = vec![false; net.places.len()];
    let mut transitions = vec![false; net.transitions.len()];
    // Who puts tokens on a place; for a move, from which other place.
    let mut givers: Vec<Vec<(usize, Option<Place>)>> = vec![Vec::new(); net.places.len()];
    for (number, transition) in net.transitions.iter().enumerate().filter(|(t, _)| live[*t]) {
        for (place, n) in transition.produce.iter() {
            if n > transition.consume.get(place) || transition.move_of(place).is_some() {
                givers[place as usize].push((number, None));
            }
        }
        for moved in &transition.moves {
            for to in &moved.to {
                givers[*to as usize].push((number, Some(moved.from)));
            }
        }
    }
    let targets = open.iter().map(|target| &problem.targets[*target]);
    let mut wanted: Vec<Place> = targets.flat_map(|target| target.iter().map(|(place, _)| place)).collect();
    while let Some(place) = wanted.pop() {
        if std::mem::replace(&mut places[place as usize], true) {
            continue;
        }
        for (number, from) in &givers[place as usize] {
            wanted.extend(*from);
            if !std::mem::replace(&mut transitions[*number], true) {
                wanted.extend(net.transitions[*number].consume.iter().map(|(place, _)| place));
            }
        }
    }
    Relevant { places, transitions }
}
