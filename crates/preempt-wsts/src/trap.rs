//! Traps: sets of places that stay marked once they are. Resets and transfers count as consumers.
//!
//! The union of two traps is one, so that there is a largest trap among given places: from all of them those are removed,
//! again and again, that a transition empties without putting a token on another. The state inequation does not know that
//! a trap stays marked; if its solution leaves one empty that is marked at first, the solution is no run. At most as many
//! rounds over the net as there are places.

use preempt_net::{Place, Problem};

/// The largest trap among the candidates that is marked at first, with respect to live transitions.
pub(crate) fn marked_trap(problem: &Problem, live: &[bool], candidates: &[Place]) -> Option<Vec<Place>> {
    let mut inside = vec![false; problem.net.places.len()];
    for place in candidates {
        inside[*place as usize] = true;
    }
    let live_transitions = || {
        problem.net.transitions.iter().zip(live).filter(|(_, live)| **live).map(|(transition, _)| transition)
    };
    loop {
        let mut changed = false;
        for transition in live_transitions() {
            if transition.produce.iter().any(|(place, _)| inside[place as usize]) {
                continue;
            }
            // Nothing is put back: no place may lose its tokens.
            for (place, _) in transition.consume.iter() {
                changed |= std::mem::replace(&mut inside[place as usize], false);
            }
            for moved in &transition.moves {
                let kept = moved.to.iter().any(|to| inside[*to as usize]);
                if inside[moved.from as usize] && !kept {
                    inside[moved.from as usize] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let trap: Vec<Place> = (0..inside.len() as Place).filter(|place| inside[*place as usize]).collect();
    trap.iter().any(|place| problem.range(*place).low > 0).then_some(trap)
}
