//! To whom the strong reduction restricts itself in a state, as long as that is worth asking.
//!
//! It is asked at every state, or, if that has hardly ever helped as long as one thread worked, at none: what is left out must not
//! depend on which thread was first.

use super::stepper::Stepper;
use crate::store::packed::PackedStore;
use crate::successors::Expander;

/// Is the strong reduction asked? And as long as it is open whether it helps, how often it has.
#[derive(Debug, Default)]
pub struct Asking {
    asks: bool,
    sample: Option<Sample>,
}

/// How often it was asked, and how often it has left somebody out.
#[derive(Debug, Default)]
struct Sample {
    asked: u64,
    helped: u64,
}

impl Sample {
    /// Asking takes longer than the steps that are left out, if it is nearly always in vain.
    fn helps(&self) -> bool {
        self.asked <= 32 * self.helped || self.asked == 0
    }
}

impl Asking {
    /// One of them, the first, finds out whether it helps.
    pub fn begin<'a>(all: impl Iterator<Item = &'a mut Asking>) {
        for (number, asking) in all.enumerate() {
            *asking = Asking { asks: true, sample: (number == 0).then(Sample::default) };
        }
    }

    /// Is it still open?
    pub fn is_open(&self) -> bool {
        self.sample.is_some()
    }

    #[inline]
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// From here on it is no longer open.
    pub fn decide<'a>(mut all: impl Iterator<Item = &'a mut Asking>) {
        let Some(first) = all.next() else { return };
        if first.sample.take().is_some_and(|sample| !sample.helps()) {
            [first].into_iter().chain(all).for_each(|asking| asking.asks = false);
        }
    }
}

impl<S: Expander> Stepper<'_, S> {
    /// `None` for everybody.
    pub fn chosen(&mut self, store: &PackedStore) -> Option<Vec<u8>> {
        if !self.asking.asks {
            return None;
        }
        self.open(store);
        let Stepper { system, state, processes, asking, .. } = self;
        let chosen = system.persistent(state);
        if let Some(sample) = &mut asking.sample {
            let is_left_out =
                |process: &usize| chosen.as_ref().is_some_and(|chosen| !chosen.contains(&(*process as u8)));
            // Who cannot move is not left out.
            let mut left_out = (0..*processes).filter(is_left_out);
            sample.asked += 1;
            sample.helped += u64::from(left_out.any(|process| system.can_move(state, process)));
        }
        chosen
    }

    /// Expands everybody, or those to whom the strong reduction restricts itself; nobody was before, unless `moved`.
    pub fn expand_everybody(&mut self, store: &PackedStore, moved: bool) -> bool {
        let chosen = self.chosen(store);
        let is_chosen = |process: usize| chosen.as_ref().is_none_or(|it| it.contains(&(process as u8)));
        let moved = self.expand_processes(store, moved, is_chosen);
        if !moved {
            self.dead_end(store);
        }
        moved
    }
}
