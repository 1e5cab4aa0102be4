//! From a formula to an automaton with marks on its edges.
//!
//! A state is a set of formulas that are to hold from here on. Its edges are the ways in which all of them can:
//! what is to hold now, and which formulas then remain. The shape is that of Couvreur, "On-the-fly Verification of
//! Linear Temporal Logic" (FM 1999); which edges see the mark of an until, which edges are superfluous, and that
//! states with equal edges are one, is from Gastin and Oddoux, "Fast LTL to Büchi Automata Translation" (CAV 2001).

use super::TooLarge;
use super::formula::{FALSE, Id, Node, Store, TRUE};
use super::graph::{Edge, Graph};
use super::syntax::Cube;
use foldhash::HashMap;

/// States, and ways to leave a state, above which a formula is refused.
const MAX_STATES: usize = 20_000;
const MAX_WAYS: usize = 20_000;
/// Pairs of ways that may be combined in all.
const MAX_WORK: usize = 20_000_000;

/// A sorted set of formulas.
type Set = Vec<Id>;

/// One way in which a formula, or a set of them, can hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Way {
    now: Cube,
    then: Set,
    /// The untils whose goal is put off.
    postponed: Set,
}

impl Way {
    fn now(now: Cube) -> Way {
        Way { now, then: Set::new(), postponed: Set::new() }
    }

    fn later(then: Set) -> Way {
        Way { now: Cube::TRUE, then, postponed: Set::new() }
    }

    fn and(&self, other: &Way) -> Option<Way> {
        Some(Way {
            now: self.now.and(other.now)?,
            then: union(&self.then, &other.then),
            postponed: union(&self.postponed, &other.postponed),
        })
    }

    /// Whatever the other way leads to, this one does too.
    fn covers(&self, other: &Way) -> bool {
        self.now.contains(other.now)
            && is_subset(&self.then, &other.then)
            && is_subset(&self.postponed, &other.postponed)
    }
}

fn union(left: &[Id], right: &[Id]) -> Set {
    let mut all = [left, right].concat();
    all.sort_unstable();
    all.dedup();
    all
}

fn is_subset(left: &[Id], right: &[Id]) -> bool {
    left.iter().all(|part| right.binary_search(part).is_ok())
}

#[derive(Debug)]
pub(super) struct Tableau<'s> {
    store: &'s Store,
    /// Does the disjunction behind a next become several states, or one?
    split: bool,
    ways: HashMap<Id, Vec<Way>>,
    work: usize,
}

impl<'s> Tableau<'s> {
    pub(super) fn new(store: &'s Store, split: bool) -> Tableau<'s> {
        Tableau { store, split, ways: HashMap::default(), work: 0 }
    }

    /// The automaton of a formula.
    pub(super) fn explore(mut self, formula: Id) -> Result<Graph, TooLarge> {
        let mut first = self.store.conjuncts(formula);
        first.sort_unstable();
        let mut numbers: HashMap<Set, usize> = HashMap::default();
        // The state to use instead: an earlier one with the same ways.
        let mut class: Vec<usize> = Vec::new();
        let mut same: HashMap<Vec<Way>, usize> = HashMap::default();
        let mut sets = vec![first.clone()];
        numbers.insert(first, 0);
        let mut states: Vec<Vec<Way>> = Vec::new();
        while states.len() < sets.len() {
            let state = states.len();
            let ways = self.ways_of_set(&sets[state])?;
            let representative = *same.entry(ways.clone()).or_insert(state);
            class.push(representative);
            if representative != state {
                states.push(Vec::new());
                continue;
            }
            for way in &ways {
                if !numbers.contains_key(&way.then) {
                    if sets.len() == MAX_STATES {
                        return Err(TooLarge::States);
                    }
                    numbers.insert(way.then.clone(), sets.len());
                    sets.push(way.then.clone());
                }
            }
            states.push(ways);
        }
        let mut untils: Vec<Id> =
            states.iter().flatten().flat_map(|way| way.postponed.iter().copied()).collect();
        untils.sort_unstable();
        untils.dedup();
        if untils.len() > 64 {
            return Err(TooLarge::Untils);
        }
        let edge = |way: &Way| Edge {
            target: class[numbers[&way.then]],
            marks: untils
                .iter()
                .enumerate()
                .filter(|(_, until)| way.postponed.binary_search(until).is_err())
                .fold(0, |marks, (at, _)| marks | 1 << at),
            guard: way.now,
        };
        let states = states.iter().map(|ways| ways.iter().map(edge).collect()).collect();
        let marks = (0..untils.len()).fold(0, |marks, at| marks | 1 << at);
        Ok(Graph { states, initial: 0, marks, state_based: false })
    }

    fn ways_of_set(&mut self, set: &[Id]) -> Result<Vec<Way>, TooLarge> {
        let mut ways = vec![Way::now(Cube::TRUE)];
        for &formula in set {
            let more = self.ways(formula)?;
            ways = self.product(&ways, &more)?;
        }
        for way in &mut ways {
            let kept: Set =
                way.postponed.iter().copied().filter(|&until| !self.reaches_goal(until, way)).collect();
            way.postponed = kept;
            way.then = self.without_repeated(&way.then);
        }
        Ok(shortest(ways))
    }

    /// Does a way that puts off an until's goal nevertheless do all that a way to the goal asks for?
    fn reaches_goal(&self, until: Id, way: &Way) -> bool {
        self.ways.get(&until).is_some_and(|ways| {
            ways.iter().any(|goal| {
                goal.postponed.binary_search(&until).is_err()
                    && goal.now.contains(way.now)
                    && is_subset(&goal.then, &way.then)
            })
        })
    }

    /// The set without the formulas that a release in it takes up at every step anyway. The ways of a set do not
    /// change by this, since the ways of the release contain those of what it keeps; but they are found sooner.
    fn without_repeated(&self, set: &[Id]) -> Set {
        let mut repeated: Vec<Id> = Vec::new();
        let mut open: Vec<Id> = set.to_vec();
        while let Some(formula) = open.pop() {
            let parts = match self.store.node(formula) {
                Node::Release(_, keep) => vec![*keep],
                Node::And(parts) => parts.to_vec(),
                _ => continue,
            };
            for part in parts {
                if !repeated.contains(&part) {
                    repeated.push(part);
                    open.push(part);
                }
            }
        }
        set.iter().copied().filter(|formula| !repeated.contains(formula)).collect()
    }

    fn ways(&mut self, formula: Id) -> Result<Vec<Way>, TooLarge> {
        if let Some(known) = self.ways.get(&formula) {
            return Ok(known.clone());
        }
        let ways = match self.store.node(formula).clone() {
            Node::True => vec![Way::now(Cube::TRUE)],
            Node::False => Vec::new(),
            Node::Literal { atom, positive } => vec![Way::now(Cube::literal(atom, positive))],
            Node::And(parts) => {
                let mut all = vec![Way::now(Cube::TRUE)];
                for &part in &parts {
                    let more = self.ways(part)?;
                    all = self.product(&all, &more)?;
                }
                all
            }
            Node::Or(parts) => {
                let mut any = Vec::new();
                for &part in &parts {
                    any.extend(self.ways(part)?);
                }
                shortest(any)
            }
            Node::Next(inner) => self.targets(inner).into_iter().map(Way::later).collect(),
            Node::Until(hold, goal) => {
                let again = Way { postponed: vec![formula], ..Way::later(vec![formula]) };
                let hold = self.ways(hold)?;
                let mut ways = self.product(&hold, &[again])?;
                ways.extend(self.ways(goal)?);
                shortest(ways)
            }
            Node::Release(free, keep) => {
                let mut until = self.ways(free)?;
                until.push(Way::later(vec![formula]));
                let keep = self.ways(keep)?;
                self.product(&keep, &until)?
            }
        };
        self.ways.insert(formula, ways.clone());
        Ok(ways)
    }

    /// The sets of formulas of which one is to hold so that the formula does.
    fn targets(&self, formula: Id) -> Vec<Set> {
        match self.store.node(formula) {
            Node::And(parts) => parts.iter().fold(vec![Set::new()], |all, &part| {
                let more = self.targets(part);
                all.iter().flat_map(|left| more.iter().map(move |right| union(left, right))).collect()
            }),
            Node::Or(parts) if self.split => parts.iter().flat_map(|&part| self.targets(part)).collect(),
            _ if formula == TRUE => vec![Set::new()],
            _ if formula == FALSE => Vec::new(),
            _ => vec![vec![formula]],
        }
    }

    fn product(&mut self, left: &[Way], right: &[Way]) -> Result<Vec<Way>, TooLarge> {
        self.work += left.len() * right.len();
        if self.work > MAX_WORK {
            return Err(TooLarge::States);
        }
        let ways: Vec<Way> = left.iter().flat_map(|l| right.iter().filter_map(|r| l.and(r))).collect();
        let ways = shortest(ways);
        if ways.len() > MAX_WAYS { Err(TooLarge::States) } else { Ok(ways) }
    }
}

/// The ways that no other one covers, sorted.
fn shortest(mut ways: Vec<Way>) -> Vec<Way> {
    ways.sort_unstable();
    ways.dedup();
    let mut kept: Vec<Way> = Vec::new();
    for (at, way) in ways.iter().enumerate() {
        if !ways.iter().enumerate().any(|(other, by)| other != at && by.covers(way)) {
            kept.push(way.clone());
        }
    }
    kept
}
