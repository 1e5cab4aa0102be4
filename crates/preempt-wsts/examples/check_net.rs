//! `check_net FILE [SECONDS] [ENGINE]`: the verdict and the time.

use preempt_core::{Diagnostic, Limits, Silent, SourceMap, Verdict};
use preempt_wsts::{CoverOptions, Engine, check};
use std::time::Duration;

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which file?")?;
    let seconds: f64 =
        arguments.next().map_or(Ok(60.0), |word| word.parse()).map_err(|_| "how many seconds?")?;
    let wanted = arguments.next().unwrap_or("auto".into());
    let engine = Engine::ALL.into_iter().find(|engine| engine.name() == wanted).ok_or("which engine?")?;
    let text = preempt_net::decode(&std::fs::read(&file).map_err(|error| error.to_string())?);
    let mut sources = SourceMap::new();
    let source = sources.add(file.as_str(), text.as_str());
    let (problem, diagnostics) = preempt_net::spec::read(source, &text);
    if let Some(error) = diagnostics.iter().find(|diagnostic| Diagnostic::is_error(diagnostic)) {
        let place = error.span.map(|span| sources.location(span).to_string()).unwrap_or_default();
        return Err(format!("{place}: {}", error.message));
    }
    let limits = Limits { time: Some(Duration::from_secs_f64(seconds)), ..Limits::default() };
    let checked = check(&problem, &CoverOptions { engine, limits, ..CoverOptions::default() }, &mut Silent);
    let verdict = match checked.outcome.verdict {
        Verdict::Holds => "safe".to_string(),
        Verdict::Violated => "unsafe".to_string(),
        Verdict::Inconclusive(reason) => format!("unknown({reason:?})"),
    };
    let work = checked.work;
    println!(
        "{verdict}\t{:.3}\t{}\t{} elements\t{} pruned\t{} markings\t{}",
        checked.outcome.stats.time.as_secs_f64(),
        checked.answered_by.name(),
        work.elements,
        work.pruned,
        work.markings,
        checked.internal_error.as_deref().unwrap_or("")
    );
    Ok(())
}
