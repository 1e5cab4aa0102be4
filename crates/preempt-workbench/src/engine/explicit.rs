//! The explicit engine: states one by one, in machine code where a model can be compiled.

use super::{Context, Engine, number, reported, word};
use crate::again::bound_of_the_run;
use crate::checks::checks;
use crate::error::Error;
use crate::executed::{Seen, executed, marked};
use crate::frontend::{Input, Kind};
use crate::model::LoadedModel;
use crate::plan::Plan;
use crate::settings::{
    CostUnit, Reduction, SearchOrder, Settings, Simplify, StoreKind, SuccessorsKind, Symmetry,
};
use crate::verb::Verb;
use preempt_core::{Budget, Cost, Guarantee, Measure, Minimality, OptionValue, Progress, Report, Verdict};
use preempt_explicit::{
    Answers, CheckError, Checkpoints, Figure, Goal, Order, Portfolio, Published, SearchOptions, Storage,
    SuccessorSource, Walks, explore_system, why_no_symmetry, why_not_reduced,
};
use preempt_model::System;
use preempt_model::check::Check;

pub const EXPLICIT: Engine = Engine {
    name: "explicit",
    description: "state by state, in machine code; the simplest run, or the proof that there is none",
    takes: |kind| match kind {
        Kind::Model => Ok(&[Verb::Check, Verb::Count, Verb::Cluster]),
        Kind::Net => Err("it visits states one by one, and a net may have infinitely many"),
        Kind::System => Err("it visits states one by one, and this system has infinitely many"),
    },
    check,
    count: Some(count),
    counts: [Some(Measure::States), Some(Measure::Transitions)],
};

/// The seed of random walks and swarms if none is given.
const SEED: u64 = 1;
/// Bits of a state in the store `bitstate`, and of a fingerprint, if nothing else is said.
const HASHES: u32 = 3;
const FINGERPRINT_BITS: u32 = 64;
/// The largest bound for which each state can have a copy for each number up to it.
const LARGEST_REPLICATED: u32 = 255;

fn check(plan: &Plan, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
    let settings = &plan.settings;
    let loaded = marked(input.model()?.without_procedures(&context.progress.budget())?);
    let options = SearchOptions { scratch: context.scratch.clone(), ..check_options(settings)? };
    let checks = checks(settings, &loaded.model)?;
    fits_the_checks(settings, &options, &checks, context.checkpoints.is_some())?;
    let portfolio = portfolio(settings, &loaded, &options, context);
    let checkpoints = context.checkpoints.as_mut().map(|it| &mut **it as &mut dyn Checkpoints);
    let answers = match settings.search {
        Some(SearchOrder::Swarm) => {
            portfolio.swarm(settings.seed.unwrap_or(SEED), options.threads, context.progress).map(Some)
        }
        _ if settings.all_errors => portfolio.all_violations(&checks, checkpoints, context.progress),
        _ => portfolio.simplest(&checks, checkpoints, context.progress),
    };
    let answers = answers.map_err(refused)?.ok_or_else(|| Error::refused("there is nothing to check"))?;
    let mut report = from_answers(answers, settings, &options);
    report.executed = executed(&loaded, seen_by_check(settings, &options, &checks, &report));
    report.again = bound_of_the_run(settings, &loaded, &checks[report.shown], &report);
    note_reductions_that_do_not_apply(settings, &options, &checks, &mut report);
    note_hidden_preemptions(&options, &mut report);
    let goal = if settings.all_errors { Goal::All } else { Goal::First };
    note_symmetry(&loaded, &options, goal, &checks, &context.progress.budget(), &mut report)?;
    report.run.options = used(settings, &options, Some(settings.weak_fairness));
    Ok(report)
}

fn count(plan: &Plan, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
    let settings = &plan.settings;
    let budget = context.progress.budget();
    let loaded = marked(input.model()?.without_procedures(&budget)?);
    let mut options = SearchOptions { scratch: context.scratch.clone(), ..options(settings)? };
    if settings.reduction == Some(Reduction::Strong) {
        options.reduction = preempt_explicit::Reduction::Strong;
        options.order = Order::DepthFirst;
    }
    // Whoever asks for no order asks for no levels.
    options.levels = settings.search.is_some() || options.bound.is_some();
    // Fails before the search if the initial values have no meaning.
    loaded.interpreter(&budget)?;
    let portfolio = portfolio(settings, &loaded, &options, context);
    let checkpoints = context.checkpoints.as_mut().map(|it| &mut **it as &mut dyn Checkpoints);
    let counted = portfolio.count(checkpoints, context.progress);
    let mut report = Report::from(counted.map_err(refused)?.outcome);
    note_symmetry(&loaded, &options, Goal::Count, &[Check::Safety], &budget, &mut report)?;
    report.executed = executed(&loaded, seen_by_count(&options, &report));
    report.run.options = used(settings, &options, None);
    Ok(report)
}

/// How much of a model was searched to prove that it is safe. A formula is followed only where it can still be violated.
fn seen_by_check(settings: &Settings, options: &SearchOptions, checks: &[Check], report: &Report) -> Seen {
    let is_exact = matches!(report.guarantee, Guarantee::Exhaustive | Guarantee::Bounded(_));
    if report.verdict != Verdict::Holds || !is_exact || !checks.contains(&Check::Safety) {
        return Seen::Part;
    }
    match settings.reduction {
        Some(Reduction::None) if !options.simplify => Seen::EveryState,
        _ => Seen::EveryStep,
    }
}

/// The same where violations are passed over.
fn seen_by_count(options: &SearchOptions, report: &Report) -> Seen {
    let is_exact = matches!(report.guarantee, Guarantee::Exhaustive | Guarantee::Bounded(_));
    match report.verdict {
        Verdict::Holds | Verdict::Violated if is_exact => match options.reduction {
            preempt_explicit::Reduction::None if !options.simplify => Seen::EveryState,
            _ => Seen::EveryStep,
        },
        _ => Seen::Part,
    }
}

/// Any system that is a Rust type.
pub fn check_system<S: System<State: Send> + Sync>(
    system: &S,
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Report, Error> {
    let options = SearchOptions { successors: SuccessorSource::Interpreted, ..check_options(settings)? };
    // What a reduction needs to know of a model, a system does not say.
    let options = SearchOptions { reduction: preempt_explicit::Reduction::None, simplify: false, ..options };
    let found = explore_system(system, &options, Goal::First, progress).map_err(refused)?;
    let known = if found.simplest { Minimality::Simplest } else { Minimality::Nothing };
    let minimality = promised(known, &options, found.outcome.counterexample.is_some());
    let mut report = Report { minimality, ..Report::from(found.outcome) };
    report.run.options = used(settings, &options, None);
    Ok(report)
}

fn portfolio<'a>(
    settings: &Settings,
    loaded: &'a LoadedModel,
    options: &'a SearchOptions,
    context: &Context<'_>,
) -> Portfolio<'a> {
    Portfolio {
        model: &loaded.model,
        sources: &loaded.sources,
        options,
        weakly_fair: settings.weak_fairness,
        chooses_reduction: settings.reduction.is_none_or(|kind| kind == Reduction::Auto),
        proofs_simplify: simplifies(settings, preempt_explicit::Reduction::Strong),
        shortest: settings.shortest,
        may_interpret: settings.successors.is_none() && context.checkpoints.is_none(),
    }
}

/// What the settings ask for, without a reduction.
pub(super) fn options(settings: &Settings) -> Result<SearchOptions, Error> {
    let order = settings.search.unwrap_or(SearchOrder::FewestPreemptions);
    let published = |figure| {
        Order::Published(Published {
            figure,
            cycles: settings.paper_cycles,
            shortening: settings.iterative_shortening,
        })
    };
    Ok(SearchOptions {
        order: match order {
            SearchOrder::FewestPreemptions | SearchOrder::BreadthFirst => Order::ByCost,
            SearchOrder::DepthFirst if !settings.iterative_shortening => Order::DepthFirst,
            // Without a bound, Fig. 2 is Fig. 1.
            SearchOrder::DepthFirst | SearchOrder::NaiveBounded => published(Figure::NaiveBounded),
            SearchOrder::ContextBounded if settings.reduction == Some(Reduction::Paper) => {
                published(Figure::WithReduction)
            }
            SearchOrder::ContextBounded => published(Figure::ContextBounded),
            // A swarm has an order for each of its searches.
            SearchOrder::Random | SearchOrder::Swarm => {
                Order::Random(Walks { seed: settings.seed.unwrap_or(SEED), most: settings.walks })
            }
        },
        store: store(settings, order)?,
        cost: match (settings.cost, order) {
            (Some(CostUnit::Switches), _) => Cost::Switches,
            (Some(CostUnit::Steps), _) | (None, SearchOrder::BreadthFirst) => Cost::Steps,
            (Some(CostUnit::Preemptions) | None, _) => Cost::Preemptions,
        },
        bound: settings.bound,
        cheaper_than: None,
        fair_switch: settings.fair_switch,
        reduction: preempt_explicit::Reduction::None,
        simplify: settings.simplify == Some(Simplify::On),
        symmetry: settings.symmetry == Some(Symmetry::Auto),
        limits: settings.limits,
        successors: match settings.successors {
            Some(SuccessorsKind::Interpreted) => SuccessorSource::Interpreted,
            Some(SuccessorsKind::Native) | None => SuccessorSource::Native,
        },
        levels: true,
        threads: settings.threads.map_or_else(all_threads, |threads| threads as usize),
        stutter_invariant: settings.stutter_invariant,
        ..SearchOptions::default()
    })
}

fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn store(settings: &Settings, order: SearchOrder) -> Result<Storage, Error> {
    Ok(match settings.store {
        None | Some(StoreKind::Exact) => Storage::Exact,
        Some(StoreKind::Compact) => {
            Storage::Compact { bits: settings.fingerprint_bits.unwrap_or(FINGERPRINT_BITS) }
        }
        Some(StoreKind::Bitstate) => {
            if order == SearchOrder::ContextBounded
                && settings.bound.is_some_and(|most| most > LARGEST_REPLICATED)
            {
                let why = "replicated storage has a copy of each state for each number of preemptions up to --bound";
                return Err(Error::refused(why)
                    .hint(format!("use a bound of at most {LARGEST_REPLICATED}, or leave out --store")));
            }
            Storage::Bitstate { hashes: settings.hashes.unwrap_or(HASHES), bits: None }
        }
    })
}

/// The same for `check`, which may leave states out.
fn check_options(settings: &Settings) -> Result<SearchOptions, Error> {
    let options = options(settings)?;
    if matches!(options.order, Order::Published(_) | Order::Random(_)) {
        return Ok(options);
    }
    // Fewest steps, and every violation at its own cheapest, are promised only for the whole state space.
    let whole = options.cost == Cost::Steps || settings.all_errors;
    let reduction = match settings.reduction.unwrap_or(Reduction::Auto) {
        Reduction::None => preempt_explicit::Reduction::None,
        Reduction::Auto if whole => preempt_explicit::Reduction::None,
        Reduction::Auto if options.order == Order::DepthFirst => preempt_explicit::Reduction::Strong,
        Reduction::Strong => preempt_explicit::Reduction::Strong,
        Reduction::Auto | Reduction::Exact | Reduction::Paper => preempt_explicit::Reduction::Exact,
    };
    // Which order, does not matter to a proof; depth first needs the least memory.
    let order = match reduction {
        preempt_explicit::Reduction::Strong => Order::DepthFirst,
        _ => options.order,
    };
    Ok(SearchOptions { reduction, order, simplify: simplifies(settings, reduction), ..options })
}

/// Whoever wants nothing but a verdict wants few states.
fn simplifies(settings: &Settings, reduction: preempt_explicit::Reduction) -> bool {
    let usual = reduction == preempt_explicit::Reduction::Strong;
    settings.simplify.map_or(usual, |simplify| simplify == Simplify::On)
}

/// Some options are for some properties only, and which there are is known when the model is.
fn fits_the_checks(
    settings: &Settings,
    options: &SearchOptions,
    checks: &[Check],
    saves: bool,
) -> Result<(), Error> {
    if options.cost != Cost::Preemptions && checks.iter().any(Check::is_about_cycles) {
        let name = if settings.cost.is_some() { "--cost" } else { "--search" };
        return Err(Error::refused(format!(
            "{name}: the cost of a run without end is counted in preemptions"
        ))
        .hint("leave out --cost and --search, or check --property safety"));
    }
    if checks.iter().all(|check| *check == Check::Safety) {
        return Ok(());
    }
    let name = match (options.store, options.order) {
        _ if saves => "a checkpoint",
        // Cycles are looked for where states are kept; and an observer makes a state more than the model's.
        (Storage::Compact { .. } | Storage::Bitstate { .. }, _) => "this --store",
        (_, Order::Random(_)) => "this --search",
        _ => return Ok(()),
    };
    Err(Error::refused(format!("{name} applies to safety only, and this model asks for more"))
        .hint("add --property safety, and check the rest apart"))
}

fn from_answers(answers: Answers, settings: &Settings, options: &SearchOptions) -> Report {
    let found = answers.report;
    let violations = found.errors.into_iter().map(|error| (error.property, error.trace));
    Report {
        minimality: promised(answers.minimality, options, found.outcome.counterexample.is_some()),
        properties: answers.properties,
        shown: answers.shown,
        violations: settings.all_errors.then(|| violations.collect()),
        ..Report::from(found.outcome)
    }
}

/// What is known of a run depends on what was kept of the states.
fn promised(known: Minimality, options: &SearchOptions, is_violated: bool) -> Minimality {
    match (options.store, options.order) {
        (Storage::Exact, _) => known,
        (Storage::Compact { .. }, _) if known != Minimality::Nothing => Minimality::SimplestByFingerprint,
        (Storage::Bitstate { .. }, Order::ByCost) if is_violated => Minimality::SimplestFound,
        _ => Minimality::Nothing,
    }
}

fn note_reductions_that_do_not_apply(
    settings: &Settings,
    options: &SearchOptions,
    checks: &[Check],
    report: &mut Report,
) {
    if !matches!(settings.reduction, Some(Reduction::Exact | Reduction::Strong)) {
        return;
    }
    for check in checks {
        if let Some(why) = why_not_reduced(check, options, settings.weak_fairness) {
            report.note(format!("--reduction does not apply here: {why}"));
        }
    }
}

/// Who can be interchanged, and who could be but for something in the model.
pub(super) fn note_symmetry(
    loaded: &LoadedModel,
    options: &SearchOptions,
    goal: Goal,
    checks: &[Check],
    budget: &Budget,
    report: &mut Report,
) -> Result<(), Error> {
    if !options.symmetry {
        return Ok(());
    }
    if let Some(why) = why_no_symmetry(options, goal) {
        report.note(format!("--symmetry does not apply here: {why}"));
        return Ok(());
    }
    let interpreter = loaded.interpreter(budget)?;
    let found = preempt_model::symmetry::Symmetry::of(&interpreter);
    for group in &found.groups {
        let name = &loaded.model.code(group.code).name;
        let how = if group.rotates { "can change their places in a circle" } else { "can be interchanged" };
        let count = group.count;
        report.note(format!("{count} processes {name} {how}: states are counted up to their order"));
    }
    for (name, why) in &found.broken {
        report.note(format!("--symmetry is off for {name}: {why}"));
    }
    if found.groups.is_empty() && found.broken.is_empty() {
        report.note("--symmetry is off: no two processes have the same code from the beginning");
    }
    if !found.groups.is_empty() && checks.iter().any(|check| *check != Check::Safety) {
        report.note(
            "--symmetry applies to safety only: claims, formulas and cycles are checked in every order",
        );
    }
    Ok(())
}

/// The reduction of Fig. 5 does not count every switch: what a run really has may be more than the bound.
fn note_hidden_preemptions(options: &SearchOptions, report: &mut Report) {
    let reduced = matches!(options.order, Order::Published(it) if it.figure == Figure::WithReduction);
    let real = report.cost(Cost::Preemptions);
    if let (true, Some(bound), Some(real)) = (reduced, options.bound, real)
        && real > bound as usize
    {
        report.note(format!(
            "--reduction paper does not count the switches around safe steps: within its bound of {bound} it found a run \
             of {real} preemptions"
        ));
    }
}

pub(super) fn refused(why: CheckError) -> Error {
    match why {
        CheckError::Parts(_) => Error::refused(why.to_string()),
        CheckError::Unsupported(_) => Error::refused(why.to_string()).hint("use --engine reference"),
        CheckError::Checkpoint(_) => Error::refused(why.to_string()).hint("leave out --resume to begin anew"),
    }
}

/// How each setting is called in the result.
pub(super) fn used(
    settings: &Settings,
    options: &SearchOptions,
    weak_fairness: Option<bool>,
) -> Vec<(&'static str, OptionValue)> {
    let search = match (settings.search, options.order, options.cost) {
        (Some(SearchOrder::Swarm), ..) => "swarm",
        (_, Order::DepthFirst, _) => "depth-first",
        (_, Order::Published(published), _) => match published.figure {
            Figure::NaiveBounded => "naive-bounded",
            Figure::ContextBounded | Figure::WithReduction => "context-bounded",
        },
        (_, Order::Random(_), _) => "random",
        (_, Order::ByCost, Cost::Preemptions) => "fewest-preemptions",
        (_, Order::ByCost, Cost::Switches) => "fewest-switches",
        (_, Order::ByCost, Cost::Steps) => "breadth-first",
    };
    let store = match (settings.search, options.store) {
        (Some(SearchOrder::Swarm), _) | (_, Storage::Bitstate { .. }) => word("bitstate"),
        (Some(SearchOrder::Random), _) => OptionValue::Unset,
        (_, Storage::Exact) => word("exact"),
        (_, Storage::Compact { .. }) => word("compact"),
    };
    let reduction = match options.reduction {
        _ if matches!(options.order, Order::Published(it) if it.figure == Figure::WithReduction) => "paper",
        preempt_explicit::Reduction::None => "none",
        preempt_explicit::Reduction::Exact => "exact",
        preempt_explicit::Reduction::Strong => "strong",
    };
    let successors = match options.successors {
        SuccessorSource::Native => "native",
        SuccessorSource::Interpreted => "interpreted",
    };
    reported(&[
        ("search", word(search)),
        ("store", store),
        ("reduction", word(reduction)),
        ("simplify", OptionValue::Flag(options.simplify)),
        ("successors", word(successors)),
        ("bound", number(options.bound)),
        ("fair_switch", OptionValue::Flag(options.fair_switch)),
        ("weak_fairness", weak_fairness.map_or(OptionValue::Unset, OptionValue::Flag)),
    ])
}
