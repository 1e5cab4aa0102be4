//! States up to the order of processes: on random models with interchangeable processes, verdict, fewest preemptions and
//! fewest steps are those of the search that looks at every order; and what tells processes apart is noticed.

use preempt_core::{Cost, Limits, Silent, SourceMap, Verdict};
use preempt_explicit::{Goal, Order, Reduction, SearchOptions, SearchReport, explore};
use preempt_model::symmetry::Symmetry;
use preempt_model::{Interpreter, Model};

fn load(text: &str) -> (Model, SourceMap) {
    let additions = preempt_promela::Additions::default();
    let loaded = preempt_promela::load("model.pml", text, &additions, &mut |_| Err("no files".into()));
    let errors: Vec<_> = loaded.diagnostics.iter().map(|it| format!("{it:?}")).collect();
    (loaded.model.unwrap_or_else(|| panic!("{text}\n{errors:?}")), loaded.sources)
}

fn symmetry(text: &str) -> Symmetry {
    let (model, sources) = load(text);
    Symmetry::of(&Interpreter::new(&model, &sources).expect("initial values"))
}

/// A small generator of numbers: the tests need no more.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % most
    }

    fn one_of<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// What a process may do without being told from the others; `ME` is its number, `N` how many there are, 9 is nobody.
const STATEMENTS: &[&str] = &[
    "a[ME] = 1 - a[ME]",
    "x = (x + 1) % 3",
    "owner == 9 -> owner = ME",
    "owner == ME -> owner = 9",
    "owner != ME -> l = 1",
    "m = owner",
    "m = ME",
    "m = 9",
    "m != 9 -> b[m].f = !b[m].f",
    "m != 9 -> a[m] = 0",
    "b[ME].f == l -> b[ME].to = m",
    "m == b[ME].to -> l = 1 - l",
    "all!ME",
    "all?m",
    "all?eval(ME)",
    "nempty(q[ME]) -> q[ME]?m",
    "m != 9 -> q[m]!ME",
    "atomic { m != 9 -> g[ME].row[m] = !g[ME].row[m] }",
    "sync!ME",
    "sync?m",
    "atomic { x == 1 -> a[ME] = 1; x = 0 }",
    "d_step { l = a[ME]; a[ME] = 0 }",
    "if :: m = FIRST :: m = FIRST + 1 CHOICES fi",
    "assert(x < 2 || owner == 9 || l == 0)",
    "assert(SUM < N || x == 0)",
    "assert(m != ME || x != 2)",
    "if :: a[ME] -> skip :: else -> l = 0 fi",
    "l -> l = 0",
    "timeout -> x = 0",
    "else_ = m == owner",
    "wide = ME",
];

/// What processes may not do.
const BREAKING: &[&str] =
    &["x = ME", "ME > FIRST -> l = 1", "a[FIRST] = 1", "owner = FIRST", "m = m + 1", "small = m", "x = a[x]"];

/// For rotations only.
const ROUND: &[&str] = &["m = (ME + 1) % N", "a[(ME + 1) % N] = l", "q[(ME + 1) % N]!ME"];

/// A model with interchangeable processes, unless it is broken.
fn random_model(seed: u64, broken: bool) -> String {
    let chance = &mut Chance(seed);
    let count = 2 + chance.below(2);
    let started = chance.below(2) == 0;
    // Started by `init`, they are numbered by a parameter from 0 or 1 on.
    let first = if started { chance.below(2) } else { 0 };
    let rotates = !broken && first == 0 && chance.below(3) == 0;
    let (me, first_text) = (if started { "i" } else { "_pid" }, first.to_string());
    let sum: Vec<String> = (0..count).map(|k| format!("a[{}]", k + first)).collect();
    let choices: String = (2..count).map(|k| format!(":: m = {}", first + k)).collect();
    let mut used = String::new();
    let mut bodies = Vec::new();
    for _ in 0..2 + chance.below(3) {
        let mut body = Vec::new();
        for _ in 0..1 + chance.below(3) {
            body.push(match chance.below(8) {
                0 if broken => chance.one_of(BREAKING),
                1 if rotates => chance.one_of(ROUND),
                _ => chance.one_of(STATEMENTS),
            });
        }
        bodies.push(format!("  :: {}", body.join("; ")));
    }
    if broken && !BREAKING.iter().any(|it| bodies.iter().any(|body| body.contains(it))) {
        used += &format!("  :: {}\n", chance.one_of(BREAKING));
    }
    let body = format!("  do\n{}\n{used}  od", bodies.join("\n"))
        .replace("SUM", &sum.join(" + "))
        .replace("CHOICES", &choices)
        .replace("FIRST", &first_text)
        .replace("ME", me);
    let room = count + first;
    let (head, init) = match started {
        true => {
            let runs: Vec<String> = (0..count).map(|k| format!("run P({})", k + first)).collect();
            let runs = runs.join("; ");
            let init = if chance.below(2) == 0 { format!("atomic {{ {runs} }}") } else { runs };
            ("proctype P(byte i)".to_string(), format!("init {{ {init} }}"))
        }
        false => (format!("active [{count}] proctype P()"), String::new()),
    };
    let other = chance.one_of(&["", "active proctype Q() { do :: owner != 9 -> owner = 9 :: x = 0 od }"]);
    format!(
        "#define N {count}\nbit a[{room}]; byte x, owner = 9, wide; bool else_; bit small;\n\
         typedef B {{ bool f; byte to }}; B b[{room}]; typedef G {{ bit row[{room}] }}; G g[{room}];\n\
         chan q[{room}] = [1] of {{ byte }}; chan all = [1] of {{ byte }}; chan sync = [0] of {{ byte }};\n\
         {head} {{\n  byte m = 9; bit l;\n{body}\n}}\n{other}\n{init}\n"
    )
}

fn search(model: &Model, sources: &SourceMap, options: &SearchOptions, goal: Goal) -> SearchReport {
    explore(model, sources, options, goal, &mut Silent).expect("a supported model")
}

fn cases(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// Compares all that is promised; returns how many states there are, and up to symmetry.
fn compare(text: &str) -> Option<(u64, u64)> {
    let (model, sources) = load(text);
    let limits = Limits { states: Some(3_000), ..Limits::default() };
    let whole = SearchOptions { limits, ..SearchOptions::default() };
    let symmetric = SearchOptions { symmetry: true, ..whole.clone() };
    let count = |options: &SearchOptions| search(&model, &sources, options, Goal::Count).outcome;
    let all = count(&whole);
    if matches!(all.verdict, Verdict::Inconclusive(_)) {
        return None;
    }
    let fewer = count(&symmetric);
    let (most, states) = (all.stats.states, fewer.stats.states);
    assert!(states <= most, "{states} of {most}: {:?}\n{text}", symmetry(text));
    let kinds =
        |outcome: &preempt_core::Outcome| outcome.stats.violations.keys().copied().collect::<Vec<_>>();
    assert_eq!(kinds(&fewer), kinds(&all), "{text}");
    let levels = count(&SearchOptions { in_order_first: 0, threads: 2, ..symmetric.clone() }).stats;
    assert_eq!((levels.states, levels.transitions), (fewer.stats.states, fewer.stats.transitions), "{text}");
    for bound in [None, Some(0), Some(1)] {
        for (cost, reduction) in [
            (Cost::Preemptions, Reduction::None),
            (Cost::Preemptions, Reduction::Exact),
            (Cost::Switches, Reduction::None),
            (Cost::Steps, Reduction::None),
        ] {
            let found = |options: &SearchOptions, in_order_first| {
                let bound = bound.filter(|_| cost != Cost::Steps);
                let options = SearchOptions { bound, cost, reduction, in_order_first, ..options.clone() };
                let found = search(&model, &sources, &options, Goal::First).outcome;
                let cost = found.counterexample.map(|run| match (cost, reduction) {
                    (Cost::Preemptions, Reduction::None) => (run.preemptions(), run.steps.len()),
                    (Cost::Preemptions, _) => (run.preemptions(), 0),
                    (Cost::Switches, _) => (run.switches(), run.steps.len()),
                    (Cost::Steps, _) => (run.steps.len(), 0),
                });
                (found.verdict, cost)
            };
            let expected = found(&whole, u64::MAX);
            let how = format!("{cost:?} within {bound:?}, {reduction:?}\n{text}");
            assert_eq!(found(&symmetric, u64::MAX), expected, "{how}");
            assert_eq!(found(&symmetric, 0), expected, "by level: {how}");
        }
    }
    for reduction in [Reduction::None, Reduction::Strong] {
        for simplify in [false, true] {
            let options =
                SearchOptions { order: Order::DepthFirst, reduction, simplify, ..symmetric.clone() };
            let found = search(&model, &sources, &options, Goal::First).outcome.verdict;
            assert_eq!(
                found == Verdict::Violated,
                !kinds(&all).is_empty(),
                "depth first, {reduction:?}: {text}"
            );
        }
    }
    Some((all.stats.states, fewer.stats.states))
}

#[test]
fn random_models_have_the_same_answers() {
    let (mut compared, mut reduced, mut violated) = (0, 0, 0);
    for seed in 0..cases(16) {
        let text = random_model(seed, false);
        let found = symmetry(&text);
        assert_eq!(found.groups.len(), 1, "seed {seed}: {:?}\n{text}", found.broken);
        let Some((all, fewer)) = compare(&text) else { continue };
        compared += 1;
        reduced += u64::from(fewer < all);
        violated += u64::from(text.contains("assert"));
    }
    assert!(
        compared * 2 > cases(16) && reduced * 2 > compared && violated > 0,
        "{compared} {reduced} {violated}"
    );
}

#[test]
fn what_breaks_symmetry_is_noticed() {
    let mut noticed = 0;
    for seed in 0..cases(10) {
        let text = random_model(seed, true);
        let found = symmetry(&text);
        noticed += u64::from(found.groups.is_empty() && !found.broken.is_empty());
        compare(&text);
    }
    // What is harmful with other statements may be harmless alone.
    assert!(noticed * 2 > cases(10), "{noticed} of them tell their processes apart");
}

#[test]
fn reasons() {
    let why = |text: &str| symmetry(text).broken.into_iter().map(|(_, why)| why).collect::<Vec<_>>();
    let body = |body: &str| format!("byte x; bool a[3]; active [3] proctype P() {{ do :: {body} od }}");
    assert_eq!(why(&body("x = _pid * 2")), ["their numbers are computed with in `x = _pid * 2`"]);
    assert_eq!(why(&body("_pid < 2 -> x = 0")), ["their numbers are compared by order in `_pid < 2`"]);
    assert_eq!(why(&body("a[_pid] = 1; a[0] = 0")), ["one of them is meant by its number in `a[0] = false`"]);
    assert_eq!(why(&body("set_priority(_pid, 2)")), ["processes have priorities"]);
    assert_eq!(why(&body("x = _last")), ["the model asks which process moved last"]);
    assert_eq!(
        why("byte x; active [2] proctype P() { x = 1 }"),
        ["they end, and they can end in the order of their numbers only"]
    );
    let groups = symmetry(&body("a[_pid] = 1; assert(a[0] + a[1] + a[2] < 3)")).groups;
    assert_eq!((groups.len(), groups[0].count, groups[0].rotates), (1, 3, false));
    let groups = symmetry(&body("a[(_pid + 1) % 3] = 0")).groups;
    assert!(groups[0].rotates);
}

/// Whoever is nobody must not become somebody by the arithmetic of small numbers.
#[test]
fn nobody_stays_nobody() {
    let text = "byte t = 255; active [2] proctype P() { byte m = 255; do :: t = _pid :: m = t :: m = t + 2; m == 1 -> t = 255 od }";
    assert!(symmetry(text).groups.is_empty());
    let text =
        "int t = 256; active [2] proctype P() { byte m; do :: m = t; assert(m == _pid) :: t = _pid od }";
    assert!(symmetry(text).groups.is_empty());
}

#[test]
fn runs_are_shown_as_the_model_goes_them() {
    let text = "bool a[4]; byte turn = 9;
        active [4] proctype P() { do :: atomic { turn == 9 -> turn = _pid }; a[_pid] = 1; turn = 9; \
        assert(a[0] + a[1] + a[2] + a[3] < 4) od }";
    let (model, sources) = load(text);
    let options = SearchOptions { symmetry: true, ..SearchOptions::default() };
    let run = search(&model, &sources, &options, Goal::First).outcome.counterexample.expect("a violation");
    let mut moved: Vec<usize> = run.steps.iter().map(|step| step.pid).collect();
    moved.sort_unstable();
    moved.dedup();
    assert_eq!(moved, [0, 1, 2, 3], "every process sets its own flag");
}
