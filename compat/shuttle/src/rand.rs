//! Random numbers that a schedule determines: those of a thread depend on the thread and on how many it has had.

use rngs::ThreadRng;

pub use rand::{Rng, RngCore};

/// The generators.
pub mod rngs {
    use rand::{Error, RngCore};
    use std::cell::Cell;
    use std::hash::{DefaultHasher, Hash, Hasher};

    preempt::thread_local! {
        static STATE: Cell<Option<u64>> = Cell::new(None);
    }

    /// That of the running thread.
    #[derive(Debug, Clone, Default)]
    pub struct ThreadRng(pub(super) ());

    impl RngCore for ThreadRng {
        fn next_u32(&mut self) -> u32 {
            (self.next_u64() >> 32) as u32
        }

        /// SplitMix64, started by the thread's name.
        fn next_u64(&mut self) -> u64 {
            let start = || {
                let mut hasher = DefaultHasher::new();
                preempt::thread::current().id().hash(&mut hasher);
                hasher.finish()
            };
            let state = STATE.get().unwrap_or_else(start).wrapping_add(0x9e37_79b9_7f4a_7c15);
            STATE.set(Some(state));
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }

        fn fill_bytes(&mut self, bytes: &mut [u8]) {
            bytes.iter_mut().for_each(|byte| *byte = self.next_u64() as u8);
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
            self.fill_bytes(bytes);
            Ok(())
        }
    }
}

/// That of the running thread.
pub fn thread_rng() -> ThreadRng {
    ThreadRng::default()
}
