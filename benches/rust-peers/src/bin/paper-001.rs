//! Paper 001's experiments on a work-stealing queue of our own: Table 1, Algorithm 1 against Algorithm 2, and growth in
//! the number of steps. Prints a report in Markdown.

use preempt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use preempt::sync::{Arc, Mutex};
use preempt::{CheckReport, Checker, Strategy, thread};
use std::time::Instant;

/// Cilk's protocol: the owner pushes and pops at the tail, a thief takes from the head under a lock.
struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: Vec<AtomicUsize>,
    lock: Mutex<()>,
}

impl Queue {
    fn push(&self, item: usize) {
        let tail = self.tail.load(SeqCst);
        self.slots[tail % self.slots.len()].store(item, SeqCst);
        self.tail.store(tail + 1, SeqCst);
    }

    fn pop(&self) -> Option<usize> {
        let tail = self.tail.load(SeqCst).checked_sub(1)?;
        self.tail.store(tail, SeqCst);
        if self.head.load(SeqCst) <= tail {
            return Some(self.slots[tail % self.slots.len()].load(SeqCst));
        }
        self.tail.store(tail + 1, SeqCst);
        let _lock = self.lock.lock().unwrap();
        if self.head.load(SeqCst) > tail {
            return None;
        }
        self.tail.store(tail, SeqCst);
        Some(self.slots[tail % self.slots.len()].load(SeqCst))
    }

    fn steal(&self) -> Option<usize> {
        let _lock = self.lock.lock().unwrap();
        let head = self.head.load(SeqCst);
        self.head.store(head + 1, SeqCst);
        if head < self.tail.load(SeqCst) {
            return Some(self.slots[head % self.slots.len()].load(SeqCst));
        }
        self.head.store(head, SeqCst);
        None
    }
}

/// The owner enqueues so many jobs and dequeues them; a thief tries to steal two.
fn test(size: usize) {
    let slots = (0..size + 1).map(|_| AtomicUsize::new(0)).collect();
    let (head, tail, lock) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(()));
    let queue = Arc::new(Queue { head, tail, slots, lock });
    let other = Arc::clone(&queue);
    let thief = thread::spawn(move || (0..2).filter_map(|_| other.steal()).collect::<Vec<_>>());
    // Which of the two begins is to be free.
    let owner = thread::spawn(move || {
        (0..size).for_each(|item| queue.push(item));
        (0..size).filter_map(|_| queue.pop()).collect::<Vec<_>>()
    });
    let mut taken = owner.join().unwrap();
    taken.extend(thief.join().unwrap());
    taken.sort_unstable();
    assert_eq!(taken, (0..size).collect::<Vec<_>>(), "every job is done once");
}

/// `size` is how many jobs; the seconds are those of the whole search.
fn run(size: usize, strategy: Strategy, bound: u32) -> (CheckReport, f64) {
    let began = Instant::now();
    let report = Checker::new().strategy(strategy).max_preemptions(Some(bound)).run(move || test(size));
    assert!(report.failure.is_none(), "{report}");
    (report, began.elapsed().as_secs_f64())
}

fn executions(size: usize, strategy: Strategy, bound: u32) -> u64 {
    let all = run(size, strategy, bound).0.executions;
    match strategy {
        // It starts anew for every bound, and has counted the smaller ones too.
        Strategy::CbDfs if bound > 0 => all - run(size, strategy, bound - 1).0.executions,
        _ => all,
    }
}

fn main() {
    println!("# Paper 001 on our own work-stealing queue\n");
    println!(
        "Made by `benches/run paper-001`. The owner enqueues as many jobs as the size says and dequeues them, while"
    );
    println!(
        "another thread tries to steal two. The queue is not the paper's, which is not public, so the numbers"
    );
    println!("are not the paper's either.\n");
    println!("## Table 1: complete runs within each bound\n");
    println!(
        "cb-dfs is plain depth-first search within the bound, cb-por is Algorithm 2 (`Search` and `Mark`).\n"
    );
    println!("| bound | size 3 cb-dfs | cb-por | size 4 cb-dfs | cb-por | size 5 cb-dfs | cb-por |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for bound in 0..5 {
        let cells: Vec<String> = (3..6)
            .flat_map(|size| {
                [Strategy::CbDfs, Strategy::Marking].map(|strategy| executions(size, strategy, bound))
            })
            .map(|count| count.to_string())
            .collect();
        println!("| {bound} | {} |", cells.join(" | "));
    }
    println!("\n## Algorithm 1 against Algorithm 2, size 3\n");
    println!(
        "Algorithm 1 visits every prefix of every graph; Algorithm 2 makes one run for each complete graph and"
    );
    println!(
        "calls `Mark` on prefixes. Algorithm 1 starts anew for every bound; its columns have the sums.\n"
    );
    println!(
        "| bound | complete runs | 1: states visited | 1: runs begun | 2: `Mark` calls | 2: runs begun |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for bound in 0..5 {
        let (basic, _) = run(3, Strategy::Basic, bound);
        let (marking, _) = run(3, Strategy::Marking, bound);
        assert_eq!(basic.executions, marking.executions);
        println!(
            "| {bound} | {} | {} | {} | {} | {} |",
            marking.executions,
            basic.prefixes,
            basic.executions + basic.pruned,
            marking.prefixes,
            marking.executions + marking.pruned
        );
    }
    println!("\n## Growth in the number of steps, Algorithm 2, bound 2\n");
    println!("Polynomial in the steps, as the paper's section 3.4 says.\n");
    println!(
        "| size | steps of a run | complete runs | `Mark` calls | `Mark` calls per run | milliseconds |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for size in [2, 4, 8, 16, 32] {
        let first = Checker::new().max_executions(1).run(move || test(size));
        let (report, seconds) = run(size, Strategy::Marking, 2);
        println!(
            "| {size} | {} | {} | {} | {:.0} | {:.0} |",
            first.steps,
            report.executions,
            report.prefixes,
            report.prefixes as f64 / report.executions as f64,
            seconds * 1e3
        );
    }
}
