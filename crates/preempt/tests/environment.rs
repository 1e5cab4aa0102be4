//! The environment as CI uses it: the variables are set for a process of its own, and reach its tests.

use preempt::sync::Arc;
use preempt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use preempt::{Checker, thread};
use std::process::Command;

fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&counter);
    let add = |counter: &AtomicUsize| counter.store(counter.load(SeqCst) + 1, SeqCst);
    let child = thread::spawn(move || add(&other));
    add(&counter);
    child.join().unwrap();
    assert_eq!(counter.load(SeqCst), 2, "an update is lost");
}

/// The line of the check below.
const CHECK: u32 = 25;

/// Runs only as the child of the test below.
#[test]
fn child() {
    if std::env::var_os("PREEMPT_TEST_CHILD").is_some() {
        let report = Checker::new().max_preemptions(Some(0)).run(lost_update);
        println!("executions {} complete to {:?}", report.executions, report.complete_to);
        println!("failure {:?}", report.failure.as_ref().map(|failure| (failure.kind, failure.preemptions)));
        println!("backtrace {:?}", report.failure.and_then(|failure| failure.backtrace));
    }
}

fn run(variables: &[(&str, &str)]) -> String {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["child", "--exact", "--nocapture"]).env("PREEMPT_TEST_CHILD", "1");
    let output = command.envs(variables.iter().copied()).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn the_environment_overrides_the_code() {
    let text = run(&[]);
    assert!(text.contains("complete to Some(0)") && text.contains("failure None"), "{text}");
    let text = run(&[("PREEMPT_MAX_PREEMPTIONS", "1")]);
    assert!(text.contains("failure Some((Panic, 1))"), "{text}");
    let text = run(&[("PREEMPT_MAX_PREEMPTIONS", "none"), ("PREEMPT_STRATEGY", "bpor")]);
    assert!(text.contains("failure Some((Panic, 1))"), "{text}");
    let schedule = Checker::new().run(lost_update).failure.expect("found").schedule;
    let text = run(&[("PREEMPT_REPLAY", &schedule)]);
    assert!(text.contains("executions 1 ") && text.contains("failure Some((Panic, 1))"), "{text}");
    // A schedule that names a check is for that one, and leaves the others alone.
    let place = |line: u32| format!("{}:{line}={schedule}", file!());
    let text = run(&[("PREEMPT_REPLAY", &place(CHECK))]);
    assert!(text.contains("executions 1 ") && text.contains("failure Some((Panic, 1))"), "{text}");
    let text = run(&[("PREEMPT_REPLAY", &place(CHECK + 1))]);
    assert!(text.contains("complete to Some(0)") && text.contains("failure None"), "{text}");
    // The backtrace of a panic is the user's.
    let text = run(&[("PREEMPT_REPLAY", &place(CHECK)), ("RUST_BACKTRACE", "1")]);
    let line = text.lines().find(|line| line.starts_with("backtrace ")).unwrap_or_default();
    assert!(
        line.contains("environment.rs:15") && !line.contains("fibers.rs") && !line.contains("hook.rs"),
        "{text}"
    );
    let text = run(&[("PREEMPT_STRATEGY", "random"), ("PREEMPT_MAX_EXECUTIONS", "17")]);
    assert!(text.contains("executions 17 ") || text.contains("failure Some((Panic"), "{text}");
    let text = run(&[("PREEMPT_MAX_STEPS", "lots")]);
    assert!(text.contains("PREEMPT_MAX_STEPS=lots is neither a number nor `none`"), "{text}");
}
