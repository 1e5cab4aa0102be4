//! A net in another format has the same answer: a bounded one as Promela, by the reference engine for Promela, and
//! one in PNML, where parametric places become places that can be filled.

use crate::support;

use preempt_core::{Budget, Limits, Rng, Silent, SourceMap, Verdict};
use preempt_model::Interpreter;
use preempt_model::check::{Check, CheckOptions};
use preempt_net::{Problem, Range, mcc, pnml, promela};
use preempt_promela::{Additions, load};
use preempt_wsts::{CoverOptions, Engine, check, place_bounds};
use std::time::Duration;
use support::{Kind, cases, random_problem};

fn a_moment() -> Budget {
    Budget::within(&Limits { time: Some(Duration::from_millis(20)), ..Limits::default() })
}

fn by_promela(problem: &Problem, bounds: &[u64]) -> Verdict {
    let text = promela::print(problem, bounds).expect("small numbers");
    let loaded = load("net.pml", &text, &Additions::default(), &mut |name| Err(name.to_string()));
    assert!(!loaded.diagnostics.iter().any(|d| d.is_error()), "{:?}\n{text}", loaded.diagnostics);
    let model = loaded.model.expect("a model");
    let interpreter = Interpreter::new(&model, &loaded.sources).expect("initial values");
    let mut asking = CheckOptions::default();
    asking.search.limits = Limits { states: Some(200_000), ..Limits::default() };
    Check::Safety.check(&interpreter, &asking, &mut Silent).expect("an answer").verdict
}

#[test]
fn promela_says_the_same() {
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..cases(600) {
        let kind = [Kind::Plain, Kind::Moving, Kind::Testing][seed as usize % 3];
        let mut problem = random_problem(&mut Rng::new(seed), kind);
        for range in &mut problem.initial {
            *range = Range { high: Some(range.high.unwrap_or(range.low)), ..*range };
        }
        // Nothing is produced that was not consumed in most of them: else few nets are bounded.
        for transition in problem.net.transitions.iter_mut().take(3) {
            transition.produce = transition
                .produce
                .iter()
                .take(transition.consume.support_len())
                .map(|(p, _)| (p, 1))
                .collect();
        }
        let bounds = place_bounds(&problem, &a_moment());
        let Some(bounds) = bounds.into_iter().collect::<Option<Vec<u64>>>() else { continue };
        let limits = Limits { time: Some(Duration::from_secs(5)), states: Some(3_000), ..Limits::default() };
        let options = CoverOptions { engine: Engine::Auto, limits, ..CoverOptions::default() };
        let expected = check(&problem, &options, &mut Silent).outcome.verdict;
        let found = by_promela(&problem, &bounds);
        if matches!(expected, Verdict::Inconclusive(_)) {
            // A zero test that only Promela decides.
            assert_eq!(kind, Kind::Testing, "seed {seed}");
            continue;
        }
        assert_eq!(found, expected, "seed {seed}: {problem:#?}");
        compared += 1;
        violated += usize::from(found == Verdict::Violated);
    }
    assert!(compared > 200 && violated > 40 && compared - violated > 40, "{compared} {violated}");
}

#[test]
fn pnml_says_the_same() {
    let (mut compared, mut violated, mut refused) = (0, 0, 0);
    for seed in 0..cases(1000) {
        let kind = [Kind::Plain, Kind::Moving][seed as usize % 2];
        let mut problem = random_problem(&mut Rng::new(seed), kind);
        problem.net.transitions.iter_mut().for_each(|t| t.moves.retain(|moved| moved.to.is_empty()));
        let Ok(text) = pnml::print(&problem) else {
            refused += 1;
            continue;
        };
        let mut sources = SourceMap::new();
        let id = sources.add("net.pnml", text.as_str());
        let (mut again, diagnostics) = pnml::read(id, &text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let question = mcc::print(&pnml::ids(&problem.net), "q", &problem.targets);
        let (properties, diagnostics) = mcc::read(&again.net, id, &question, Some("q"));
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        again.targets = properties[0].targets().to_vec();
        let limits = Limits { time: Some(Duration::from_secs(5)), states: Some(20_000), ..Limits::default() };
        let options = CoverOptions { engine: Engine::Basis, limits, ..CoverOptions::default() };
        let verdict = |problem: &Problem| check(problem, &options, &mut Silent).outcome.verdict;
        let (before, after) = (verdict(&problem), verdict(&again));
        if matches!((before, after), (Verdict::Holds | Verdict::Violated, Verdict::Holds | Verdict::Violated))
        {
            assert_eq!(before, after, "seed {seed}: {problem:#?}");
            compared += 1;
            violated += usize::from(after == Verdict::Violated);
        }
    }
    assert!(compared > 500 && violated > 100 && refused > 10, "{compared} {violated} {refused}");
}

/// Bounds by weighted sums are those of the markings that can be reached, or larger.
#[test]
fn bounds_hold() {
    let mut tight = 0;
    for seed in 0..cases(150) {
        let problem = random_problem(&mut Rng::new(seed), Kind::Moving);
        let bounds = place_bounds(&problem, &a_moment());
        for (place, bound) in bounds.iter().enumerate() {
            let Some(bound) = bound else { continue };
            // One more than the bound is never covered.
            let above = preempt_net::Marking::from_pairs([(place as u32, bound + 1)]);
            let harder = Problem { targets: vec![above], ..problem.clone() };
            let limits =
                Limits { time: Some(Duration::from_secs(5)), states: Some(3_000), ..Limits::default() };
            let verdict = check(
                &harder,
                &CoverOptions { engine: Engine::Basis, limits, ..CoverOptions::default() },
                &mut Silent,
            )
            .outcome
            .verdict;
            assert_ne!(verdict, Verdict::Violated, "seed {seed}, place {place}, bound {bound}");
            tight += 1;
        }
    }
    assert!(tight > 40, "{tight}");
}
