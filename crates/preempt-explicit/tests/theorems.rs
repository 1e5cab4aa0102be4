//! What paper 000 proves about its searches, on random programs: Theorem 1 about Fig. 3 and Theorem 2 about Fig. 5; and
//! what it says about Fig. 2, on the graph of Fig. 6.

use preempt_core::{Silent, StopReason, Verdict};
use preempt_explicit::{
    Figure, Goal, Order, Published, Reduction, SearchOptions, SuccessorSource, Visits, explore,
    published_visits,
};
use preempt_model::generator::program_from_seed;
use preempt_model::search::oracle::cheapest_costs;
use preempt_model::search::stable::{Event, expand};
use preempt_model::{Interpreter, Model, System};
use std::collections::{BTreeSet, BinaryHeap, HashMap};

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

type State = <Interpreter<'static> as System>::State;

fn published(figure: Figure) -> Published {
    Published { figure, cycles: false, shortening: false }
}

/// The fewest preemptions with which the search visits each state.
fn lowest(visits: &Visits<Interpreter<'_>>) -> HashMap<State, u32> {
    let mut lowest = HashMap::new();
    for (state, visit) in &visits.made {
        let known = lowest.entry(state.clone()).or_insert(visit.preemptions);
        *known = visit.preemptions.min(*known);
    }
    lowest
}

/// Programs that are small enough for what the theorems speak of: all paths.
fn small_program(seed: u64, most_states: u64) -> Option<(Model, preempt_core::SourceMap, String)> {
    let program = program_from_seed(seed);
    let (model, sources) = program.to_model();
    let mut options = SearchOptions { successors: SuccessorSource::Native, ..SearchOptions::default() };
    options.limits.states = Some(most_states);
    let counted = explore(&model, &sources, &options, Goal::Count, &mut Silent).ok()?;
    let is_small = !matches!(counted.outcome.verdict, Verdict::Inconclusive(_));
    is_small.then(|| (model, sources, program.to_promela()))
}

/// Theorem 1: for every path of the full graph within the bound, Fig. 3 explores one to the same state with no more
/// preemptions. With its Lemma 2, that what the search counts is what a path costs, the sets of states are the same,
/// and so is the fewest preemptions of each. Of Fig. 2 neither is true.
#[test]
fn theorem_1_every_state_within_the_bound_is_visited_at_its_fewest_preemptions() {
    let (mut states, mut missed) = (0, 0);
    for seed in 0..programs(50) {
        let Some((model, sources, text)) = small_program(seed, 2000) else { continue };
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let oracle = cheapest_costs(&interpreter, false);
        for bound in 0..4 {
            let options = SearchOptions { bound: Some(bound), ..SearchOptions::default() };
            let visits = |figure: Figure| {
                let visits = published_visits(&model, &sources, published(figure), &options, &mut Silent)
                    .expect("a supported model");
                assert!(visits.complete);
                lowest(&visits)
            };
            let within: HashMap<_, _> = oracle
                .states
                .iter()
                .filter(|(_, preemptions)| **preemptions <= bound)
                .map(|(state, preemptions)| (state.clone(), *preemptions))
                .collect();
            states += within.len();
            assert!(visits(Figure::ContextBounded) == within, "seed {seed}, within {bound}\n{text}");
            missed += within.len() - visits(Figure::NaiveBounded).len();
        }
    }
    eprintln!("theorem 1: {states} states; Fig. 2 misses {missed}");
    assert!(states > 1000 && missed > 0, "{states} states, {missed} missed");
}

/// The full graph: for each state what is visible of it, who could move, and every step with its process and who runs
/// then.
struct Graph {
    visible: Vec<String>,
    movable: Vec<Vec<bool>>,
    steps: Vec<Vec<(usize, usize, usize)>>,
    numbers: HashMap<State, usize>,
}

impl Graph {
    fn new(interpreter: &Interpreter<'_>) -> Graph {
        let globals = interpreter.model().globals.len();
        let mut graph =
            Graph { visible: Vec::new(), movable: Vec::new(), steps: Vec::new(), numbers: HashMap::new() };
        let mut states = interpreter.initial_states();
        graph.numbers.insert(states[0].clone(), 0);
        let mut next = 0;
        while next < states.len() {
            let state = states[next].clone();
            let processes = interpreter.process_count(&state);
            // Private steps change neither the globals nor which processes there are.
            let values = interpreter.variables(&state);
            graph.visible.push(format!("{processes} {:?}", &values[..globals]));
            let mut steps = Vec::new();
            let mut movable = Vec::new();
            for process in 0..processes {
                movable.push(expand(interpreter, &state, process, |event| {
                    if let Event::Arrival { state, runs, .. } = event {
                        let target = *graph.numbers.entry(state.clone()).or_insert_with(|| {
                            states.push(state);
                            states.len() - 1
                        });
                        steps.push((target, process, runs));
                    }
                }));
            }
            graph.movable.push(movable);
            graph.steps.push(steps);
            next += 1;
        }
        graph
    }
}

/// The graph that Fig. 5 constructs (Definition 11), as an automaton that reads what is visible.
struct Reduced<'g> {
    graph: &'g Graph,
    /// `cspo`, Definition 12, by state; `None` if the search does not visit it.
    counted: Vec<Option<u32>>,
}

impl Reduced<'_> {
    /// What can be reached from these states by steps that do not change what is visible.
    fn stuttering(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut reached: BTreeSet<usize> = from.into_iter().collect();
        let mut waiting: Vec<usize> = reached.iter().copied().collect();
        while let Some(state) = waiting.pop() {
            for (target, ..) in &self.graph.steps[state] {
                let alike = self.graph.visible[*target] == self.graph.visible[state];
                if alike && self.counted[*target].is_some() && reached.insert(*target) {
                    waiting.push(*target);
                }
            }
        }
        reached
    }

    fn read(&self, states: &BTreeSet<usize>, visible: &str) -> BTreeSet<usize> {
        let targets = states.iter().flat_map(|state| &self.graph.steps[*state]).map(|(target, ..)| *target);
        let fitting =
            |target: &usize| self.counted[*target].is_some() && self.graph.visible[*target] == visible;
        self.stuttering(targets.filter(fitting))
    }
}

/// Theorem 2: for every path of the full graph within the bound there is one in the graph of Fig. 5 that looks the same,
/// but for how often a state is repeated, and ends where the search counts no more preemptions than the path has.
/// Checked by walking all paths together with everything in the reduced graph that looks the same so far. `None` if
/// there were too many.
fn theorem_2(graph: &Graph, counted: Vec<Option<u32>>, bound: u32) -> Option<bool> {
    let reduced = Reduced { graph, counted };
    let mut seen: HashMap<(usize, usize, BTreeSet<usize>), u32> = HashMap::new();
    let nobody = usize::MAX;
    let mut waiting = BinaryHeap::new();
    waiting.push((std::cmp::Reverse(0), 0, nobody, reduced.stuttering([0])));
    while let Some((std::cmp::Reverse(cost), state, last, alike)) = waiting.pop() {
        let key = (state, last, alike.clone());
        if seen.get(&key).is_some_and(|known| *known <= cost) {
            continue;
        }
        seen.insert(key, cost);
        if seen.len() > 20_000 {
            return None;
        }
        let counterpart = alike.iter().any(|state| reduced.counted[*state].is_some_and(|low| low <= cost));
        if !counterpart {
            return Some(false);
        }
        let last_could = graph.movable[state].get(last).copied().unwrap_or(false);
        for (target, process, runs) in &graph.steps[state] {
            let cost = cost + u32::from(last_could && *process != last);
            if cost > bound {
                continue;
            }
            let after = match graph.visible[*target] == graph.visible[state] {
                true => alike.clone(),
                false => reduced.read(&alike, &graph.visible[*target]),
            };
            waiting.push((std::cmp::Reverse(cost), *target, *runs, after));
        }
    }
    Some(true)
}

#[test]
fn theorem_2_every_path_within_the_bound_has_its_counterpart() {
    let (mut checked, mut smaller, mut flawed) = (0, 0, 0);
    for seed in 0..programs(50) {
        let Some((model, sources, text)) = small_program(seed, 300) else { continue };
        let interpreter = Interpreter::new(&model, &sources).expect("initial values have a meaning");
        let graph = Graph::new(&interpreter);
        for bound in 0..3 {
            let options = SearchOptions { bound: Some(bound), ..SearchOptions::default() };
            let counted = |figure: Figure| {
                let visits = published_visits(&model, &sources, published(figure), &options, &mut Silent)
                    .expect("a supported model");
                let mut counted = vec![None; graph.visible.len()];
                for (state, preemptions) in lowest(&visits) {
                    counted[graph.numbers[&state]] = Some(preemptions);
                }
                counted
            };
            let visited = |counted: &[Option<u32>]| counted.iter().flatten().count();
            let reduced = counted(Figure::WithReduction);
            smaller += u64::from(visited(&reduced) < visited(&counted(Figure::ContextBounded)));
            match theorem_2(&graph, reduced, bound) {
                None => continue,
                Some(holds) => assert!(holds, "seed {seed}, within {bound}\n{text}"),
            }
            checked += 1;
            flawed += u64::from(theorem_2(&graph, counted(Figure::NaiveBounded), bound) == Some(false));
        }
    }
    eprintln!(
        "theorem 2: {checked} graphs, {smaller} smaller than that of Fig. 3; not so for {flawed} of Fig. 2"
    );
    assert!(
        checked > 100 && smaller > 10 && flawed > 0,
        "{checked} graphs, {smaller} smaller, {flawed} flawed"
    );
}

fn sample(text: &str) -> (Model, preempt_core::SourceMap) {
    let mut read = |_: &str| Err("there are no other files".to_string());
    let loaded = preempt_promela::load("sample.pml", text, &preempt_promela::Additions::default(), &mut read);
    (loaded.model.expect("a model without mistakes"), loaded.sources)
}

/// Section 4.2: going depth first, a state is visited again whenever it is reached more cheaply, and that grows with the
/// bound. In the order of cost nothing is done twice, within any bound.
#[test]
fn context_bounded_does_several_times_the_work_of_fewest_preemptions() {
    let models = [
        ("peterson_n", include_str!("../../../models/promela/peterson_n.pml"), 8),
        ("snoopy", include_str!("../../../models/promela/snoopy.pml"), 8),
        ("szymanski", include_str!("../../../models/promela/szymanski.pml"), 4),
        ("ms_queue", include_str!("../../../models/promela/ms_queue.pml"), 4),
    ];
    for (name, text, times) in models {
        let (model, sources) = sample(text);
        for bound in [8, 16] {
            let run = |order: Order| {
                let options = SearchOptions { order, bound: Some(bound), ..SearchOptions::default() };
                explore(&model, &sources, &options, Goal::First, &mut Silent)
                    .expect("a supported model")
                    .outcome
            };
            let published = run(Order::Published(published(Figure::ContextBounded)));
            let by_cost = run(Order::ByCost);
            assert_eq!(published.verdict, by_cost.verdict, "{name} within {bound}");
            assert_eq!(published.stats.states, by_cost.stats.states, "{name} within {bound}");
            let (more, fewer) = (published.stats.transitions, by_cost.stats.transitions);
            eprintln!("{name} within {bound}: {more} transitions, in the order of cost {fewer}");
            assert!(more >= times * fewer, "{name} within {bound}: {more} against {fewer}");
            assert_eq!(by_cost.stats.revisits, 0, "{name} within {bound}");
        }
    }
}

/// Fig. 6: depth first, state 3 is met first through a preemption, by 0 1 2 3. Nothing is left of the bound there, since
/// Q could go on; P alone gets there later without a preemption, but Fig. 2 does not visit it again.
#[test]
fn fig_6_shows_the_flaw_of_fig_2() {
    let (model, sources) = sample(include_str!("../../../models/promela/bcs_fig6.pml"));
    let verdict = |order: Order, bound: u32| {
        let options = SearchOptions {
            order,
            bound: Some(bound),
            reduction: Reduction::None,
            ..SearchOptions::default()
        };
        explore(&model, &sources, &options, Goal::First, &mut Silent)
            .expect("a supported model")
            .outcome
            .verdict
    };
    let naive = Order::Published(published(Figure::NaiveBounded));
    let context_bounded = Order::Published(published(Figure::ContextBounded));
    assert_eq!(verdict(naive, 1), Verdict::Inconclusive(StopReason::Partial), "Fig. 2 finds nothing");
    for bound in [0, 1, 2] {
        assert_eq!(verdict(context_bounded, bound), Verdict::Violated);
        assert_eq!(verdict(Order::ByCost, bound), Verdict::Violated);
    }
    assert_eq!(verdict(naive, 0), Verdict::Violated, "state 3 is not met through a preemption");
    assert_eq!(verdict(naive, 2), Verdict::Violated, "a preemption is left in state 3");
}
