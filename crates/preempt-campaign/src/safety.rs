//! Every option of the explicit engine against the oracle. The table says for each combination what it promises; nothing
//! more is asked of it.

use crate::{Compared, Program, same};
use preempt_core::{Cost, Limits, Outcome, Silent, Verdict};
use preempt_explicit::{
    Figure, Goal, Order, Published, Reduction, SearchOptions, Storage, SuccessorSource, Walks, check, count,
    explore,
};
use preempt_model::Interpreter;
use preempt_model::search::RunCost;
use preempt_model::search::oracle::{CheapestCosts, cheapest_costs_by};
use preempt_model::search::{self, recognise};
use std::collections::BTreeSet;

/// What a way to search says about its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Verdict, and the cheapest cost to the step; the states are those within the bound.
    Simplest,
    /// Verdict and what is charged, not the steps.
    Fewest,
    /// The verdict within the bound.
    Verdict,
    /// What is within the bound is found; so may be what is beyond it.
    AtLeast,
    /// Something may be missed, but what is found is real.
    Real,
    /// As `Simplest`, unless the limit was reached: then there is no verdict.
    OrInconclusive,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub options: SearchOptions,
    pub promise: Promise,
}

/// The combinations that are compared.
pub fn table() -> Vec<Entry> {
    use Promise::*;
    let mut table = Vec::new();
    let mut add = |options: SearchOptions, promise| table.push(Entry { options, promise });
    let plain = SearchOptions::default;
    for successors in [SuccessorSource::Native, SuccessorSource::Interpreted] {
        for bound in [None, Some(0), Some(1), Some(2), Some(3)] {
            for fair_switch in [false, true] {
                add(SearchOptions { successors, bound, fair_switch, ..plain() }, Simplest);
                let reduction = Reduction::Exact;
                add(SearchOptions { successors, bound, fair_switch, reduction, ..plain() }, Fewest);
            }
            let simplify = true;
            add(SearchOptions { successors, bound, simplify, ..plain() }, Fewest);
            add(
                SearchOptions { successors, bound, simplify, reduction: Reduction::Exact, ..plain() },
                Fewest,
            );
            add(SearchOptions { successors, bound, symmetry: true, ..plain() }, Fewest);
            add(SearchOptions { successors, bound, cost: Cost::Switches, ..plain() }, Simplest);
            add(
                SearchOptions { successors, bound, store: Storage::Compact { bits: 64 }, ..plain() },
                Simplest,
            );
        }
        add(SearchOptions { successors, cost: Cost::Steps, ..plain() }, Simplest);
        for bits in [96, 128] {
            add(SearchOptions { successors, store: Storage::Compact { bits }, ..plain() }, Simplest);
        }
        for (hashes, bits) in [(3, Some(1 << 20)), (2, Some(1 << 9)), (1, Some(1 << 16))] {
            add(SearchOptions { successors, store: Storage::Bitstate { hashes, bits }, ..plain() }, Real);
        }
        // Along a path from the first state on by all threads.
        for (threads, simplify) in [(1, false), (2, false), (3, true)] {
            for reduction in [Reduction::None, Reduction::Exact, Reduction::Strong] {
                let order = Order::DepthFirst;
                let options = SearchOptions { successors, order, reduction, threads, simplify, ..plain() };
                add(SearchOptions { in_order_first: 0, ..options.clone() }, Verdict);
                add(SearchOptions { in_order_first: 0, symmetry: true, ..options }, Verdict);
            }
        }
        // Bucket by bucket from the first state on; of interpreted models other threads compute steps ahead.
        for (bound, threads) in [(None, 1), (Some(0), 2), (Some(1), 1), (Some(2), 3), (Some(5), 2)] {
            let at_once = || SearchOptions { successors, bound, threads, in_order_first: 0, ..plain() };
            let limits = Limits { depth: Some(100_000), ..Limits::default() };
            let by_steps = || SearchOptions { cost: Cost::Steps, bound: None, ..at_once() };
            add(by_steps(), Simplest);
            add(SearchOptions { limits, simplify: true, ..by_steps() }, Verdict);
            add(SearchOptions { limits, ..at_once() }, Simplest);
            add(SearchOptions { limits, fair_switch: true, ..at_once() }, Simplest);
            add(SearchOptions { limits, reduction: Reduction::Exact, ..at_once() }, Fewest);
            add(SearchOptions { limits, symmetry: true, ..at_once() }, Fewest);
            for bits in [64, 128] {
                let store = Storage::Compact { bits };
                let cost = if bits == 64 { Cost::Preemptions } else { Cost::Switches };
                add(SearchOptions { store, cost, ..at_once() }, Simplest);
                let fair_switch = cost == Cost::Preemptions;
                add(SearchOptions { store, cost, fair_switch, ..at_once() }, Simplest);
                add(SearchOptions { store, cost, reduction: Reduction::Exact, ..at_once() }, Fewest);
            }
            for (hashes, bits) in [(1, 1 << 7), (2, 1 << 10), (3, 1 << 20)] {
                let store = Storage::Bitstate { hashes, bits: Some(bits) };
                add(SearchOptions { store, ..at_once() }, Real);
                add(SearchOptions { store, levels: false, ..by_steps() }, Real);
            }
        }
        for threads in [2, 3] {
            let ahead = || SearchOptions { successors, threads, in_order_first: 0, ..plain() };
            add(SearchOptions { cost: Cost::Steps, ..ahead() }, Simplest);
            add(SearchOptions { store: Storage::Compact { bits: 64 }, ..ahead() }, Simplest);
            let store = Storage::Bitstate { hashes: 2, bits: Some(1 << 12) };
            add(SearchOptions { store, ..ahead() }, Real);
            add(SearchOptions { cost: Cost::Switches, fair_switch: false, ..ahead() }, Simplest);
            add(SearchOptions { reduction: Reduction::Exact, fair_switch: true, ..ahead() }, Fewest);
        }
        let order = Order::DepthFirst;
        for reduction in [Reduction::None, Reduction::Exact, Reduction::Strong] {
            for simplify in [false, true] {
                add(SearchOptions { successors, order, reduction, simplify, ..plain() }, Verdict);
            }
        }
        for store in [Storage::Compact { bits: 64 }, Storage::Bitstate { hashes: 3, bits: Some(1 << 16) }] {
            add(SearchOptions { successors, order, store, ..plain() }, Real);
        }
        for seed in [1, 2] {
            let order = Order::Random(Walks { seed, most: Some(20) });
            let limits = Limits { depth: Some(100), ..Limits::default() };
            add(SearchOptions { successors, order, limits, ..plain() }, Real);
        }
        // Level by level from the first state on; the interpreter has no part in that.
        for (bound, threads) in [(None, 1), (None, 2), (Some(0), 2), (Some(1), 1), (Some(2), 2)] {
            let in_order_first = 0;
            for (fair_switch, levels) in [(false, true), (true, true), (false, false)] {
                let options = SearchOptions { successors, bound, threads, in_order_first, ..plain() };
                add(SearchOptions { fair_switch, levels, ..options.clone() }, Simplest);
                add(SearchOptions { fair_switch, levels, reduction: Reduction::Exact, ..options }, Fewest);
            }
        }
        for (preemptions, steps) in [(0, 3), (1, 4), (2, 9)] {
            let cheaper_than = Some(RunCost { preemptions, steps });
            add(SearchOptions { successors, cheaper_than, ..plain() }, Simplest);
            add(
                SearchOptions { successors, cheaper_than, in_order_first: 0, threads: 2, ..plain() },
                Simplest,
            );
            let limits = Limits { depth: Some(100_000), ..Limits::default() };
            add(SearchOptions { successors, cheaper_than, limits, in_order_first: 0, ..plain() }, Simplest);
        }
        for states in [1, 5, 50] {
            let limits = Limits { states: Some(states), ..Limits::default() };
            add(SearchOptions { successors, limits, ..plain() }, OrInconclusive);
            let cost = Cost::Steps;
            add(SearchOptions { successors, limits, cost, in_order_first: 0, ..plain() }, OrInconclusive);
            for gives_up in [false, true] {
                let in_order_first = 0;
                add(
                    SearchOptions { successors, limits, in_order_first, gives_up, threads: 2, ..plain() },
                    OrInconclusive,
                );
            }
        }
    }
    for bound in [0, 1, 2, 3] {
        for (figure, promise) in [
            (Figure::NaiveBounded, Real),
            (Figure::ContextBounded, Verdict),
            (Figure::WithReduction, AtLeast),
        ] {
            for shortening in [false, true] {
                let order = Order::Published(Published { figure, cycles: false, shortening });
                add(SearchOptions { order, bound: Some(bound), ..plain() }, promise);
            }
        }
    }
    table
}

/// Models with more states than this are left out: the oracle is slow.
const LARGEST: u64 = 800;

/// One of so many entries of the table is compared on each program: they take turns.
const TURNS: usize = 12;

/// Compares with the entries whose turn it is; says how many there were.
pub fn compare(program: &Program, seed: u64) -> Compared {
    let Some(case) = Case::new(program) else { return Ok(0) };
    let mut compared = 0;
    for (number, entry) in table().iter().enumerate() {
        if (number as u64 + seed).is_multiple_of(TURNS as u64) {
            case.entry(entry)?;
            compared += 1;
        }
    }
    if seed.is_multiple_of(4) {
        case.all_violations()?;
        compared += 1;
    }
    Ok(compared)
}

/// Compares with the whole table.
pub fn compare_all(program: &Program) -> Compared {
    let Some(case) = Case::new(program) else { return Ok(0) };
    let table = table();
    for entry in &table {
        case.entry(entry)?;
    }
    case.all_violations()?;
    Ok(table.len() as u64 + 1)
}

struct Case<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
}

impl<'p> Case<'p> {
    /// `None` if it is too large, or has no beginning.
    fn new(program: &'p Program) -> Option<Case<'p>> {
        let interpreter = Interpreter::new(&program.model, &program.sources).ok()?;
        let limits = Limits { states: Some(LARGEST), ..Limits::default() };
        let options = search::ReferenceOptions { limits, ..search::ReferenceOptions::default() };
        let whole = search::count(&interpreter, &options, &mut Silent);
        if matches!(whole.verdict, Verdict::Inconclusive(_)) {
            return None;
        }
        Some(Case { program, interpreter })
    }

    fn entry(&self, entry: &Entry) -> Result<(), String> {
        let Entry { options, promise } = entry;
        let name = || format!("{options:?}, {promise:?}");
        let Program { model, sources } = self.program;
        let oracle = cheapest_costs_by(&self.interpreter, options.cost, options.fair_switch);
        let found = match check(model, sources, options, &mut Silent) {
            Ok(found) => found,
            Err(refusal) => return Err(format!("{}: {refusal}", name())),
        };
        let within = |cost: &RunCost| {
            options.bound.is_none_or(|bound| cost.preemptions <= bound)
                && options.cheaper_than.is_none_or(|known| *cost < known)
        };
        let expected = oracle.cheapest().filter(within);
        let violated = found.verdict == Verdict::Violated;
        if let Some(trace) = &found.counterexample
            && recognise(&self.interpreter, trace).is_err()
        {
            return Err(format!("{}: its run is no run of the model", name()));
        }
        let cost = charged(options.cost, &found);
        let stopped = matches!(found.verdict, Verdict::Inconclusive(_));
        match promise {
            Promise::OrInconclusive if stopped => {}
            Promise::Simplest | Promise::OrInconclusive => {
                same(name, &cost, &expected)?;
                same(name, &found.verdict, &verdict(expected.is_some()))?;
                if *promise == Promise::Simplest && options.cheaper_than.is_none() {
                    self.states(options, &oracle)?;
                }
            }
            Promise::Fewest => {
                let fewest = |cost: RunCost| cost.preemptions;
                same(name, &cost.map(fewest), &expected.map(fewest))?;
                same(name, &found.verdict, &verdict(expected.is_some()))?;
            }
            Promise::Verdict => same(name, &found.verdict, &verdict(expected.is_some()))?,
            Promise::AtLeast => {
                let right = (violated || expected.is_none()) && (!violated || oracle.cheapest().is_some());
                same(name, &right, &true)?;
            }
            Promise::Real => {
                // Depth first and by chance nobody counts what it costs.
                same(name, &(!violated || oracle.cheapest().is_some()), &true)?;
                let exact = options.store == Storage::Exact && !matches!(options.order, Order::Random(_));
                let claims = found.verdict == Verdict::Holds && exact && options.bound.is_none();
                same(name, &(claims && oracle.cheapest().is_some()), &false)?;
            }
        }
        Ok(())
    }

    fn states(&self, options: &SearchOptions, oracle: &CheapestCosts<Interpreter<'p>>) -> Result<(), String> {
        let Program { model, sources } = self.program;
        let counted = count(model, sources, options, &mut Silent).map_err(|refusal| refusal.to_string())?;
        let expected = match options.bound {
            Some(bound) => oracle.states_within(bound),
            None => oracle.states.len(),
        };
        same(|| format!("states with {options:?}"), &counted.stats.states, &(expected as u64))
    }

    /// Each different violation at its cheapest; the same words may be said of several places.
    fn all_violations(&self) -> Result<(), String> {
        let Program { model, sources } = self.program;
        let options = SearchOptions::default();
        let oracle = cheapest_costs_by(&self.interpreter, options.cost, options.fair_switch);
        let all = explore(model, sources, &options, Goal::All, &mut Silent).map_err(|it| it.to_string())?;
        let found: BTreeSet<_> = all
            .errors
            .iter()
            .filter(|error| error.property.kind != preempt_core::PropertyKind::Deadlock)
            .map(|error| (error.property.name.clone(), error.trace.preemptions(), error.trace.steps.len()))
            .collect();
        let expected: BTreeSet<_> = oracle
            .violations
            .iter()
            .map(|(violation, cost)| (violation.name.clone(), cost.preemptions as usize, cost.steps as usize))
            .collect();
        let cheapest_of = |set: &BTreeSet<(String, usize, usize)>| {
            let mut names = BTreeSet::new();
            set.iter().filter(|(name, ..)| names.insert(name.clone())).cloned().collect::<Vec<_>>()
        };
        same(|| "all violations".into(), &cheapest_of(&found), &cheapest_of(&expected))
    }
}

fn verdict(violated: bool) -> Verdict {
    if violated { Verdict::Violated } else { Verdict::Holds }
}

/// The cost of the run that was found, as the oracle gives it.
fn charged(unit: Cost, outcome: &Outcome) -> Option<RunCost> {
    let trace = outcome.counterexample.as_ref()?;
    let charged = match unit {
        Cost::Preemptions => trace.preemptions(),
        Cost::Switches => trace.switches(),
        Cost::Steps => 0,
    };
    Some(RunCost { preemptions: charged as u32, steps: trace.steps.len() as u64 })
}
