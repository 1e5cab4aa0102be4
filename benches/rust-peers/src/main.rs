//! Runs the same programs under preempt, loom and shuttle and prints a report in Markdown.

mod programs;

use preempt::{Checker, Strategy};
use programs::{NAMES, STEPS, loom as for_loom, preempt as for_preempt, shuttle as for_shuttle};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// No cell of the table takes longer, by the clock: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(40);
const MOST: u64 = 400_000;

/// What one exploration cost.
#[derive(Clone, Copy)]
struct Cost {
    executions: u64,
    time: Duration,
    /// It ran to its end.
    complete: bool,
}

impl Cost {
    fn shown(&self) -> String {
        format!("{}{}", self.executions, if self.complete { "" } else { "+" })
    }

    fn microseconds(&self) -> f64 {
        self.time.as_secs_f64() * 1e6 / self.executions.max(1) as f64
    }
}

fn timed(explore: impl FnOnce() -> (u64, bool)) -> Cost {
    let began = processor_time();
    let (executions, complete) = explore();
    Cost { executions, time: processor_time() - began, complete }
}

/// What this process has used so far, all its threads: other programs on the machine do not count. A library may run a test in
/// a thread of its own, so the clock of the thread that asks would miss it.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value of our own that lives as long as the call.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "the system tells the time of a process");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// With the steps and prefixes of the search.
fn preempt(test: fn(), strategy: Strategy, bound: Option<u32>) -> (Cost, preempt::CheckReport) {
    let mut report = None;
    let cost = timed(|| {
        // What is measured is the search: see the last table for what the repetitions of its first run cost.
        let checker = Checker::new().strategy(strategy).max_preemptions(bound).check_determinism(false);
        let done = checker.max_executions(MOST).max_duration(PATIENCE).run(test);
        assert!(done.failure.is_none(), "{done}");
        let complete = done.verdict == preempt::Verdict::Holds;
        let executions = done.executions;
        report = Some(done);
        (executions, complete)
    });
    (cost, report.expect("it has run"))
}

/// The runs of exactly one bound: cb-dfs starts anew for every bound, and `executions` has those of all.
fn cb_dfs(test: fn(), bound: u32) -> Cost {
    let (with, _) = preempt(test, Strategy::CbDfs, Some(bound));
    let below = bound.checked_sub(1).map(|below| preempt(test, Strategy::CbDfs, Some(below)).0);
    let (executions, time) = below.map_or((0, Duration::ZERO), |below| (below.executions, below.time));
    if !with.complete {
        return with;
    }
    Cost { executions: with.executions - executions, time: with.time.saturating_sub(time), ..with }
}

fn loom(test: fn(), bound: Option<usize>) -> Cost {
    timed(|| {
        let count = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&count);
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = bound;
        builder.max_duration = Some(PATIENCE);
        builder.max_branches = 100_000;
        let began = Instant::now();
        builder.check(move || {
            counter.fetch_add(1, Relaxed);
            test();
        });
        (count.load(Relaxed), began.elapsed() < PATIENCE)
    })
}

fn shuttle(test: fn()) -> Cost {
    timed(|| {
        let count = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&count);
        let mut config = shuttle::Config::new();
        config.max_time = Some(PATIENCE);
        config.silence_warnings = true;
        let scheduler = shuttle::scheduler::DfsScheduler::new(Some(MOST as usize), false);
        let began = Instant::now();
        shuttle::Runner::new(scheduler, config).run(move || {
            counter.fetch_add(1, Relaxed);
            test();
        });
        let executions = count.load(Relaxed);
        (executions, began.elapsed() < PATIENCE && executions < MOST)
    })
}

/// The same again and again for a while, so that what is done once per search (stacks, tables) does not count much.
fn repeated(explore: impl Fn() -> Cost) -> Cost {
    let mut sum = Cost { executions: 0, time: Duration::ZERO, complete: true };
    while sum.time < Duration::from_millis(400) {
        let one = explore();
        sum = Cost { executions: sum.executions + one.executions, time: sum.time + one.time, complete: true };
    }
    sum
}

/// Three threads with so many steps on atomics of their own, and a process to itself: executions, processor time of the search, and the most
/// memory that the process had.
fn private(library: &str, steps: usize) {
    STEPS.store(steps, Relaxed);
    let cost = match library {
        "preempt" => timed(|| (Checker::new().run(for_preempt::private).executions, true)),
        _ => loom(for_loom::private, None),
    };
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells about a process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map_or("?", str::trim);
    println!("{} | {:.2} | {peak}", cost.shown(), cost.time.as_secs_f64() * 1e3);
}

/// [`private`] for both, in processes of their own.
fn private_table() {
    println!("\n## Independent work: three threads, n `fetch_add` each on an atomic of its own\n");
    println!(
        "One happens-before graph, so one execution. The whole check with its default options, the repetitions of the run that show\n\
         whether it is deterministic included; in a process of its own, with its peak of memory.\n"
    );
    println!("| n | preempt: executions | milliseconds | peak | loom: executions | milliseconds | peak |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for steps in ["20", "80", "320", "1280"] {
        let one = |library: &str| {
            let program = std::env::current_exe().expect("the name of this program");
            let output = std::process::Command::new(program).args(["private", library, steps]).output();
            String::from_utf8_lossy(&output.expect("it runs").stdout).trim().to_string()
        };
        println!("| {steps} | {} | {} |", one("preempt"), one("loom"));
    }
}

fn slashed(costs: &[Cost]) -> String {
    costs.iter().map(Cost::shown).collect::<Vec<_>>().join("/")
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [verb, library, steps] = &words[..]
        && verb == "private"
    {
        return private(library, steps.parse().expect("a number"));
    }
    println!("# preempt, loom and shuttle on the same programs\n");
    println!("Made by `benches/run compare-rust`. loom 0.7.2, shuttle 0.9.9, release builds.\n");
    println!(
        "`HB`: runs of the default strategy with at most c preemptions, which are exactly the distinct happens-before\n\
         graphs. `pruned`: runs begun and not completed, for all of them. `cb-dfs`: plain depth-first search within the\n\
         bound. loom: all, and with its preemption bound 1, 2, 3 (it misses behaviours there, and branches on stale\n\
         loads too). shuttle: depth-first, without a bound. `+`: cut off after {} s or {MOST} runs.\n",
        PATIENCE.as_secs()
    );
    println!("| program | HB c=0/1/2/3 | HB all | pruned | cb-dfs c=1/2/3 | loom all/1/2/3 | shuttle dfs |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let mut rows = Vec::new();
    for (i, name) in NAMES.iter().enumerate() {
        let test = for_preempt::ALL[i];
        let bounded: Vec<Cost> =
            (0..4).map(|bound| preempt(test, Strategy::Marking, Some(bound)).0).collect();
        let (all, report) = preempt(test, Strategy::Marking, None);
        assert!(report.pruned <= report.executions, "{name}");
        let plain: Vec<Cost> = (1..4).map(|bound| cb_dfs(test, bound)).collect();
        let mut looms = vec![loom(for_loom::ALL[i], None)];
        looms.extend((1..4).map(|bound| loom(for_loom::ALL[i], Some(bound))));
        let own = repeated(|| preempt(test, Strategy::CbDfs, Some(3)).0);
        let default = repeated(|| preempt(test, Strategy::Marking, None).0);
        let loom = repeated(|| loom(for_loom::ALL[i], Some(2)));
        rows.push((name, [bounded, vec![all], plain, looms], report, own, default, loom));
    }
    // After all that: its panic hook, which stays, prints whenever loom unwinds a thread.
    let shuttles = for_shuttle::ALL.map(shuttle);
    for ((name, [bounded, all, plain, looms], report, ..), shuttle) in rows.iter().zip(&shuttles) {
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} |",
            slashed(bounded),
            slashed(all),
            report.pruned,
            slashed(plain),
            slashed(looms),
            shuttle.shown()
        );
    }
    println!("\n## Processor time per execution, in microseconds\n");
    println!(
        "cb-dfs with c = 3, loom with its bound 2, shuttle as above. `default`: the whole search, with the thread of the\n\
         system that it starts, divided by its runs, which are few; `prefixes` are those it walked (calls of `Mark`), for\n\
         each run.\n"
    );
    println!("| program | cb-dfs | loom | shuttle | loom / cb-dfs | shuttle / cb-dfs | default | prefixes |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for ((name, _, report, own, default, loom), shuttle) in rows.iter().zip(&shuttles) {
        let (own, loom, shuttle) = (own.microseconds(), loom.microseconds(), shuttle.microseconds());
        println!(
            "| {name} | {own:.1} | {loom:.0} | {shuttle:.1} | {:.0} | {:.1} | {:.0} | {:.0} |",
            loom / own,
            shuttle / own,
            default.microseconds(),
            report.prefixes as f64 / report.executions.max(1) as f64
        );
    }
    private_table();
}
