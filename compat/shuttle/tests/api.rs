//! Every name of shuttle's, in its smallest use.

use shuttle::rand::{Rng, RngCore, thread_rng};
use shuttle::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler, RoundRobinScheduler,
    UncontrolledNondeterminismCheckScheduler, UrwScheduler,
};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Mutex};
use shuttle::{
    Config, FailurePersistence, MaxSteps, PortfolioRunner, Runner, check, check_dfs, check_pct, check_random,
    check_random_with_seed, check_uncontrolled_nondeterminism, check_urw, future, replay, replay_from_file,
    thread,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&counter);
    let add = |counter: &AtomicUsize| counter.store(counter.load(SeqCst) + 1, SeqCst);
    let child = thread::spawn(move || add(&other));
    add(&counter);
    child.join().unwrap();
    assert_eq!(counter.load(SeqCst), 2, "an update is lost");
}

fn two_sections() {
    let shared = Arc::new(Mutex::new(0));
    let other = Arc::clone(&shared);
    let child = thread::spawn(move || *other.lock().unwrap() += 1);
    *shared.lock().unwrap() += 1;
    child.join().unwrap();
    assert_eq!(*shared.lock().unwrap(), 2);
}

fn failure<R: std::fmt::Debug>(test: impl FnOnce() -> R) -> String {
    *catch_unwind(AssertUnwindSafe(test)).expect_err("it fails").downcast::<String>().expect("a text")
}

fn schedule_of(failure: &str) -> &str {
    let (_, rest) = failure.split_once("failing schedule:\n\"\n").expect("a schedule");
    rest.split_once("\n\"").expect("its end").0
}

#[test]
fn every_way_to_check() {
    check(two_sections);
    check_dfs(two_sections, None);
    check_random(two_sections, 5);
    check_random_with_seed(two_sections, 3, 5);
    check_pct(two_sections, 5, 3);
    check_urw(two_sections, 5);
    check_uncontrolled_nondeterminism(two_sections, 5);
    for test in [
        || check_dfs(lost_update, None),
        || check_random(lost_update, 100),
        || check_pct(lost_update, 100, 3),
    ] {
        assert!(failure(test).contains("an update is lost"));
    }
}

#[test]
fn a_failing_schedule_is_replayed() {
    let found = failure(|| check_dfs(lost_update, None));
    let schedule = schedule_of(&found).to_string();
    let again = failure(|| replay(lost_update, &schedule));
    assert_eq!(schedule_of(&again), schedule);
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::File(Some(std::env::temp_dir()));
    let found = failure(|| Runner::new(DfsScheduler::new(None, false), config).run(lost_update));
    let (_, file) = found.split_once("persisted to file: ").expect("a file");
    assert!(failure(|| replay_from_file(lost_update, file.trim())).contains("an update is lost"));
    std::fs::remove_file(file.trim()).unwrap();
    let mut scheduler = ReplayScheduler::new_from_encoded(&schedule);
    scheduler.set_allow_incomplete();
    assert!(failure(|| Runner::new(scheduler, Config::new()).run(lost_update)).contains("lost"));
}

#[test]
fn a_runner_counts_executions_and_has_options() {
    assert_eq!(Runner::new(DfsScheduler::new(None, false), Config::default()).run(two_sections), 2);
    assert_eq!(Runner::new(RandomScheduler::new(7), Config::default()).run(two_sections), 7);
    assert_eq!(Runner::new(RoundRobinScheduler::new(1), Config::default()).run(two_sections), 1);
    assert_eq!(Runner::new(UrwScheduler::new(3), Config::default()).run(two_sections), 3);
    let checked = UncontrolledNondeterminismCheckScheduler::new(PctScheduler::new(2, 4));
    assert_eq!(Runner::new(checked, Config::default()).run(two_sections), 8, "each of four is repeated");
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(3);
    let yields = || (0..10).for_each(|_| thread::yield_now());
    assert!(failure(|| Runner::new(RandomScheduler::new(1), config).run(yields)).contains("livelock"));
    let mut portfolio = PortfolioRunner::new(true, Config::new());
    portfolio.add(RandomScheduler::new(10));
    portfolio.add(DfsScheduler::new(None, false));
    assert!(failure(|| portfolio.run(lost_update)).contains("an update is lost"));
}

shuttle::lazy_static! {
    static ref COUNT: AtomicUsize = AtomicUsize::new(5);
}

shuttle::thread_local! {
    static LOCAL: std::cell::Cell<u8> = std::cell::Cell::new(1);
}

#[test]
fn statics_and_locals_start_anew() {
    check_dfs(
        || {
            shuttle::lazy_static::initialize(&COUNT);
            assert_eq!(COUNT.fetch_add(1, SeqCst), 5);
            LOCAL.with(|local| local.set(2));
            assert_eq!(thread::spawn(|| LOCAL.with(std::cell::Cell::get)).join().unwrap(), 1);
        },
        None,
    );
}

fn check_dfs_with_random_data(test: impl Fn() + Send + Sync + 'static) {
    Runner::new(DfsScheduler::new(None, true), Config::new()).run(test);
}

#[test]
fn tasks_and_random_numbers() {
    check_dfs_with_random_data(|| {
        let me = shuttle::current::me();
        assert_eq!(shuttle::current::get_current_task(), Some(me));
        let task = future::spawn(async {
            future::yield_now().await;
            thread_rng().gen_range(3..6)
        });
        let number: usize = future::block_on(task).unwrap();
        assert!((3..6).contains(&number));
        let mut rng = thread_rng();
        assert!((0..=1).contains(&rng.gen_range(0..=1u8)) && (0.0..1.0).contains(&rng.r#gen::<f64>()));
        assert!(rng.gen_bool(1.0) && !rng.gen_bool(0.0));
        assert_ne!(rng.next_u64(), rng.next_u64());
        let aborted = future::spawn_local(std::future::pending::<()>());
        aborted.abort();
        assert!(future::block_on(aborted).unwrap_err().is_cancelled());
    });
}

/// At a yield anything may happen, also to objects of std's, which the search does not see.
#[test]
fn yields_let_others_in_whatever_they_do() {
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    let seen = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let all = std::sync::Arc::clone(&seen);
    check_dfs(
        move || {
            let value = std::sync::Arc::new(Mutex::new(0));
            let other = std::sync::Arc::clone(&value);
            let child = thread::spawn(move || *other.lock().unwrap() += 1);
            *value.lock().unwrap() *= 10;
            thread::yield_now();
            *value.lock().unwrap() += 5;
            thread::yield_now();
            *value.lock().unwrap() *= 2;
            child.join().unwrap();
            all.lock().unwrap().insert(*value.lock().unwrap());
        },
        None,
    );
    // The child comes in at the first yield or before it, at the second, or last.
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from([10 + 1, 10 + 2]));
}

/// Whatever its priority, a thread that yields lets the others come first.
#[test]
fn who_spins_and_yields_is_no_livelock() {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(60);
    Runner::new(PctScheduler::new(1, 100), config).run(|| {
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..4 {
            let count = Arc::clone(&count);
            thread::spawn(move || count.fetch_add(1, SeqCst));
        }
        while count.load(SeqCst) < 4 {
            thread::yield_now();
        }
    });
}

/// What a test may ask about the run that it is in.
#[test]
fn runs_tell_about_themselves() {
    use shuttle::current::*;
    #[derive(Debug, Clone, PartialEq)]
    struct Weight(u32);
    shuttle::check_dfs(
        || {
            assert_eq!(usize::from(me()), 0);
            set_label_for_task(me(), Weight(3));
            set_label_for_task(
                me(),
                ChildLabelFn(std::sync::Arc::new(|_, labels| {
                    labels.insert(TaskName::from("child"));
                })),
            );
            let before = (clock(), context_switches());
            let child = shuttle::thread::spawn(move || {
                assert_eq!((get_label_for_task(me()), usize::from(me())), (Some(Weight(3)), 1));
                assert_eq!(get_name_for_task(me()), Some("child".into()));
                assert_eq!(set_label_for_task(me(), Weight(4)), Some(Weight(3)));
                assert!(clock().get(0) > 0 && clock().get(1) == 0, "it knows its parent: {:?}", clock());
            });
            child.join().unwrap();
            assert_eq!(get_label_for_task(me()), Some(Weight(3)));
            assert!(before.0 < clock() && before.1 < context_switches());
        },
        None,
    );
}

/// Random numbers differ from run to run of a random search, and a failing schedule has them.
#[test]
fn random_numbers_are_part_of_a_schedule() {
    use shuttle::rand::{Rng, thread_rng};
    fn test() {
        assert_ne!(thread_rng().gen_range(0..10), 7, "found it");
    }
    let message = |failure: Box<dyn std::any::Any + Send>| *failure.downcast::<String>().unwrap();
    let failed = message(catch_unwind(|| shuttle::check_random(test, 1000)).unwrap_err());
    let schedule = failed.split('"').find(|part| part.trim().starts_with("p1:")).unwrap().trim().to_string();
    let again = message(catch_unwind(|| shuttle::replay(test, &schedule)).unwrap_err());
    assert!(again.contains("found it") && schedule.contains('~'), "{schedule}: {again}");
    let refused = message(catch_unwind(|| shuttle::check_dfs(test, None)).unwrap_err());
    assert!(refused.contains("requested random data from DFS scheduler"), "{refused}");
}

/// A run that is too long is given up, if that is wanted; and a park may return for no reason.
#[test]
fn long_runs_may_be_given_up_and_parks_return() {
    let mut config = shuttle::Config::new();
    config.max_steps = shuttle::MaxSteps::ContinueAfter(50);
    let runs = shuttle::Runner::new(shuttle::scheduler::RandomScheduler::new(5), config).run(|| {
        loop {
            shuttle::thread::yield_now();
        }
    });
    assert_eq!(runs, 5);
    let failed = catch_unwind(|| {
        shuttle::check_dfs(
            || {
                let flag = std::sync::Arc::new(shuttle::sync::atomic::AtomicBool::new(false));
                let other = std::sync::Arc::clone(&flag);
                let child = shuttle::thread::spawn(move || {
                    shuttle::thread::park();
                    assert!(other.load(shuttle::sync::atomic::Ordering::SeqCst), "nobody has unparked it");
                });
                flag.store(true, shuttle::sync::atomic::Ordering::SeqCst);
                child.thread().unpark();
                child.join().unwrap();
            },
            None,
        );
    });
    assert!(failed.unwrap_err().downcast::<String>().unwrap().contains("nobody has unparked it"));
}
