//! Atomic sequences in machine code, written for what step functions do with them: long ones, which do not fit into one function, with
//! several ways at once, with assertions that fail on the way, steps that have no meaning, processes that start and end, and
//! deterministic blocks. Everything that is counted, and which edges are taken, is the same as by the interpreter.

use super::coverage::compare;
use preempt_core::{Cost, Rng, Silent, SourceMap};
use preempt_explicit::{Goal, Order, SearchOptions, Storage, SuccessorSource, explore};
use preempt_model::Model;
use std::fmt::Write;

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// How often each kind of statement was written.
type Counts = [u32; KINDS as usize];

const KINDS: u32 = 12;

struct Writer<'c> {
    rng: Rng,
    text: String,
    counts: &'c mut Counts,
    /// Who made the last step.
    asks_who: bool,
}

impl Writer<'_> {
    fn below(&mut self, most: u32) -> u32 {
        self.rng.below(most as usize) as u32
    }

    fn guard(&mut self) -> &'static str {
        const GUARDS: [&str; 6] = ["a > 0", "b < 2", "a == b", "nempty(c)", "nfull(c)", "_nr_pr < 4"];
        GUARDS[self.below(GUARDS.len() as u32) as usize]
    }

    fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn sequence(&mut self, length: u32, depth: u32) {
        for _ in 0..length {
            self.statement(depth);
            self.add("; ");
        }
        self.add("skip");
    }

    fn statement(&mut self, depth: u32) {
        let kind = self.below(if depth == 0 { KINDS - 3 } else { KINDS });
        self.counts[kind as usize] += 1;
        match kind {
            0 => self.add("a = (a + 1) % 3"),
            1 if self.asks_who => self.add("b = (b + _last) % 3"),
            1 => self.add("b = (b + a) % 3"),
            2 => self.add("assert(a != b || a < 2)"),
            3 => self.add("a = (2 / (b + a)) % 3"),
            4 => self.add("c!a"),
            5 => self.add("c?b"),
            6 => {
                let guard = self.guard();
                self.add(guard);
            }
            7 => self.add("if :: _nr_pr < 4 -> run W(a) :: else fi"),
            8 => self.add("l = a; a = b; b = l; l = 0"),
            9 | 10 => {
                let ways = 1 + self.below(3);
                self.add("if ");
                for _ in 0..ways {
                    let (guard, length) = (self.guard(), self.below(3));
                    let _ = write!(self.text, ":: {guard} -> ");
                    self.sequence(length, depth - 1);
                    self.add(" ");
                }
                if kind == 9 {
                    self.add(":: else -> ");
                    self.sequence(1, depth - 1);
                }
                self.add(" fi");
            }
            _ => self.add("d_step { a = (a + 2) % 3; assert(a < 2 || b < 2); b = (b + 1) % 3 }"),
        }
    }
}

/// Two processes with some sequences each, and one that they start.
fn written(seed: u64, counts: &mut Counts) -> String {
    let asks_who = seed.is_multiple_of(3);
    let mut writer = Writer { rng: Rng::new(seed), text: String::new(), counts, asks_who };
    writer.add("byte a, b = 1; chan c = [2] of { byte };\nproctype W(byte n) { byte l; ");
    let length = 1 + writer.below(2);
    writer.add("atomic { n > 0; ");
    writer.sequence(length, 1);
    writer.add(" } }\n");
    for name in ["P", "Q"] {
        let _ = write!(writer.text, "active proctype {name}() {{ byte l, i; do ");
        for _ in 0..1 + writer.below(2) {
            let (guard, is_long) = (writer.guard(), writer.below(3) == 0);
            let length = if is_long { 31 + 8 * writer.below(4) } else { 1 + writer.below(5) };
            let _ = write!(writer.text, ":: i < 2 && {guard} -> atomic {{ i++; ");
            match is_long {
                // It seldom ends early.
                true => (0..length).for_each(|at| match at % 8 {
                    0 => writer.sequence(1, 1),
                    7 => writer.add("; "),
                    _ => writer.add("; l = (l + a + 1) % 2; b = (b + l) % 3"),
                }),
                false => writer.sequence(length, 2),
            }
            writer.add(" ; l = 0 } ");
        }
        writer.add(":: i >= 2 -> break od }\n");
    }
    writer.text
}

fn loaded(text: &str) -> (Model, SourceMap) {
    let additions = preempt_promela::Additions::default();
    let loaded = preempt_promela::load("m.pml", text, &additions, &mut |_| Err(String::new()));
    (loaded.model.expect("a model"), loaded.sources)
}

#[test]
fn counted_as_by_the_interpreter() {
    let (mut counts, mut violated, mut marked) = ([0; KINDS as usize], 0, 0);
    let all = programs(40);
    for seed in 0..all {
        let text = written(seed, &mut counts);
        let (model, sources) = loaded(&text);
        let counted = |options: SearchOptions| {
            let options = SearchOptions { in_order_first: 0, ..options };
            let stats =
                explore(&model, &sources, &options, Goal::Count, &mut Silent).expect("a model").outcome.stats;
            (stats.states, stats.transitions, stats.violations, stats.levels)
        };
        let plain = SearchOptions { levels: true, ..SearchOptions::default() };
        let interpreted =
            |options: SearchOptions| SearchOptions { successors: SuccessorSource::Interpreted, ..options };
        let expected = counted(interpreted(plain.clone()));
        violated += u32::from(!expected.2.is_empty());
        for threads in [1, 2] {
            assert_eq!(
                counted(SearchOptions { threads, ..plain.clone() }),
                expected,
                "{seed}, {threads} threads\n{text}"
            );
        }
        // One successor at a time, and steps that are counted.
        for (order, store, cost) in [
            (Order::DepthFirst, Storage::Exact, Cost::Preemptions),
            (Order::ByCost, Storage::Compact { bits: 64 }, Cost::Steps),
        ] {
            let options = SearchOptions { order, store, cost, ..SearchOptions::default() };
            let expected = counted(interpreted(options.clone()));
            assert_eq!(counted(options), expected, "{seed}, {order:?}\n{text}");
        }
        marked += u64::from(compare(&model, &sources, &format!("{seed}\n{text}")));
    }
    assert!(counts.iter().all(|count| u64::from(*count) > all / 2), "{counts:?}");
    assert!(u64::from(violated) > all / 4 && marked > all / 4, "{violated} and {marked} of {all}");
}
