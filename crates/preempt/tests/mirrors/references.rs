//! Counted references, and what else std has.

use super::*;

#[test]
fn tracked_references() {
    use preempt::sync::tracked;
    let counts = outcomes(|| {
        let shared = tracked::Arc::new(0);
        let other = shared.clone();
        let child = thread::spawn(move || drop(other));
        let count = tracked::Arc::strong_count(&shared);
        child.join().unwrap();
        assert_eq!(tracked::Arc::try_unwrap(shared).unwrap(), 0);
        count
    });
    assert_eq!(counts, [1, 2]);
    let alive = outcomes(|| {
        let shared = tracked::Arc::new(7);
        let weak = tracked::Arc::downgrade(&shared);
        let child = thread::spawn(move || weak.upgrade().map(|value| *value));
        drop(shared);
        child.join().unwrap()
    });
    assert_eq!(alive, [None, Some(7)]);
    // Whoever is last runs the destructor, which does a step of its own.
    struct Last(Arc<Mutex<Vec<thread::ThreadId>>>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(thread::current().id());
        }
    }
    let by_main = outcomes(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let shared = tracked::Arc::new(Last(Arc::clone(&log)));
        let mut other = shared.clone();
        let child = thread::spawn(move || {
            tracked::Arc::get_mut(&mut other);
        });
        drop(shared);
        child.join().unwrap();
        let log = log.lock().unwrap();
        assert_eq!(log.len(), 1);
        log[0] == thread::current().id()
    });
    assert_eq!(by_main, [false, true]);
}

#[test]
fn what_std_has_besides() {
    holds(|| {
        let word = AtomicUsize::new(3);
        assert_eq!((word.update(SeqCst, SeqCst, |old| old * 2), word.load(SeqCst)), (3, 6));
        assert_eq!(word.try_update(SeqCst, SeqCst, |old| (old != 6).then_some(7)), Err(6));
        let mut items = [1_u32, 2];
        let first: *mut u32 = &raw mut items[0];
        let pointer = AtomicPtr::new(first);
        assert_eq!(pointer.fetch_ptr_add(1, SeqCst), first);
        assert_eq!(pointer.fetch_byte_sub(4, SeqCst), first.wrapping_add(1));
        assert_eq!(pointer.fetch_or(1, SeqCst), first);
        assert_eq!(pointer.fetch_xor(1, SeqCst), first.wrapping_byte_add(1));
        assert_eq!(pointer.load(SeqCst), first);
        let (a, b) = (Cell::new(1), Cell::from(2));
        a.swap(&b);
        a.update(|value| value * 10);
        assert_eq!((a.get(), b.get()), (20, 1));
        assert_eq!(*RwLock::from(5).read().unwrap(), 5);
    });
    let sums = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        let child = thread::spawn(move || (1..3).for_each(|item| sender.send(item).unwrap()));
        let polled: u32 = receiver.try_iter().sum();
        let sum = polled + receiver.into_iter().sum::<u32>();
        child.join().unwrap();
        (polled, sum)
    });
    assert_eq!(sums, [(0, 3), (1, 3), (3, 3)]);
    let wrong = Checker::new().run(|| {
        let _ = AtomicU32::new(0).compare_exchange(0, 1, SeqCst, Release);
    });
    assert!(wrong.failure.is_some_and(|failure| failure.message.contains("no such thing as a release")));
}

/// The compiler judges: whatever of std's can be used across `catch_unwind` can be here.
#[test]
fn mirrors_are_as_unwind_safe_as_std() {
    use std::panic::{RefUnwindSafe, UnwindSafe};
    fn both<T: UnwindSafe + RefUnwindSafe + ?Sized>() {}
    fn one<T: UnwindSafe>() {}
    type Unsafe = std::cell::Cell<u8>;
    macro_rules! as_std {
        ($test:ident: $($path:ident)::+ : $($type:ty),*) => {{
            { use std::$($path)::+::*; $($test::<$type>();)* }
            { use preempt::$($path)::+::*; $($test::<$type>();)* }
        }};
    }
    as_std!(both: sync: Mutex<Unsafe>, RwLock<Unsafe>, Condvar, Once, Barrier, OnceLock<u8>, LazyLock<u8>);
    as_std!(both: sync::atomic: AtomicBool, AtomicUsize, AtomicI64, AtomicU8, AtomicPtr<u8>);
    as_std!(both: sync::mpsc: Sender<Unsafe>, SyncSender<Unsafe>, Receiver<Unsafe>);
    as_std!(both: thread: Thread, Builder);
    as_std!(both: sync: MutexGuard<'static, u8>, RwLockReadGuard<'static, u8>, RwLockWriteGuard<'static, u8>);
    as_std!(one: cell: UnsafeCell<u8>, Cell<u8>);
    both::<std::sync::Arc<u8>>();
    one::<preempt::sync::tracked::Arc<u8>>();
}

/// The count of a tracked `Arc` is relaxed, as std's: looking at it orders nothing, dropping does.
#[test]
fn counts_of_tracked_arcs_order_nothing() {
    use preempt::FailureKind;
    use preempt::cell::UnsafeCell;
    use preempt::sync::tracked;
    struct Share(UnsafeCell<u8>);
    // SAFETY: whether the accesses are ordered is what the test asks.
    unsafe impl Sync for Share {}
    fn test(alone: fn(&mut tracked::Arc<Share>) -> bool) {
        let mut mine = tracked::Arc::new(Share(UnsafeCell::new(0)));
        let theirs = tracked::Arc::clone(&mine);
        let child = thread::spawn(move || {
            // SAFETY: see above.
            theirs.0.with_mut(|value| unsafe { *value += 1 });
        });
        if alone(&mut mine) {
            // SAFETY: see above.
            mine.0.with_mut(|value| unsafe { *value += 1 });
        }
        child.join().unwrap();
    }
    let report = Checker::new().run(|| test(|arc| tracked::Arc::strong_count(arc) == 1));
    assert_eq!(report.failure.map(|failure| failure.kind), Some(FailureKind::DataRace));
    holds(|| test(|arc| tracked::Arc::get_mut(arc).is_some()));
}

/// Whoever clones an `Arc` has one, so no drop beside it is the last: the order of the two makes no difference. That of drops does.
#[test]
fn clones_and_drops_of_a_tracked_arc_commute() {
    use preempt::sync::tracked::Arc;
    let report = Checker::new().run(|| {
        let value = Arc::new(7);
        let other = Arc::clone(&value);
        let child = thread::spawn(move || drop(other));
        // Two clones, which live on until the child has ended.
        let clones = [Arc::clone(&value), Arc::clone(&value)];
        child.join().unwrap();
        drop((clones, value));
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Holds, 1), "{report}");
    let report = Checker::new().run(|| {
        let value = Arc::new(7);
        let other = Arc::clone(&value);
        let child = thread::spawn(move || drop(other));
        drop(value);
        child.join().unwrap();
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Holds, 2), "{report}");
}
