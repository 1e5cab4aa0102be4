//! Pushdown systems (Lal and Reps 2009, paper 002, Definition 1), several of them that share their states, and what they mean.
//!
//! A configuration is a state and a stack of symbols, its top first. A rule ⟨p, γ⟩ ↪ ⟨p', u⟩ takes γ from the top and puts u in
//! its place; u has at most two symbols, which is no restriction. [`Pds::successors`] is the definition that everything else
//! is compared with.

/// A state, by its number.
pub type State = u32;
/// A symbol of the stack, by its number.
pub type Symbol = u32;

/// What a rule puts in the place of the top of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Word {
    /// Nothing: a return.
    Pop,
    /// Another symbol.
    Step(Symbol),
    /// Two symbols, the new top first: a call, and what is to be done after it.
    Push(Symbol, Symbol),
}

/// ⟨p, γ⟩ ↪ ⟨p', u⟩, with something written on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule<L = ()> {
    /// p and γ: its head.
    pub from: (State, Symbol),
    /// p'.
    pub to: State,
    /// u.
    pub word: Word,
    /// What it does beside, in the words of a [`Semiring`](crate::Semiring).
    pub label: L,
}

/// The states are `0 .. states`, the symbols `0 .. symbols`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pds<L = ()> {
    /// How many states there are.
    pub states: u32,
    /// How many symbols there are.
    pub symbols: u32,
    /// In no particular order.
    pub rules: Vec<Rule<L>>,
}

/// A state and a stack, its top first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Configuration {
    /// The state.
    pub state: State,
    /// The top first.
    pub stack: Vec<Symbol>,
}

impl Word {
    /// Its symbols, the top first.
    pub fn symbols(self) -> impl Iterator<Item = Symbol> {
        let (first, second) = match self {
            Word::Pop => (None, None),
            Word::Step(only) => (Some(only), None),
            Word::Push(top, below) => (Some(top), Some(below)),
        };
        first.into_iter().chain(second)
    }
}

impl Rule {
    /// A rule that says nothing but what it does to state and stack.
    pub fn new(from: (State, Symbol), to: State, word: Word) -> Rule {
        Rule { from, to, word, label: () }
    }
}

impl<L> Rule<L> {
    /// What it makes of a configuration that begins with its head.
    pub fn apply(&self, configuration: &Configuration) -> Option<Configuration> {
        let (top, rest) = configuration.stack.split_first()?;
        let stack = self.word.symbols().chain(rest.iter().copied()).collect();
        (self.from == (configuration.state, *top)).then_some(Configuration { state: self.to, stack })
    }
}

impl<L> Pds<L> {
    /// Every rule that can be applied, by its number, and what it leads to.
    pub fn successors(&self, configuration: &Configuration) -> Vec<(usize, Configuration)> {
        let applied = self.rules.iter().enumerate();
        applied.filter_map(|(number, rule)| Some((number, rule.apply(configuration)?))).collect()
    }

    /// The rules by their heads.
    pub fn by_head(&self) -> Heads {
        let mut heads = Heads::default();
        for (number, rule) in self.rules.iter().enumerate() {
            heads.entry(rule.from).or_default().push(number);
        }
        heads
    }
}

/// Numbers of rules by state and symbol.
pub type Heads = std::collections::HashMap<(State, Symbol), Vec<usize>, foldhash::fast::FixedState>;

/// Pushdown systems that share their states, each with a stack of its own: section 4 of the paper. They take turns in the
/// order in which they stand here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Concurrent {
    /// How many states there are; all threads have the same.
    pub states: u32,
    /// The state that everything begins with.
    pub initial: State,
    /// In which states a thread may be left; all of them if this is empty.
    pub open: Vec<bool>,
    /// In the order of their turns.
    pub threads: Vec<Thread>,
}

/// One of several pushdown systems.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// For people.
    pub name: String,
    /// Its rules. It must not empty its stack.
    pub pds: Pds,
    /// The stack that it begins with: one symbol.
    pub start: Symbol,
    /// It has gone wrong when this is on the top of its stack; no rule takes it away.
    pub bad: Option<Symbol>,
    /// Where it may be left, if not everywhere, and what the top of its stack is when it goes on.
    pub interruptions: Vec<Interruption>,
    /// What each rule belongs to, as a statement of a program; empty if nobody asks.
    pub tags: Vec<u32>,
}

/// May a thread be left with a symbol on the top of its stack?
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Interruption {
    /// In every state that is open.
    #[default]
    Always,
    /// In no state.
    Never,
    /// In these states only; it goes on with the other symbol.
    In(Vec<State>, Symbol),
}

/// All threads together: one state, and a stack for each.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Global {
    /// The state that they share.
    pub state: State,
    /// The stacks in the order of the threads.
    pub stacks: Vec<Vec<Symbol>>,
}

impl Thread {
    /// The symbol with which it goes on if it is left here, if it may be.
    pub fn resumes(&self, open: &[bool], state: State, top: Symbol) -> Option<Symbol> {
        if !open.is_empty() && !open[state as usize] {
            return None;
        }
        match self.interruptions.get(top as usize) {
            None | Some(Interruption::Always) => Some(top),
            Some(Interruption::Never) => None,
            Some(Interruption::In(states, resume)) => states.contains(&state).then_some(*resume),
        }
    }
}

impl Concurrent {
    /// Before anybody has moved.
    pub fn beginning(&self) -> Global {
        Global { state: self.initial, stacks: self.threads.iter().map(|thread| vec![thread.start]).collect() }
    }

    /// Rules of all threads together.
    pub fn rule_count(&self) -> usize {
        self.threads.iter().map(|thread| thread.pds.rules.len()).sum()
    }
}
