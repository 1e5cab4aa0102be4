//! Limits are kept wherever a search may spend its time, and "holds" is said only if nothing was left undone: in every
//! order, with every store and both kinds of successors, and by the reference.

use preempt_core::{
    Budget, Cost, Limits, Outcome, Progress, PropertyKind, Silent, Snapshot, SourceMap, StopReason, Verdict,
};
use preempt_explicit::{
    Figure, Goal, Native, Order, Portfolio, Published, Reduction, SearchOptions, Storage, SuccessorSource,
    Walks, answer, count, explore,
};
use preempt_model::check::{Check, CheckOptions};
use preempt_model::{Command, Expr, Interpreter, Model, Place, Scope, search};
use std::time::{Duration, Instant};

fn load(text: &str) -> (Model, SourceMap) {
    let mut read = |_: &str| Err("there are no other files".to_string());
    let loaded = preempt_promela::load("limits.pml", text, &preempt_promela::Additions::default(), &mut read);
    (loaded.model.unwrap_or_else(|| panic!("{text}: {:?}", loaded.diagnostics)), loaded.sources)
}

/// Every way to search for what is wrong: a name, and the options; `None` is the reference.
fn ways() -> Vec<(String, Option<SearchOptions>)> {
    let published = |figure| Order::Published(Published { figure, cycles: false, shortening: false });
    let orders = [
        Order::ByCost,
        Order::DepthFirst,
        published(Figure::ContextBounded),
        Order::Random(Walks { seed: 7, most: Some(3) }),
    ];
    let stores =
        [Storage::Exact, Storage::Compact { bits: 96 }, Storage::Bitstate { hashes: 3, bits: Some(1 << 20) }];
    let mut ways = vec![("reference".to_string(), None)];
    for order in orders {
        for store in stores {
            let is_kept = store == Storage::Exact;
            if !is_kept && !matches!(order, Order::ByCost | Order::DepthFirst) {
                continue;
            }
            for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
                let options = SearchOptions { order, store, successors, ..SearchOptions::default() };
                ways.push((format!("{order:?}, {store:?}, {successors:?}"), Some(options)));
            }
        }
    }
    let fair = SearchOptions { fair_switch: true, ..SearchOptions::default() };
    ways.push(("fair switches".into(), Some(fair)));
    for order in [Order::ByCost, Order::DepthFirst] {
        let reduction = if order == Order::ByCost { Reduction::Exact } else { Reduction::Strong };
        let options = SearchOptions { order, reduction, ..SearchOptions::default() };
        ways.push((format!("{order:?}, {reduction:?}"), Some(options)));
    }
    ways
}

fn check(
    (model, sources): &(Model, SourceMap),
    way: &Option<SearchOptions>,
    limits: Limits,
    progress: &mut dyn Progress,
) -> Outcome {
    match way {
        None => {
            let interpreter = Interpreter::new(model, sources).expect("initial values have a meaning");
            search::check(&interpreter, &search::ReferenceOptions { limits, ..Default::default() }, progress)
        }
        Some(options) => {
            let options = SearchOptions { limits, ..options.clone() };
            explore(model, sources, &options, Goal::First, progress).expect("it is supported").outcome
        }
    }
}

/// Stops when its budget does.
struct Within(Budget);

impl Progress for Within {
    fn update(&mut self, _: &Snapshot) {}

    fn stop(&self) -> Option<StopReason> {
        self.0.stopped()
    }

    fn budget(&self) -> Budget {
        self.0.clone()
    }
}

/// Neither a store that is full before the first state, nor a search that was not to begin, says "holds".
#[test]
fn nothing_holds_that_was_not_looked_at() {
    let model = load("byte x; active proctype A() { do :: x++ od } active proctype B() { do :: x++ od }");
    for (name, way) in ways() {
        let budget = Budget::unlimited();
        budget.stop(StopReason::Interrupted);
        let outcome = check(&model, &way, Limits::default(), &mut Within(budget));
        assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::Interrupted), "{name}");
    }
}

#[test]
fn a_state_of_more_than_256_kilobytes_is_a_state() {
    let model = load("int a[65534]; init { a[5] = 1; assert(a[5] == 2) }");
    for (name, way) in ways() {
        let outcome = check(&model, &way, Limits::default(), &mut Silent);
        assert_eq!(outcome.verdict, Verdict::Violated, "{name}");
        assert_eq!(outcome.counterexample.map(|trace| trace.steps.len()), Some(2), "{name}");
    }
}

/// No recursion, and a time that grows with the length and not with its square.
#[test]
fn a_long_atomic_sequence_is_followed_to_its_end() {
    let text = |rounds: u32| {
        format!(
            "int x; active proctype P() {{ atomic {{ do :: x < {rounds} -> x++ :: else -> break od }}; assert(0) }}"
        )
    };
    let model = load(&text(10_000));
    for (name, way) in ways() {
        let outcome = check(&model, &way, Limits::default(), &mut Silent);
        let is_random = matches!(way, Some(SearchOptions { order: Order::Random(_), .. }));
        let expected = if is_random { Verdict::Inconclusive(StopReason::Partial) } else { Verdict::Violated };
        assert_eq!(outcome.verdict, expected, "{name}");
        let steps = outcome.counterexample.map(|trace| trace.steps.len());
        assert_eq!(steps, (!is_random).then_some(20_002), "{name}");
    }
    let (model, sources) = load(&text(500_000));
    let counted = count(&model, &sources, &SearchOptions::default(), &mut Silent).expect("it is supported");
    assert_eq!((counted.stats.states, counted.stats.depth), (4, 1_000_003));
}

/// All turns of all questions have together as many states as one search could have.
#[test]
fn states_are_counted_over_all_searches() {
    let counters =
        "int x, y; active proctype A() { do :: x++ :: x = 0 od } active proctype B() { do :: y++ od }";
    let both = "ltl p { [] (x >= 0) } ltl q { <> (y == 9) } ltl far { [] !(x == 500 && y == 500) }";
    let texts = [
        counters.to_string(),
        format!("{counters} ltl p {{ [] (x < 1000000) }}"),
        format!("{counters} {both}"),
    ];
    for text in &texts {
        let (model, sources) = &load(text);
        let questions = Check::all(model);
        for most in [0, 1, 10, 1_000, 30_000, 150_000] {
            let limits = Limits { states: Some(most), ..Limits::default() };
            let exact = SearchOptions { reduction: Reduction::Exact, limits, ..SearchOptions::default() };
            let whole = SearchOptions { reduction: Reduction::None, ..exact.clone() };
            let strategy = |options| Portfolio {
                model,
                sources,
                options,
                weakly_fair: false,
                chooses_reduction: true,
                proofs_simplify: true,
                shortest: true,
                may_interpret: false,
            };
            let found = [
                strategy(&exact).simplest(&questions, None, &mut Silent),
                strategy(&whole).all_violations(&questions, None, &mut Silent),
            ];
            for found in found {
                let found = found.expect("supported").expect("there are questions");
                // A search notices it at the state that is one too many, or after the processes of that state.
                let visited = found.report.visited;
                assert!(visited <= most + 20 * questions.len() as u64, "{visited} of {most}: {text}");
                assert!(
                    visited * 4 >= most || found.report.outcome.verdict == Verdict::Violated,
                    "{visited} of {most}"
                );
                let holds = found.properties.iter().any(|it| it.verdict == Verdict::Holds);
                assert!(!holds, "{most}: {text}");
            }
            let interpreter = Interpreter::new(model, sources).expect("initial values have a meaning");
            let most = most.min(1000);
            let limits = Limits { states: Some(most), ..Limits::default() };
            let options = search::ReferenceOptions { limits, ..search::ReferenceOptions::default() };
            let asking = CheckOptions { search: options, weakly_fair: false };
            for question in &questions {
                let answer = question.check_cheapest(&interpreter, &asking, &mut Silent);
                let visited = answer.expect("small formulas").visited;
                assert!((1..=most + 20).contains(&visited), "{visited} of {most}: {text}");
            }
        }
    }
}

#[test]
fn an_endless_atomic_sequence_ends_with_the_limits() {
    for text in [
        "int x; active proctype P() { atomic { do :: x++ od } }",
        "int x, y; active proctype P() { atomic { do :: x++ :: y++; assert(y > 0) od } }",
    ] {
        let model = load(text);
        for (name, way) in ways() {
            let time = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
            let memory = Limits { memory_bytes: Some(2_000_000), ..Limits::default() };
            for (limits, reason) in [(time, StopReason::Time), (memory, StopReason::Memory)] {
                let started = Instant::now();
                let outcome = check(&model, &way, limits, &mut Silent);
                // The bits of a store are not what a sequence needs.
                let stopped = matches!(outcome.verdict, Verdict::Inconclusive(_));
                assert!(stopped, "{name}: {:?}, not {reason:?}", outcome.verdict);
                assert!(started.elapsed() < Duration::from_secs(2), "{name}: {:?}", started.elapsed());
            }
        }
    }
}

#[test]
fn an_endless_deterministic_block_ends_with_the_limits() {
    let text = "bit x; chan c = [0] of { bit }; active proctype P() { d_step { do :: x = 1 - x od } }";
    let received = "bit x; chan c = [0] of { bit };
        active proctype P() { c!1 }
        active proctype Q() { d_step { c?x; do :: x = 1 - x od } }";
    for model in [load(text), load(received)] {
        for (name, way) in ways() {
            let limits = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
            let outcome = check(&model, &way, limits, &mut Silent);
            assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::Time), "{name}");
            assert!(outcome.stats.violations.is_empty(), "{name}: {:?}", outcome.stats.violations);
        }
    }
}

/// More than ten million steps are many, but no mistake.
#[test]
fn a_long_deterministic_block_is_executed_to_its_end() {
    let text = "int x; active proctype P() {
        d_step { do :: x < 8000000 -> x++ :: else -> break od }; assert(x == 8000000) }";
    let (model, sources) = load(text);
    let counted = count(&model, &sources, &SearchOptions::default(), &mut Silent).expect("it is supported");
    assert_eq!((counted.verdict, counted.stats.states), (Verdict::Holds, 4));
}

/// As in Spin 255 processes can live at a time, and one more ends the run with an error. The counts are Spin's.
#[test]
fn one_process_too_many() {
    let text = |children: u32| {
        let children = format!("do :: n < {children} -> run C(); n++ :: else -> break od");
        load(&format!("proctype C() {{ end: false }} init {{ byte n; {children}; end: false }}"))
    };
    let (enough, more) = (text(254), text(255));
    // The interpreter is slow with so many: one way with it is enough.
    let is_fast = |way: &Option<SearchOptions>| {
        way.as_ref()
            .is_none_or(|it| it.successors == SuccessorSource::Native || it.order == Order::DepthFirst)
    };
    for (name, way) in ways().into_iter().filter(|(_, way)| is_fast(way)) {
        let outcome = check(&enough, &way, Limits::default(), &mut Silent);
        assert_ne!(outcome.verdict, Verdict::Violated, "{name}: {:?}", outcome.violation);
        let outcome = check(&more, &way, Limits::default(), &mut Silent);
        let Some(violation) = outcome.violation else { panic!("{name}: {:?}", outcome.verdict) };
        assert_eq!(violation.kind, PropertyKind::RuntimeError, "{name}");
        assert_eq!(violation.name, "too many processes: there can be 255", "{name}");
        let steps = outcome.counterexample.map(|trace| trace.steps.len());
        assert_eq!(steps, Some(3 * 254 + 2), "{name}");
    }
    for (model, states) in [(&enough, 764), (&more, 764)] {
        let counted =
            count(&model.0, &model.1, &SearchOptions::default(), &mut Silent).expect("supported").stats;
        assert_eq!((counted.states, counted.transitions + 1), (states, states));
    }
}

/// One step in 2^40 ways: they are not listed first and counted then.
#[test]
fn a_step_in_many_ways_ends_with_the_limits() {
    let (mut model, sources) =
        load("bit a[40]; active proctype P() { a[0] = 1 } active proctype Q() { a[0] == 2 }");
    let command = model.codes[0].locations.iter_mut().flat_map(|location| &mut location.edges);
    let assignment = command.map(|edge| &mut edge.command).find(|it| matches!(it, Command::Assign(_)));
    let place = |slot| Place::scalar(Scope::Global, slot, model.globals[0].ty);
    *assignment.expect("an assignment") =
        Command::Assign((0..40).map(|slot| (place(slot), Expr::Any { low: 0, high: 1 })).collect());
    let model = &(model, sources);
    let some = Duration::from_millis(200);
    let limits = [
        (Limits { time: Some(some), ..Limits::default() }, StopReason::Time),
        (
            Limits { memory_bytes: Some(20 << 20), time: Some(60 * some), ..Limits::default() },
            StopReason::Memory,
        ),
    ];
    for (name, way) in ways() {
        for (limits, reason) in limits {
            let since = Instant::now();
            let outcome = check(model, &way, limits, &mut Silent);
            assert_eq!(outcome.verdict, Verdict::Inconclusive(reason), "{name}");
            assert!(since.elapsed() < 20 * some, "{name}: {:?}", since.elapsed());
        }
    }
}

/// Two that count: everything that one of them alone can reach is looked at for each state.
#[test]
fn looking_ahead_for_fair_switches_keeps_the_limits() {
    let text = "int x, y; active proctype A() { do :: x++ od } active proctype B() { do :: y++ od }";
    let model = load(text);
    let interpreted = SearchOptions { successors: SuccessorSource::Interpreted, ..SearchOptions::default() };
    let compact = SearchOptions { store: Storage::Compact { bits: 64 }, ..SearchOptions::default() };
    for options in [SearchOptions::default(), interpreted, compact] {
        let way = Some(SearchOptions { fair_switch: true, ..options });
        let limits = Limits {
            time: Some(Duration::from_millis(100)),
            memory_bytes: Some(10_000_000),
            ..Limits::default()
        };
        let started = Instant::now();
        let outcome = check(&model, &way, limits, &mut Silent);
        assert!(matches!(outcome.verdict, Verdict::Inconclusive(_)), "{:?}", outcome.verdict);
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    }
    let (model, sources) = &model;
    let interpreter = Interpreter::new(model, sources).expect("initial values have a meaning");
    let limits = Limits { time: Some(Duration::from_millis(100)), ..Limits::default() };
    let options = search::ReferenceOptions { fair_switch: true, limits, ..Default::default() };
    let outcome = search::check(&interpreter, &options, &mut Silent);
    assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::Time));
}

/// Somebody else says that it is over, in the middle of whatever is being done.
#[test]
fn a_budget_that_is_stopped_ends_every_search() {
    let text = "int x, y; active proctype A() { do :: x++ od } active proctype B() { do :: y++ :: atomic { y > 3; x = y } od }";
    let model = load(text);
    let questions = [Check::Safety, Check::Progress, Check::Acceptance];
    let budgets = |budget: &Budget| {
        let budget = budget.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            budget.stop(StopReason::Interrupted);
        })
    };
    for (name, way) in ways() {
        let budget = Budget::unlimited();
        let timer = budgets(&budget);
        let many = match way {
            Some(SearchOptions { order: Order::Random(walks), .. }) => Some(SearchOptions {
                order: Order::Random(Walks { most: None, ..walks }),
                ..SearchOptions::default()
            }),
            way => way,
        };
        let started = Instant::now();
        let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
        let outcome = check(&model, &many, limits, &mut Within(budget));
        assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::Interrupted), "{name}");
        assert!(started.elapsed() < Duration::from_secs(1), "{name}: {:?}", started.elapsed());
        timer.join().expect("it only sleeps");
    }
    let (model, sources) = &model;
    let interpreter = Interpreter::new(model, sources).expect("initial values have a meaning");
    for question in &questions {
        for weakly_fair in [false, true] {
            let budget = Budget::unlimited();
            let timer = budgets(&budget);
            let asking = CheckOptions { search: search::ReferenceOptions::default(), weakly_fair };
            let by_definition = question.check(&interpreter, &asking, &mut Within(budget));
            let by_definition = by_definition.expect("no formula is too large").verdict;
            timer.join().expect("it only sleeps");
            let budget = Budget::unlimited();
            let timer = budgets(&budget);
            let options = SearchOptions::default();
            let answered = answer(question, model, sources, &options, weakly_fair, &mut Within(budget))
                .expect("supported");
            timer.join().expect("it only sleeps");
            for verdict in [by_definition, answered.outcome.verdict] {
                // A loop without progress is found before that.
                let is_found = *question == Check::Progress && verdict == Verdict::Violated;
                let is_stopped = verdict == Verdict::Inconclusive(StopReason::Interrupted);
                assert!(is_found || is_stopped, "{question:?}: {verdict:?}");
            }
        }
    }
}

#[test]
fn walks_that_end_where_they_begin_end_with_the_limits() {
    let model = load("active proctype P() { end: false }");
    let order = Order::Random(Walks { seed: 1, most: None });
    let way = Some(SearchOptions { order, ..SearchOptions::default() });
    let limits = Limits { time: Some(Duration::from_millis(20)), ..Limits::default() };
    let outcome = check(&model, &way, limits, &mut Silent);
    assert_eq!(outcome.verdict, Verdict::Inconclusive(StopReason::Time));
}

/// The run is one round of the loop, if that begins at once.
#[test]
fn a_loop_without_progress_is_not_one_step_too_long() {
    let text = "active proctype P() { do :: printf(\"a\") od }";
    let late =
        "byte x; active proctype P() { x = 1; x = 2; progress: x = 3; do :: printf(\"a\") :: x = 4 od }";
    for (text, steps) in [(text, 1), (late, 4)] {
        let (model, sources) = load(text);
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        for bound in [None, Some(0)] {
            let options = search::ReferenceOptions { bound, ..Default::default() };
            let asking = CheckOptions { search: options, weakly_fair: false };
            let expected = Check::Progress.check(&interpreter, &asking, &mut Silent).expect("small");
            let options = SearchOptions { bound, ..SearchOptions::default() };
            let found =
                answer(&Check::Progress, &model, &sources, &options, false, &mut Silent).expect("supported");
            for outcome in [expected, found.outcome] {
                let trace = outcome.counterexample.expect("it goes on for ever");
                assert_eq!((trace.steps.len(), trace.loop_start), (steps, Some(steps - 1)), "{text}");
            }
        }
    }
}

/// Free switches are free preemptions: where something else is charged there is no such search, and none is made.
#[test]
fn free_switches_go_with_preemptions_only() {
    let (model, sources) = preempt_model::generator::program_from_seed(1).to_model();
    for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
        for cost in [Cost::Preemptions, Cost::Switches, Cost::Steps] {
            for in_order_first in [0, 100] {
                let options = SearchOptions {
                    cost,
                    successors,
                    in_order_first,
                    fair_switch: true,
                    ..SearchOptions::default()
                };
                let found = explore(&model, &sources, &options, Goal::First, &mut Silent);
                assert_eq!(found.is_ok(), cost == Cost::Preemptions, "{cost:?}, {successors:?}");
            }
        }
    }
}

/// One process may be most of a model: the budget is looked at within it, too.
#[test]
fn machine_code_of_one_long_process_is_made_within_the_limits() {
    let choice = |n: u32| {
        let (value, more) = (n % 200, n % 7);
        format!("if :: x == {value} -> y = x + {more} :: else -> x = (x + y) % 251 fi;\n")
    };
    let body: String = (0..2500).map(choice).collect();
    let (model, sources) = load(&format!("byte x, y; active proctype P() {{ {body} }}"));
    let timed = |limits: Limits| {
        let started = Instant::now();
        let made = Native::within(&model, &sources, &Budget::within(&limits));
        assert!(made.is_ok());
        started.elapsed()
    };
    let whole = timed(Limits::default());
    let cut = timed(Limits { time: Some(whole / 20), ..Limits::default() });
    assert!(cut < whole / 2, "{cut:?} of {whole:?}");
}
