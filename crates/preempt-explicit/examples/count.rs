//! Counts the states of a Promela model and says how fast: `cargo run --release --example count FILE [WORDS]`.

use preempt_core::Silent;
use preempt_explicit::{Goal, Order, Reduction, SearchOptions, Storage, SuccessorSource, explore};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!(
            "usage: count FILE [interpreted] [check] [levels] [in-order] [two] [depth-first] [strong] [compact] [bitstate]"
        );
        return ExitCode::from(2);
    };
    let words: Vec<String> = arguments.collect();
    let has = |word: &str| words.iter().any(|other| other == word);
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::from(2);
        }
    };
    let folder = std::path::Path::new(&file).parent().map(std::path::Path::to_path_buf).unwrap_or_default();
    let mut read = |name: &str| {
        let direct = std::fs::read_to_string(name).or_else(|_| std::fs::read_to_string(folder.join(name)));
        direct.map_err(|error| error.to_string())
    };
    let loaded = preempt_promela::load(&file, &text, &preempt_promela::Additions::default(), &mut read);
    let Some(model) = loaded.model else {
        eprintln!("{file}: {:?}", loaded.diagnostics.first().map(|it| &it.message));
        return ExitCode::from(2);
    };
    let successors = if has("interpreted") { SuccessorSource::Interpreted } else { SuccessorSource::Native };
    let goal = if has("check") { Goal::First } else { Goal::Count };
    let reduction = if has("strong") { Reduction::Strong } else { Reduction::None };
    let order = if has("depth-first") || has("strong") { Order::DepthFirst } else { Order::ByCost };
    let store = match (has("compact"), has("bitstate")) {
        (true, _) => Storage::Compact { bits: 64 },
        (_, true) => Storage::Bitstate { hashes: 3, bits: None },
        _ => Storage::Exact,
    };
    // In order of cost alone, or without a beginning in that order.
    let in_order_first = if has("in-order") { u64::MAX } else { 0 };
    let (levels, threads) = (has("levels") || has("in-order"), if has("two") { 2 } else { 1 });
    let options = SearchOptions {
        successors,
        order,
        reduction,
        store,
        levels,
        in_order_first,
        threads,
        ..SearchOptions::default()
    };
    let report = match explore(&model, &loaded.sources, &options, goal, &mut Silent) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::from(3);
        }
    };
    let (stats, memory) = (&report.outcome.stats, report.outcome.stats.memory.unwrap_or_default());
    let seconds = stats.time.as_secs_f64();
    let each = |bytes: u64| bytes as f64 / stats.states.max(1) as f64;
    println!(
        "{:?} states {} transitions {} seconds {seconds:.3} kstates/s {:.0} bytes/state store {:.1} frontier {:.1} parents {:.1}",
        report.outcome.verdict,
        stats.states,
        stats.transitions,
        stats.states as f64 / seconds / 1000.0,
        each(memory.store),
        each(memory.frontier),
        each(memory.parents),
    );
    println!("{:?} {:?} {:?}", stats.violations, report.outcome.guarantee, stats.coverage);
    ExitCode::SUCCESS
}
