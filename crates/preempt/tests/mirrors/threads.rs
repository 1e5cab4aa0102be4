//! Scoped threads and thread-local values.

use super::*;

#[test]
fn named_scoped_threads() {
    holds(|| {
        let text = String::from("borrowed");
        thread::scope(|scope| {
            let builder = thread::Builder::new().name("reader".into());
            let reader = builder.spawn_scoped(scope, || {
                assert_eq!(thread::current().name(), Some("reader"));
                text.len()
            });
            assert_eq!(reader.unwrap().join().unwrap(), 8);
        });
    });
}

/// Whoever asks may be told either way; once it is true, the thread has done all that it does, a panic too.
#[test]
fn whether_a_thread_has_finished() {
    let seen = outcomes(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&flag);
        let child = thread::spawn(move || other.store(1, SeqCst));
        let (finished, stored) = (child.is_finished(), flag.load(SeqCst));
        assert!(!finished || stored == 1);
        child.join().unwrap();
        [usize::from(finished), stored]
    });
    assert_eq!(seen, [[0, 0], [0, 1], [1, 1]]);
    holds(|| {
        let child = thread::spawn(|| panic!("handled"));
        while !child.is_finished() {
            thread::yield_now();
        }
        assert!(child.join().is_err());
        thread::scope(|scope| {
            let child = scope.spawn(thread::yield_now);
            _ = child.is_finished();
        });
    });
}

/// The ends of threads are steps then: a failure that needs one is found with the fewest preemptions, and replayed.
#[test]
fn a_failure_that_needs_the_end_of_a_thread() {
    let test = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&flag);
        let child = thread::spawn(move || other.store(1, SeqCst));
        assert!(flag.load(SeqCst) == 0 || child.is_finished(), "stored, and not finished");
    };
    for strategy in [Strategy::Marking, Strategy::CbDfs, Strategy::Bpor] {
        let failure = Checker::new().strategy(strategy).run(test).failure.expect("found");
        assert!(failure.message.contains("stored, and not finished"), "{failure}");
        let again = Checker::new().replay(&failure.schedule).run(test).failure.expect("again");
        assert_eq!(again.message, failure.message);
    }
    let report = Checker::new().threads(3).run(test);
    assert!(report.failure.expect("found").message.contains("stored"), "by several searches");
}

#[test]
fn a_thread_that_borrows_without_a_check() {
    holds(|| {
        let number = AtomicUsize::new(1);
        let builder = thread::Builder::new();
        // SAFETY: the thread is joined before what it borrows is dropped.
        let child = unsafe { builder.spawn_unchecked(|| number.fetch_add(1, SeqCst)) };
        assert_eq!(child.unwrap().join().unwrap(), 1);
    });
}

#[test]
fn scoped_threads_borrow() {
    let seen = outcomes(|| {
        let (mut own, counter) = (vec![1], AtomicUsize::new(0));
        let first = thread::scope(|scope| {
            let first = scope.spawn(|| counter.fetch_add(1, SeqCst));
            scope.spawn(|| counter.fetch_add(1, SeqCst));
            own.push(2);
            first.join().unwrap()
        });
        assert_eq!((counter.load(SeqCst), own.len()), (2, 2));
        first
    });
    assert_eq!(seen, [0, 1]);
    // A panic in a scope, and a deadlock inside one: everything is unwound in order.
    let report = Checker::new().run(|| thread::scope(|scope| drop(scope.spawn(|| panic!("inside")))));
    assert!(report.failure.is_some_and(|failure| failure.message.contains("inside")));
    let report = Checker::new().run(|| {
        let (a, text) = (Mutex::new(()), String::from("borrowed"));
        let _held = a.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _text = &text;
                drop(a.lock());
            });
        });
    });
    assert!(report.failure.is_some_and(|failure| failure.message.contains("deadlock")));
}

mod locals {
    use super::*;
    use std::cell::RefCell;

    struct Says(&'static str);

    impl Drop for Says {
        fn drop(&mut self) {
            match self.0 {
                "panics" => panic!("in the destructor of a local"),
                "asks" => LATE.with(|late| late.borrow_mut().push(1)),
                _ => {}
            }
        }
    }

    preempt::thread_local! {
        static SAYS: RefCell<Option<Says>> = const { RefCell::new(None) };
        static LATE: RefCell<Vec<u8>> = RefCell::new(Vec::new());
        /// Every type that std's takes: with a lifetime left out, without `Send`, a function, a trait object.
        static NAME: std::cell::Cell<&str> = const { std::cell::Cell::new("none") };
        static ANY: RefCell<Option<Box<dyn Fn(&str) -> std::rc::Rc<str>>>> = RefCell::new(None);
        static RAW: std::cell::Cell<*mut u8> = const { std::cell::Cell::new(std::ptr::null_mut()) }
    }

    #[test]
    fn destructors() {
        holds(|| {
            let child = thread::spawn(|| {
                SAYS.set(Some(Says("asks")));
                NAME.set("a thread");
                RAW.set(std::ptr::null_mut());
                ANY.with(|any| assert!(any.borrow().is_none()));
            });
            child.join().unwrap();
            assert_eq!(NAME.get(), "none");
        });
        // Nobody who joins is told: a real program aborts.
        let report = Checker::new().run(|| {
            let child = thread::spawn(|| SAYS.set(Some(Says("panics"))));
            drop(child.join());
        });
        let failure = report.failure.expect("a panic");
        assert!(failure.message.contains("in the destructor of a local"), "{failure}");
    }
}
