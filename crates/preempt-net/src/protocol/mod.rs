//! Protocols: a finite global part and any number of equal processes with local variables, which move alone, in pairs or by
//! broadcast (Bingham and Hu 2005, paper 004, Example 5), perhaps only if all others satisfy a condition (section 6).
//!
//! * [`expr`]: guards and effects; [`state`]: what a step is, by the definition;
//! * [`read`]: the text format `.protocol` (`parser`, `lower`); [`cubicle`] reads `.cub`;
//! * [`flat`]: small protocols with numbered local states, as a well-structured system;
//! * [`unused`]: rules that no run uses;
//! * [`guards`]: the reductions B' and B'' of section 6; [`promela`]: a fixed number of processes as a Promela model.

pub mod cubicle;
pub mod expr;
pub mod flat;
pub mod guards;
mod lower;
mod parser;
pub mod promela;
pub mod state;
pub mod unused;

pub use expr::{Expr, Place, Scope};
pub use flat::{Flat, FlatState};
pub use state::{ProtocolRun, ProtocolState, ProtocolStep};

use preempt_core::{Budget, Diagnostic, SourceId, Span};

/// A protocol with what must not be reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Protocol {
    /// The variables of the global part.
    pub globals: Vec<Variable>,
    /// The variables of each process.
    pub locals: Vec<Variable>,
    /// The names of the values of each enumeration.
    pub enumerations: Vec<Vec<String>>,
    /// About the global part and a process (as mover): initially it holds for each process.
    pub initially: Option<Expr>,
    /// What can happen; instances for all values of parameters.
    pub rules: Vec<Rule>,
    /// What must not be reached, by name.
    pub properties: Vec<Bad>,
}

/// A variable with finitely many values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// With its index, if it is an element of an array.
    pub name: String,
    /// What its values are.
    pub kind: ValueKind,
    /// The smallest value.
    pub low: i64,
    /// How many values there are.
    pub size: u64,
    /// The element of an array that it is: the indices, and which of them.
    pub block: Option<(Domain, u64)>,
}

/// What values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// 0 is false and 1 is true.
    Bool,
    /// A number.
    Number,
    /// One of the names of an enumeration, by its position.
    Enumeration(usize),
}

/// The values that a variable, a parameter or an index can have. Arrays with the same indices have the same blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Domain {
    /// What a value is.
    pub kind: ValueKind,
    /// The smallest value.
    pub low: i64,
    /// How many there are.
    pub size: u64,
}

/// Something that can happen: the mover, perhaps a partner, and all others.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// With the values of its parameters.
    pub name: String,
    /// Where it is written.
    pub span: Option<Span>,
    /// About the global part and the mover.
    pub when: Expr,
    /// For a rendez-vous: about the partner, too.
    pub with: Option<Expr>,
    /// The conjunctive guard: what must hold of all others.
    pub all_others: Option<Expr>,
    /// What becomes of the global part, the mover and the partner, all at once.
    pub effects: Vec<Effect>,
    /// What becomes of each of the others: the first of these whose condition holds of it; else it stays as it is.
    pub others: Vec<Reaction>,
}

/// A variable gets a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Which one.
    pub place: Place,
    /// From the values before the step.
    pub value: Expr,
}

/// How a process reacts to the step of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Reaction {
    /// About the global part, the mover, the partner and the process itself (as other).
    pub condition: Expr,
    /// On the process itself.
    pub effects: Vec<Effect>,
}

/// A set of bad states: those that match one of the patterns.
#[derive(Debug, Clone, PartialEq)]
pub struct Bad {
    /// As it is asked for.
    pub name: String,
    /// Where it is written.
    pub span: Option<Span>,
    /// Each an upward-closed set.
    pub patterns: Vec<Pattern>,
}

/// The global part satisfies a condition, and there are different processes that satisfy one each.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// About the global part.
    pub global: Expr,
    /// About the global part and a process (as mover), for each of so many different processes; at least one.
    pub processes: Vec<Expr>,
}

impl Variable {
    /// A bit.
    pub fn boolean(name: &str) -> Variable {
        Variable { name: name.to_string(), kind: ValueKind::Bool, low: 0, size: 2, block: None }
    }
}

impl Rule {
    /// How many processes take part by name.
    pub fn participants(&self) -> u64 {
        1 + u64::from(self.with.is_some())
    }

    /// Can the step change the global part?
    pub fn changes_global(&self) -> bool {
        let changes = |it: &&Effect| it.place.scope == Scope::Global && it.value != Expr::Read(it.place);
        self.effects.iter().any(|it| changes(&it))
    }

    /// A delta as in Definition 8 for steps that enter a set: who takes part must be there, and what the set wants; but one
    /// of those who move is wanted, if nothing else changes.
    pub fn deflation(&self) -> u64 {
        let alone = self.others.is_empty() && !self.changes_global();
        self.participants() - u64::from(alone)
    }
}

impl Protocol {
    /// The delta of Definition 8, for all rules.
    pub fn deflation(&self) -> u64 {
        self.rules.iter().map(Rule::deflation).max().unwrap_or(0)
    }

    /// Does a rule have a conjunctive guard? Then the protocol is not well structured.
    pub fn is_guarded(&self) -> bool {
        self.rules.iter().any(|rule| rule.all_others.is_some())
    }

    /// How many local states there are; `None` if too many for a number.
    pub fn local_states(&self) -> Option<u64> {
        product(&self.locals)
    }

    /// How many global states there are.
    pub fn global_states(&self) -> Option<u64> {
        product(&self.globals)
    }

    /// The variables of a scope.
    pub fn variables(&self, scope: Scope) -> &[Variable] {
        match scope {
            Scope::Global => &self.globals,
            Scope::Mover | Scope::Partner | Scope::Other => &self.locals,
        }
    }

    /// The variable at a place.
    pub fn variable(&self, place: Place) -> &Variable {
        &self.variables(place.scope)[place.variable]
    }

    /// A value, as it is written.
    pub fn value_name(&self, variable: &Variable, value: i64) -> String {
        match variable.kind {
            ValueKind::Bool => if value == 0 { "false" } else { "true" }.to_string(),
            ValueKind::Number => value.to_string(),
            ValueKind::Enumeration(number) => {
                let names = self.enumerations.get(number);
                let name = usize::try_from(value).ok().and_then(|value| names?.get(value));
                name.cloned().unwrap_or_else(|| value.to_string())
            }
        }
    }
}

/// States are numbers: so many at most, of the global part and of a process.
pub const MOST_STATES: u64 = 1 << 62;

fn product(variables: &[Variable]) -> Option<u64> {
    variables
        .iter()
        .try_fold(1u64, |product, variable| product.checked_mul(variable.size))
        .filter(|product| *product <= MOST_STATES)
}

/// Reads a `.protocol`; `definitions` take the place of constants in the text.
///
/// ```
/// use preempt_core::SourceMap;
///
/// let text = "local state : { idle, busy } = idle
///             rule enter  when state = idle  all others state = idle  do state := busy
///             rule leave  when state = busy  do state := idle
///             bad together: two with state = busy";
/// let (protocol, mistakes) = preempt_net::protocol::read(SourceMap::new().add("p.protocol", text), text, &[]);
/// assert!(mistakes.is_empty());
/// assert!(protocol.is_guarded());
/// ```
pub fn read(source: SourceId, text: &str, definitions: &[(String, String)]) -> (Protocol, Vec<Diagnostic>) {
    read_within(source, text, definitions, &Budget::unlimited())
}

/// The same; if the budget is exhausted first, an error says so.
pub fn read_within(
    source: SourceId,
    text: &str,
    definitions: &[(String, String)],
    budget: &Budget,
) -> (Protocol, Vec<Diagnostic>) {
    let (items, mut diagnostics) = parser::parse(source, text, budget);
    let lower = |items: Vec<_>| lower::lower(&items, definitions, budget, &mut diagnostics);
    let protocol = items.map(lower).unwrap_or_default();
    if budget.exhausted().is_some() {
        crate::say_stopped(&mut diagnostics);
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
    (protocol, diagnostics)
}
