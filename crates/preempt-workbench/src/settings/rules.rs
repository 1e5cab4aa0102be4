//! To what an option applies, and with what it goes together.

use crate::frontend::{FRONT_ENDS, FrontEnd, Kind};

/// The inputs that an option is for.
#[derive(Debug, Clone, Copy)]
pub enum Inputs {
    /// Every input.
    Any,
    /// Those of a kind.
    Kind(Kind),
    /// The front ends with these names.
    Of(&'static [&'static str]),
    /// Those that can do something, and how to call them.
    Able(fn(&FrontEnd) -> bool, &'static str),
}

impl Inputs {
    /// Is it for this one?
    pub fn include(self, front_end: &FrontEnd) -> bool {
        match self {
            Inputs::Any => true,
            Inputs::Kind(kind) => front_end.kind == kind,
            Inputs::Of(names) => names.contains(&front_end.name),
            Inputs::Able(able, _) => able(front_end),
        }
    }

    /// As in "Promela models".
    pub fn names(self) -> String {
        match self {
            Inputs::Any => "every input".into(),
            Inputs::Kind(kind) => kind.plural().into(),
            Inputs::Able(_, names) => names.into(),
            Inputs::Of(names) => {
                let known = FRONT_ENDS.iter().filter(|it| names.contains(&it.name));
                known.map(|it| it.plural).collect::<Vec<_>>().join(" and ")
            }
        }
    }
}

/// The engines that an option is for.
#[derive(Debug, Clone, Copy)]
pub enum Engines {
    /// Every engine.
    Any,
    /// Those, and no others.
    Of(&'static [Taker]),
    /// All; but these only for the values that they have.
    AllBut(&'static [Taker]),
}

/// An engine that takes an option.
#[derive(Debug, Clone, Copy)]
pub struct Taker {
    /// Its name.
    pub engine: &'static str,
    /// Which values it takes.
    pub values: Values,
}

/// Values of an option that an engine takes.
#[derive(Debug, Clone, Copy)]
pub enum Values {
    /// Every value.
    All,
    /// Every value but these.
    AllBut(&'static [&'static str]),
    /// These, and no others.
    Just(&'static [&'static str]),
    /// None; but these say what the engine does anyway.
    Anyway(&'static [&'static str]),
}

impl Taker {
    /// It takes every value.
    pub const fn all(engine: &'static str) -> Taker {
        Taker { engine, values: Values::All }
    }

    /// It does anyway what one of these values says.
    pub const fn only(engine: &'static str, values: &'static [&'static str]) -> Taker {
        Taker { engine, values: Values::Anyway(values) }
    }

    /// It takes every value but these.
    pub const fn but(engine: &'static str, values: &'static [&'static str]) -> Taker {
        Taker { engine, values: Values::AllBut(values) }
    }

    /// It takes these values, and no others.
    pub const fn just(engine: &'static str, values: &'static [&'static str]) -> Taker {
        Taker { engine, values: Values::Just(values) }
    }

    /// For [`Engines::AllBut`].
    pub const fn none(engine: &'static str) -> Taker {
        Taker::only(engine, &[])
    }

    fn takes(&self, value: &str) -> Taken {
        match self.values {
            Values::All => Taken::Yes,
            Values::AllBut(values) if !values.contains(&value) => Taken::Yes,
            Values::Just(values) if values.contains(&value) => Taken::Yes,
            Values::Anyway(values) if values.contains(&value) => Taken::Anyway,
            Values::AllBut(_) | Values::Just(_) | Values::Anyway(_) => Taken::No,
        }
    }
}

/// Does an engine take an option?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It has that option.
    Yes,
    /// It has not, but the value says what it does anyway.
    Anyway,
    No,
}

impl Engines {
    pub(crate) fn take(self, engine: &str, value: &str) -> Taken {
        let found = |takers: &[Taker]| {
            takers.iter().find(|taker| taker.engine == engine).map(|taker| taker.takes(value))
        };
        match self {
            Engines::Any => Taken::Yes,
            Engines::Of(takers) => found(takers).unwrap_or(Taken::No),
            Engines::AllBut(takers) => found(takers).unwrap_or(Taken::Yes),
        }
    }
}

/// What an option needs, or what excludes it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Which of the two it is.
    pub kind: RuleKind,
    /// For these values of the option itself; empty for all.
    pub own: &'static [&'static str],
    /// The other option.
    pub other: &'static str,
    /// With one of these values; empty for any.
    pub values: &'static [&'static str],
    /// Why, or what to do about it.
    pub why: &'static str,
}

/// What a rule says about another option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    /// The other must be given.
    Needs,
    /// The other must not be given.
    Excludes,
}

impl Rule {
    /// The option needs another, with one of these values (any, if there are none).
    pub const fn needs(other: &'static str, values: &'static [&'static str], why: &'static str) -> Rule {
        Rule { kind: RuleKind::Needs, own: &[], other, values, why }
    }

    /// The option does not go with another, or not with these values of it.
    pub const fn excludes(other: &'static str, values: &'static [&'static str], why: &'static str) -> Rule {
        Rule { kind: RuleKind::Excludes, own: &[], other, values, why }
    }

    /// Only for these values of the option itself.
    #[must_use]
    pub const fn of(self, own: &'static [&'static str]) -> Rule {
        Rule { own, ..self }
    }
}

/// What becomes of an option in the command that shows the same run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It decides which run is found.
    Kept,
    /// The same; but with one of these values, no command shows the same again.
    KeptUnless(&'static [&'static str]),
    /// The same, but only beside another option with one of these values.
    KeptWith(&'static str, &'static [&'static str]),
    /// It decides which run is found with these values only.
    KeptFor(&'static [&'static str]),
    /// It does not matter.
    Dropped,
    /// What the run itself says takes its place.
    Replaced,
    /// With it no command shows the same again.
    Never,
}
