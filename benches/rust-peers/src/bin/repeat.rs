//! One of the programs under preempt, as often as it says, for a profiler or to count instructions: `repeat PROGRAM cb-dfs|default
//! TIMES` prints the number of executions. Only what every version of preempt has is used, so that it can be built with an
//! older one in its place (`--cfg before`: one that does not repeat the first run of a search).

#[path = "../programs.rs"]
#[allow(dead_code, reason = "the others are for the report")]
mod programs;

use preempt::{Checker, Strategy};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [program, strategy, times] = &words[..] else { panic!("repeat PROGRAM cb-dfs|default TIMES") };
    let (strategy, bound) =
        if strategy == "default" { (Strategy::Marking, None) } else { (Strategy::CbDfs, Some(3)) };
    let checker = Checker::new().strategy(strategy).max_preemptions(bound);
    #[cfg(not(before))]
    let checker = checker.check_determinism(false);
    let test = programs::preempt::ALL[program.parse::<usize>().expect("a number")];
    let times: u64 = times.parse().expect("a number");
    println!("{}", (0..times).map(|_| checker.run(test).executions).sum::<u64>());
}
