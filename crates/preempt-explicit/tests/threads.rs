//! Searches that go in the order of one thread, with others that compute steps ahead: interpreted models, systems of one's own,
//! trace assertions, fair and cheapest runs without end. Verdict, numbers, cost and run are those of one thread; and the others
//! do help.

use preempt_core::{Cost, Limits, Outcome, Silent, SourceMap, Span, Verdict};
use preempt_explicit::{
    CycleMethod, Goal, Order, Reduction, SearchOptions, SearchReport, Storage, SuccessorSource, answer,
    answers_of_others, decide_cycles, explore, explore_system,
};
use preempt_model::Model;
use preempt_model::check::Check;
use preempt_model::generator::{faulty_program_from_seed, formula_from_seed, program_from_seed};
use preempt_model::property::Formula;
use preempt_model::system::{Successor, System, Violation};
use std::collections::HashSet;
use std::sync::Mutex;
use std::thread::ThreadId;
use std::time::Duration;

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Without what is not the same in two runs of one thread either, and the room for what is ahead.
fn timeless(mut outcome: Outcome) -> Outcome {
    let stats = &mut outcome.stats;
    (stats.time, stats.peak_bytes, stats.memory) = (Duration::ZERO, 0, None);
    outcome
}

fn shown(report: SearchReport) -> (Outcome, usize, bool, u64) {
    (timeless(report.outcome), report.errors.len(), report.simplest, report.visited)
}

fn loaded(text: &str) -> (Model, SourceMap) {
    let additions = preempt_promela::Additions::default();
    let loaded = preempt_promela::load("m.pml", text, &additions, &mut |_| Err(String::new()));
    (loaded.model.expect("a model"), loaded.sources)
}

/// From the first state on.
fn at_once(threads: usize) -> SearchOptions {
    SearchOptions { threads, in_order_first: 0, ..SearchOptions::default() }
}

#[test]
fn interpreted_models_as_with_one_thread() {
    let (mut asked, mut violated) = (0, 0);
    for seed in 0..programs(40) {
        let program = match seed % 3 {
            0 => faulty_program_from_seed(4_400_000 + seed),
            _ => program_from_seed(4_400_000 + seed),
        };
        let (model, sources) = program.to_model();
        let bitstate = Storage::Bitstate { hashes: 2, bits: Some(1 << 12) };
        for (order, store, cost, depth) in [
            (Order::ByCost, Storage::Exact, Cost::Preemptions, None),
            (Order::ByCost, Storage::Exact, Cost::Steps, Some(20)),
            (Order::ByCost, Storage::Compact { bits: 64 }, Cost::Switches, None),
            (Order::ByCost, bitstate, Cost::Preemptions, None),
            (Order::DepthFirst, Storage::Exact, Cost::Preemptions, Some(200)),
            (Order::DepthFirst, bitstate, Cost::Preemptions, None),
        ] {
            for goal in [Goal::First, Goal::Count, Goal::All] {
                if goal == Goal::All && (store, order) != (Storage::Exact, Order::ByCost) {
                    continue;
                }
                let search = |threads| {
                    let options = SearchOptions {
                        order,
                        store,
                        cost,
                        successors: SuccessorSource::Interpreted,
                        limits: Limits { depth, states: Some(3000), ..Limits::default() },
                        reduction: if seed % 2 == 0 { Reduction::Exact } else { Reduction::None },
                        fair_switch: cost == Cost::Preemptions && seed % 5 == 0,
                        ..at_once(threads)
                    };
                    explore(&model, &sources, &options, goal, &mut Silent).map(shown)
                };
                let expected = search(1).expect("it can be searched");
                for threads in [2, 3] {
                    let name = format!("seed {seed}, {order:?}, {store:?}, {cost:?}, {goal:?}, {threads}");
                    assert_eq!(search(threads).as_ref(), Ok(&expected), "{name}");
                }
                asked += 1;
                violated += u64::from(expected.1 > 0);
            }
        }
    }
    assert!(violated * 10 > asked, "{violated} of {asked} have a violation");
}

/// Counts what was sent, in any order: with few receivers the assertion fails sooner or later.
fn traced(most: u32, right: bool) -> String {
    let second = if right { "c!2" } else { "c!1" };
    format!(
        "chan c = [2] of {{ byte }}; byte x, y;
         active proctype S() {{ do :: c!1; c!2 od }}
         active proctype R() {{ byte n; do :: c?n :: x < {most} -> x++ :: x > 0 -> x-- od }}
         active proctype Q() {{ do :: y < {most} -> y++ :: y > 0 -> y-- od }}
         trace {{ do :: c!1; {second} od }}"
    )
}

#[test]
fn trace_assertions_as_with_one_thread() {
    for (most, right) in [(3, true), (3, false), (9, true)] {
        let (model, sources) = loaded(&traced(most, right));
        let asked = |threads| {
            answer(&Check::Trace, &model, &sources, &at_once(threads), false, &mut Silent).map(shown)
        };
        let expected = asked(1).expect("it can be asked");
        assert_eq!(expected.0.verdict, if right { Verdict::Holds } else { Verdict::Violated });
        for threads in [2, 3] {
            assert_eq!(asked(threads).as_ref(), Ok(&expected), "{most}, {right}, {threads} threads");
        }
    }
}

/// Puts accept and progress labels on some of the locations.
fn label(model: &mut Model, seed: u64) {
    let locations = model.codes.iter_mut().flat_map(|code| &mut code.locations);
    for (location, number) in locations.zip(seed..) {
        location.accept = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 0;
        location.progress = number.wrapping_mul(0xd1b5_4a32_d192_ed03) >> 61 == 0;
    }
}

fn questions(model: &Model, seed: u64) -> Vec<Check> {
    let span = Span::new(preempt_core::SourceId(0), 0, 0);
    let formula = formula_from_seed(model, seed)
        .map(|formula| Check::Formula(Formula { name: "random".into(), formula, span }));
    formula.into_iter().chain([Check::Acceptance, Check::Progress]).collect()
}

/// Fair runs by components, and the cheapest within a bound: also their numbers, where there is a run.
#[test]
fn fair_and_cheapest_runs_as_with_one_thread() {
    let (mut violated, mut asked) = (0, 0);
    for seed in 0..programs(60) {
        let program = program_from_seed(4_500_000 + seed);
        let (mut model, sources) = program.to_model();
        label(&mut model, seed);
        let limits = Limits { states: Some(4000), ..Limits::default() };
        let too_deep = Limits { depth: Some(9), ..limits };
        for question in questions(&model, seed) {
            let mut compare = |name: &str, ask: &dyn Fn(usize) -> (Outcome, usize, bool, u64)| {
                let expected = ask(1);
                for threads in [2, 3] {
                    let name =
                        format!("seed {seed}, {question:?}, {name}, {threads}\n{}", program.to_promela());
                    assert_eq!(ask(threads), expected, "{name}");
                }
                asked += 1;
                violated += u64::from(expected.0.verdict == Verdict::Violated);
            };
            for (weakly_fair, limits) in [(true, limits), (false, limits), (true, too_deep)] {
                compare("components", &|threads| {
                    let options = SearchOptions { limits, ..at_once(threads) };
                    let how = (CycleMethod::Components, weakly_fair);
                    let found = decide_cycles(&question, &model, &sources, &options, how, &mut Silent);
                    shown(found.expect("supported").expect("about cycles"))
                });
            }
            compare("fair", &|threads| {
                let options = SearchOptions { limits, ..at_once(threads) };
                shown(answer(&question, &model, &sources, &options, true, &mut Silent).expect("supported"))
            });
            compare("cheapest", &|threads| {
                let fair_switch = seed % 3 == 0;
                let options =
                    SearchOptions { limits, fair_switch, bound: Some(seed as u32 % 3), ..at_once(threads) };
                shown(answer(&question, &model, &sources, &options, false, &mut Silent).expect("supported"))
            });
        }
    }
    assert!(violated * 10 > asked && violated * 10 < asked * 9, "{violated} of {asked} are violated");
}

/// Three counters that processes move, slowly. Remembers which threads were asked.
struct Slow {
    asked_by: Mutex<HashSet<ThreadId>>,
    wrong_at: u8,
}

impl System for Slow {
    type State = [u8; 3];
    type Action = i8;

    fn initial_states(&self) -> Vec<[u8; 3]> {
        vec![[0; 3]]
    }

    fn process_count(&self, _: &[u8; 3]) -> usize {
        3
    }

    fn successors(&self, state: &[u8; 3], me: usize) -> Vec<Successor<[u8; 3], i8>> {
        self.asked_by.lock().expect("nobody panics").insert(std::thread::current().id());
        std::thread::sleep(Duration::from_micros(100));
        let step = |by: i8| {
            let mut next = *state;
            next[me] = next[me].saturating_add_signed(by).min(4);
            let wrong = next.iter().sum::<u8>() == self.wrong_at;
            let violation = wrong.then(|| Violation::assertion("too much"));
            Successor { action: by, state: Some(next), runs: me, violation }
        };
        [1, -1].into_iter().map(step).collect()
    }
}

#[test]
fn several_threads_ask_a_system_of_ones_own() {
    for (wrong_at, order) in [(99, Order::ByCost), (9, Order::ByCost)] {
        let mut expected = None;
        for threads in 1..=3 {
            let system = Slow { asked_by: Mutex::default(), wrong_at };
            let options = SearchOptions { order, ..at_once(threads) };
            let found = explore_system(&system, &options, Goal::First, &mut Silent).map(shown);
            let found = found.expect("it can be searched");
            assert_eq!(expected.get_or_insert(found.clone()), &found, "{threads} threads");
            let asked_by = system.asked_by.into_inner().expect("nobody panics").len();
            assert_eq!(asked_by, threads, "who has computed steps");
        }
    }
}

/// Somebody else's answers are used, in each kind of search. How many depends on the machine: so it may take several attempts.
#[test]
fn others_help() {
    let moves = ":: x < 7 -> x++ :: y < 7 -> y++ :: x > 0 -> x-- :: y > 0 -> y-- :: z = 1 - z";
    let text = format!(
        "byte x, y; bit z;
         active [2] proctype P() {{ do {moves} od }}
         active proctype Q() {{ do :: z == 1 -> progress: z = 0 :: skip od }}"
    );
    let (model, sources) = &loaded(&text);
    let (traced, traced_sources) = &loaded(&traced(6, true));
    let interpreted = |order| SearchOptions {
        order,
        successors: SuccessorSource::Interpreted,
        limits: Limits { states: Some(2000), ..Limits::default() },
        ..at_once(2)
    };
    let decide = |method, weakly_fair| {
        let (question, how) = (Check::Progress, (method, weakly_fair));
        decide_cycles(&question, model, sources, &at_once(2), how, &mut Silent).is_ok()
    };
    let count = |options: SearchOptions| explore(model, sources, &options, Goal::Count, &mut Silent).is_ok();
    let searches: [(&str, &dyn Fn() -> bool); 10] = [
        ("level by level", &|| count(at_once(2))),
        ("along a path", &|| count(SearchOptions { order: Order::DepthFirst, ..at_once(2) })),
        ("what a reduction leaves", &|| {
            count(SearchOptions { order: Order::DepthFirst, reduction: Reduction::Strong, ..at_once(2) })
        }),
        ("interpreted", &|| count(interpreted(Order::ByCost))),
        ("bitstate", &|| {
            count(SearchOptions { store: Storage::Bitstate { hashes: 2, bits: Some(1 << 20) }, ..at_once(2) })
        }),
        ("fewest steps", &|| count(SearchOptions { cost: Cost::Steps, ..at_once(2) })),
        ("weak fairness", &|| decide(CycleMethod::Components, true)),
        ("nested depth-first", &|| decide(CycleMethod::NestedDepthFirst, false)),
        ("cheapest lasso", &|| {
            let options = SearchOptions { bound: Some(1), ..at_once(2) };
            answer(&Check::Acceptance, model, sources, &options, false, &mut Silent).is_ok()
        }),
        ("trace assertion", &|| {
            answer(&Check::Trace, traced, traced_sources, &at_once(2), false, &mut Silent).is_ok()
        }),
    ];
    for (name, search) in searches {
        let before = answers_of_others();
        let is_helped = (0..50).any(|_| {
            assert!(search(), "{name}");
            answers_of_others() > before
        });
        assert!(is_helped, "{name}: one thread has made everything");
    }
    // Whoever is alone is helped by nobody.
    let before = answers_of_others();
    assert!(count(SearchOptions { threads: 1, ..interpreted(Order::ByCost) }));
    assert_eq!(answers_of_others(), before);
}
