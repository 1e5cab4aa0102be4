//! Random Promela by the grammar, for tests: every production of the parser is made by some seed, and a census says
//! which were. Programs are small, mostly valid, and the same for the same seed.
//!
//! The generator writes text, not trees: so it also reaches what a tree does not show (macros, inlines, the ways to write
//! a message), and nothing that it makes has passed through the code under test.
//!
//! * `lines`: the text as a tree of lines, and how it is made smaller;
//! * `scope`: what has been declared, and what can be named here;
//! * `declarations`, `statements`, `messages`, `expressions`, `properties`: the grammar, part by part;
//! * [`census`]: what a program exercises.

pub mod census;
mod declarations;
mod expressions;
mod lines;
mod messages;
mod processes;
mod properties;
mod scope;
mod statements;

pub use lines::{Line, shrink, text_of};

use preempt_core::Rng;
use scope::{Message, ProcessType, Record, Symbols, Variable};

/// The program of a seed.
///
/// ```
/// use preempt_promela::generator::{program, text_of};
///
/// assert_eq!(text_of(&program(7)), text_of(&program(7)));
/// ```
pub fn program(seed: u64) -> Vec<Line> {
    written(Generator::new(seed))
}

/// The same without what Spin has not, has only in claims, or does not count as part of the state: for comparing counts.
pub fn plain_program(seed: u64) -> Vec<Line> {
    written(Generator { plain: true, ..Generator::new(seed) })
}

fn written(mut generator: Generator) -> Vec<Line> {
    generator.program();
    generator.lines
}

/// Whose text is being written: not everything may be said everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Process,
    Claim,
    Formula,
    /// The initial value of a variable, or something else that is computed before the first step.
    Beginning,
}

struct Generator {
    rng: Rng,
    plain: bool,
    lines: Vec<Line>,
    symbols: Vec<Symbols>,
    records: Vec<Record>,
    messages: Vec<Message>,
    globals: Vec<Variable>,
    processes: Vec<ProcessType>,
    inlines: Vec<(String, usize, bool)>,
    /// Is there `#define low(x)`, and its like?
    macros: bool,
    /// Are priorities spoken of?
    priorities: bool,
    whose: Whose,
    /// What stands in the process being written, innermost last.
    locals: Vec<Variable>,
    /// Labels of the process being written.
    labels: Vec<String>,
    /// How many loops stand around here, and whether a d_step does.
    loops: usize,
    in_d_step: bool,
    /// May processes be started here? Only where that cannot be repeated.
    may_run: bool,
    /// Names are numbered.
    names: usize,
}

impl Generator {
    fn new(seed: u64) -> Generator {
        Generator {
            rng: Rng::new(seed),
            plain: false,
            lines: Vec::new(),
            symbols: Vec::new(),
            records: Vec::new(),
            messages: Vec::new(),
            globals: Vec::new(),
            processes: Vec::new(),
            inlines: Vec::new(),
            macros: false,
            priorities: false,
            whose: Whose::Beginning,
            locals: Vec::new(),
            labels: Vec::new(),
            loops: 0,
            in_d_step: false,
            may_run: false,
            names: 0,
        }
    }

    fn program(&mut self) {
        self.priorities = self.one_in(8) && !self.plain;
        self.defines();
        self.symbol_sets();
        self.typedefs();
        self.message_types();
        self.global_variables();
        self.inline_definitions();
        self.all_processes();
        self.properties();
    }

    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n)
    }

    /// True in one of so many cases.
    fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.rng.below(list.len())].clone()
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names - 1)
    }
}
