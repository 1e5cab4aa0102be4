//! Atomics of 128 bits, which shuttle has and stable std has not.
//!
//! A modelled atomic has the size of a word, so these are made of one and a value beside it. Each operation is one step on the
//! word; the value is used right behind the step, where no other thread of the test can come in between.

use preempt::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

macro_rules! wide {
    ($(#[$doc:meta])* $name:ident, $int:ty) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $name {
            turn: AtomicU64,
            value: Mutex<$int>,
        }

        impl $name {
            /// With a value.
            pub const fn new(value: $int) -> $name {
                $name { turn: AtomicU64::new(0), value: Mutex::new(value) }
            }

            fn now<R>(&self, f: impl FnOnce(&mut $int) -> R) -> R {
                f(&mut self.value.lock().unwrap_or_else(PoisonError::into_inner))
            }

            /// A step that others can see; returns the value before.
            #[track_caller]
            fn change(&self, order: Ordering, f: impl FnOnce($int) -> $int) -> $int {
                self.turn.fetch_add(1, order);
                self.now(|value| std::mem::replace(value, f(*value)))
            }

            /// As std's.
            pub fn get_mut(&mut self) -> &mut $int {
                self.value.get_mut().unwrap_or_else(PoisonError::into_inner)
            }

            /// As std's.
            pub fn into_inner(self) -> $int {
                self.value.into_inner().unwrap_or_else(PoisonError::into_inner)
            }

            /// As std's.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $int {
                self.turn.load(order);
                self.now(|value| *value)
            }

            /// As std's.
            #[track_caller]
            pub fn store(&self, new: $int, order: Ordering) {
                // The number does not count, only that it is written.
                self.turn.store(1, order);
                self.now(|value| *value = new);
            }

            /// As std's.
            #[track_caller]
            pub fn swap(&self, new: $int, order: Ordering) -> $int {
                self.change(order, |_| new)
            }

            /// As std's.
            ///
            /// # Errors
            /// The value, if `f` does not want to change it.
            #[track_caller]
            pub fn fetch_update<F>(&self, set: Ordering, fetch: Ordering, mut f: F) -> Result<$int, $int>
            where
                F: FnMut($int) -> Option<$int>,
            {
                let mut before = self.load(fetch);
                while let Some(new) = f(before) {
                    match self.compare_exchange_weak(before, new, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(old) => before = old,
                    }
                }
                Err(before)
            }

            /// As std's.
            ///
            /// # Errors
            /// The value, if it is another one.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $int,
                new: $int,
                success: Ordering,
                _failure: Ordering,
            ) -> Result<$int, $int> {
                let old = self.change(success, |value| if value == current { new } else { value });
                if old == current { Ok(old) } else { Err(old) }
            }

            /// As std's; it does not fail for no reason.
            ///
            /// # Errors
            /// The value, if it is another one.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$int, $int> {
                self.compare_exchange(current, new, success, failure)
            }

            wide!(@fetch $int: fetch_add |value, by| value.wrapping_add(by));
            wide!(@fetch $int: fetch_sub |value, by| value.wrapping_sub(by));
            wide!(@fetch $int: fetch_and |value, by| value & by);
            wide!(@fetch $int: fetch_nand |value, by| !(value & by));
            wide!(@fetch $int: fetch_or |value, by| value | by);
            wide!(@fetch $int: fetch_xor |value, by| value ^ by);
            wide!(@fetch $int: fetch_max |value, by| value.max(by));
            wide!(@fetch $int: fetch_min |value, by| value.min(by));
        }

        impl From<$int> for $name {
            fn from(value: $int) -> $name {
                $name::new(value)
            }
        }
    };
    (@fetch $int:ty: $name:ident |$value:ident, $by:ident| $new:expr) => {
        /// As std's.
        #[track_caller]
        pub fn $name(&self, $by: $int, order: Ordering) -> $int {
            self.change(order, |$value| $new)
        }
    };
}

wide!(
    /// As `AtomicU64`, with 128 bits.
    AtomicU128,
    u128
);
wide!(
    /// As `AtomicI64`, with 128 bits.
    AtomicI128,
    i128
);
