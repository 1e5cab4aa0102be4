//! Table 1 of Lal and Reps 2009 (paper 002): the stages of post* on the reduced system of random threads stay below the bounds that
//! the table gives. With `--nocapture` the numbers are printed beside them, as Markdown.

use preempt_core::{Budget, Rng};
use preempt_pushdown::stages::{Stage, stages};
use preempt_pushdown::{Concurrent, Pds, Rule, Thread, Word};
use std::collections::BTreeSet;

/// Two threads; symbol 0 calls symbol 2 and leaves symbol 1 below, which no rule takes away.
fn random(rng: &mut Rng, states: u32, symbols: u32, rules: u32) -> Concurrent {
    let threads = (0..2).map(|number| {
        let mut made: Vec<Rule> = (0..rules)
            .map(|_| {
                let mut below = |most: u32| rng.below(most as usize) as u32;
                let from = (below(states), 2 + below(symbols));
                let word = match below(4) {
                    0 => Word::Pop,
                    1 | 2 => Word::Step(2 + below(symbols)),
                    _ => Word::Push(2 + below(symbols), 2 + below(symbols)),
                };
                Rule::new(from, below(states), word)
            })
            .collect();
        made.extend((0..states).map(|state| Rule::new((state, 0), state, Word::Push(2, 1))));
        let pds = Pds { states, symbols: symbols + 2, rules: made };
        Thread { name: format!("t{number}"), pds, ..Thread::default() }
    });
    Concurrent { states, initial: 0, open: Vec::new(), threads: threads.collect() }
}

#[test]
fn the_stages_stay_within_the_bounds_of_table_1() {
    for [states, symbols, rules, contexts, seeds] in
        [[3, 6, 20, 4, 20], [4, 8, 40, 4, 20], [6, 12, 80, 3, 10]]
    {
        let mut rows = vec![Stage::default(); contexts as usize];
        let mut procedures = 0;
        for seed in 0..seeds {
            let mut rng = Rng::new(u64::from(seed));
            let system = random(&mut rng, states, symbols, rules);
            let pushed = system.threads[0].pds.rules.iter().filter_map(|rule| match rule.word {
                Word::Push(top, _) => Some(top),
                _ => None,
            });
            procedures = procedures.max(pushed.collect::<BTreeSet<_>>().len() as u64);
            let starts: Vec<u32> = (0..contexts).map(|_| rng.below(states as usize) as u32).collect();
            let (_, measured) = stages(&system, 0, &starts, &Budget::unlimited()).expect("nothing ends it");
            for (row, stage) in rows.iter_mut().zip(measured) {
                row.runs = row.runs.max(stage.runs);
                row.transitions = row.transitions.max(stage.transitions);
                row.work = row.work.max(stage.work);
                row.split = row.split.max(stage.split);
                row.states = row.states.max(stage.states);
            }
        }
        println!(
            "\n|P| = {states}, |Γ| = {symbols}, |Δ| = {rules}, |Proc| = {procedures}: the most of {seeds} systems / the bound\n"
        );
        println!(
            "| Iter | Num | transitions | work | Split | states |\n| ---: | ---: | ---: | ---: | ---: | ---: |"
        );
        let (p, delta) = (u64::from(states), u64::from(rules + states));
        for (number, row) in rows.iter().enumerate() {
            let i = number as u64 + 1;
            let most = p.pow(number as u32);
            // In the first row the automaton has one transition, and the factor 2 (i - 1) is 1.
            let transitions = if i == 1 { 1 } else { (i - 1) * p * delta * procedures };
            let work = most * if i == 1 { 1 } else { 2 * (i - 1) } * p * p * delta * procedures;
            // Beside those that the table counts, the first and the last.
            let ends = i * p * procedures + 2;
            println!(
                "| {i} | {} / {most} | {} / {transitions} | {} / {work} | {} / {p} | {} / {ends} |",
                row.runs, row.transitions, row.work, row.split, row.states
            );
            assert!(row.runs <= most && row.split <= p, "{row:?}");
            assert!(row.transitions <= transitions && row.work <= work && row.states <= ends, "{row:?}");
        }
    }
}
