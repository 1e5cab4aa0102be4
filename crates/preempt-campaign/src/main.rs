//! Long campaigns: `campaign --kind successors --first 0 --programs 100000 --seconds 600 --processes 1`.
//!
//! The programs are those of the seeds, so every run can be repeated, and a seed names a program. Work is done in
//! processes of their own: one that crashes or hangs is a difference too, and the campaign goes on behind it.

#![forbid(unsafe_code)]

mod worker;

use preempt_campaign::Kind;
use preempt_core::{Limits, PropertyKind, Silent, Verdict};
use preempt_explicit::{SearchOptions, count};
use preempt_promela::generator::{plain_program, text_of};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A process gets so many programs at once.
const AT_ONCE: u64 = 2000;

/// Nothing said for so long: it hangs.
const LONGEST_SILENCE: Duration = Duration::from_secs(40);

struct Campaign {
    kinds: Vec<Kind>,
    first: u64,
    programs: u64,
    seconds: u64,
    processes: u64,
    /// Differences are told in full up to this number.
    most_shown: usize,
}

#[derive(Default)]
struct Totals {
    programs: u64,
    valid: u64,
    compared: u64,
    features: BTreeMap<(String, String), u64>,
    differences: Vec<String>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, kind, first, after, status] = &words[..]
        && word == "--worker"
    {
        let kind = Kind::ALL.into_iter().find(|known| known.name() == kind);
        if let (Some(kind), Ok(first), Ok(after)) = (kind, first.parse(), after.parse()) {
            worker::work(kind, first..after, std::path::Path::new(status));
        }
        return ExitCode::SUCCESS;
    }
    if let [word, what, seed] = &words[..]
        && word == "--plain"
        && let Ok(seed) = seed.parse()
    {
        let text = text_of(&plain_program(seed));
        match what.as_str() {
            "count" => println!("{}", counted(&text).unwrap_or_else(|| "none".into())),
            _ => print!("{text}"),
        }
        return ExitCode::SUCCESS;
    }
    if let [word, kind, seed] = &words[..]
        && word == "--text"
        && let Some(kind) = Kind::ALL.into_iter().find(|known| known.name() == kind)
        && let Ok(seed) = seed.parse()
    {
        print!("{}", text_of(&kind.lines(seed)));
        return ExitCode::SUCCESS;
    }
    let Some(campaign) = Campaign::new(&words) else {
        eprintln!(
            "campaign [--kind {}] [--first SEED] [--programs N] [--seconds S] [--processes N] [--show N]\n\
             campaign --text KIND SEED\ncampaign --plain text|count SEED",
            Kind::ALL.map(Kind::name).join("|")
        );
        return ExitCode::from(2);
    };
    let mut clean = true;
    for kind in &campaign.kinds {
        let totals = campaign.run(*kind);
        clean &= totals.differences.is_empty();
        totals.print(*kind, &campaign);
    }
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// States, transitions and run-time errors of the whole state space, for a comparison with Spin.
fn counted(text: &str) -> Option<String> {
    let program = preempt_campaign::promela(text)?;
    let limits = Limits { states: Some(20_000), ..Limits::default() };
    let options = SearchOptions { limits, ..SearchOptions::default() };
    let outcome = count(&program.model, &program.sources, &options, &mut Silent).ok()?;
    let stats = outcome.stats;
    let errors = stats.violations.get(&PropertyKind::RuntimeError).copied().unwrap_or(0);
    let whole = !matches!(outcome.verdict, Verdict::Inconclusive(_));
    whole.then(|| format!("{} {} {errors}", stats.states, stats.transitions))
}

impl Campaign {
    fn new(words: &[String]) -> Option<Campaign> {
        let mut campaign = Campaign {
            kinds: Kind::ALL.to_vec(),
            first: 0,
            programs: 1000,
            seconds: u64::MAX,
            processes: 1,
            most_shown: 20,
        };
        for pair in words.chunks(2) {
            let [option, value] = pair else { return None };
            let number = value.parse();
            match option.as_str() {
                "--kind" => campaign.kinds = vec![Kind::ALL.into_iter().find(|kind| kind.name() == value)?],
                "--first" => campaign.first = number.ok()?,
                "--programs" => campaign.programs = number.ok()?,
                "--seconds" => campaign.seconds = number.ok()?,
                "--processes" => campaign.processes = number.ok()?,
                "--show" => campaign.most_shown = number.ok()? as usize,
                _ => return None,
            }
        }
        Some(campaign)
    }

    /// Every process takes a part of the seeds.
    fn run(&self, kind: Kind) -> Totals {
        let ends = Instant::now().checked_add(Duration::from_secs(self.seconds.min(1 << 30)));
        let part = self.programs.div_ceil(self.processes.max(1));
        let parts: Vec<_> = (0..self.processes.max(1))
            .map(|number| self.first + number * part)
            .map(|first| first..(first + part).min(self.first + self.programs))
            .collect();
        std::thread::scope(|scope| {
            let running: Vec<_> =
                parts.into_iter().map(|seeds| scope.spawn(move || in_processes(kind, seeds, ends))).collect();
            let mut totals = Totals::default();
            for part in running.into_iter().filter_map(|part| part.join().ok()) {
                totals.add(part);
            }
            totals
        })
    }
}

/// One process after the other, until all seeds are done or the time is over.
fn in_processes(kind: Kind, seeds: std::ops::Range<u64>, ends: Option<Instant>) -> Totals {
    let mut totals = Totals::default();
    let status = std::env::temp_dir().join(format!("campaign-{}-{}", std::process::id(), seeds.start));
    let mut next = seeds.start;
    while next < seeds.end && ends.is_none_or(|ends| Instant::now() < ends) {
        let after = (next + AT_ONCE).min(seeds.end);
        let program = std::env::current_exe().expect("this program has a path");
        let child = Command::new(program)
            .args(["--worker", kind.name(), &next.to_string(), &after.to_string()])
            .arg(&status)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { break };
        let said = lines_of(&mut child);
        match totals.listen(&said, ends) {
            Heard::End => {
                let ended = child.wait();
                if ended.as_ref().is_ok_and(|ended| ended.success()) {
                    next = after;
                    totals.so_far(next);
                    continue;
                }
                let seed = std::fs::read_to_string(&status).ok().and_then(|seed| seed.parse().ok());
                let seed = seed.unwrap_or(next);
                totals.differences.push(format!("seed {seed}: the process crashed ({ended:?})"));
                next = seed + 1;
            }
            Heard::Silence => {
                let seed = std::fs::read_to_string(&status).ok().and_then(|seed| seed.parse().ok());
                let seed = seed.unwrap_or(next);
                totals.differences.push(format!("seed {seed}: no answer within {LONGEST_SILENCE:?}"));
                next = seed + 1;
            }
            Heard::Enough => next = seeds.end,
        }
        let _ = child.kill();
        let _ = child.wait();
    }
    let _ = std::fs::remove_file(&status);
    totals
}

fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

enum Heard {
    End,
    Silence,
    Enough,
}

impl Totals {
    /// On stderr, so that whoever ends a campaign early has its numbers.
    fn so_far(&self, next: u64) {
        let Totals { programs, valid, compared, differences, .. } = self;
        let different = differences.len();
        eprintln!(
            "before seed {next}: {programs} texts, {valid} programs, {compared} comparisons, {different} differences"
        );
    }

    fn listen(&mut self, said: &Receiver<String>, ends: Option<Instant>) -> Heard {
        loop {
            let left = ends.map_or(LONGEST_SILENCE, |ends| ends.saturating_duration_since(Instant::now()));
            match said.recv_timeout(left.min(LONGEST_SILENCE)) {
                Ok(line) => self.hear(&line),
                Err(RecvTimeoutError::Disconnected) => return Heard::End,
                Err(RecvTimeoutError::Timeout) if left < LONGEST_SILENCE => return Heard::Enough,
                Err(RecvTimeoutError::Timeout) => return Heard::Silence,
            }
        }
    }

    fn hear(&mut self, line: &str) {
        let words: Vec<String> = line.split('\t').map(|word| word.replace(worker::LINE_END, "\n")).collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        match words.first().map(String::as_str) {
            Some("numbers") => {
                self.programs += number(1);
                self.valid += number(2);
                self.compared += number(3);
            }
            Some("feature") if words.len() == 4 => {
                let name = (words[1].clone(), words[2].clone());
                *self.features.entry(name).or_default() += number(3);
            }
            Some("difference") if words.len() == 4 => {
                let difference = format!("seed {}: {}\n{}", words[1], words[2], words[3]);
                eprintln!("{difference}");
                self.differences.push(difference);
            }
            _ => {}
        }
    }

    fn add(&mut self, other: Totals) {
        self.programs += other.programs;
        self.valid += other.valid;
        self.compared += other.compared;
        self.differences.extend(other.differences);
        for (name, count) in other.features {
            *self.features.entry(name).or_default() += count;
        }
    }

    fn print(&self, kind: Kind, campaign: &Campaign) {
        let Totals { programs, valid, compared, features, differences } = self;
        println!("## {}", kind.name());
        println!(
            "{programs} texts from seed {}, {valid} of them programs, {compared} comparisons, {} differences",
            campaign.first,
            differences.len()
        );
        for difference in differences.iter().take(campaign.most_shown) {
            println!("\n{difference}");
        }
        // A record a line, to be kept and compared.
        if !features.is_empty() {
            println!("\ncensus\tfeature\tprograms");
        }
        for ((census, feature), count) in features {
            println!("{census}\t{feature}\t{count}");
        }
    }
}
