//! A clock that depends on nothing but the schedule.
//!
//! Every modelled thread has its own time, which starts at zero and goes on when the thread sleeps or yields (by a
//! millisecond) or a wait of it times out. It is handed on as everything else is that a thread knows: after an acquire, a
//! join or a lock a thread's time is at least that of who released, finished or unlocked. So what a thread reads
//! from the clock follows from what happened before, as it must. Outside of a test the time is the real one.
//!
//! ```
//! use preempt::{thread, time::{Duration, Instant}};
//!
//! preempt::check(|| {
//!     let start = Instant::now();
//!     thread::sleep(Duration::from_secs(3600));
//!     assert_eq!(start.elapsed(), Duration::from_secs(3600), "and no second was waited for");
//! });
//! ```

use crate::runtime::current::try_with;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::sync::OnceLock;

pub use std::time::{Duration, TryFromFloatSecsError};

/// As `std::time::Instant`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

impl Instant {
    /// The time of this thread. No step.
    pub fn now() -> Instant {
        static START: OnceLock<std::time::Instant> = OnceLock::new();
        let virtual_time = try_with(|context| context.me().clock.time);
        Instant(
            virtual_time
                .map_or_else(|| START.get_or_init(std::time::Instant::now).elapsed(), Duration::from_nanos),
        )
    }

    /// Zero if `earlier` is later, as std's.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// `None` if `earlier` is later.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// Zero if `earlier` is later.
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Since then, in the time of this thread.
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// `None` if there is no such time.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// `None` if there is no such time.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, duration: Duration) -> Instant {
        Instant(self.0 + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, duration: Duration) -> Instant {
        Instant(self.0 - duration)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}
