//! `preempt count`: the size of the state space.

use super::explicit;
use super::model::ready;
use super::outcome::{Delivery, info, options, present};
use super::partial;
use crate::ExitStatus;
use crate::args::CountArgs;
use crate::backend::{Goal, Reduction, search};
use crate::console::Failure;
use crate::files::could_be_written;
use crate::job;
use crate::plan::{Engine, Input};
use crate::progress::Watch;
use preempt_report::TextOptions;

pub fn run(args: &CountArgs) -> Result<ExitStatus, Failure> {
    let engine = Input::Promela.engine(args.search.engine);
    if engine == Engine::Symbolic {
        return Err(
            Failure::new("the symbolic engine does not count states one by one").hint("leave out --engine")
        );
    }
    let Some(ready) = ready(&args.model, engine, None, args.output.color)? else {
        return Ok(ExitStatus::Input);
    };
    let ready = ready.without_procedures()?;
    let settings = explicit::count_options(args)?;
    partial::refuse_to_count(&args.search)?;
    explicit::refuse_uncountable(&settings)?;
    if engine != Engine::Explicit {
        explicit::refuse_elsewhere(&args.search, None)?;
        if settings.reduction != Reduction::None {
            return Err(
                Failure::new("--reduction is an option of the explicit engine").hint("leave out --engine")
            );
        }
    }
    explicit::refuse_checkpoints(&args.search, &[])?;
    could_be_written(args.search.checkpoint.as_deref(), &[&args.model.file])?;
    job::current().about(info(&ready.file, engine, &args.search, None, None));
    let interpreter = ready.interpreter()?;
    let mut watch = Watch::start();
    let outcome = match engine {
        Engine::Explicit => explicit::explore(&ready, &args.search, &settings, Goal::Count, &mut watch)
            .map(|report| report.outcome),
        _ => Ok(search::count(&interpreter, &options(&args.search), &mut watch)),
    };
    watch.finish();
    let outcome = outcome?;
    let info =
        info(&ready.file, engine, &args.search, (engine == Engine::Explicit).then_some(&settings), None);
    let text = present(&info, &outcome, &args.output, TextOptions::default());
    Ok(Delivery::of(text, outcome.verdict).deliver())
}
