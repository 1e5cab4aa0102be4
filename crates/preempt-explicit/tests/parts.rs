//! A search in several parts finds what one process finds: verdict, numbers at every level, and the run itself; also when it
//! goes on from a checkpoint. The mail is carried here by threads of one process, in rounds; `preempt-cluster` does it
//! between processes.

use preempt_core::{Cost, Limits, Outcome, Silent, SourceMap, Span, StopReason, Verdict};
use preempt_explicit::{
    CheckError, Exchange, Goal, InParts, Mail, Moment, NoPartFiles, Part, PartFiles, PartsReport, Post,
    Reduction, Save, SearchOptions, answer_in_parts, explore,
};
use preempt_model::Model;
use preempt_model::check::Check;
use preempt_model::generator::{faulty_program_from_seed, formula_from_seed, program_from_seed};
use preempt_model::property::Formula;
use std::collections::BTreeMap;
use std::io::{Cursor, Read, Result};
use std::sync::{Arc, Barrier, Mutex};

fn programs(few: u64) -> u64 {
    std::env::var("PREEMPT_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

/// What waits for whom, by moments.
type Waiting = Vec<BTreeMap<Moment, Vec<Mail>>>;

struct Office {
    waiting: Mutex<Waiting>,
    /// Somebody has found an error, so that everybody ends.
    failed: Mutex<bool>,
    round: Barrier,
}

/// The place of one part.
struct Desk {
    number: usize,
    office: Arc<Office>,
}

#[derive(Default)]
struct Bag {
    letters: Vec<(usize, Vec<u8>)>,
    wakes: Vec<Moment>,
}

impl Post for Bag {
    fn send(&mut self, to: usize, bytes: Vec<u8>) {
        self.letters.push((to, bytes));
    }

    fn wake(&mut self, at: Moment) {
        self.wakes.push(at);
    }
}

impl Exchange for Desk {
    fn place(&self) -> (usize, usize) {
        (self.number, self.office.waiting.lock().expect("no panic").len())
    }

    fn run(&mut self, part: &mut dyn Part) -> std::result::Result<(), String> {
        let Office { waiting, failed, round } = &*self.office;
        waiting.lock().expect("no panic")[self.number].entry((0, 0)).or_default();
        loop {
            round.wait();
            let next =
                waiting.lock().expect("no panic").iter().filter_map(|it| it.keys().next().copied()).min();
            let over = *failed.lock().expect("no panic");
            round.wait();
            let Some(moment) = next.filter(|_| !over) else { break };
            let mail = waiting.lock().expect("no panic")[self.number].remove(&moment);
            let Some(mail) = mail else { continue };
            let mut bag = Bag::default();
            if let Err(why) = part.at(moment, mail, &mut bag) {
                *failed.lock().expect("no panic") = true;
                eprintln!("{why}");
            }
            let mut all = waiting.lock().expect("no panic");
            for (to, bytes) in bag.letters {
                let arrival = (moment.0, moment.1 + 1);
                all[to].entry(arrival).or_default().push(Mail { from: self.number, bytes });
            }
            for at in bag.wakes {
                assert!(at > moment, "{at:?} is not after {moment:?}");
                all[self.number].entry(at).or_default();
            }
        }
        if *failed.lock().expect("no panic") { Err("somebody has failed".into()) } else { Ok(()) }
    }
}

/// Checkpoints in memory: whenever somebody asks so often.
#[derive(Default)]
struct Kept {
    every: u32,
    asked: u32,
    saved: BTreeMap<u64, Vec<u8>>,
    resumes: bool,
}

impl PartFiles for Kept {
    fn is_due(&mut self) -> bool {
        self.asked += 1;
        self.every > 0 && self.asked.is_multiple_of(self.every)
    }

    fn save(&mut self, number: u64, complete: u64, write: &mut Save<'_>) -> Result<()> {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        self.saved.retain(|it, _| *it == complete);
        self.saved.insert(number, bytes);
        Ok(())
    }

    fn complete(&mut self, number: u64, about: &str) {
        assert!(self.saved.contains_key(&number) && about.contains("states"));
    }

    fn kept(&self) -> Option<Vec<u64>> {
        self.resumes.then(|| self.saved.keys().copied().collect())
    }

    fn open(&self, number: u64) -> Result<Box<dyn Read>> {
        Ok(Box::new(Cursor::new(self.saved[&number].clone())))
    }
}

struct Asked<'a> {
    question: &'a Check,
    model: &'a Model,
    sources: &'a SourceMap,
    options: &'a SearchOptions,
    goal: Goal,
}

impl Asked<'_> {
    /// By so many parts, each with its files.
    fn in_parts<F: PartFiles + Send>(&self, files: &mut [F]) -> std::result::Result<PartsReport, CheckError> {
        let count = files.len();
        let office = Arc::new(Office {
            waiting: Mutex::new(vec![BTreeMap::new(); count]),
            failed: Mutex::new(false),
            round: Barrier::new(count),
        });
        let mut found: Vec<_> = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for (number, files) in files.iter_mut().enumerate() {
                let office = Arc::clone(&office);
                threads.push(scope.spawn(move || {
                    let (mut desk, mut silent) = (Desk { number, office }, Silent);
                    let (options, goal) = (self.options, self.goal);
                    let job = InParts { options, goal, exchange: &mut desk, files, progress: &mut silent };
                    answer_in_parts(self.question, self.model, self.sources, job)
                }));
            }
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let first = found.remove(0);
        for other in found {
            assert_eq!(
                other.as_ref().map(|it| (&it.report, it.cost)).ok(),
                first.as_ref().map(|it| (&None, it.cost)).ok()
            );
        }
        first
    }

    fn outcome(&self, count: usize) -> Outcome {
        let found = self.in_parts(&mut vec![NoPartFiles; count]).expect("a supported model");
        assert_eq!(found.traffic.len(), count);
        assert!(count > 1 || found.traffic[0].messages == 0);
        found.report.expect("the first has it").outcome
    }

    fn alone(&self) -> Outcome {
        match self.question {
            Check::Safety => {
                let found = explore(self.model, self.sources, self.options, self.goal, &mut Silent);
                found.expect("a supported model").outcome
            }
            _ => self.outcome(1),
        }
    }
}

/// Everything that must be the same: of a run, every step.
fn shown(outcome: Outcome) -> impl PartialEq + std::fmt::Debug {
    let stats = outcome.stats;
    let found = (outcome.verdict, outcome.guarantee, outcome.violation, outcome.counterexample);
    (found, stats.states, stats.transitions, stats.levels, stats.violations, stats.unit)
}

#[test]
fn the_same_numbers_and_the_same_run() {
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..programs(6) {
        let program = match seed % 3 {
            0 => faulty_program_from_seed(8_000_000 + seed),
            _ => program_from_seed(8_000_000 + seed),
        };
        let (model, sources) = program.to_model();
        let limits = Limits { states: Some(3_000), ..Limits::default() };
        let small = SearchOptions { limits, ..SearchOptions::default() };
        let Ok(whole) = explore(&model, &sources, &small, Goal::Count, &mut Silent) else { continue };
        if matches!(whole.outcome.verdict, Verdict::Inconclusive(_)) {
            continue;
        }
        compared += 1;
        let preemptions =
            [None, Some(0), Some(2)].map(|bound| (Cost::Preemptions, bound, false, Reduction::None));
        let others = [
            (Cost::Switches, None, false, Reduction::None),
            (Cost::Switches, Some(3), false, Reduction::None),
            (Cost::Steps, None, false, Reduction::None),
            (Cost::Preemptions, None, true, Reduction::None),
            (Cost::Preemptions, None, false, Reduction::Exact),
        ];
        for (cost, bound, fair_switch, reduction) in preemptions.into_iter().chain(others) {
            let options = SearchOptions { cost, bound, fair_switch, reduction, ..SearchOptions::default() };
            for goal in [Goal::First, Goal::Count] {
                let asked = Asked {
                    question: &Check::Safety,
                    model: &model,
                    sources: &sources,
                    options: &options,
                    goal,
                };
                let expected = asked.alone();
                violated += u32::from(expected.counterexample.is_some());
                let expected = shown(expected);
                for count in [1, 2, 4] {
                    let name = format!(
                        "seed {seed}, {count} parts, {goal:?}, {options:?}\n{}",
                        program.to_promela()
                    );
                    assert_eq!(shown(asked.outcome(count)), expected, "{name}");
                }
            }
        }
    }
    assert!(compared * 2 > programs(6) && violated > 0, "{violated} of {compared}");
}

/// A formula that a finite run violates is decided; one that needs a run without end is refused.
#[test]
fn claims_of_finite_runs() {
    let (mut decided, mut violated, mut refused) = (0, 0, 0);
    for seed in 0..programs(40) {
        let program = program_from_seed(9_000_000 + seed);
        let (model, sources) = program.to_model();
        let Some(formula) = formula_from_seed(&model, seed) else { continue };
        let span = Span::new(preempt_core::SourceId(0), 0, 0);
        let question = &Check::Formula(Formula { name: "random".into(), formula, span });
        let limits = Limits { states: Some(2_000), ..Limits::default() };
        let options = &SearchOptions { limits, ..SearchOptions::default() };
        let asked = Asked { question, model: &model, sources: &sources, options, goal: Goal::First };
        match asked.in_parts(&mut [NoPartFiles, NoPartFiles, NoPartFiles]) {
            Err(CheckError::Unsupported(why)) => {
                assert!(why.0.contains("runs without end"), "{why}");
                refused += 1;
            }
            Err(why) => panic!("{why}"),
            Ok(found) => {
                let found = found.report.expect("the first has it").outcome;
                if matches!(found.verdict, Verdict::Inconclusive(_)) {
                    continue;
                }
                let expected =
                    preempt_explicit::answer(question, &model, &sources, options, false, &mut Silent)
                        .expect("a supported model")
                        .outcome;
                // One process looks for runs without end as well, within the same limit.
                if matches!(expected.verdict, Verdict::Inconclusive(_)) {
                    continue;
                }
                assert_eq!(
                    (found.verdict, &found.counterexample),
                    (expected.verdict, &expected.counterexample)
                );
                assert_eq!(shown(found.clone()), shown(asked.alone()), "seed {seed}");
                decided += 1;
                violated += u32::from(found.verdict == Verdict::Violated);
            }
        }
    }
    assert!(
        decided > 0 && refused > 0 && violated > 0,
        "{decided} decided, {violated} violated, {refused} refused"
    );
}

const TEXT: &str = "
    byte x; chan c = [1] of { byte, bit };
    proctype W(byte n) {
        byte i;
        do :: c!n,i; break :: c?x,_ -> i++ :: x > 1 -> x-- :: i > 0 -> break :: i < 3 -> i++ od;
        assert(x < 2)
    }
    init { run W(1); run W(2); x = 1 }";

fn load(text: &str) -> (Model, SourceMap) {
    let mut read = |_: &str| Err("there are no other files".to_string());
    let loaded = preempt_promela::load("parts.pml", text, &preempt_promela::Additions::default(), &mut read);
    (loaded.model.expect("it is a model"), loaded.sources)
}

/// Every checkpoint on the way leads to the same end.
#[test]
fn what_was_saved_can_be_continued() {
    let (model, sources) = load(TEXT);
    let (question, options) = (&Check::Safety, &SearchOptions::default());
    for goal in [Goal::Count, Goal::First] {
        let asked = Asked { question, model: &model, sources: &sources, options, goal };
        let expected = shown(asked.alone());
        let mut continued = 0;
        for every in [2, 5, 11, 17] {
            let mut files: Vec<Kept> = (0..3).map(|_| Kept { every, ..Kept::default() }).collect();
            let found = asked.in_parts(&mut files).expect("nothing is wrong");
            assert_eq!(shown(found.report.expect("the first has it").outcome), expected);
            if files[0].saved.is_empty() {
                continue;
            }
            continued += 1;
            // One part may have got further than the others: then the last that all have counts.
            let last = files[1].saved.keys().max().copied().unwrap_or(0);
            if files[1].saved.len() > 1 {
                files[1].saved.remove(&last);
            }
            files.iter_mut().for_each(|it| it.resumes = true);
            let found = asked.in_parts(&mut files).expect("it was saved");
            assert_eq!(shown(found.report.expect("the first has it").outcome), expected, "every {every}");
            // Of another search, or of another part, it is refused.
            files.swap(0, 1);
            assert!(matches!(asked.in_parts(&mut files), Err(CheckError::Checkpoint(_))));
            files.swap(0, 1);
            let bounded = &SearchOptions { bound: Some(1), ..SearchOptions::default() };
            let other = Asked { options: bounded, ..asked };
            assert!(matches!(other.in_parts(&mut files), Err(CheckError::Checkpoint(_))));
        }
        assert!(continued > 1, "{continued}");
    }
}

/// States up to the order of processes, and a limit on the states of all parts together.
#[test]
fn symmetry_and_limits() {
    let text = "byte n; active [4] proctype P() { byte i; do :: i < 4 -> i++; n = (n + 1) % 5 :: i == 4 -> i = 0 od }";
    let (model, sources) = load(text);
    let options = &SearchOptions { symmetry: true, ..SearchOptions::default() };
    let asked =
        Asked { question: &Check::Safety, model: &model, sources: &sources, options, goal: Goal::Count };
    let whole = asked.alone();
    assert_eq!(shown(asked.outcome(3)), shown(whole.clone()));
    let every = SearchOptions::default();
    assert!(Asked { options: &every, ..asked }.outcome(2).stats.states > 5 * whole.stats.states);
    let limits = Limits { states: Some(whole.stats.states / 2), ..Limits::default() };
    let few = SearchOptions { limits, ..options.clone() };
    let stopped = Asked {
        question: &Check::Safety,
        model: &model,
        sources: &sources,
        options: &few,
        goal: Goal::Count,
    }
    .outcome(3);
    assert_eq!(stopped.verdict, Verdict::Inconclusive(StopReason::States));
    assert!(stopped.stats.states > whole.stats.states / 2 && stopped.stats.states < whole.stats.states);
}

/// A piece with more values than the tables take: what they do not have travels as it is.
#[test]
fn more_values_than_a_table_has() {
    let text = "byte a, b, c; active proctype P() { do :: a = (a + 1) % 60 :: b = (b + 1) % 60 :: c = (c + 1) % 6 od }";
    let (model, sources) = load(text);
    let (question, options) = (&Check::Safety, &SearchOptions::default());
    let asked = Asked { question, model: &model, sources: &sources, options, goal: Goal::Count };
    let found = asked.outcome(2);
    assert_eq!(found.stats.states, 60 * 60 * 6);
    assert_eq!(shown(found), shown(asked.alone()));
}

/// What nobody has sent ends the search with an error, and never the process.
#[test]
fn damaged_mail_is_refused() {
    struct Between<'a>(&'a mut dyn Part, u32, u32);
    impl Part for Between<'_> {
        fn at(
            &mut self,
            moment: Moment,
            mut mail: Vec<Mail>,
            post: &mut dyn Post,
        ) -> std::result::Result<(), String> {
            // States only.
            for mail in mail.iter_mut().filter(|mail| mail.bytes.first() == Some(&0)) {
                self.2 += 1;
                if self.2 % 7 == self.1 % 7 {
                    let at = (self.1 as usize * 31 + self.2 as usize) % mail.bytes.len();
                    mail.bytes[at] ^= 1 << (self.1 % 8);
                }
            }
            self.0.at(moment, mail, post)
        }
    }
    struct Bad(Desk, u32);
    impl Exchange for Bad {
        fn place(&self) -> (usize, usize) {
            self.0.place()
        }

        fn run(&mut self, part: &mut dyn Part) -> std::result::Result<(), String> {
            self.0.run(&mut Between(part, self.1, 0))
        }
    }
    let (model, sources) = load(TEXT);
    let options = &SearchOptions::default();
    let mut refused = 0;
    for seed in 0..40 {
        let office = Arc::new(Office {
            waiting: Mutex::new(vec![BTreeMap::new(); 2]),
            failed: Mutex::new(false),
            round: Barrier::new(2),
        });
        let results: Vec<_> = std::thread::scope(|scope| {
            let begin = |number| {
                let (office, model, sources) = (Arc::clone(&office), &model, &sources);
                scope.spawn(move || {
                    let (mut bad, mut files, mut silent) =
                        (Bad(Desk { number, office }, seed), NoPartFiles, Silent);
                    let (exchange, files) = (&mut bad, &mut files);
                    let job = InParts { options, goal: Goal::Count, exchange, files, progress: &mut silent };
                    answer_in_parts(&Check::Safety, model, sources, job).err()
                })
            };
            let threads: Vec<_> = (0..2).map(begin).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        refused += u32::from(results.iter().any(Option::is_some));
    }
    assert!(refused > 5, "{refused}");
}
