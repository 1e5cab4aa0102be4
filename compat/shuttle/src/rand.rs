//! Random numbers that a schedule determines: those of a thread depend on the run, the thread and how many it has had. A search by
//! chance has others in each execution, and a failing schedule says which; a search of everything always has the same.

use rngs::ThreadRng;

pub use rand::{Rng, RngCore};

/// The generators.
pub mod rngs {
    use preempt_core::Rng;
    use rand::{CryptoRng, Error, RngCore};
    use std::cell::RefCell;
    use std::hash::{DefaultHasher, Hash, Hasher};

    preempt::thread_local! {
        static GENERATOR: RefCell<Option<Rng>> = RefCell::new(None);
    }

    /// That of the running thread.
    #[derive(Debug, Clone, Default)]
    pub struct ThreadRng(pub(super) ());

    impl RngCore for ThreadRng {
        fn next_u32(&mut self) -> u32 {
            (self.next_u64() >> 32) as u32
        }

        /// The scheduler's, if the user has written it. Otherwise the seed is the thread's identity, and the run's.
        fn next_u64(&mut self) -> u64 {
            if let Some(number) = preempt::thread::random_number() {
                return number;
            }
            assert!(crate::labels::allows_random(), "requested random data from DFS scheduler");
            let seeded = || {
                let mut hasher = DefaultHasher::new();
                preempt::thread::current().id().hash(&mut hasher);
                preempt::thread::random_seed().hash(&mut hasher);
                Rng::new(hasher.finish())
            };
            GENERATOR.with_borrow_mut(|generator| generator.get_or_insert_with(seeded).word())
        }

        fn fill_bytes(&mut self, bytes: &mut [u8]) {
            bytes.iter_mut().for_each(|byte| *byte = self.next_u64() as u8);
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
            self.fill_bytes(bytes);
            Ok(())
        }
    }

    /// As the one of the crate `rand` claims to be.
    impl CryptoRng for ThreadRng {}
}

/// That of the running thread.
pub fn thread_rng() -> ThreadRng {
    ThreadRng::default()
}
