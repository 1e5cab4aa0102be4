//! The coverability problem: can a marking be covered from one of the initial markings?

use crate::marking::{Marking, Place};
use crate::net::{Net, Transition};
use preempt_core::Span;

/// Safe if no initial marking leads to a marking that covers one of the targets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problem {
    /// What can happen.
    pub net: Net,
    /// One for each place; an initial marking takes any value of each.
    pub initial: Vec<Range>,
    /// A finite union of upward-closed sets, by their smallest elements. None at all: nothing can go wrong.
    pub targets: Vec<Marking>,
    /// Where each transition is written, for counterexamples. Empty or one for each transition.
    pub spans: Vec<Span>,
}

/// `low ..= high`; without `high` any number from `low` on, which makes the place parametric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Range {
    /// At least so many.
    pub low: u64,
    /// At most so many, if there is a limit.
    pub high: Option<u64>,
}

impl Range {
    /// Any number of tokens.
    pub const ANY: Range = Range { low: 0, high: None };

    /// So many tokens and no others.
    pub fn exactly(tokens: u64) -> Range {
        Range { low: tokens, high: Some(tokens) }
    }

    /// Any number of tokens from this one on.
    pub fn at_least(low: u64) -> Range {
        Range { low, high: None }
    }

    /// Is this number of tokens allowed?
    pub fn contains(self, tokens: u64) -> bool {
        self.low <= tokens && self.high.is_none_or(|high| tokens <= high)
    }

    /// Is some value of the range at least this?
    pub fn reaches(self, tokens: u64) -> bool {
        self.high.is_none_or(|high| tokens <= high)
    }
}

impl Problem {
    /// What a place begins with.
    pub fn range(&self, place: Place) -> Range {
        self.initial.get(place as usize).copied().unwrap_or(Range::exactly(0))
    }

    /// Is it one of the initial markings?
    pub fn is_initial(&self, marking: &Marking) -> bool {
        (0..self.net.places.len() as Place).all(|place| self.range(place).contains(marking.get(place)))
    }

    /// The smallest initial marking.
    pub fn lowest_initial(&self) -> Marking {
        (0..).zip(&self.initial).map(|(place, range)| (place, range.low)).collect()
    }

    /// The smallest initial marking that covers this one, if there is one.
    pub fn initial_covering(&self, marking: &Marking) -> Option<Marking> {
        marking
            .iter()
            .all(|(place, tokens)| self.range(place).reaches(tokens))
            .then(|| self.lowest_initial().join(marking))
    }

    /// Does it cover one of the targets?
    pub fn covers_target(&self, marking: &Marking) -> bool {
        self.targets.iter().any(|target| marking.covers(target))
    }

    /// Fires the transitions one after the other by the exact rule. The markings on the way, the first one
    /// included; or the number of the step that cannot be made.
    ///
    /// ```
    /// use preempt_core::SourceMap;
    /// use preempt_net::{Marking, spec};
    ///
    /// let text = "vars a b rules a >= 1 -> a' = a - 1, b' = b + 1; init a = 1, b = 0 target b >= 1";
    /// let (problem, _) = spec::read(SourceMap::new().add("net.spec", text), text);
    /// let markings = problem.replay(&problem.lowest_initial(), &[0]).expect("it can fire");
    /// assert_eq!(markings[1], Marking::from_pairs([(1, 1)]));
    /// assert_eq!(problem.replay(&problem.lowest_initial(), &[0, 0]), Err(1), "and not twice");
    /// ```
    pub fn replay(&self, initial: &Marking, run: &[usize]) -> Result<Vec<Marking>, usize> {
        let mut markings = vec![initial.clone()];
        for (step, number) in run.iter().enumerate() {
            let before = &markings[step];
            let after = self.net.transitions.get(*number).and_then(|t: &Transition| t.fire(before));
            markings.push(after.ok_or(step)?);
        }
        Ok(markings)
    }

    /// Where a run ends by the exact rule; nothing if it cannot be made. Only one marking is kept.
    pub fn end_of(&self, initial: &Marking, run: &[usize]) -> Option<Marking> {
        let fire = |before: Marking, number: &usize| self.net.transitions.get(*number)?.fire(&before);
        run.iter().try_fold(initial.clone(), fire)
    }

    /// The most tokens at once on the way.
    pub fn most_tokens(&self, initial: &Marking, run: &[usize]) -> Option<u64> {
        let mut most = initial.weight();
        let mut marking = initial.clone();
        for number in run {
            marking = self.net.transitions.get(*number)?.fire(&marking)?;
            most = most.max(marking.weight());
        }
        Some(most)
    }

    /// Does the run start initially, fire, and end in a target?
    pub fn is_counterexample(&self, initial: &Marking, run: &[usize]) -> bool {
        self.is_initial(initial) && self.end_of(initial, run).is_some_and(|last| self.covers_target(&last))
    }
}
