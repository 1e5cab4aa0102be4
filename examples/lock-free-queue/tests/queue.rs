//! The test to copy: a closure that is run in every schedule, with 0, 1, 2, ... preemptions.

use lock_free_queue::{Queue, Take};
use preempt::sync::Arc;
use preempt::{Checker, FailureKind, thread};

/// Two items were pushed; two consumers take one each.
fn two_consumers(take: Take) {
    let queue = Arc::new(Queue::new(take));
    queue.push(1);
    queue.push(2);
    let other = Arc::clone(&queue);
    let consumer = thread::spawn(move || other.pop());
    let mine = queue.pop();
    let theirs = consumer.join().unwrap();
    assert_ne!(mine, theirs, "both consumers took the same item");
}

/// `check` panics with the simplest failing run, if there is one.
#[test]
fn the_mended_queue_holds() {
    preempt::check(|| two_consumers(Take::Mended));
}

#[test]
#[should_panic(expected = "both consumers took the same item")]
fn the_mistake_is_found() {
    preempt::check(|| two_consumers(Take::Mistaken));
}

/// The same, with a look at the report: one preemption is needed, and the schedule fails every time.
#[test]
fn the_mistake_needs_one_preemption() {
    let report = Checker::new().run(|| two_consumers(Take::Mistaken));
    let failure = report.failure.expect("the mistake is found");
    println!("{failure}");
    assert_eq!((failure.kind, failure.preemptions), (FailureKind::Panic, 1));
    let again = Checker::new().replay(&failure.schedule).run(|| two_consumers(Take::Mistaken));
    assert_eq!(again.failure.map(|again| again.message), Some(failure.message));
}

/// A static is as good as an object in an `Arc`: every run starts with it as declared.
#[test]
fn a_static_queue() {
    static QUEUE: Queue = Queue::new(Take::Mended);
    preempt::check(|| {
        QUEUE.push(7);
        let consumer = thread::spawn(|| QUEUE.pop());
        let taken = [QUEUE.pop(), consumer.join().unwrap()];
        assert!(taken == [Some(7), None] || taken == [None, Some(7)]);
    });
}
