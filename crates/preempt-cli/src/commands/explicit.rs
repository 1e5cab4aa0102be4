//! The explicit engine on the command line: from arguments to options, and from options that do not go together to
//! words about them.

use super::model::Ready;
use crate::args::{CheckArgs, CostUnit, ReductionKind, SearchArgs, SearchOrder, SuccessorSource};
use crate::backend::{self, ExplicitOptions, Goal, Order, Question, Reduction, Refusal, Report, Source};
use crate::checkpoint::Files;
use crate::console::{self, Failure};
use preempt_core::{Cost, Limits, Observer, Verdict};

/// What the arguments ask for, if it can be done.
pub fn options(search: &SearchArgs) -> Result<ExplicitOptions, Failure> {
    let order = search.search.unwrap_or(SearchOrder::FewestPreemptions);
    let cost = match (order, search.cost) {
        (SearchOrder::FewestPreemptions, None | Some(CostUnit::Preemptions)) => Cost::Preemptions,
        (SearchOrder::FewestPreemptions, Some(CostUnit::Switches)) => Cost::Switches,
        (SearchOrder::FewestPreemptions, Some(CostUnit::Steps)) => Cost::Steps,
        (SearchOrder::BreadthFirst, None | Some(CostUnit::Steps)) => Cost::Steps,
        (SearchOrder::DepthFirst, None) => Cost::Preemptions,
        (SearchOrder::BreadthFirst, Some(_)) => {
            return Err(Failure::new("--search breadth-first has the fewest steps first")
                .hint("for another cost leave out --search"));
        }
        (SearchOrder::DepthFirst, Some(_)) => {
            return Err(Failure::new("--search depth-first does not look for the cheapest run")
                .hint("leave out --cost or --search"));
        }
    };
    if search.bound.is_some() && order != SearchOrder::FewestPreemptions {
        return Err(Failure::new("--bound needs a search in the order of cost")
            .hint("leave out --search, or limit the length of runs with --max-depth"));
    }
    if search.fair_switch && (cost != Cost::Preemptions || order == SearchOrder::DepthFirst) {
        return Err(Failure::new(
            "--fair-switch says what is a preemption, and preemptions are not counted here",
        ));
    }
    Ok(ExplicitOptions {
        order: if order == SearchOrder::DepthFirst { Order::DepthFirst } else { Order::ByCost },
        cost,
        bound: search.bound,
        fair_switch: search.fair_switch,
        reduction: Reduction::None,
        limits: search.limits(),
        successors: match search.successors {
            Some(SuccessorSource::Interpreted) => Source::Interpreted,
            Some(SuccessorSource::Native) | None => Source::Native,
        },
    })
}

/// The same for `check`, which may leave states out.
pub fn check_options(args: &CheckArgs) -> Result<ExplicitOptions, Failure> {
    let options = options(&args.search)?;
    if options.order == Order::DepthFirst && (args.shortest || args.all_errors) {
        let name = if args.shortest { "--shortest" } else { "--all-errors" };
        return Err(Failure::new(format!("{name} needs a search in the order of cost"))
            .hint("leave out --search depth-first"));
    }
    // Fewest steps, and every violation at its own cheapest, are promised only for the whole state space.
    let whole = options.cost == Cost::Steps || args.all_errors;
    let reduction = match (args.reduction, whole) {
        (Some(ReductionKind::Exact), true) => {
            let name = if args.all_errors { "--all-errors" } else { "the fewest steps" };
            return Err(Failure::new(format!("{name}: --reduction exact does not keep that"))
                .hint("leave out --reduction"));
        }
        (Some(ReductionKind::None), _) | (None, true) => Reduction::None,
        (Some(ReductionKind::Exact) | None, false) => Reduction::Exact,
    };
    Ok(ExplicitOptions { reduction, ..options })
}

/// The options are for the explicit engine alone: another must not pass over them in silence.
pub fn refuse_elsewhere(search: &SearchArgs, check: Option<&CheckArgs>) -> Result<(), Failure> {
    let options = [
        ("--search", search.search.is_some_and(|order| order != SearchOrder::FewestPreemptions)),
        ("--cost", search.cost.is_some_and(|cost| cost != CostUnit::Preemptions)),
        ("--successors", search.successors.is_some_and(|how| how != SuccessorSource::Interpreted)),
        ("--checkpoint", search.checkpoint.is_some()),
        ("--resume", search.resume.is_some()),
        ("--all-errors", check.is_some_and(|check| check.all_errors)),
        ("--reduction", check.is_some_and(|check| check.reduction == Some(ReductionKind::Exact))),
    ];
    match options.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            Err(Failure::new(format!("{name} is an option of the explicit engine"))
                .hint("leave out --engine"))
        }
        None => Ok(()),
    }
}

/// States that the search for a shorter run may visit without being asked to.
const SHORTER_STATES: u64 = 1_000_000;

/// What was found, and what is promised about its run.
pub struct Answer {
    pub report: Report,
    pub promise: Option<&'static str>,
}

/// The simplest run: found with the reduction, made as short as possible without it.
pub fn simplest(
    ready: &Ready,
    question: &Question,
    options: &ExplicitOptions,
    args: &CheckArgs,
    observer: &mut dyn Observer,
) -> Result<Answer, Failure> {
    if options.cost != Cost::Preemptions && question.is_about_cycles() {
        return Err(Failure::new("the cost of a run without end is counted in preemptions")
            .hint("leave out --cost and --search, or ask for --property safety"));
    }
    let ask = |options: &ExplicitOptions, observer: &mut dyn Observer| {
        with_fallback(&args.search, options, |options| {
            backend::answer(question, &ready.model, &ready.sources, options, args.weak_fairness, observer)
        })
    };
    let report = match question {
        // Only this search can be long enough to be worth a checkpoint.
        Question::Safety => explore(ready, &args.search, options, Goal::First, observer)?,
        _ => ask(options, observer)?,
    };
    let Some(trace) = &report.outcome.counterexample else { return Ok(Answer { report, promise: None }) };
    if options.order == Order::DepthFirst || (args.weak_fairness && trace.loop_start.is_some()) {
        return Ok(Answer { report, promise: None });
    }
    let safety = matches!(question, Question::Safety);
    if options.reduction == Reduction::None || !safety {
        return Ok(Answer { report, promise: Some("the simplest run") });
    }
    let charged = match options.cost {
        Cost::Preemptions => trace.preemptions(),
        Cost::Switches => trace.switches(),
        Cost::Steps => trace.steps.len(),
    };
    let budget = SHORTER_STATES.max(4 * report.outcome.stats.states);
    let whole = ExplicitOptions {
        reduction: Reduction::None,
        bound: Some(charged as u32),
        limits: match args.shortest {
            true => options.limits,
            false => Limits {
                states: Some(options.limits.states.map_or(budget, |most| most.min(budget))),
                ..options.limits
            },
        },
        ..options.clone()
    };
    let mut shorter = ask(&whole, observer)?;
    shorter.outcome.stats.time += report.outcome.stats.time;
    shorter.outcome.guarantee = report.outcome.guarantee;
    match shorter.outcome.verdict {
        Verdict::Violated => Ok(Answer { report: shorter, promise: Some("the simplest run") }),
        _ => Ok(Answer {
            report,
            promise: Some(match options.cost {
                Cost::Switches => "a run with the fewest switches",
                Cost::Preemptions | Cost::Steps => "a run with the fewest preemptions",
            }),
        }),
    }
}

/// A search of the model itself, which can be saved and continued.
pub fn explore(
    ready: &Ready,
    search: &SearchArgs,
    options: &ExplicitOptions,
    goal: Goal,
    observer: &mut dyn Observer,
) -> Result<Report, Failure> {
    let mut files = Files::open(search)?;
    let report = with_fallback(search, options, |options| {
        backend::explore_saved(&ready.model, &ready.sources, options, goal, &mut files, observer)
    })?;
    if let Some(trouble) = files.trouble() {
        console::complain(&format!("warning: {trouble}\n"));
    }
    Ok(report)
}

/// Checkpoints are for the search of the model itself.
pub fn refuse_checkpoints(search: &SearchArgs, questions: &[Question]) -> Result<(), Failure> {
    if !Files::are_wanted(search) {
        return Ok(());
    }
    let name = if search.resume.is_some() { "--resume" } else { "--checkpoint" };
    if search.search == Some(SearchOrder::DepthFirst) {
        return Err(Failure::new(format!("{name} needs a search in the order of cost"))
            .hint("leave out --search depth-first"));
    }
    if search.successors == Some(SuccessorSource::Interpreted) {
        return Err(Failure::new(format!("{name} needs machine code")).hint("leave out --successors"));
    }
    match questions.iter().any(|question| *question != Question::Safety) {
        true => Err(Failure::new(format!("{name} applies to safety only, and this model asks for more"))
            .hint("add --property safety, and check the rest apart")),
        false => Ok(()),
    }
}

/// A model that cannot be compiled is interpreted, unless machine code was asked for.
fn with_fallback(
    search: &SearchArgs,
    options: &ExplicitOptions,
    mut run: impl FnMut(&ExplicitOptions) -> Result<Report, Refusal>,
) -> Result<Report, Failure> {
    let interpreted = ExplicitOptions { successors: Source::Interpreted, ..options.clone() };
    let may_interpret = search.successors.is_none() && !Files::are_wanted(search);
    let result = match run(options) {
        Err(Refusal::Unsupported(_)) if may_interpret && options.successors == Source::Native => {
            run(&interpreted)
        }
        result => result,
    };
    result.map_err(|why| match why {
        Refusal::Unsupported(_) => Failure::new(why.to_string()).hint("use --engine reference"),
        Refusal::Checkpoint(_) => Failure::new(why.to_string()).hint("leave out --resume to begin anew"),
    })
}

/// How each setting is called in the result.
pub fn names(options: &ExplicitOptions) -> (&'static str, &'static str, &'static str) {
    let search = match (options.order, options.cost) {
        (Order::DepthFirst, _) => "depth-first",
        (Order::ByCost, Cost::Preemptions) => "fewest-preemptions",
        (Order::ByCost, Cost::Switches) => "fewest-switches",
        (Order::ByCost, Cost::Steps) => "breadth-first",
    };
    let reduction = match options.reduction {
        Reduction::None => "none",
        Reduction::Exact => "exact",
    };
    let successors = match options.successors {
        Source::Native => "native",
        Source::Interpreted => "interpreted",
    };
    (search, reduction, successors)
}
