//! How far a marking seems to be from the targets, for the forward search.
//!
//! Tokens are never taken away in this estimate (the delete relaxation of planning): the cost of a token on a
//! place is that of the cheapest transition that puts one there, which is one more than the costs of all tokens
//! it lacks (the additive heuristic, Bonet and Geffner 2001). Where even that reaches no target, no run does. One estimate is a
//! shortest-path search over the arcs of the net; it may overestimate, so that runs are found soon and need not be
//! short.

use crate::forward::OMEGA;
use preempt_net::{Marking, Place, Problem};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No target can be covered from here.
pub(crate) const NEVER: u32 = u32::MAX;

pub(crate) struct Distance {
    /// For each action how many places it needs, and where it puts tokens. A move is an action of its own.
    needs: Vec<u32>,
    gives: Vec<Vec<Place>>,
    /// For each place who needs it, and how much.
    users: Vec<Vec<(u32, u32)>>,
    /// The actions that need nothing.
    free: Vec<u32>,
    targets: Vec<Vec<(Place, u32)>>,
    cost: Vec<u32>,
    lacking: Vec<u32>,
    sum: Vec<u32>,
    queue: BinaryHeap<Reverse<(u32, Place)>>,
}

fn small(marking: &Marking) -> Vec<(Place, u32)> {
    marking.iter().map(|(place, n)| (place, u32::try_from(n).unwrap_or(OMEGA - 1))).collect()
}

impl Distance {
    pub(crate) fn new(problem: &Problem, live: &[bool], open: &[usize]) -> Distance {
        let mut needs: Vec<Vec<(Place, u32)>> = Vec::new();
        let mut gives: Vec<Vec<Place>> = Vec::new();
        for (transition, _) in problem.net.transitions.iter().zip(live).filter(|(_, live)| **live) {
            let given: Vec<Place> = transition.produce.iter().map(|(place, _)| place).collect();
            needs.push(small(&transition.consume));
            gives.push(given);
            for moved in transition.moves.iter().filter(|moved| !moved.to.is_empty()) {
                let one = Marking::from_pairs([(moved.from, 1)]);
                needs.push(small(&transition.consume.plus(&one)));
                gives.push(moved.to.clone());
            }
        }
        let mut users = vec![Vec::new(); problem.net.places.len()];
        for (number, need) in needs.iter().enumerate() {
            for (place, n) in need {
                users[*place as usize].push((number as u32, *n));
            }
        }
        let targets = open.iter().map(|target| small(&problem.targets[*target])).collect();
        Distance {
            cost: vec![NEVER; users.len()],
            lacking: vec![0; needs.len()],
            sum: vec![0; needs.len()],
            free: (0..).zip(&needs).filter(|(_, need)| need.is_empty()).map(|(action, _)| action).collect(),
            needs: needs.iter().map(|need| need.len() as u32).collect(),
            gives,
            users,
            targets,
            queue: BinaryHeap::new(),
        }
    }

    pub(crate) fn estimate(&mut self, marking: &[u32]) -> u32 {
        self.cost.fill(NEVER);
        self.queue.clear();
        self.sum.fill(1);
        self.lacking.copy_from_slice(&self.needs);
        for action in &self.free {
            Self::give(&mut self.cost, &mut self.queue, &self.gives[*action as usize], 1);
        }
        for (place, there) in marking.iter().enumerate().filter(|(_, there)| **there > 0) {
            for (action, n) in &self.users[place] {
                if there >= n {
                    let action = *action as usize;
                    self.lacking[action] -= 1;
                    if self.lacking[action] == 0 {
                        Self::give(&mut self.cost, &mut self.queue, &self.gives[action], 1);
                    }
                }
            }
        }
        while let Some(Reverse((cost, place))) = self.queue.pop() {
            if cost > self.cost[place as usize] {
                continue;
            }
            let there = marking[place as usize];
            for (action, n) in &self.users[place as usize] {
                if there >= *n {
                    continue;
                }
                let action = *action as usize;
                self.lacking[action] -= 1;
                self.sum[action] =
                    self.sum[action].saturating_add(cost.saturating_mul(*n - there)).min(NEVER - 1);
                if self.lacking[action] == 0 {
                    Self::give(&mut self.cost, &mut self.queue, &self.gives[action], self.sum[action]);
                }
            }
        }
        let far = |target: &Vec<(Place, u32)>| {
            let mut sum = 0u32;
            for (place, n) in target {
                let there = marking[*place as usize];
                if there < *n {
                    let each = self.cost[*place as usize];
                    if each == NEVER {
                        return NEVER;
                    }
                    sum = sum.saturating_add(each.saturating_mul(*n - there)).min(NEVER - 1);
                }
            }
            sum
        };
        self.targets.iter().map(far).min().unwrap_or(NEVER)
    }

    fn give(cost: &mut [u32], queue: &mut BinaryHeap<Reverse<(u32, Place)>>, places: &[Place], price: u32) {
        for place in places {
            if price < cost[*place as usize] {
                cost[*place as usize] = price;
                queue.push(Reverse((price, *place)));
            }
        }
    }
}
