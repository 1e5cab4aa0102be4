//! The explicit engine on the command line: from arguments to options, and from options that do not go together to
//! words about them.

use super::model::Ready;
use super::partial;
use crate::args::{
    CheckArgs, CostUnit, CountArgs, ReductionKind, SearchArgs, SearchOrder, Statics, StoreKind, SuccessorsArg,
};
use crate::backend::{
    self, Answers, Check, CheckError, Checkpoints, Figure, Goal, Order, Portfolio, Published, Reduction,
    SearchOptions, SearchReport, SuccessorSource,
};
use crate::checkpoint::Files;
use crate::console::{self, Failure};
use crate::job;
use preempt_core::{Cost, Minimality, Progress, PropertyResult, Trace, Verdict};

/// What the arguments ask for, if it can be done.
pub fn options(search: &SearchArgs) -> Result<SearchOptions, Failure> {
    let order = search.search.unwrap_or(SearchOrder::FewestPreemptions);
    let store = partial::storage(search)?;
    let by_chance = matches!(order, SearchOrder::Random | SearchOrder::Swarm);
    let cost = match (order, search.cost) {
        (SearchOrder::FewestPreemptions, None | Some(CostUnit::Preemptions)) => Cost::Preemptions,
        (SearchOrder::FewestPreemptions, Some(CostUnit::Switches)) => Cost::Switches,
        (SearchOrder::FewestPreemptions, Some(CostUnit::Steps)) => Cost::Steps,
        (SearchOrder::BreadthFirst, None | Some(CostUnit::Steps)) => Cost::Steps,
        (_, None) => Cost::Preemptions,
        (SearchOrder::BreadthFirst, Some(_)) => {
            return Err(Failure::new("--search breadth-first has the fewest steps first")
                .hint("for another cost leave out --search"));
        }
        (_, Some(_)) => {
            return Err(Failure::new("this search does not look for the cheapest run")
                .hint("leave out --cost or --search"));
        }
    };
    let published = matches!(order, SearchOrder::NaiveBounded | SearchOrder::ContextBounded);
    if published && search.bound.is_none() {
        return Err(Failure::new("this search needs a bound").hint("as in --bound 2"));
    }
    if search.paper_cycles && !published {
        return Err(Failure::new("--paper-cycles is a rule of the published searches")
            .hint("use --search context-bounded, or --fair-switch"));
    }
    if search.iterative_shortening && !published && order != SearchOrder::DepthFirst {
        return Err(Failure::new("--iterative-shortening is for depth-first searches")
            .hint("the search in the order of cost finds the shortest run anyway"));
    }
    if search.bound.is_some() && !published && !by_chance && order != SearchOrder::FewestPreemptions {
        return Err(Failure::new("--bound needs a search in the order of cost")
            .hint("leave out --search, or limit the length of runs with --max-depth"));
    }
    if search.fair_switch && (cost != Cost::Preemptions || order != SearchOrder::FewestPreemptions) {
        return Err(Failure::new(
            "--fair-switch says what is a preemption, and preemptions are not counted here",
        ));
    }
    let published_as = |figure| {
        Order::Published(Published {
            figure,
            cycles: search.paper_cycles,
            shortening: search.iterative_shortening,
        })
    };
    Ok(SearchOptions {
        order: match order {
            SearchOrder::FewestPreemptions | SearchOrder::BreadthFirst => Order::ByCost,
            SearchOrder::DepthFirst if !search.iterative_shortening => Order::DepthFirst,
            // Without a bound, Fig. 2 is Fig. 1.
            SearchOrder::DepthFirst | SearchOrder::NaiveBounded => published_as(Figure::NaiveBounded),
            SearchOrder::ContextBounded => published_as(Figure::ContextBounded),
            // A swarm has an order for each of its searches.
            SearchOrder::Random | SearchOrder::Swarm => partial::walks(search),
        },
        store,
        cost,
        bound: search.bound,
        cheaper_than: None,
        fair_switch: search.fair_switch,
        reduction: Reduction::None,
        statics: search.statics == Some(Statics::On),
        limits: search.limits(),
        successors: match search.successors {
            Some(SuccessorsArg::Interpreted) => SuccessorSource::Interpreted,
            Some(SuccessorsArg::Native) | None => SuccessorSource::Native,
        },
        stutter_invariant: false,
    })
}

/// The published searches end at the first error.
pub fn refuse_uncountable(options: &SearchOptions) -> Result<(), Failure> {
    match options.order {
        Order::Published(_) => Err(Failure::new("the published searches look for an error and do not count")
            .hint("use `check`, or leave out --search")),
        Order::ByCost | Order::DepthFirst | Order::Random(_) => Ok(()),
    }
}

/// The same for `count`, which leaves states out only when asked to.
pub fn count_options(args: &CountArgs) -> Result<SearchOptions, Failure> {
    let options = options(&args.search)?;
    match args.reduction {
        None | Some(ReductionKind::None) => Ok(options),
        Some(ReductionKind::Strong) if options.bound.is_none() && options.cost == Cost::Preemptions => {
            Ok(SearchOptions { reduction: Reduction::Strong, order: Order::DepthFirst, ..options })
        }
        Some(_) => Err(Failure::new("count leaves out nothing, or what --reduction strong does")
            .hint("leave out --reduction, or --bound and --cost")),
    }
}

/// The same for `check`, which may leave states out.
pub fn check_options(args: &CheckArgs) -> Result<SearchOptions, Failure> {
    let options = SearchOptions { stutter_invariant: args.stutter_invariant, ..options(&args.search)? };
    partial::refuse_more(args)?;
    if options.order != Order::ByCost && (args.shortest || args.all_errors) {
        let name = if args.shortest { "--shortest" } else { "--all-errors" };
        return Err(
            Failure::new(format!("{name} needs a search in the order of cost")).hint("leave out --search")
        );
    }
    if let Order::Published(published) = options.order {
        let figure = match args.reduction {
            None | Some(ReductionKind::None | ReductionKind::Auto) => published.figure,
            Some(ReductionKind::Paper) if published.figure == Figure::ContextBounded => Figure::WithReduction,
            Some(_) => {
                return Err(Failure::new("a published search has only its own reduction")
                    .hint("use --search context-bounded with --reduction paper"));
            }
        };
        return Ok(SearchOptions { order: Order::Published(Published { figure, ..published }), ..options });
    }
    if let Order::Random(_) = options.order {
        return Ok(options);
    }
    // Fewest steps, and every violation at its own cheapest, are promised only for the whole state space.
    let whole = options.cost == Cost::Steps || args.all_errors;
    if whole && options.statics {
        let name = if args.all_errors { "--all-errors" } else { "the fewest steps" };
        return Err(Failure::new(format!("{name}: --statics does not keep that")).hint("leave out --statics"));
    }
    let depth_first = options.order == Order::DepthFirst;
    let reduction = match args.reduction.unwrap_or(ReductionKind::Auto) {
        ReductionKind::None => Reduction::None,
        ReductionKind::Auto if whole => Reduction::None,
        ReductionKind::Auto if depth_first => Reduction::Strong,
        ReductionKind::Exact | ReductionKind::Strong if whole => {
            let name = if args.all_errors { "--all-errors" } else { "the fewest steps" };
            return Err(
                Failure::new(format!("{name}: no reduction keeps that")).hint("leave out --reduction")
            );
        }
        ReductionKind::Auto | ReductionKind::Exact => Reduction::Exact,
        ReductionKind::Strong if args.search.bound.is_some() || args.search.fair_switch => {
            return Err(Failure::new("--reduction strong promises nothing about preemptions")
                .hint("leave out --reduction, or --bound and --fair-switch"));
        }
        ReductionKind::Strong => Reduction::Strong,
        ReductionKind::Paper => {
            return Err(Failure::new("--reduction paper is that of a published search")
                .hint("add --search context-bounded"));
        }
    };
    // Which order, does not matter to a proof; depth first needs the least memory.
    let order = if reduction == Reduction::Strong { Order::DepthFirst } else { options.order };
    let statics = with_statics(&args.search, reduction);
    Ok(SearchOptions { reduction, order, statics, ..options })
}

/// Whoever wants nothing but a verdict wants few states.
fn with_statics(search: &SearchArgs, reduction: Reduction) -> bool {
    search.statics.map_or(reduction == Reduction::Strong, |statics| statics == Statics::On)
}

/// The options are for the explicit engine alone: another must not pass over them in silence.
pub fn refuse_elsewhere(search: &SearchArgs, check: Option<&CheckArgs>) -> Result<(), Failure> {
    match given(search, check) {
        Some(name) => {
            Err(Failure::new(format!("{name} is an option of the explicit engine"))
                .hint("leave out --engine"))
        }
        None => Ok(()),
    }
}

/// An option that only the explicit engine has.
pub fn given(search: &SearchArgs, check: Option<&CheckArgs>) -> Option<&'static str> {
    let options = [
        ("--search", search.search.is_some_and(|order| order != SearchOrder::FewestPreemptions)),
        ("--store", search.store.is_some_and(|store| store != StoreKind::Exact)),
        ("--fingerprint-bits", search.fingerprint_bits.is_some()),
        ("--hashes", search.hashes.is_some()),
        ("--seed", search.seed.is_some()),
        ("--walks", search.walks.is_some()),
        ("--cost", search.cost.is_some_and(|cost| cost != CostUnit::Preemptions)),
        ("--successors", search.successors.is_some_and(|how| how != SuccessorsArg::Interpreted)),
        ("--statics", search.statics == Some(Statics::On)),
        ("--checkpoint", search.checkpoint.is_some()),
        ("--resume", search.resume.is_some()),
        ("--all-errors", check.is_some_and(|check| check.all_errors)),
        ("--stutter-invariant", check.is_some_and(|check| check.stutter_invariant)),
        (
            "--reduction",
            check.is_some_and(|check| {
                !matches!(check.reduction, None | Some(ReductionKind::Auto | ReductionKind::None))
            }),
        ),
    ];
    options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
}

/// An option that says how states are searched, be it as usual: for engines that have none.
pub fn mentioned(search: &SearchArgs, check: &CheckArgs) -> Option<&'static str> {
    let options = [
        ("--search", search.search.is_some()),
        ("--store", search.store.is_some()),
        ("--cost", search.cost.is_some()),
        ("--successors", search.successors.is_some()),
        ("--statics", search.statics.is_some()),
        ("--reduction", check.reduction.is_some()),
        ("--paper-cycles", search.paper_cycles),
        ("--iterative-shortening", search.iterative_shortening),
        ("--bound", search.bound.is_some()),
        ("--fair-switch", search.fair_switch),
        ("--max-depth", search.max_depth.is_some()),
        ("--shortest", check.shortest),
    ];
    let own = options.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
    own.or(given(search, Some(check)))
}

/// For engines that know no nets.
pub fn refuse_options_of_nets(args: &CheckArgs) -> Result<(), Failure> {
    let options =
        [("--properties", args.properties.is_some()), ("--certificate", args.certificate.is_some())];
    match options.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::new(format!("{name} is for nets"))),
        None => Ok(()),
    }
}

/// Asks all the questions, and says what is promised of the run that is shown.
pub fn answers(
    ready: &Ready,
    questions: &[Check],
    options: &SearchOptions,
    args: &CheckArgs,
    progress: &mut dyn Progress,
) -> Result<Option<Answers>, Failure> {
    if options.cost != Cost::Preemptions && questions.iter().any(Check::is_about_cycles) {
        return Err(Failure::new("the cost of a run without end is counted in preemptions")
            .hint("leave out --cost and --search, or ask for --property safety"));
    }
    if args.search.search == Some(SearchOrder::Swarm) {
        let report = partial::swarm(ready, &args.search, options, progress)?;
        let property = PropertyResult {
            name: Check::Safety.name(&ready.model),
            verdict: report.outcome.verdict,
            violation: report.outcome.violation.clone(),
            cost: None,
        };
        return Ok(Some(Answers {
            report,
            minimality: Minimality::Nothing,
            properties: vec![property],
            shown: 0,
        }));
    }
    note_reductions_that_do_not_apply(questions, options, args);
    let mut files = Files::open(&args.search)?;
    let saves = Files::are_wanted(&args.search);
    let portfolio = Portfolio {
        model: &ready.model,
        sources: &ready.sources,
        options,
        weakly_fair: args.weak_fairness,
        chooses_reduction: args.reduction.is_none_or(|kind| kind == ReductionKind::Auto),
        proofs_use_statics: with_statics(&args.search, Reduction::Strong),
        shortest: args.shortest,
        may_interpret: args.search.successors.is_none() && !saves,
    };
    let checkpoints = saves.then_some(&mut files as &mut dyn Checkpoints);
    let answers = match args.all_errors {
        true => portfolio.all_violations(questions, checkpoints, progress),
        false => portfolio.simplest(questions, checkpoints, progress),
    };
    let answers = answers.map_err(refused)?;
    if let Some(trouble) = files.trouble() {
        console::complain(&format!("warning: {trouble}\n"));
    }
    if let Some(trace) = answers.as_ref().and_then(|answers| answers.report.outcome.counterexample.as_ref()) {
        note_hidden_preemptions(options, trace);
    }
    Ok(answers)
}

/// The promise in words.
pub fn promised(promise: Minimality, options: &SearchOptions) -> Option<&'static str> {
    let words = match (promise, options.cost) {
        (Minimality::Nothing, _) => None,
        (Minimality::Fewest, Cost::Switches) => Some("a run with the fewest switches"),
        (Minimality::Fewest, Cost::Preemptions | Cost::Steps) => Some("a run with the fewest preemptions"),
        (Minimality::SimplestOfProperty, _) => Some("the simplest run that violates this property"),
        (Minimality::Simplest, _) => Some("the simplest run"),
    };
    partial::promise(options, words)
}

fn note_reductions_that_do_not_apply(questions: &[Check], options: &SearchOptions, args: &CheckArgs) {
    if !matches!(args.reduction, Some(ReductionKind::Exact | ReductionKind::Strong)) {
        return;
    }
    for question in questions {
        if let Some(why) = backend::why_not_reduced(question, options, args.weak_fairness) {
            console::complain(&format!("note: --reduction does not apply here: {why}\n"));
        }
    }
}

/// The reduction of Fig. 5 does not count every switch: what a run really has may be more than the bound.
fn note_hidden_preemptions(options: &SearchOptions, trace: &Trace) {
    let reduced = matches!(options.order, Order::Published(it) if it.figure == Figure::WithReduction);
    let real = trace.preemptions();
    if let (true, Some(bound)) = (reduced, options.bound)
        && real > bound as usize
    {
        console::complain(&format!(
            "note: --reduction paper does not count the switches around safe steps: within its bound of {bound} it found \
             a run of {real} preemptions\n"
        ));
    }
}

/// A search of the model itself, which can be saved and continued.
pub fn explore(
    ready: &Ready,
    search: &SearchArgs,
    options: &SearchOptions,
    goal: Goal,
    progress: &mut dyn Progress,
) -> Result<SearchReport, Failure> {
    let mut files = Files::open(search)?;
    let report = with_fallback(search, options, |options| {
        backend::explore_saved(&ready.model, &ready.sources, options, goal, &mut files, progress)
    })?;
    if let Some(trouble) = files.trouble() {
        console::complain(&format!("warning: {trouble}\n"));
        // A search that came to its end needs no checkpoint.
        if matches!(report.outcome.verdict, Verdict::Inconclusive(_)) {
            job::current().left_unwritten();
        }
    }
    Ok(report)
}

/// Checkpoints are for the search of the model itself.
pub fn refuse_checkpoints(search: &SearchArgs, questions: &[Check]) -> Result<(), Failure> {
    if !Files::are_wanted(search) {
        return Ok(());
    }
    let name = if search.resume.is_some() { "--resume" } else { "--checkpoint" };
    if !partial::keeps_states(search) {
        return Err(Failure::new(format!("{name} needs a search that keeps the states it met"))
            .hint("leave out --store and --search"));
    }
    let depth_first = [SearchOrder::DepthFirst, SearchOrder::NaiveBounded, SearchOrder::ContextBounded];
    if search.search.is_some_and(|order| depth_first.contains(&order)) {
        return Err(
            Failure::new(format!("{name} needs a search in the order of cost")).hint("leave out --search")
        );
    }
    if search.successors == Some(SuccessorsArg::Interpreted) {
        return Err(Failure::new(format!("{name} needs machine code")).hint("leave out --successors"));
    }
    match questions.iter().any(|question| *question != Check::Safety) {
        true => Err(Failure::new(format!("{name} applies to safety only, and this model asks for more"))
            .hint("add --property safety, and check the rest apart")),
        false => Ok(()),
    }
}

/// A model that cannot be compiled is interpreted, unless machine code was asked for.
fn with_fallback(
    search: &SearchArgs,
    options: &SearchOptions,
    mut run: impl FnMut(&SearchOptions) -> Result<SearchReport, CheckError>,
) -> Result<SearchReport, Failure> {
    let interpreted = SearchOptions { successors: SuccessorSource::Interpreted, ..options.clone() };
    let may_interpret = search.successors.is_none() && !Files::are_wanted(search);
    let result = match run(options) {
        Err(CheckError::Unsupported(_)) if may_interpret && options.successors == SuccessorSource::Native => {
            run(&interpreted)
        }
        result => result,
    };
    result.map_err(refused)
}

fn refused(why: CheckError) -> Failure {
    match why {
        CheckError::Unsupported(_) => Failure::new(why.to_string()).hint("use --engine reference"),
        CheckError::Checkpoint(_) => Failure::new(why.to_string()).hint("leave out --resume to begin anew"),
    }
}

/// How each setting is called in the result.
pub fn names(options: &SearchOptions) -> (&'static str, &'static str, &'static str) {
    let search = match (options.order, options.cost) {
        (Order::DepthFirst, _) => "depth-first",
        (Order::Published(published), _) => match published.figure {
            Figure::NaiveBounded => "naive-bounded",
            Figure::ContextBounded | Figure::WithReduction => "context-bounded",
        },
        (Order::Random(_), _) => "random",
        (Order::ByCost, Cost::Preemptions) => "fewest-preemptions",
        (Order::ByCost, Cost::Switches) => "fewest-switches",
        (Order::ByCost, Cost::Steps) => "breadth-first",
    };
    let reduction = match options.reduction {
        _ if matches!(options.order, Order::Published(it) if it.figure == Figure::WithReduction) => "paper",
        Reduction::None => "none",
        Reduction::Exact => "exact",
        Reduction::Strong => "strong",
    };
    let successors = match options.successors {
        SuccessorSource::Native => "native",
        SuccessorSource::Interpreted => "interpreted",
    };
    (search, reduction, successors)
}
