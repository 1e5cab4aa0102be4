//! The reference engine: what a model means, state by state and cheapest runs first.

use super::{Context, Engine, number, reported, word};
use crate::again::bound_of_the_run;
use crate::checks::checks;
use crate::error::Error;
use crate::executed::{Seen, executed, marked};
use crate::frontend::{Input, Kind};
use crate::plan::Plan;
use crate::verb::Verb;
use preempt_core::{Measure, OptionValue, Report, Verdict};
use preempt_model::check::{Check, CheckOptions};
use preempt_model::check_all::check_all;
use preempt_model::search::{self, ReferenceOptions};

pub const REFERENCE: Engine = Engine {
    name: "reference",
    description: "state by state, cheapest runs first; made to be read, not to be fast",
    takes: |kind| match kind {
        Kind::Model => Ok(&[Verb::Check, Verb::Count, Verb::Simulate, Verb::Replay]),
        Kind::Net => Err("it visits states one by one, and a net may have infinitely many"),
        Kind::System => Err("it visits states one by one, and this system has infinitely many"),
    },
    check,
    count: Some(count),
    counts: [Some(Measure::States), Some(Measure::Transitions)],
};

fn check(plan: &Plan, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
    let budget = context.progress.budget();
    let loaded = marked(input.model()?.without_procedures(&budget)?);
    let checks = checks(&plan.settings, &loaded.model)?;
    let options = CheckOptions { search: options(plan), weakly_fair: plan.settings.weak_fairness };
    let answers = check_all(&checks, &loaded.interpreter(&budget)?, &options, context.progress)
        .map_err(|(name, error)| Error::refused(format!("{name}: {error}")))?
        .ok_or_else(|| Error::refused("there is nothing to check"))?;
    let mut report = Report {
        minimality: answers.minimality,
        properties: answers.properties,
        shown: answers.shown,
        ..Report::from(answers.outcome)
    };
    let sees_all = report.verdict == Verdict::Holds && checks.contains(&Check::Safety);
    report.executed = executed(&loaded, if sees_all { Seen::EveryState } else { Seen::Part });
    report.again = bound_of_the_run(&plan.settings, &loaded, &checks[report.shown], &report);
    report.run.options = used(plan, Some(plan.settings.weak_fairness));
    Ok(report)
}

fn count(plan: &Plan, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
    let budget = context.progress.budget();
    let loaded = marked(input.model()?.without_procedures(&budget)?);
    let mut report =
        Report::from(search::count(&loaded.interpreter(&budget)?, &options(plan), context.progress));
    let is_cut = matches!(report.verdict, Verdict::Inconclusive(_));
    report.executed = executed(&loaded, if is_cut { Seen::Part } else { Seen::EveryState });
    report.run.options = used(plan, None);
    Ok(report)
}

fn options(plan: &Plan) -> ReferenceOptions {
    let settings = &plan.settings;
    ReferenceOptions { bound: settings.bound, fair_switch: settings.fair_switch, limits: settings.limits }
}

fn used(plan: &Plan, weak_fairness: Option<bool>) -> Vec<(&'static str, OptionValue)> {
    reported(&[
        ("search", word("fewest-preemptions")),
        ("store", word("exact")),
        ("reduction", word("none")),
        ("simplify", OptionValue::Flag(false)),
        ("successors", word("interpreted")),
        ("bound", number(plan.settings.bound)),
        ("fair_switch", OptionValue::Flag(plan.settings.fair_switch)),
        ("weak_fairness", weak_fairness.map_or(OptionValue::Unset, OptionValue::Flag)),
    ])
}
