//! Is it worth asking the strong reduction? Its choice takes as long as the expansion that it may save, and in some models
//! nobody can ever be left out. So who is asked in vain many times is asked seldom from then on, ever more seldom as long as
//! that goes on, and always again once it helps. Trying everybody is always right: only time and states depend on it.

/// Asked in vain so often, it is not asked for a while; and then so often again.
const PATIENCE: u32 = 256;
const TRIALS: u32 = 16;

/// States at which it is not asked, at first and at most.
const FIRST_PAUSE: u32 = 1 << 10;
const LONGEST_PAUSE: u32 = 1 << 16;

#[derive(Debug, Default)]
pub struct Asking {
    in_vain: u32,
    /// The last pause, and what is left of it.
    pause: u32,
    left: u32,
}

impl Asking {
    /// Asked once for every state.
    pub fn is_due(&mut self) -> bool {
        let is_due = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_due
    }

    /// Was somebody left out?
    pub fn answered(&mut self, helps: bool) {
        if helps {
            *self = Asking::default();
            return;
        }
        self.in_vain += 1;
        if self.in_vain >= PATIENCE {
            self.pause = (2 * self.pause).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            (self.left, self.in_vain) = (self.pause, PATIENCE - TRIALS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seldom_in_vain_and_always_where_it_helps() {
        let mut asking = Asking::default();
        let mut asked = |helps: bool, states: u32| {
            (0..states).filter(|_| asking.is_due().then(|| asking.answered(helps)).is_some()).count()
        };
        assert_eq!(asked(true, 10_000), 10_000);
        assert!(asked(false, 1_000_000) < 1_000);
        // Sooner or later it is noticed that it helps again.
        assert!(asked(true, 100_000) > 100_000 - LONGEST_PAUSE as usize);
        assert_eq!(asked(true, 1_000), 1_000);
    }
}
