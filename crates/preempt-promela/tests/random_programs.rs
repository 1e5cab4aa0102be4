//! Random programs mean the same as text and as a model built by hand: the generator prints each as Promela, the front
//! end reads that, and the reference engine must find the same states, transitions, violations and costs.

use preempt_core::{Outcome, Silent};
use preempt_model::generator::program_from_seed;
use preempt_model::{Interpreter, search};
use preempt_promela::{Additions, load};

/// `PREEMPT_CASES=20000` for a long run.
fn cases() -> u64 {
    std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

#[test]
fn reading_the_printed_program_gives_the_same_model() {
    for seed in 0..cases() {
        let program = program_from_seed(seed);
        let text = program.to_promela();
        let loaded = load("random.pml", &text, &Additions::default(), &mut |name| Err(format!("no {name}")));
        let read = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:#?}\n{text}", loaded.diagnostics));
        let read = Interpreter::new(&read, &loaded.sources).expect("initial values have a meaning");
        let (built, sources) = program.to_model();
        let built = Interpreter::new(&built, &sources).expect("initial values have a meaning");
        let options = search::ReferenceOptions::default();
        let counted = [&read, &built].map(|it| numbers(&search::count(it, &options, &mut Silent)));
        assert_eq!(counted[0], counted[1], "seed {seed}: states, transitions, levels, violations\n{text}");
        let cheapest = [&read, &built].map(|it| cost(&search::check(it, &options, &mut Silent)));
        assert_eq!(cheapest[0], cheapest[1], "seed {seed}: preemptions\n{text}");
    }
}

fn numbers(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let stats = outcome.stats.clone();
    (stats.states, stats.transitions, stats.levels, stats.violations)
}

/// Steps are not compared: where an atomic sequence ends in a choice, the generator's model has a step of its own for
/// leaving it, and the front end has none.
fn cost(outcome: &Outcome) -> Option<usize> {
    outcome.counterexample.as_ref().map(|trace| trace.preemptions())
}
