//! `ablation SECONDS NET.spec...`: backward by weight on each net, with and without the lifting of section 4.1, and
//! with and without structural reduction. One line of a Markdown table each.

use preempt_core::{Limits, Silent, SourceMap, Verdict};
use preempt_net::{decode, spec};
use preempt_wsts::{CoverOptions, Engine, check};
use std::time::Duration;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|seconds| seconds.parse().ok()).unwrap_or(60);
    println!("| net | lifting | reduction | verdict | seconds | n | delta | height | nodes | images |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for file in arguments {
        let Ok(bytes) = std::fs::read(&file) else {
            eprintln!("{file} cannot be read");
            continue;
        };
        let text = decode(&bytes);
        let mut sources = SourceMap::new();
        let (problem, diagnostics) = spec::read(sources.add(file.as_str(), text.as_str()), &text);
        if diagnostics.iter().any(|diagnostic| diagnostic.is_error()) {
            eprintln!("{file} has mistakes");
            continue;
        }
        let name = file.rsplit('/').next().unwrap_or(&file).trim_end_matches(".spec");
        for (engine, unreduced) in
            [(Engine::Weight, false), (Engine::Weight, true), (Engine::WeightPlain, true)]
        {
            if engine.refuses(&problem).is_some() {
                continue;
            }
            let limits = Limits { time: Some(Duration::from_secs(seconds)), ..Limits::default() };
            let checked = check(&problem, &CoverOptions { engine, limits, unreduced }, &mut Silent);
            let verdict = match checked.outcome.verdict {
                Verdict::Holds => "holds",
                Verdict::Violated => "violated",
                Verdict::Inconclusive(_) => "-",
            };
            let yes = |yes: bool| if yes { "yes" } else { "no" };
            let d = checked.diagrams.unwrap_or_default();
            let n = if verdict == "-" { format!(">= {}", d.weight) } else { d.n.to_string() };
            println!(
                "| {name} | {} | {} | {verdict} | {:.2} | {n} | {} | {} | {} | {} |",
                yes(engine == Engine::Weight),
                yes(!unreduced),
                checked.outcome.stats.time.as_secs_f64(),
                d.delta,
                d.height,
                d.nodes,
                d.rounds
            );
        }
    }
}
