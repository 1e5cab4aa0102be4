//! What `#[preempt::test]` calls.

use crate::checker::{Checker, conclude};
use std::fmt;

/// What a test function may return: nothing, or a `Result` whose error is a failure.
pub trait TestResult {
    /// # Panics
    /// If it is an error.
    #[doc(hidden)]
    fn unwrap_test(self);
}

impl TestResult for () {
    fn unwrap_test(self) {}
}

impl<T: TestResult, E: fmt::Debug> TestResult for Result<T, E> {
    #[track_caller]
    fn unwrap_test(self) {
        match self {
            Ok(result) => result.unwrap_test(),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}

/// Runs the function in every schedule; where it was called is the place of the attribute.
#[doc(hidden)]
#[track_caller]
pub fn model_test(checker: Checker, test: impl Fn() + Send + Sync + 'static) {
    conclude(&checker.run(test));
}
