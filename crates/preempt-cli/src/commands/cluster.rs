//! `preempt cluster`: one process of a search, or whoever starts them and says what has become of them.

use super::delivery::Delivery;
use super::load::{Read, load, read};
use super::pictures::{self, Pictures};
use crate::ExitStatus;
use crate::console::Failure;
use crate::files::could_be_written;
use crate::input;
use crate::job::{self, Stage};
use crate::options::{CommandLine, again};
use crate::part_files::{PartFolder, has_checkpoint};
use crate::progress::Watch;
use crate::scratch::Folder;
use preempt_cluster::supervisor::{self, Ended, Started};
use preempt_cluster::{Cluster, Hosts, Identity, Refused, Secret, connect, handshake};
use preempt_report::to_json;
use preempt_workbench::{Input, Plan, Together, Traffic, search_together};
use std::process::Command;

/// Says to a process that it is one, and which.
const PROCESS: &str = "PREEMPT_CLUSTER_PROCESS";
/// The secret of processes that one command has started.
const SECRET: &str = "PREEMPT_CLUSTER_SECRET";

/// Options in which the processes may differ.
const OWN: [&str; 17] = [
    "hosts",
    "index",
    "secret",
    "checkpoint",
    "checkpoint-every",
    "resume",
    "disk",
    "max-states",
    "max-time",
    "max-memory",
    "color",
    "format",
    "full",
    "trace",
    "report",
    "svg",
    "input",
];

/// Is this one of the processes, and not whoever looks after them?
pub fn is_process() -> bool {
    std::env::var_os(PROCESS).is_some()
}

/// Did one command start all processes?
fn is_started_with_others() -> bool {
    std::env::var_os(SECRET).is_some()
}

pub fn run(line: &CommandLine) -> Result<ExitStatus, Failure> {
    let outputs = ["trace"].iter().chain(&pictures::OUTPUTS);
    could_be_written(outputs.filter_map(|name| line.path(name)), &[&line.file])?;
    let path = line.path("hosts").unwrap_or(&line.file);
    let hosts = Hosts::parse(&input::text_of(path)?)
        .map_err(|Refused(why)| Failure::new(format!("`{}`: {why}", path.display())))?;
    let number = std::env::var(PROCESS).ok().and_then(|number| number.parse().ok());
    match number.filter(|number| *number < hosts.count()) {
        Some(number) => work(line, &hosts, number),
        None => look_after(line, &hosts),
    }
}

/// One of the processes.
fn work(line: &CommandLine, hosts: &Hosts, number: usize) -> Result<ExitStatus, Failure> {
    supervisor::end_when_lost();
    supervisor::listen(|| {
        job::current().interrupt();
    });
    let Read { mut plan, source } = read(line)?;
    let Some(input) = load(&plan, &source, line)? else { return Ok(ExitStatus::Input) };
    if let Some(engine) = plan.engine {
        job::current().about(plan.info(input.file(), engine), engine);
    }
    let mut files = PartFolder::open(line, number, hosts.count())?;
    let scratch = line.path("disk").map(Folder::open).transpose()?;
    let refused = |Refused(why): Refused| Failure::new(why);
    let secret = Secret::of_text(&secret(line)?).map_err(refused)?;
    let identity = Identity {
        version: env!("CARGO_PKG_VERSION").into(),
        model: identity_of(&plan, &input),
        number: number as u32,
        count: hosts.count() as u32,
    };
    let is_over = || job::current().budget.exhausted().is_some();
    let streams = connect(hosts, &identity, &secret, preempt_cluster::connect::PATIENCE, &is_over);
    // If the time is over, that is why nobody came.
    job::check()?;
    let streams = streams.map_err(refused)?;
    let mut cluster = Cluster::new(streams, number).map_err(Failure::new)?;
    // Of the time that was asked for, what reading and meeting have left.
    plan.settings.limits.time = job::current().time_left();
    let mut watch = if number == 0 { Watch::start(&plan) } else { Watch::silent(&plan) };
    let together = Together { progress: &mut watch, exchange: &mut cluster, files: &mut files, scratch };
    let found = search_together(&plan, &input, together);
    let history = watch.finish();
    if cluster.has_failed() {
        return Err(found
            .err()
            .map_or_else(|| Failure::new("the search has ended"), Failure::from)
            .inconclusive());
    }
    drop(cluster);
    if found.is_err() && number != 0 && is_started_with_others() {
        // The first process says the same, and has the status.
        return Ok(ExitStatus::Holds);
    }
    let (report, traffic) = found?;
    let Some(mut report) = report else {
        // The first process has the answer.
        if let Some(error) = files.error() {
            eprintln!("warning: process {number}: {error}");
        }
        return Ok(ExitStatus::Holds);
    };
    if let Some(error) = files.error() {
        report.warn(error);
    }
    report.note(told(&traffic));
    let again = again::command(line, &plan, &report);
    let mut delivery = Delivery::of(&report, again.clone(), line);
    if let (Some(path), Some(_)) = (line.path("trace"), &report.counterexample) {
        delivery.file(path, to_json(&report));
    }
    let sources = pictures::texts(input.sources());
    Pictures { report: &report, headline: None, sources, again, history }.join(line, &mut delivery);
    Ok(delivery.deliver())
}

/// What went between the processes.
fn told(traffic: &[Traffic]) -> String {
    let sum = |of: fn(&Traffic) -> u64| traffic.iter().map(of).sum::<u64>();
    let most = traffic.iter().map(|it| it.own).max().unwrap_or(0);
    format!(
        "{} processes: {} states sent in {} messages of {} bytes together, {} moments; the largest part has {most} states",
        traffic.len(),
        sum(|it| it.states),
        sum(|it| it.messages),
        sum(|it| it.bytes),
        traffic.iter().map(|it| it.moments).max().unwrap_or(0),
    )
}

/// A number that is different for another model or another question about it.
fn identity_of(plan: &Plan, input: &Input) -> [u8; 32] {
    let texts = pictures::texts(input.sources());
    let given = plan.request.given().iter().filter(|given| !OWN.contains(&given.setting.name));
    let options: Vec<String> =
        given.map(|given| format!("{}={}", given.setting.name, given.text())).collect();
    let texts = texts.iter().map(|(_, text)| text.as_bytes());
    handshake::hash_of(texts.chain(options.iter().map(|option| option.as_bytes())))
}

fn secret(line: &CommandLine) -> Result<Vec<u8>, Failure> {
    match line.path("secret") {
        Some(path) => input::text_of(path).map(String::into_bytes),
        None => Ok(std::env::var(SECRET).unwrap_or_default().into_bytes()),
    }
}

/// Starts processes, and waits for them.
fn look_after(line: &CommandLine, hosts: &Hosts) -> Result<ExitStatus, Failure> {
    let index = line.request.is_given("index").then(|| line.number("index") as usize);
    if let Some(index) = index.filter(|index| *index >= hosts.count()) {
        return Err(Failure::new(format!(
            "--index {index}: there are {} hosts, numbered from 0",
            hosts.count()
        )));
    }
    if index.is_none() && !hosts.are_local() {
        return Err(Failure::new("some of these hosts are other machines")
            .hint("start the command on each of them, with --index N for its line in --hosts"));
    }
    if index.is_some() && line.path("secret").is_none() {
        return Err(Failure::new("processes that are started one by one need a --secret"));
    }
    if line.file.as_os_str() == "-" {
        return Err(Failure::new("several processes cannot read one stdin").hint("write the model to a file"));
    }
    // What is wrong is said once, and not by each.
    let Read { plan, source } = read(line)?;
    if load(&plan, &source, line)?.is_none() {
        return Ok(ExitStatus::Input);
    }
    let cannot = |error: std::io::Error| Failure::new(format!("no process can be started: {error}"));
    let program = std::env::current_exe().map_err(cannot)?;
    let made_up = Secret::random().map_err(cannot)?;
    let mut all = Vec::new();
    for number in index.map_or(0..hosts.count(), |index| index..index + 1) {
        let mut command = Command::new(&program);
        command.args(std::env::args_os().skip(1)).env(PROCESS, number.to_string());
        if line.path("secret").is_none() {
            command.env(SECRET, &made_up);
        }
        all.push(Started::new(number, &hosts.names[number], command).map_err(cannot)?);
    }
    // From now on the processes speak.
    job::current().enter(Stage::Printing);
    let is_interrupted = || job::current().was_interrupted();
    match supervisor::supervise(all, &is_interrupted) {
        Ended::Done(status) => Ok(match status {
            0 => ExitStatus::Holds,
            1 => ExitStatus::Violated,
            2 => ExitStatus::Input,
            4 => ExitStatus::Unwritten,
            _ => ExitStatus::Inconclusive,
        }),
        Ended::Died(who) => {
            let failure = Failure::new(format!("{who}: the search has ended without a result"));
            let failure = match line.path("checkpoint").or(line.path("resume")) {
                Some(folder) if has_checkpoint(folder) => {
                    failure.hint(format!("continue it with --resume {}", folder.display()))
                }
                Some(_) => failure.hint("no checkpoint was complete yet: it begins anew"),
                None => failure.hint("with --checkpoint FOLDER it could be continued"),
            };
            Err(failure.inconclusive())
        }
    }
}
