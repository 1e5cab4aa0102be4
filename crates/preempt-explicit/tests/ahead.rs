//! Searches in order of cost with threads that compute steps ahead: everything that is found and counted is the same as with
//! one thread, in every store, with every goal and limit.

use preempt_core::{Cost, Limits, Silent, StopReason, Verdict};
use preempt_explicit::{Goal, Reduction, SearchOptions, SearchReport, Storage, explore};
use preempt_model::generator::{faulty_program_from_seed, program_from_seed};
use std::time::Duration;

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Without what is not the same in two runs of one thread either: how long it took, and the room for what is ahead.
fn timeless(mut report: SearchReport) -> SearchReport {
    let stats = &mut report.outcome.stats;
    (stats.time, stats.peak_bytes, stats.memory) = (Duration::ZERO, 0, None);
    report
}

#[test]
fn the_same_search_step_for_step() {
    let (mut asked, mut violated) = (0, 0);
    for seed in 0..programs(30) {
        let program = match seed % 3 {
            0 => faulty_program_from_seed(9_000_000 + seed),
            _ => program_from_seed(9_000_000 + seed),
        };
        let (model, sources) = program.to_model();
        let bitstate = Storage::Bitstate { hashes: 2, bits: Some(1 << 12) };
        for store in [Storage::Exact, Storage::Compact { bits: 64 }, bitstate] {
            for (cost, depth, states) in [
                (Cost::Steps, None, None),
                (Cost::Preemptions, Some(9), None),
                (Cost::Preemptions, None, Some(300)),
                (Cost::Switches, Some(12), None),
            ] {
                for goal in [Goal::First, Goal::Count, Goal::All] {
                    if goal == Goal::All && store != Storage::Exact {
                        continue;
                    }
                    let search = |threads| {
                        let limits = Limits { depth, states: states.or(Some(5000)), ..Limits::default() };
                        let options = SearchOptions {
                            store,
                            cost,
                            limits,
                            threads,
                            reduction: if seed % 2 == 0 { Reduction::Exact } else { Reduction::None },
                            fair_switch: cost == Cost::Preemptions && seed % 5 == 0,
                            in_order_first: 0,
                            ..SearchOptions::default()
                        };
                        explore(&model, &sources, &options, goal, &mut Silent).map(timeless)
                    };
                    let expected = search(1);
                    // How many states were met when the limit was seen is known of the search in order only.
                    let is_cut = |found: &SearchReport| {
                        found.outcome.verdict == Verdict::Inconclusive(StopReason::States)
                    };
                    if (store == Storage::Exact || states.is_none()) && expected.as_ref().is_ok_and(is_cut) {
                        continue;
                    }
                    for threads in [2, 3] {
                        let name =
                            format!("seed {seed}, {store:?}, {cost:?}, {depth:?}, {goal:?}, {threads}");
                        assert_eq!(search(threads).ok(), expected.as_ref().ok().cloned(), "{name}");
                    }
                    asked += 1;
                    violated += u64::from(expected.is_ok_and(|found| !found.errors.is_empty()));
                }
            }
        }
    }
    assert!(violated * 10 > asked, "{violated} of {asked} have a violation");
}
