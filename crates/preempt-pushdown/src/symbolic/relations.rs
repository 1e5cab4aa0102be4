//! Relations between tuples of shared states, as decision diagrams: the semiring of section 5 of paper 002.
//!
//! A weight relates the tuple (p₁, …, p_K) at the beginning of a path to the one at its end. The bits of all components, before
//! and after, are interleaved, so that "nothing changes", and "round k ended as round k + 1 begins", are small diagrams. A rule
//! touches one component only: its label names it, and no diagram says of the others that they stay as they are.

use crate::semiring::{Semiring, Unfinished};
use crate::system::State;
use preempt_bdd::{Bdd, Cube, Layout, Renaming, Space, TableOptions, Variable};
use preempt_core::Budget;

/// Which copy of a component is meant.
const BEFORE: u32 = 0;
const AFTER: u32 = 1;
const BETWEEN: u32 = 2;

/// Diagrams over K components, each of them one of the states.
#[derive(Debug)]
pub struct Relations {
    /// Where they live.
    pub space: Space,
    state: Variable,
    contexts: usize,
    one: Bdd,
    /// After becomes between, before becomes after: for what comes second.
    shift: Renaming,
    /// Between becomes after.
    settle: Renaming,
    all_after: Cube,
    all_before: Cube,
    /// The same for one component.
    settle_one: Vec<Renaming>,
    lift_one: Vec<Renaming>,
    after_one: Vec<Cube>,
    between_one: Vec<Cube>,
}

/// What a rule does to a tuple.
#[derive(Debug, Clone)]
pub enum Label {
    /// Nothing.
    One,
    /// It needs the component to be in a set.
    Test(usize, Set),
    /// It changes the component.
    Step(usize, Relation),
}

/// A set of states, over the component before and after.
#[derive(Debug, Clone)]
pub struct Set {
    before: Bdd,
    after: Bdd,
}

/// A relation between states, from after to between and from before to between.
#[derive(Debug, Clone)]
pub struct Relation {
    after: Bdd,
    before: Bdd,
}

impl Relations {
    /// For systems with so many states and so many contexts.
    pub fn new(
        states: u32,
        contexts: usize,
        table: TableOptions,
        budget: &Budget,
    ) -> Result<Relations, Unfinished> {
        let mut layout = Layout::new().within(budget);
        let state = layout.add(u64::from(states.max(2)), 3 * contexts as u32);
        let space = layout.build(table)?;
        let at = |component: usize, copy: u32| state.copy(3 * component as u32 + copy);
        let pairs = |from: u32, to: u32| (0..contexts).map(move |it| (at(it, from), at(it, to)));
        let mut one = space.yes();
        for (before, after) in pairs(BEFORE, AFTER) {
            one = one.and(&space.same(before, after)?)?;
        }
        let renaming =
            |component: usize, from: u32, to: u32| space.renaming([(at(component, from), at(component, to))]);
        let cubes = |copy: u32| -> Result<Vec<Cube>, Unfinished> {
            (0..contexts).map(|it| Ok(space.cube([at(it, copy)])?)).collect()
        };
        Ok(Relations {
            shift: space.renaming(pairs(BEFORE, AFTER).chain(pairs(AFTER, BETWEEN))),
            settle: space.renaming(pairs(BETWEEN, AFTER)),
            all_after: space.cube((0..contexts).map(|it| at(it, AFTER)))?,
            all_before: space.cube((0..contexts).map(|it| at(it, BEFORE)))?,
            settle_one: (0..contexts).map(|it| renaming(it, BETWEEN, AFTER)).collect(),
            lift_one: (0..contexts).map(|it| renaming(it, BEFORE, BETWEEN)).collect(),
            after_one: cubes(AFTER)?,
            between_one: cubes(BETWEEN)?,
            one,
            state,
            contexts,
            space,
        })
    }

    fn at(&self, component: usize, copy: u32) -> Variable {
        self.state.copy(3 * component as u32 + copy)
    }

    /// These states, for each of the first `rounds` components.
    pub fn set(&self, states: &[State], rounds: usize) -> Result<Vec<Set>, Unfinished> {
        let mut sets = Vec::new();
        let first = self.states(self.at(0, BEFORE), states)?;
        for component in 0..rounds {
            let copy = |to: u32| self.space.renaming([(self.at(0, BEFORE), self.at(component, to))]);
            sets.push(Set { before: first.rename(&copy(BEFORE))?, after: first.rename(&copy(AFTER))? });
        }
        Ok(sets)
    }

    fn states(&self, variable: Variable, states: &[State]) -> Result<Bdd, Unfinished> {
        if let [only] = states {
            return Ok(self.space.equals(variable, u64::from(*only))?);
        }
        self.space.go_on()?;
        let (left, right) = states.split_at(states.len() / 2);
        if states.is_empty() {
            return Ok(self.space.no());
        }
        Ok(self.states(variable, left)?.or(&self.states(variable, right)?)?)
    }

    /// These pairs, for each of the first `rounds` components.
    pub fn relation(&self, pairs: &[(State, State)], rounds: usize) -> Result<Vec<Relation>, Unfinished> {
        let mut relations = Vec::new();
        let (from, to) = (self.at(0, BEFORE), self.at(0, BETWEEN));
        let first = self.pairs((from, to), pairs)?;
        for component in 0..rounds {
            let copy = |begin: u32| {
                let ends = [(from, self.at(component, begin)), (to, self.at(component, BETWEEN))];
                self.space.renaming(ends)
            };
            relations
                .push(Relation { after: first.rename(&copy(AFTER))?, before: first.rename(&copy(BEFORE))? });
        }
        Ok(relations)
    }

    fn pairs(&self, ends: (Variable, Variable), pairs: &[(State, State)]) -> Result<Bdd, Unfinished> {
        if let [(from, to)] = pairs {
            return Ok(self.space.point(&[(ends.0, u64::from(*from)), (ends.1, u64::from(*to))])?);
        }
        self.space.go_on()?;
        let (left, right) = pairs.split_at(pairs.len() / 2);
        if pairs.is_empty() {
            return Ok(self.space.no());
        }
        Ok(self.pairs(ends, left)?.or(&self.pairs(ends, right)?)?)
    }

    /// Tuples before which every component is in a set, and the first is this state.
    pub fn beginnings(&self, first: State, open: &[State]) -> Result<Bdd, Unfinished> {
        let mut result = self.space.equals(self.at(0, BEFORE), u64::from(first))?;
        for set in self.set(open, self.contexts)?.iter().skip(1) {
            result = result.and(&set.before)?;
        }
        Ok(result)
    }

    /// The condition of Theorem 1: every round begins as the one before has ended.
    pub fn fitting(&self) -> Result<Bdd, Unfinished> {
        let mut result = self.space.yes();
        for component in 1..self.contexts {
            let same = self.space.same(self.at(component - 1, AFTER), self.at(component, BEFORE))?;
            result = result.and(&same)?;
        }
        Ok(result)
    }

    /// One tuple before.
    pub fn tuple_before(&self, tuple: &[State]) -> Result<Bdd, Unfinished> {
        self.point(tuple, BEFORE)
    }

    /// One tuple after.
    pub fn tuple_after(&self, tuple: &[State]) -> Result<Bdd, Unfinished> {
        self.point(tuple, AFTER)
    }

    fn point(&self, tuple: &[State], copy: u32) -> Result<Bdd, Unfinished> {
        let values: Vec<_> =
            tuple.iter().enumerate().map(|(it, state)| (self.at(it, copy), u64::from(*state))).collect();
        Ok(self.space.point(&values)?)
    }

    /// The tuples that the second relation begins with and the first ends with, as tuples before.
    pub fn meeting(&self, first: &Bdd, second: &Bdd) -> Result<Bdd, Unfinished> {
        let after = (0..self.contexts).map(|it| (self.at(it, AFTER), self.at(it, BEFORE)));
        let ends = first.exists(&self.all_before)?.rename(&self.space.renaming(after))?;
        Ok(ends.and(&second.exists(&self.all_after)?)?)
    }

    /// One pair of tuples of a relation.
    pub fn pick(&self, relation: &Bdd) -> Option<(Vec<State>, Vec<State>)> {
        let copies = [BEFORE, AFTER].into_iter();
        let variables: Vec<Variable> = copies
            .flat_map(|copy| (0..self.contexts).map(move |it| (it, copy)))
            .map(|(it, copy)| self.at(it, copy))
            .collect();
        let values = self.space.pick(relation, &variables)?;
        let (before, after) = values.split_at(self.contexts);
        let states = |values: &[u64]| values.iter().map(|value| *value as State).collect();
        Some((states(before), states(after)))
    }

    /// Before and after of two relations exchanged between their ends: is there a pair (a, b) with
    /// `outside(a', a)`, …; see [`projection`](crate::projection).
    pub fn wrap(&self, bracket: &Bdd, outer_first: &Bdd, outer_last: &Bdd) -> Result<Bdd, Unfinished> {
        // bracket(a', b'), first(a', a), last(b, b'): the result relates a and b
        let first = outer_first.rename(
            &self.space.renaming((0..self.contexts).map(|it| (self.at(it, AFTER), self.at(it, BETWEEN)))),
        )?;
        // over b' and a (between)
        let joined = bracket.and_exists(&first, &self.all_before)?;
        // last is over b (before) and b' (after)
        let joined = joined.and_exists(outer_last, &self.all_after)?;
        // over a (between) and b (before): a becomes before, b becomes after
        let pairs = (0..self.contexts).flat_map(|it| {
            [(self.at(it, BETWEEN), self.at(it, BEFORE)), (self.at(it, BEFORE), self.at(it, AFTER))]
        });
        Ok(joined.rename(&self.space.renaming(pairs))?)
    }
}

impl Semiring for Relations {
    type Weight = Bdd;
    type Label = Label;

    fn one(&self) -> Bdd {
        self.one.clone()
    }

    fn extend(&self, first: &Bdd, second: &Bdd) -> Result<Bdd, Unfinished> {
        if *first == self.one {
            return Ok(second.clone());
        }
        if *second == self.one {
            return Ok(first.clone());
        }
        let second = second.rename(&self.shift)?;
        Ok(first.and_exists(&second, &self.all_after)?.rename(&self.settle)?)
    }

    fn after(&self, path: &Bdd, rule: &Label) -> Result<Bdd, Unfinished> {
        Ok(match rule {
            Label::One => path.clone(),
            Label::Test(_, set) => path.and(&set.after)?,
            Label::Step(component, relation) => path
                .and_exists(&relation.after, &self.after_one[*component])?
                .rename(&self.settle_one[*component])?,
        })
    }

    fn before(&self, rule: &Label, path: &Bdd) -> Result<Bdd, Unfinished> {
        Ok(match rule {
            Label::One => path.clone(),
            Label::Test(_, set) => path.and(&set.before)?,
            Label::Step(component, relation) => path
                .rename(&self.lift_one[*component])?
                .and_exists(&relation.before, &self.between_one[*component])?,
        })
    }

    fn news(&self, known: &Bdd, more: &Bdd) -> Result<Option<Bdd>, Unfinished> {
        let news = more.minus(known)?;
        Ok((!news.is_false()).then_some(news))
    }

    fn combine(&self, known: &Bdd, more: &Bdd) -> Result<Bdd, Unfinished> {
        Ok(known.or(more)?)
    }

    fn is_zero(&self, weight: &Bdd) -> bool {
        weight.is_false()
    }
}
