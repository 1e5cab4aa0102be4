//! The bound functions `Bv` that Algorithm 1 of Coons, Musuvathi and McKinley 2013 (paper 003) can be used with.
//!
//! What is bounded is the cost of a run, and the cost of a graph is that of its cheapest run. Which threads have to be
//! tried at a point so that no graph within the bound is lost depends on the function:
//!
//! - **preemptions**: Algorithm 2 of the paper.
//! - **depth**: all runs of a graph are equally long, so the conflicts alone decide, as without a bound; those of steps
//!   beyond the bound are not known, so each of these is taken to conflict with everything.
//! - **context switches** and **delays**: trying an independent step first can cost a switch (or a delay) that the run
//!   without it does not have, and nothing makes up for it (case 4.1 of the paper's Theorem 4 fails). So a smaller
//!   set than all enabled threads is not sufficient, and all are tried: within these bounds there is no reduction.

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BoundFunction {
    /// Switches away from a thread that could go on.
    #[default]
    Preemptions,
    /// Switches of either kind.
    ContextSwitches,
    /// Deviations from a scheduler that lets a thread run until it cannot go on, and then takes the next one in turn: a step
    /// costs as many delays as there are enabled threads that would come before.
    Delays,
    /// Steps.
    Depth,
}

impl BoundFunction {
    /// What a step of `thread` adds, after a step of `last`, where these are enabled.
    pub fn price(self, last: Option<usize>, enabled: &[usize], thread: usize) -> u32 {
        match (self, last) {
            (BoundFunction::Depth, _) => 1,
            (BoundFunction::Preemptions, Some(last)) => u32::from(last != thread && enabled.contains(&last)),
            (BoundFunction::ContextSwitches, Some(last)) => u32::from(last != thread),
            (BoundFunction::Preemptions | BoundFunction::ContextSwitches, None) => 0,
            (BoundFunction::Delays, last) => {
                // In turn: from the last one up, and then from the first.
                let from = last.unwrap_or(0);
                let turn = |thread: usize| (thread < from, thread);
                enabled.iter().filter(|&&other| turn(other) < turn(thread)).count() as u32
            }
        }
    }

    /// Must every enabled thread be tried at every point?
    pub fn tries_all(self) -> bool {
        matches!(self, BoundFunction::ContextSwitches | BoundFunction::Delays)
    }
}

#[cfg(test)]
mod tests {
    use super::BoundFunction::*;

    #[test]
    fn prices() {
        assert_eq!(Preemptions.price(Some(0), &[0, 1], 1), 1);
        assert_eq!(Preemptions.price(Some(0), &[1], 1), 0);
        assert_eq!(ContextSwitches.price(Some(0), &[1], 1), 1);
        assert_eq!(ContextSwitches.price(None, &[0, 1], 1), 0);
        assert_eq!(Depth.price(None, &[0], 0), 1);
        // After 1 it is the turn of 1, 2, 0.
        let delays = [0, 1, 2].map(|thread| Delays.price(Some(1), &[0, 1, 2], thread));
        assert_eq!(delays, [2, 0, 1]);
        assert_eq!(Delays.price(Some(1), &[0, 2], 0), 1);
    }
}
