//! What the front ends for nets share: a net with its targets, and how it is written.

use super::{FrontEnd, Input, Kind, LoadRequest, Loaded};
use crate::error::Error;
use crate::plan::Plan;
use preempt_core::{Budget, Diagnostic, Limits, SourceId, SourceMap};
use preempt_net::complement::{complement, relaxed};
use preempt_net::{NetProperty, Problem, promela, property};
use preempt_wsts::place_bounds;
use std::time::Duration;

/// A net with its targets; those of all properties together, so that one certificate is about all of them.
#[derive(Debug)]
pub struct LoadedNet {
    /// As whoever asked has named it.
    pub file: String,
    /// The net, where its tokens are at first, and what is not to be covered.
    pub problem: Problem,
    /// The properties that the targets come from, if they stand in a file of their own.
    pub properties: Vec<NetProperty>,
    /// The texts that it was read from.
    pub sources: SourceMap,
}

/// How a text becomes a net.
pub type ReadNet = fn(SourceId, &str, &Budget) -> (Problem, Vec<Diagnostic>);
/// How an input becomes text, in one or more files.
pub type WriteNet = fn(&Plan, &Input, &Budget) -> Result<Vec<Written>, Error>;

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The extension, where it is not that of the file that was asked for.
    pub extension: Option<&'static str>,
    /// The whole file.
    pub text: String,
}

/// A format for nets that is only read, with targets in a file of properties (or in the text as well).
pub(super) const fn format(
    name: &'static str,
    title: &'static str,
    plural: &'static str,
    extensions: &'static [&'static str],
    load: fn(&mut LoadRequest<'_>) -> Loaded,
) -> FrontEnd {
    FrontEnd {
        name,
        alias: None,
        title,
        noun: "a net",
        plural,
        extensions,
        kind: Kind::Net,
        engines: &["coverability"],
        has_runtime_errors: true,
        any_threads: false,
        load,
        reads_properties: true,
        write_net: None,
        write_trail: None,
    }
}

/// A net and, where there is a file of them, its properties.
pub(super) fn load_net(request: &mut LoadRequest<'_>, read: ReadNet) -> Loaded {
    let mut sources = SourceMap::new();
    let source = sources.add(request.name, request.text);
    let (mut problem, mut diagnostics) = read(source, request.text, request.budget);
    let is_sound = !diagnostics.iter().any(Diagnostic::is_error);
    if is_sound && !problem.net.is_monotone() {
        complement_bounded(&mut problem, request.budget);
        diagnostics.extend(relaxed(&problem));
    }
    let mut properties = Vec::new();
    let wanted = request.settings.property.as_deref();
    if let Some((name, text)) = request.properties {
        let source = sources.add(name, text);
        // Names mean nothing before the net is understood.
        if is_sound {
            let found = property::read_within(&problem.net, source, text, wanted, request.budget);
            properties = found.0;
            diagnostics.extend(found.1);
        }
    }
    if wanted.is_some() && request.properties.is_none() {
        let message = "--property needs a file of properties, as in --properties FILE";
        diagnostics.push(Diagnostic::global_error(message));
    }
    problem.targets.extend(properties.iter().flat_map(|property| property.targets().iter().cloned()));
    let several =
        properties.len() + diagnostics.len() > 1 && request.properties.is_some() && wanted.is_none();
    if diagnostics.iter().any(Diagnostic::is_error) {
        let hint = several.then_some("--property NAME asks for one property only");
        return Loaded { input: Err(sources), diagnostics, hint };
    }
    let file = request.name.to_string();
    Loaded {
        input: Ok(Input::Net(LoadedNet { file, problem, properties, sources })),
        diagnostics,
        hint: None,
    }
}

/// What the bounds of places that are tested for few tokens may cost.
const BOUNDS_PATIENCE: Duration = Duration::from_secs(2);

/// A bounded place that is tested for few tokens is complemented, which is exact.
fn complement_bounded(problem: &mut Problem, budget: &Budget) {
    let original = problem.clone();
    let mut bounds: Option<Vec<Option<u64>>> = None;
    complement(problem, &mut |place| {
        let all = bounds.get_or_insert_with(|| {
            let part = budget.part(&Limits { time: Some(BOUNDS_PATIENCE), ..Limits::default() });
            place_bounds(&original, &part)
        });
        all.get(place as usize).copied().flatten()
    });
}

impl LoadedNet {
    /// Without a target there is nothing to check.
    pub fn has_target(&self) -> Result<(), Error> {
        if self.problem.targets.is_empty() && self.properties.is_empty() {
            return Err(Error::refused(format!("`{}` has no target", self.file))
                .hint("give a file of properties, as in --properties ReachabilityCardinality.xml"));
        }
        Ok(())
    }
}

/// What a property says if what it asks for cannot be reached; or if it can.
pub fn in_words(property: &NetProperty, reached: bool) -> String {
    format!("{} {} is {}", property.quantifier.name(), property.id, property.quantifier.value(reached))
}

/// What the bounds of places may cost.
const PATIENCE: Duration = Duration::from_secs(60);

/// A bounded net as a Promela model, or another system with a fixed number of processes.
pub(super) fn write_promela(plan: &Plan, input: &Input, budget: &Budget) -> Result<Vec<Written>, Error> {
    if let Input::System(loaded) = input {
        return loaded.system.write_promela(plan, budget);
    }
    let problem = &input.net()?.problem;
    let part = budget.part(&Limits { time: Some(PATIENCE), ..Limits::default() });
    let unbounded = |place: usize| {
        Error::refused(format!("no bound is known for the tokens of `{}`", problem.net.places[place]))
            .hint("only a bounded net, without a parametric place, can be written as Promela")
    };
    let bounds: Result<Vec<u64>, Error> = place_bounds(problem, &part)
        .into_iter()
        .enumerate()
        .map(|(place, most)| most.ok_or_else(|| unbounded(place)))
        .collect();
    let text = promela::print(problem, &bounds?).map_err(Error::refused)?;
    Ok(vec![Written { extension: None, text }])
}
