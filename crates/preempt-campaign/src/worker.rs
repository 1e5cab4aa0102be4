//! One process of a campaign: compares the programs of some seeds and prints what it found, line by line, for
//! whoever started it. What it works on stands in a file, for the case that it does not live to tell.

use preempt_campaign::{Compared, Kind, count_features};
use preempt_model::generator::census::Census;
use preempt_promela::generator::{Line, shrink, text_of};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often numbers are told: who says nothing for long is taken to hang.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// A difference is made smaller for no longer than this.
const LONGEST_SHRINKING: Duration = Duration::from_secs(10);

/// Separates lines of a text that is told as one line.
pub const LINE_END: &str = "\u{1}";

#[derive(Default)]
struct Numbers {
    programs: u64,
    valid: u64,
    compared: u64,
    texts: Census,
    models: Census,
}

pub fn work(kind: Kind, seeds: std::ops::Range<u64>, status: &Path) {
    // What goes wrong is told as a difference.
    std::panic::set_hook(Box::new(|_| {}));
    let mut numbers = Numbers::default();
    let mut told = Instant::now();
    for seed in seeds {
        let _ = std::fs::write(status, seed.to_string());
        let lines = kind.lines(seed);
        let text = text_of(&lines);
        numbers.programs += 1;
        match judged(kind, &text, seed) {
            None => {}
            Some(result) => {
                numbers.valid += 1;
                if !matches!(kind, Kind::Boolean | Kind::Recursive) {
                    count_features(&text, &mut numbers.texts, &mut numbers.models);
                }
                match result {
                    Ok(compared) => numbers.compared += compared,
                    Err(difference) => {
                        tell(&["difference", &seed.to_string(), &difference, &smallest(kind, &lines, seed)]);
                    }
                }
            }
        }
        if told.elapsed() > TELL_EVERY {
            numbers.told();
            told = Instant::now();
        }
    }
    numbers.told();
}

fn judged(kind: Kind, text: &str, seed: u64) -> Option<Compared> {
    catch_unwind(AssertUnwindSafe(|| kind.compare(text, seed))).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| said.to_string()));
        Some(Err(format!("panic: {}", said.unwrap_or_default())))
    })
}

/// The smallest program that is different, in the same way as far as words tell: a panic stays a panic.
fn smallest(kind: Kind, lines: &[Line], seed: u64) -> String {
    let started = Instant::now();
    let first_word = |result: Option<Compared>| {
        let difference = result?.err()?;
        difference.split([':', ' ']).next().map(str::to_string)
    };
    let wanted = first_word(judged(kind, &text_of(lines), seed));
    let small = shrink(lines, &mut |text| {
        started.elapsed() < LONGEST_SHRINKING && first_word(judged(kind, text, seed)) == wanted
    });
    text_of(&small)
}

impl Numbers {
    fn told(&mut self) {
        let Numbers { programs, valid, compared, texts, models } = std::mem::take(self);
        tell(&["numbers", &programs.to_string(), &valid.to_string(), &compared.to_string()]);
        let answers = preempt_campaign::recursive::take_answers();
        for (census, counts) in [("text", texts), ("model", models), ("answers", answers)] {
            for (feature, count) in counts {
                tell(&["feature", census, feature, &count.to_string()]);
            }
        }
    }
}

fn tell(words: &[&str]) {
    let words: Vec<String> = words.iter().map(|word| word.replace('\n', LINE_END)).collect();
    let mut out = std::io::stdout().lock();
    // Whoever does not listen any more does not want to know.
    let _ = writeln!(out, "{}", words.join("\t"));
    let _ = out.flush();
}
