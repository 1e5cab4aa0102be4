//! Front ends: what can be read. Each is a file that exports one constant, and a line in [`FRONT_ENDS`]; a format for nets
//! that is only read is a line.

mod boolean;
mod channels;
mod grammar;
mod net;
mod pds;
mod pnml;
mod promela;
mod protocol;
mod remopla;
mod spec;
mod system;

pub(crate) use net::in_words;
pub use net::{LoadedNet, Written};
pub use preempt_net::decode;
pub use promela::TrailText;
pub use system::{Certified, Coverable, LoadedSystem};

use crate::error::{Error, Mistakes};
use crate::model::LoadedModel;
use crate::settings::Settings;
use crate::verb::Verb;
use net::load_net;
use preempt_core::{Budget, Diagnostic, Report, Severity, SourceMap};
use preempt_model::{Command, Model};
use preempt_net::{lola, tina, tpn, tts};
use preempt_promela::trail::StatementNumbers;
use std::path::Path;

/// Everything that can be read, in the order of the tables. The first is taken where nothing says what a text is.
pub const FRONT_ENDS: &[&FrontEnd] = &[
    &promela::PROMELA,
    &boolean::BOOLEAN,
    &remopla::REMOPLA,
    &pds::PDS,
    &spec::SPEC,
    &pnml::PNML,
    &protocol::PROTOCOL,
    &protocol::CUBICLE,
    &net::format("tts", "TTS", "thread-transition systems", &["tts"], |it| load_net(it, tts::read_within)),
    &net::format("lola", "LoLA", "LoLA nets", &["lola"], |it| load_net(it, lola::read_within)),
    &net::format("tina", "TINA", "TINA nets", &["net"], |it| load_net(it, tina::read_within)),
    &net::format("tpn", "TPN", "Woflan nets", &["tpn"], |it| load_net(it, tpn::read_within)),
    &channels::CHANNELS,
    &grammar::GRAMMAR,
];

/// A language that can be read.
#[derive(Debug)]
pub struct FrontEnd {
    /// As in `--input promela`.
    pub name: &'static str,
    /// Another name that is understood.
    pub alias: Option<&'static str>,
    /// As in a heading.
    pub title: &'static str,
    /// As in "this is a Promela model".
    pub noun: &'static str,
    /// As in "for Promela models".
    pub plural: &'static str,
    /// Without the dot, in lower case.
    pub extensions: &'static [&'static str],
    /// What it gives.
    pub kind: Kind,
    /// What `auto` means: the first of these engines that has the verb and takes all the options given.
    pub engines: &'static [&'static str],
    /// Can the text say something that has no meaning when it is executed?
    pub has_runtime_errors: bool,
    /// Can it be read as a program with any number of threads?
    pub any_threads: bool,
    /// From text to input.
    pub load: fn(&mut LoadRequest<'_>) -> Loaded,
    /// For nets: do the targets stand in a file of properties?
    pub reads_properties: bool,
    /// Writes a net, or another system, in this format.
    pub write_net: Option<net::WriteNet>,
    /// Writes a counterexample as a trail of Spin's.
    pub write_trail: Option<promela::WriteTrail>,
}

/// What a front end gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A concurrent program: processes that move step by step.
    Model,
    /// A net, of which it is asked whether a marking can be covered.
    Net,
    /// Another well-structured system, of which it is asked whether something bad can be reached.
    System,
}

impl Kind {
    /// As in "for nets".
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Model => "models and programs",
            Kind::Net => "nets",
            Kind::System => "well-structured systems",
        }
    }

    /// For whoever has asked for something else.
    pub(crate) fn what_can_be_asked(self) -> &'static str {
        match self {
            Kind::Model => "a model is asked whether a property is violated",
            Kind::Net => "a net is asked one thing: whether its target can be covered",
            Kind::System => {
                "a well-structured system is asked one thing: whether something bad can be reached"
            }
        }
    }

    /// What can be done without an engine.
    pub fn verbs(self) -> &'static [Verb] {
        match self {
            Kind::Model => &[Verb::Sequentialize],
            Kind::Net | Kind::System => &[Verb::Certify, Verb::Convert],
        }
    }
}

/// What a front end needs to know. It reads no files itself.
#[allow(missing_debug_implementations, reason = "a function has none")]
pub struct LoadRequest<'a> {
    /// As whoever asked has named it.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a str,
    /// A file of properties: its name and its text.
    pub properties: Option<(&'a str, &'a str)>,
    /// What was said about the input from outside of it.
    pub settings: &'a Settings,
    /// Looked at wherever a text can make the work long.
    pub budget: &'a Budget,
    /// Reads a file that the text includes.
    pub read: &'a mut dyn FnMut(&str) -> Result<String, String>,
}

/// What became of a text: the input if there is no error in it, and everything there is to say about it.
#[derive(Debug)]
pub struct Loaded {
    /// The input; or, where there are errors, the texts that they are about.
    pub input: Result<Input, SourceMap>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// What may help where there are mistakes.
    pub hint: Option<&'static str>,
}

/// An input without errors.
#[derive(Debug)]
pub enum Input {
    /// A concurrent program.
    Model(LoadedModel),
    /// A net with its targets.
    Net(LoadedNet),
    /// Another well-structured system.
    System(LoadedSystem),
}

impl FrontEnd {
    /// The front end with this name.
    pub fn find(name: &str) -> Option<&'static FrontEnd> {
        FRONT_ENDS.iter().copied().find(|it| it.name == name || it.alias == Some(name))
    }

    /// By the extension. A file without one is taken for Promela, as Spin takes it.
    pub fn of_path(path: &Path) -> Option<&'static FrontEnd> {
        let Some(extension) = path.extension() else { return FRONT_ENDS.first().copied() };
        let extension = extension.to_str()?.to_ascii_lowercase();
        FRONT_ENDS.iter().copied().find(|it| it.extensions.contains(&extension.as_str()))
    }
}

/// A warning about a program in which nothing can go wrong as far as assertions go: that it holds says nothing, and is
/// easily taken for an answer where the error has another name.
fn without_assertions(model: &Model, message: &str, hint: &str) -> Option<Diagnostic> {
    let mut edges = model.codes.iter().flat_map(|code| &code.locations).flat_map(|location| &location.edges);
    let nothing = !edges.any(|edge| matches!(edge.command, Command::Assert(_)));
    let warning =
        || Diagnostic { severity: Severity::Warning, ..Diagnostic::global_error(message) }.hint(hint);
    nothing.then(warning)
}

impl Loaded {
    /// A model with Spin's numbers of its statements, unless a diagnostic is an error.
    fn of_model(
        name: &str,
        model: Option<(Model, StatementNumbers)>,
        sources: SourceMap,
        diagnostics: Vec<Diagnostic>,
    ) -> Loaded {
        let is_sound = !diagnostics.iter().any(Diagnostic::is_error);
        let input = match model.filter(|_| is_sound) {
            Some((model, numbers)) => {
                Ok(Input::Model(LoadedModel { file: name.to_string(), model, sources, numbers }))
            }
            None => Err(sources),
        };
        Loaded { input, diagnostics, hint: None }
    }

    /// The texts that were read.
    pub fn sources(&self) -> &SourceMap {
        match &self.input {
            Ok(input) => input.sources(),
            Err(sources) => sources,
        }
    }

    /// The input, or what is wrong with it.
    pub fn into_input(self) -> Result<Input, Error> {
        let diagnostics = self.diagnostics;
        self.input.map_err(|sources| Error::Mistakes(Box::new(Mistakes { diagnostics, sources })))
    }
}

impl Input {
    /// The texts that it was read from.
    pub fn sources(&self) -> &SourceMap {
        match self {
            Input::Model(loaded) => &loaded.sources,
            Input::Net(loaded) => &loaded.sources,
            Input::System(loaded) => &loaded.sources,
        }
    }

    /// Its name, as whoever asked has it.
    pub fn file(&self) -> &str {
        match self {
            Input::Model(loaded) => &loaded.file,
            Input::Net(loaded) => &loaded.file,
            Input::System(loaded) => &loaded.file,
        }
    }

    /// Whoever plans sees to it that an engine for models gets a model.
    pub fn model(&self) -> Result<&LoadedModel, Error> {
        match self {
            Input::Model(loaded) => Ok(loaded),
            Input::Net(_) => Err(Error::refused("this is a net, and no model")),
            Input::System(_) => Err(Error::refused("this is a well-structured system, and no model")),
        }
    }

    /// The same for engines that decide coverability.
    pub fn net(&self) -> Result<&LoadedNet, Error> {
        match self {
            Input::Net(loaded) => Ok(loaded),
            Input::Model(_) => Err(Error::refused("this is a model, and no net")),
            Input::System(_) => Err(Error::refused("this is a well-structured system, and no net")),
        }
    }
}

/// What a trail is made from.
#[allow(missing_debug_implementations, reason = "a function has none")]
pub struct TrailRequest<'a> {
    /// The model that the run is of.
    pub loaded: &'a LoadedModel,
    /// The report with the counterexample.
    pub report: &'a Report,
    /// As they were when the model was loaded.
    pub settings: &'a Settings,
    /// May the trail need a claim in a file of its own?
    pub with_claim: bool,
    /// Looked at while the model is read again.
    pub budget: &'a Budget,
    /// Reads a file that the model includes.
    pub read: &'a mut dyn FnMut(&str) -> Result<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;

    #[test]
    fn inputs_are_known_by_their_extension() {
        let of = |name: &str| FrontEnd::of_path(Path::new(name)).map(|it| it.name);
        for name in ["a/b.pml", "B.PROM", "a.pr", "a.prom", "a.promela", "a.spin", "a.pm", "a.b.sumo", "pml"]
        {
            assert_eq!(of(name), Some("promela"), "{name}");
        }
        assert_eq!(
            (of("a.bp"), of("net.spec"), of("net.pnml")),
            (Some("boolean"), Some("spec"), Some("pnml"))
        );
        assert_eq!(
            (of("a.tts"), of("a.lola"), of("a.net"), of("a.tpn")),
            (Some("tts"), Some("lola"), Some("tina"), Some("tpn"))
        );
        assert_eq!((of("a.pds"), of("a.rs")), (Some("pds"), None));
        assert_eq!(FrontEnd::find("net").map(|it| it.name), Some("spec"));
    }

    #[test]
    fn names_and_extensions_are_no_one_elses_and_engines_exist() {
        let mut names: Vec<&str> =
            FRONT_ENDS.iter().flat_map(|it| it.alias.into_iter().chain([it.name])).collect();
        let mut extensions: Vec<&str> = FRONT_ENDS.iter().flat_map(|it| it.extensions).copied().collect();
        for list in [&mut names, &mut extensions] {
            let count = list.len();
            list.sort_unstable();
            list.dedup();
            assert_eq!(list.len(), count, "{list:?}");
        }
        for front_end in FRONT_ENDS {
            for name in front_end.engines {
                let engine = engine::find(name).expect("an engine of the registry");
                assert!((engine.takes)(front_end.kind).is_ok(), "{name} for {}", front_end.name);
            }
        }
    }
}
