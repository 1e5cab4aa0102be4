//! `preempt convert`: a net from one format to another.

use super::net::{self, Asked};
use crate::ExitStatus;
use crate::args::{Colour, ConvertArgs, NetFormat};
use crate::console::Failure;
use crate::files::{self, could_be_written};
use crate::input;
use crate::job;
use preempt_core::Limits;
use preempt_net::{mcc, pnml, promela, spec};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the bounds of places may cost.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn run(args: &ConvertArgs) -> Result<ExitStatus, Failure> {
    let to = match args.to {
        Some(to) => to,
        None => format_of(&args.out)?,
    };
    let inputs = [Some(args.net.file.as_path()), args.net.properties.as_deref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    could_be_written([args.out.as_path()], &inputs)?;
    let source = input::read_as(&args.net.file, None)?;
    let (properties, wanted) = (args.net.properties.as_deref(), args.net.property.as_deref());
    let Some(asked) = net::load(source, properties, wanted, Colour::Auto)? else {
        return Ok(ExitStatus::Input);
    };
    let files = converted(&asked, to, &args.out)?;
    job::check()?;
    // All or none, as far as that can be known.
    could_be_written(files.iter().map(|(path, _)| path.as_path()), &inputs)?;
    for (path, text) in files {
        files::write(&path, &text).map_err(Failure::unwritten)?;
    }
    Ok(ExitStatus::Holds)
}

fn format_of(path: &Path) -> Result<NetFormat, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "spec" => Ok(NetFormat::Spec),
        "pnml" => Ok(NetFormat::Pnml),
        "pml" | "prom" | "promela" => Ok(NetFormat::Promela),
        _ => Err(Failure::new(format!("`{}`: which format is this?", path.display()))
            .hint("say so, as in --to spec, --to pnml or --to promela")),
    }
}

/// The files with their texts.
fn converted(asked: &Asked, to: NetFormat, out: &Path) -> Result<Vec<(PathBuf, String)>, Failure> {
    let problem = &asked.problem;
    let needs_target = |format: &str| {
        Failure::new(format!("{format} has a target, and this net has none"))
            .hint("give a file of properties, as in --properties FILE")
    };
    match to {
        NetFormat::Spec if problem.targets.is_empty() => Err(needs_target("a .spec file")),
        NetFormat::Spec => Ok(vec![(out.to_path_buf(), spec::print(problem))]),
        NetFormat::Pnml => {
            let net = pnml::print(problem).map_err(Failure::new)?;
            let mut files = vec![(out.to_path_buf(), net)];
            if !problem.targets.is_empty() {
                let question = mcc::print(&pnml::ids(&problem.net), "target", &problem.targets);
                files.push((out.with_extension("xml"), question));
            }
            Ok(files)
        }
        NetFormat::Promela => {
            let budget = job::current().budget.part(&Limits { time: Some(PATIENCE), ..Limits::default() });
            let bounds = preempt_wsts::place_bounds(problem, &budget);
            let unbounded = |place: usize| {
                let name = &problem.net.places[place];
                Failure::new(format!("no bound is known for the tokens of `{name}`"))
                    .hint("only a bounded net, without a parametric place, can be written as Promela")
            };
            let bounds: Result<Vec<u64>, Failure> = bounds
                .into_iter()
                .enumerate()
                .map(|(place, most)| most.ok_or_else(|| unbounded(place)))
                .collect();
            let text = promela::print(problem, &bounds?).map_err(Failure::new)?;
            Ok(vec![(out.to_path_buf(), text)])
        }
    }
}
