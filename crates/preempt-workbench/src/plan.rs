//! From what was asked for to a job: which engine does what with which input, or the reason why nobody does. This is the
//! one place where front ends and engines meet.

use crate::engine::{self, Context, ENGINES, Engine, Search};
use crate::error::Error;
use crate::frontend::{FrontEnd, Input, Kind, LoadRequest, Loaded};
use crate::request::{Given, Request};
use crate::settings::{CostUnit, Engines, Settings, Taken, Value};
use crate::verb::Verb;
use preempt_core::{Measure, PropertyKind, Report, RunInfo};

/// A job that can be done.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What was asked for.
    pub request: Request,
    /// Who reads the text.
    pub front_end: &'static FrontEnd,
    /// `None` if the verb needs none.
    pub engine: Option<&'static Engine>,
    /// What the request says, in types. Limits may be lowered before the job begins.
    pub settings: Settings,
}

impl Plan {
    /// Resolves a request about an input of this kind.
    pub fn new(request: Request, front_end: &'static FrontEnd) -> Result<Plan, Error> {
        let settings = request.settings()?;
        let verb = request.verb;
        let can_be_done = match verb.needs_an_engine() {
            true => !candidates(verb, front_end).is_empty(),
            false => front_end.kind.verbs().contains(&verb),
        };
        if !can_be_done {
            let (noun, verb) = (front_end.noun, verb.name());
            return Err(Error::refused(format!("this is {noun}, and `{verb}` does not take it")));
        }
        request.fits_the_input(front_end)?;
        request.fits_itself()?;
        let engine = match (verb.needs_an_engine(), settings.engine) {
            (false, _) => None,
            (true, Some(wanted)) => Some(wanted),
            (true, None) => Some(suitable(&request, front_end)?),
        };
        if let Some(engine) = engine {
            engine.takes_verb(front_end.kind, verb).map_err(|why| no_way(front_end, engine, &why))?;
            fits_the_engine(&request, front_end, engine)?;
        }
        Ok(Plan { request, front_end, engine, settings })
    }

    /// Reads the text.
    pub fn load(&self, request: &mut LoadRequest<'_>) -> Loaded {
        (self.front_end.load)(request)
    }

    /// Checks or counts, with whichever engine it is.
    pub fn run(&self, input: &Input, context: &mut Context<'_>) -> Result<Report, Error> {
        let (engine, search) = self.search()?;
        let mut report = search(self, input, context)?;
        let RunInfo { options, answered_by, .. } = report.run;
        report.run = RunInfo { options, answered_by, ..self.info(input.file(), engine) };
        match &report.violation {
            // A program may start any number of threads: that an engine cannot is no mistake in it.
            Some(fault) if fault.kind == PropertyKind::RuntimeError && !self.front_end.has_runtime_errors => {
                let file = input.file();
                Err(Error::refused(format!("`{file}` cannot be explored state by state: {}", fault.name)))
            }
            _ => Ok(report),
        }
    }

    fn search(&self) -> Result<(&'static Engine, Search), Error> {
        let engine = self.engine.ok_or_else(|| Error::refused("no engine is needed for this"))?;
        let search = match self.request.verb {
            Verb::Count => engine.count,
            _ => Some(engine.check),
        };
        search.map(|search| (engine, search)).ok_or_else(|| self.refuses("it does not count"))
    }

    /// What a report says about itself before anything was done.
    pub fn info(&self, file: &str, engine: &Engine) -> RunInfo {
        RunInfo {
            file: file.to_string(),
            engine: engine.name.into(),
            answered_by: None,
            options: engine::reported(&[]),
        }
    }

    /// What the levels of the search are, in the plural, and how many there are at most; `None` if it has none.
    pub fn levels(&self) -> Option<(&'static str, Option<u32>)> {
        let engine = self.engine.filter(|_| self.front_end.kind == Kind::Model)?;
        match engine.counts[0] {
            Some(Measure::States) => {}
            Some(Measure::SharedStates) => return Some(("contexts", self.settings.contexts)),
            _ => return None,
        }
        let unit = match self.settings.cost {
            Some(CostUnit::Switches) => "switches",
            Some(CostUnit::Steps) => "steps",
            Some(CostUnit::Preemptions) | None => "preemptions",
        };
        Some((unit, self.settings.bound))
    }

    /// That the engine cannot do this with the input.
    pub fn refuses(&self, why: &str) -> Error {
        match self.engine {
            Some(engine) => no_way(self.front_end, engine, why),
            None => Error::refused(why),
        }
    }
}

/// What `auto` may mean for this verb, the first choice first.
pub fn candidates(verb: Verb, front_end: &FrontEnd) -> Vec<&'static Engine> {
    let known = front_end.engines.iter().filter_map(|name| engine::find(name));
    known.filter(|engine| engine.takes_verb(front_end.kind, verb).is_ok()).collect()
}

/// What `auto` means: the first engine that has every option given. If there is none, one that does anyway what the
/// options say; and if there is none either, two of the options belong to different engines.
fn suitable(request: &Request, front_end: &FrontEnd) -> Result<&'static Engine, Error> {
    let candidates = candidates(request.verb, front_end);
    for fully in [true, false] {
        if let Some(engine) = candidates.iter().find(|engine| foreign(request, engine, fully).is_none()) {
            return Ok(engine);
        }
    }
    let of = |engine: &Engine| foreign(request, engine, false);
    let first = candidates.first().and_then(|engine| of(engine));
    let has_first = |engine: &&&'static Engine| first.is_some_and(|given| takes(given, engine) != Taken::No);
    let second = candidates.iter().find(has_first).and_then(|engine| of(engine));
    match (first, second) {
        (Some(one), Some(other)) => {
            let message = format!("{} and {} do not go together", one.setting.flag(), other.setting.flag());
            let (one, other) = (names(one), names(other));
            Err(Error::refused(message)
                .hint(format!("the first is an option of {one}, the second of {other}")))
        }
        (Some(one), None) => {
            let noun = front_end.noun;
            Err(Error::refused(format!("{} does not go with {noun}", one.setting.flag()))
                .hint(format!("it is an option of {}", names(one))))
        }
        (None, _) => Err(Error::refused("no engine can do this")),
    }
}

fn takes(given: &Given, engine: &Engine) -> Taken {
    given.setting.engines.take(engine.name, given.text())
}

/// An option that the engine does not have; if `fully`, also one of which it has only a value.
fn foreign<'a>(request: &'a Request, engine: &Engine, fully: bool) -> Option<&'a Given> {
    request.given().iter().find(|given| match takes(given, engine) {
        Taken::Yes => false,
        Taken::Anyway => fully,
        Taken::No => true,
    })
}

/// Another engine must not pass over an option in silence.
fn fits_the_engine(request: &Request, front_end: &FrontEnd, engine: &Engine) -> Result<(), Error> {
    let Some(given) = foreign(request, engine, false) else { return Ok(()) };
    let (flag, engines) = (given.setting.flag(), given.setting.engines);
    let what = match given.setting.value {
        Value::NumberOr(_, _, _, word) if given.text() == word => format!("{flag} {word}"),
        value if value.choices().is_some() => format!("{flag} {}", given.text()),
        _ => flag.clone(),
    };
    let taken_by = candidates(request.verb, front_end).into_iter().find(|it| takes(given, it) == Taken::Yes);
    let hint = match taken_by {
        Some(other) => format!("use --engine {}, or leave out {flag}", other.name),
        None => format!("leave out {flag}"),
    };
    let message = match engines {
        Engines::Of(_) => format!("{what} is an option of {}", names(given)),
        Engines::Any | Engines::AllBut(_) => format!("{what} does not go with the {} engine", engine.name),
    };
    Err(Error::refused(message).hint(hint))
}

/// As in "the explicit engine".
fn names(given: &Given) -> String {
    let all = ENGINES.iter().filter(|engine| takes(given, engine) == Taken::Yes);
    let names: Vec<&str> = all.map(|engine| engine.name).collect();
    match names.as_slice() {
        [name] => format!("the {name} engine"),
        names => format!("the engines {}", names.join(", ")),
    }
}

fn no_way(front_end: &FrontEnd, engine: &Engine, why: &str) -> Error {
    Error::refused(format!("{} with the {} engine: {why}", front_end.noun, engine.name))
}
