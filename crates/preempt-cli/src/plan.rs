//! Which engine takes which input: the one place where front ends and engines meet.

use std::path::Path;

/// What a front end reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Input {
    Promela,
    Boolean,
    /// A coverability problem in mist's format.
    Net,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    Reference,
    /// States one by one, with successors in machine code.
    Explicit,
    /// Sets of states of threads, a number of contexts each.
    Symbolic,
    /// Upward-closed sets: any number of tokens.
    Wsts,
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
    NetByWsts,
}

/// The whole table. A new input or a new engine does not compile until every combination is decided here.
pub fn plan(input: Input, engine: Engine) -> Result<Plan, &'static str> {
    match (input, engine) {
        (Input::Promela, Engine::Reference) => Ok(Plan::PromelaByReference),
        (Input::Promela, Engine::Explicit) => Ok(Plan::PromelaByExplicit),
        (Input::Boolean, Engine::Reference) => Ok(Plan::BooleanByReference),
        (Input::Boolean, Engine::Explicit) => Ok(Plan::BooleanByExplicit),
        (Input::Promela, Engine::Symbolic) => Ok(Plan::PromelaBySymbolic),
        (Input::Boolean, Engine::Symbolic) => Ok(Plan::BooleanBySymbolic),
        (Input::Net, Engine::Wsts) => Ok(Plan::NetByWsts),
        (Input::Net, Engine::Symbolic) => Err("it analyses threads, and a net has none"),
        (Input::Promela | Input::Boolean, Engine::Wsts) => Err("it decides coverability, for nets only"),
        (Input::Net, Engine::Reference | Engine::Explicit) => {
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
            Plan::PromelaBySymbolic | Plan::BooleanBySymbolic | Plan::NetByWsts => "check",
        }
    }
}

impl Input {
    pub const ALL: [Input; 3] = [Input::Promela, Input::Boolean, Input::Net];

    /// The engine that takes it if nobody asks for another.
    pub fn engine(self) -> Engine {
        match self {
            Input::Promela => Engine::Explicit,
            Input::Boolean => Engine::Symbolic,
            Input::Net => Engine::Wsts,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Input::Promela => "Promela",
            Input::Boolean => "Boolean",
            Input::Net => "net",
        }
    }

    /// Without the dot, in lower case.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Input::Promela => &["pml", "prom", "promela", "pm", "prm", "spin", "sumo"],
            Input::Boolean => &["bp", "nbp"],
            Input::Net => &["spec"],
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
    pub const ALL: [Engine; 4] = [Engine::Reference, Engine::Explicit, Engine::Symbolic, Engine::Wsts];

    pub fn name(self) -> &'static str {
        match self {
            Engine::Reference => "reference",
            Engine::Explicit => "explicit",
            Engine::Symbolic => "symbolic",
            Engine::Wsts => "wsts",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Engine::Reference => "state by state, cheapest runs first; made to be read, not to be fast",
            Engine::Explicit => {
                "state by state, in machine code; safety only, the rest is asked of the reference"
            }
            Engine::Symbolic => {
                "sets of states as BDDs, a number of contexts per thread; assertions, recursion"
            }
            Engine::Wsts => "upward-closed sets: any number of tokens, with a certificate or a run",
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
        assert_eq!(of("a.b.sumo"), Some(Input::Promela));
        assert_eq!(of("a.bp"), Some(Input::Boolean));
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
