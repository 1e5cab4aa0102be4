//! What has been declared, and what of it can be named at a place.

use super::{Generator, Whose};

/// What a variable or a field of a message holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// `wide`: it has more than a few values, so that what is assigned should be kept small.
    Number {
        wide: bool,
    },
    /// A symbolic constant of this set.
    Symbol(usize),
    /// A channel with messages of this type.
    Channel(usize),
    Record(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub name: String,
    pub shape: Shape,
    pub length: Option<usize>,
    /// A channel that was made at its declaration is not assigned to.
    pub fixed: bool,
}

/// `typedef name { fields }`
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub name: String,
    pub fields: Vec<Variable>,
}

/// `mtype:set = { names }`
#[derive(Debug, Clone)]
pub(super) struct Symbols {
    pub set: Option<String>,
    pub names: Vec<String>,
}

/// `[capacity] of { types }`
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub capacity: usize,
    pub types: Vec<String>,
    pub fields: Vec<Shape>,
}

#[derive(Debug, Clone)]
pub(super) struct ProcessType {
    pub name: String,
    pub active: bool,
    pub parameters: Vec<Shape>,
    pub labels: Vec<String>,
    /// What a remote reference may name.
    pub locals: Vec<Variable>,
}

/// Somewhere a value is: its name with `#` in place of the indices, and how long those arrays are.
#[derive(Debug, Clone)]
struct Leaf {
    path: String,
    lengths: Vec<usize>,
    shape: Shape,
    fixed: bool,
}

impl Generator {
    fn leaves_of(&self, variable: &Variable, before: &str, lengths: &[usize], all: &mut Vec<Leaf>) {
        let mut path = format!("{before}{}", variable.name);
        let mut lengths = lengths.to_vec();
        if let Some(length) = variable.length {
            path.push_str("[#]");
            lengths.push(length);
        }
        if let Shape::Record(number) = variable.shape {
            let inside = format!("{path}.");
            for field in &self.records[number].fields {
                self.leaves_of(field, &inside, &lengths, all);
            }
        }
        all.push(Leaf { path, lengths, shape: variable.shape.clone(), fixed: variable.fixed });
    }

    fn leaves(&self) -> Vec<Leaf> {
        let mut all = Vec::new();
        let locals = if self.whose == Whose::Process { &self.locals[..] } else { &[] };
        for variable in self.globals.iter().chain(locals) {
            self.leaves_of(variable, "", &[], &mut all);
        }
        all
    }

    /// A place that `fits`, as text, with its shape.
    fn place_that(&mut self, fits: impl Fn(&Leaf) -> bool, depth: usize) -> Option<(String, Shape)> {
        let leaves: Vec<Leaf> = self.leaves().into_iter().filter(fits).collect();
        if leaves.is_empty() {
            return None;
        }
        // What was declared last is local, and worth naming more often.
        let number = self.below(leaves.len()).max(self.below(leaves.len()));
        let leaf = leaves[number].clone();
        Some((self.indexed(&leaf.path, &leaf.lengths, depth), leaf.shape))
    }

    fn indexed(&mut self, path: &str, lengths: &[usize], depth: usize) -> String {
        // An array without an index is its first element.
        if lengths.len() == 1 && depth > 0 && self.one_in(40) {
            return path.replace("[#]", "");
        }
        let mut parts = path.split('#');
        let mut text = parts.next().unwrap_or_default().to_string();
        for (length, part) in lengths.iter().copied().zip(parts) {
            text.push_str(&self.index(length, depth));
            text.push_str(part);
        }
        text
    }

    /// Mostly within the array.
    fn index(&mut self, length: usize, depth: usize) -> String {
        match self.below(16) {
            0 if depth > 0 && self.whose != Whose::Beginning => self.value(depth - 1),
            1..=4 if depth > 0 && self.whose != Whose::Beginning => {
                let value = self.value(depth - 1);
                if length == 2 { format!("({value}) & 1") } else { format!("(({value}) & 1) + 1") }
            }
            _ => self.below(length).to_string(),
        }
    }

    /// Where a number can be put; says whether it has many values.
    pub(super) fn number_place(&mut self, depth: usize) -> Option<(String, bool)> {
        let fits = |leaf: &Leaf| matches!(leaf.shape, Shape::Number { .. });
        let (place, shape) = self.place_that(fits, depth)?;
        Some((place, shape == Shape::Number { wide: true }))
    }

    /// Whatever has a value, a channel's number included.
    pub(super) fn value_place(&mut self, depth: usize) -> Option<String> {
        let fits = |leaf: &Leaf| matches!(leaf.shape, Shape::Number { .. } | Shape::Symbol(_));
        self.place_that(fits, depth).map(|(place, _)| place)
    }

    pub(super) fn symbol_place(&mut self, set: usize) -> Option<String> {
        self.place_that(|leaf| leaf.shape == Shape::Symbol(set), 1).map(|(place, _)| place)
    }

    pub(super) fn any_symbol_place(&mut self) -> Option<(String, usize)> {
        let (place, shape) = self.place_that(|leaf| matches!(leaf.shape, Shape::Symbol(_)), 1)?;
        let Shape::Symbol(set) = shape else { return None };
        Some((place, set))
    }

    pub(super) fn record_place(&mut self, record: usize) -> Option<String> {
        self.place_that(|leaf| leaf.shape == Shape::Record(record), 1).map(|(place, _)| place)
    }

    /// A channel and the number of its messages' type.
    pub(super) fn channel(&mut self) -> Option<(String, usize)> {
        // Variables that hold no channel yet are rarely used as one.
        let any = self.one_in(12);
        let fits = |leaf: &Leaf| matches!(leaf.shape, Shape::Channel(_)) && (any || leaf.fixed);
        let (place, shape) = self.place_that(fits, 1)?;
        let Shape::Channel(message) = shape else { return None };
        Some((place, message))
    }

    pub(super) fn channel_of(&mut self, message: usize) -> Option<String> {
        let fits = |leaf: &Leaf| leaf.shape == Shape::Channel(message) && leaf.fixed;
        self.place_that(fits, 0).map(|(place, _)| place)
    }

    /// A variable that a channel can be put into.
    pub(super) fn channel_variable(&mut self, message: usize) -> Option<String> {
        let fits = |leaf: &Leaf| leaf.shape == Shape::Channel(message) && !leaf.fixed;
        self.place_that(fits, 0).map(|(place, _)| place)
    }

    pub(super) fn any_channel_variable(&mut self) -> Option<(String, usize)> {
        let fits = |leaf: &Leaf| matches!(leaf.shape, Shape::Channel(_)) && !leaf.fixed;
        let (place, shape) = self.place_that(fits, 0)?;
        let Shape::Channel(message) = shape else { return None };
        Some((place, message))
    }

    /// `P[1]:x`
    pub(super) fn remote_variable(&mut self) -> Option<String> {
        let number = self.some_process(|process| !process.locals.is_empty())?;
        let process = self.processes[number].clone();
        let mut leaves = Vec::new();
        for local in &process.locals {
            self.leaves_of(local, "", &[], &mut leaves);
        }
        leaves.retain(|leaf| matches!(leaf.shape, Shape::Number { .. } | Shape::Symbol(_)));
        if leaves.is_empty() {
            return None;
        }
        let leaf = self.pick(&leaves);
        let variable = self.indexed(&leaf.path, &leaf.lengths, 0);
        let who = self.remote_process(&process.name, number);
        Some(format!("{who}:{variable}"))
    }

    /// `P[1]@L`
    pub(super) fn remote_label(&mut self) -> Option<String> {
        let number = self.some_process(|process| !process.labels.is_empty())?;
        let process = self.processes[number].clone();
        let label = self.pick(&process.labels);
        let who = self.remote_process(&process.name, number);
        Some(format!("{who}@{label}"))
    }

    fn some_process(&mut self, fits: impl Fn(&ProcessType) -> bool) -> Option<usize> {
        let fitting: Vec<usize> =
            (0..self.processes.len()).filter(|number| fits(&self.processes[*number])).collect();
        if fitting.is_empty() { None } else { Some(self.pick(&fitting)) }
    }

    fn remote_process(&mut self, name: &str, number: usize) -> String {
        match self.below(3) {
            0 => name.to_string(),
            1 => format!("{name}[{number}]"),
            _ => format!("{name}[{}]", self.below(3)),
        }
    }
}
