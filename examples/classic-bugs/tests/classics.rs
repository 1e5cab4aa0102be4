//! The mistakes are found, each by a run with the fewest preemptions, and the mended variants hold in every schedule.

use classic_bugs::Variant::{self, Mended, Mistaken};
use classic_bugs::{arc, deque, mpsc, notify, seqlock};
use preempt::future::block_on;
use preempt::sync::Arc;
use preempt::{Checker, Failure, FailureKind, Verdict, thread};

/// The simplest failing run of the mistaken variant; the mended one has none, with at most so many preemptions.
fn found_and_mended(test: fn(Variant), bound: Option<u32>) -> Failure {
    let holds = Checker::new().max_preemptions(bound).run(move || test(Mended));
    assert_eq!(holds.verdict, Verdict::Holds, "{holds}");
    println!("mended: {}", holds.coverage());
    let failure = Checker::new().run(move || test(Mistaken)).failure.expect("the mistake is found");
    println!("{failure}");
    failure
}

/// The owner and a thief want the only item.
#[test]
fn the_last_item_of_a_deque() {
    let failure = found_and_mended(
        |variant| {
            let deque = Arc::new(deque::Deque::new(variant));
            deque.push(1);
            let thief = Arc::clone(&deque);
            let thief = thread::spawn(move || thief.steal());
            let taken = [deque.pop(), thief.join().unwrap()];
            let winners = taken.iter().flatten().count();
            assert_eq!(winners, 1, "one of them has it: {taken:?}");
        },
        None,
    );
    // The thief looks while the owner has not begun to take, and exchanges when it has.
    assert_eq!((failure.kind, failure.preemptions), (FailureKind::Panic, 3));
    assert!(failure.message.contains("[Some(1), Some(1)]"), "{failure}");
}

/// Several items, and a thief for each.
#[test]
fn a_deque_loses_nothing() {
    let report = Checker::new().max_preemptions(Some(2)).run(|| {
        let deque = Arc::new(deque::Deque::new(Mended));
        let thieves = [1, 2].map(|item| {
            deque.push(item);
            let deque = Arc::clone(&deque);
            thread::spawn(move || deque.steal())
        });
        let mut taken = vec![deque.pop(), deque.pop()];
        taken.extend(thieves.map(|thief| thief.join().unwrap()));
        let mut taken: Vec<usize> = taken.into_iter().flatten().collect();
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
    });
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
}

/// One thread reads and drops its reference, another drops the last one.
#[test]
fn the_missing_fence_of_an_arc() {
    let failure = found_and_mended(
        |variant| {
            let shared = arc::Shared::new(7, variant);
            let other = shared.clone();
            let child = thread::spawn(move || assert_eq!(other.with(|value| *value), 7));
            drop(shared);
            child.join().unwrap();
        },
        None,
    );
    assert_eq!(failure.kind, FailureKind::DataRace);
    assert!(failure.steps.iter().any(|step| !step.scheduled && step.operation.contains("read")), "{failure}");
}

/// A reader while the two numbers are written.
#[test]
fn a_torn_read_of_a_seqlock() {
    let failure = found_and_mended(
        |variant| {
            let lock = Arc::new(seqlock::SeqLock::new((1, 1), variant));
            let writer = Arc::clone(&lock);
            let writer = thread::spawn(move || writer.write(2, 2));
            let (first, second) = lock.read();
            assert_eq!(first, second, "nobody has written this");
            writer.join().unwrap();
        },
        None,
    );
    assert_eq!((failure.kind, failure.preemptions), (FailureKind::Panic, 1));
}

/// Two producers; the consumer comes when they are done.
#[test]
fn a_lost_message() {
    let failure = found_and_mended(
        |variant| {
            let queue = Arc::new(mpsc::Queue::new(variant));
            let other = Arc::clone(&queue);
            let producer = thread::spawn(move || other.push(1));
            queue.push(2);
            producer.join().unwrap();
            // SAFETY: this is the only consumer.
            let mut received = unsafe { [queue.pop(), queue.pop()] };
            received.sort_unstable();
            assert_eq!(received, [Some(1), Some(2)]);
        },
        None,
    );
    assert_eq!((failure.kind, failure.preemptions), (FailureKind::Panic, 1));
}

/// A consumer beside two producers: what it receives, it receives once and in the order of each producer.
#[test]
fn a_queue_while_it_is_filled() {
    let report = Checker::new().max_preemptions(Some(2)).run(|| {
        let queue = Arc::new(mpsc::Queue::new(Mended));
        let producers = [[1, 2].as_slice(), &[3]].map(|messages| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || messages.iter().for_each(|message| queue.push(*message)))
        });
        // SAFETY: this is the only consumer.
        let mut received = unsafe { vec![queue.pop(), queue.pop()] };
        producers.into_iter().for_each(|producer| producer.join().unwrap());
        // SAFETY: as above.
        received.extend(unsafe { [queue.pop(), queue.pop(), queue.pop()] });
        let received: Vec<i32> = received.into_iter().flatten().collect();
        assert_eq!(received.len(), 3);
        let place = |message| received.iter().position(|received| *received == message);
        assert!(place(1) < place(2));
    });
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
}

/// A task waits while another thread puts the flag up.
#[test]
fn a_wake_that_nobody_hears() {
    let failure = found_and_mended(
        |variant| {
            let flag = Arc::new(notify::Flag::new(variant));
            let other = Arc::clone(&flag);
            let child = thread::spawn(move || other.raise());
            block_on(flag.wait());
            child.join().unwrap();
        },
        None,
    );
    assert_eq!((failure.kind, failure.preemptions), (FailureKind::Deadlock, 1));
}

/// The same as a test of its own, under the attribute.
#[preempt::test]
async fn the_flag_is_heard() {
    let flag = Arc::new(notify::Flag::new(Mended));
    let other = Arc::clone(&flag);
    let child = thread::spawn(move || other.raise());
    flag.wait().await;
    child.join().unwrap();
}
