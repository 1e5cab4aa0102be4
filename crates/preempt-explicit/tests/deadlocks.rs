//! Every search says who is stuck in a deadlock, where, and what for; who has ended or may end is not named there.

use preempt_core::{Limits, Outcome, Property, Silent};
use preempt_explicit::{
    Figure, Goal, Order, Published, Reduction, SearchOptions, Storage, SuccessorSource, SwarmSize, Walks,
    explore, swarm,
};
use preempt_model::check::{Check, CheckOptions};
use preempt_model::{Interpreter, Model};
use std::time::Duration;

const TEXT: &str = "byte m;
active proctype Done() { skip }
active proctype Stuck() { m == 1 }
active proctype Server() { end: do :: m == 3 -> skip od }
active proctype Two() { if :: m == 5 -> skip :: m == 6
  :: m == 7 fi }";

fn expect(how: &str, violation: Option<Property>) {
    let Some(property) = violation else { panic!("{how}: no violation") };
    let said =
        "Stuck(1) waits at d.pml:3: m == 1; Two(3) waits at d.pml:5: m == 5 or m == 6 or at d.pml:6: m == 7";
    assert_eq!(property.name, said, "{how}");
    assert_eq!(property.location.as_ref().map(ToString::to_string).as_deref(), Some("d.pml:3:27"), "{how}");
    let waiting: Vec<_> = property.stuck().map(|it| (it.pid, it.statements.len())).collect();
    assert_eq!(waiting, [(1, 1), (3, 3)], "{how}");
    let resting: Vec<_> = property.waiting.iter().filter(|it| it.may_end).map(|it| it.pid).collect();
    assert!(resting.contains(&2) && !resting.contains(&1), "{how}: {resting:?}");
}

#[test]
fn who_is_stuck_where_and_what_for() {
    let mut read = |_: &str| Err("there are no other files".to_string());
    let loaded = preempt_promela::load("d.pml", TEXT, &preempt_promela::Additions::default(), &mut read);
    let (model, sources): (Model, _) = (loaded.model.expect("a model"), loaded.sources);
    let published = |figure| {
        let order = Order::Published(Published { figure, cycles: false, shortening: false });
        SearchOptions { order, bound: Some(2), ..SearchOptions::default() }
    };
    let plain = SearchOptions::default();
    let searches = [
        ("in order of cost", plain.clone()),
        ("interpreted", SearchOptions { successors: SuccessorSource::Interpreted, ..plain.clone() }),
        ("exact reduction", SearchOptions { reduction: Reduction::Exact, ..plain.clone() }),
        ("simplify", SearchOptions { simplify: true, ..plain.clone() }),
        (
            "depth first",
            SearchOptions { order: Order::DepthFirst, reduction: Reduction::Strong, ..plain.clone() },
        ),
        ("compact", SearchOptions { store: Storage::Compact { bits: 64 }, ..plain.clone() }),
        (
            "bitstate",
            SearchOptions { store: Storage::Bitstate { hashes: 3, bits: Some(4096) }, ..plain.clone() },
        ),
        (
            "random",
            SearchOptions { order: Order::Random(Walks { seed: 1, most: Some(10) }), ..plain.clone() },
        ),
        ("Fig. 2", published(Figure::NaiveBounded)),
        ("Fig. 4", published(Figure::ContextBounded)),
        ("Fig. 5", published(Figure::WithReduction)),
    ];
    for (how, options) in searches {
        let report = explore(&model, &sources, &options, Goal::First, &mut Silent).expect("supported");
        expect(how, report.outcome.violation);
    }
    let limits = Limits { time: Some(Duration::from_millis(200)), ..Limits::default() };
    let options = SearchOptions { limits, ..plain.clone() };
    let report =
        swarm(&model, &sources, &options, SwarmSize { seed: 1, threads: 2 }, &mut Silent).expect("supported");
    expect("swarm", report.outcome.violation);
    let all = explore(&model, &sources, &plain, Goal::All, &mut Silent).expect("supported");
    assert_eq!(all.errors.len(), 1);
    let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
    let reference: Outcome = Check::Safety
        .check(&interpreter, &CheckOptions::default(), &mut Silent)
        .expect("safety needs no automaton");
    expect("reference", reference.violation);
}
