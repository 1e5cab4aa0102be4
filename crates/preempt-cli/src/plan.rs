//! Which engine takes which input: the one place where front ends and engines meet.

use preempt_wsts::Engine as Coverability;
use std::path::Path;

/// What a front end reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Input {
    Promela,
    Boolean,
    /// A coverability problem in mist's format.
    Net,
    /// A net as editors write it; its targets come from a file of properties.
    Pnml,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    Reference,
    /// States one by one, with successors in machine code.
    Explicit,
    /// Sets of states of threads, a number of contexts each.
    Symbolic,
    /// What suits the input.
    Auto,
    /// For nets: sign analysis, state inequation, unused transitions, traps.
    Prechecks,
    /// For nets: backward over upward-closed sets by their smallest elements.
    Basis,
    /// For nets: backward over finite sets of bounded weight, as decision diagrams.
    Weight,
    /// The same as paper 004 has it at first: no lifting, no reduction.
    WeightPlain,
    /// For nets: a search for a covering run.
    Forward,
}

/// A way from an input to an answer that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Promela to a model, and the model's definition explores it.
    PromelaByReference,
    /// Promela to a model, explored by machine code made from it.
    PromelaByExplicit,
    /// A Boolean program to a model, and the model's definition explores it.
    BooleanByReference,
    /// A Boolean program to a model without procedures, explored by machine code made from it.
    BooleanByExplicit,
    /// Promela without channels to a model, analysed thread by thread.
    PromelaBySymbolic,
    /// A Boolean program to a model, procedures and recursion included, analysed thread by thread.
    BooleanBySymbolic,
    /// A net to a coverability problem, decided with a certificate or a run.
    NetByCoverability(Coverability),
}

/// The whole table. A new input or a new engine does not compile until every combination is decided here.
pub fn plan(input: Input, engine: Engine) -> Result<Plan, &'static str> {
    match (input, engine) {
        (Input::Promela, Engine::Reference) => Ok(Plan::PromelaByReference),
        (Input::Promela, Engine::Explicit | Engine::Auto) => Ok(Plan::PromelaByExplicit),
        (Input::Promela, Engine::Symbolic) => Ok(Plan::PromelaBySymbolic),
        (Input::Boolean, Engine::Reference) => Ok(Plan::BooleanByReference),
        (Input::Boolean, Engine::Explicit) => Ok(Plan::BooleanByExplicit),
        (Input::Boolean, Engine::Symbolic | Engine::Auto) => Ok(Plan::BooleanBySymbolic),
        (
            Input::Promela | Input::Boolean,
            Engine::Prechecks | Engine::Basis | Engine::Weight | Engine::WeightPlain | Engine::Forward,
        ) => Err("it decides coverability, for nets only"),
        (Input::Net | Input::Pnml, Engine::Symbolic) => Err("it analyses threads, and a net has none"),
        (Input::Net | Input::Pnml, Engine::Auto) => Ok(Plan::NetByCoverability(Coverability::Auto)),
        (Input::Net | Input::Pnml, Engine::Prechecks) => Ok(Plan::NetByCoverability(Coverability::Prechecks)),
        (Input::Net | Input::Pnml, Engine::Basis) => Ok(Plan::NetByCoverability(Coverability::Basis)),
        (Input::Net | Input::Pnml, Engine::Weight) => Ok(Plan::NetByCoverability(Coverability::Weight)),
        (Input::Net | Input::Pnml, Engine::WeightPlain) => {
            Ok(Plan::NetByCoverability(Coverability::WeightPlain))
        }
        (Input::Net | Input::Pnml, Engine::Forward) => Ok(Plan::NetByCoverability(Coverability::Forward)),
        (Input::Net | Input::Pnml, Engine::Reference | Engine::Explicit) => {
            Err("it visits states one by one, and a net may have infinitely many")
        }
    }
}

impl Plan {
    /// What can be done this way.
    pub fn verbs(self) -> &'static str {
        match self {
            Plan::PromelaByReference | Plan::BooleanByReference => "count, check, simulate, replay",
            Plan::PromelaByExplicit | Plan::BooleanByExplicit => "count, check",
            Plan::PromelaBySymbolic | Plan::BooleanBySymbolic | Plan::NetByCoverability(_) => "check",
        }
    }
}

impl Input {
    pub const ALL: [Input; 4] = [Input::Promela, Input::Boolean, Input::Net, Input::Pnml];

    /// The engine that is wanted, or the one that suits the input.
    pub fn engine(self, wanted: Option<Engine>) -> Engine {
        match (self, wanted) {
            (Input::Promela, None | Some(Engine::Auto)) => Engine::Explicit,
            (Input::Boolean, None | Some(Engine::Auto)) => Engine::Symbolic,
            (Input::Net | Input::Pnml, None) => Engine::Auto,
            (_, Some(engine)) => engine,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Input::Promela => "Promela",
            Input::Boolean => "Boolean",
            Input::Net => "net",
            Input::Pnml => "PNML",
        }
    }

    /// Without the dot, in lower case.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Input::Promela => &["pml", "pr", "prom", "promela", "pm", "prm", "spin", "sumo"],
            Input::Boolean => &["bp", "nbp"],
            Input::Net => &["spec"],
            Input::Pnml => &["pnml"],
        }
    }

    /// A file without an extension is taken for Promela, as Spin takes it.
    pub fn of_path(path: &Path) -> Option<Input> {
        let Some(extension) = path.extension() else { return Some(Input::Promela) };
        let extension = extension.to_str()?.to_ascii_lowercase();
        Input::ALL.into_iter().find(|input| input.extensions().contains(&extension.as_str()))
    }
}

impl Engine {
    pub const ALL: [Engine; 9] = [
        Engine::Auto,
        Engine::Reference,
        Engine::Explicit,
        Engine::Symbolic,
        Engine::Prechecks,
        Engine::Basis,
        Engine::Weight,
        Engine::WeightPlain,
        Engine::Forward,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Reference => "reference",
            Engine::Explicit => "explicit",
            Engine::Symbolic => "symbolic",
            Engine::Prechecks => "prechecks",
            Engine::Basis => "basis",
            Engine::Weight => "weight",
            Engine::WeightPlain => "weight-plain",
            Engine::Forward => "forward",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Engine::Auto => "explicit for Promela; pre-checks, then basis and forward for nets",
            Engine::Reference => "state by state, cheapest runs first; made to be read, not to be fast",
            Engine::Explicit => "state by state, in machine code; the default for Promela",
            Engine::Symbolic => {
                "sets of states as BDDs, a number of contexts per thread; assertions, recursion"
            }
            Engine::Prechecks => "linear programs, siphons and traps: a proof within moments, or nothing",
            Engine::Basis => "backward over upward-closed sets: a proof or a run",
            Engine::Weight => "backward by number of tokens, on decision diagrams: a proof or a run",
            Engine::WeightPlain => {
                "the same without lifting and reduction; says if a run has the fewest tokens"
            }
            Engine::Forward => "forward with any number of tokens: a run, or nothing",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_known_by_their_extension() {
        let of = |name: &str| Input::of_path(Path::new(name));
        assert_eq!(of("a/b.pml"), Some(Input::Promela));
        assert_eq!(of("B.PROM"), Some(Input::Promela));
        for extension in ["pr", "prom", "promela", "spin", "pm"] {
            assert_eq!(of(&format!("a.{extension}")), Some(Input::Promela));
        }
        assert_eq!(of("a.b.sumo"), Some(Input::Promela));
        assert_eq!(of("a.bp"), Some(Input::Boolean));
        assert_eq!(of("net.spec"), Some(Input::Net));
        assert_eq!(of("net.pnml"), Some(Input::Pnml));
        assert_eq!(of("a.rs"), None);
        assert_eq!(of("pml"), Some(Input::Promela));
    }

    #[test]
    fn every_input_has_an_engine() {
        for input in Input::ALL {
            assert!(Engine::ALL.into_iter().any(|engine| plan(input, engine).is_ok()), "{input:?}");
        }
    }
}
