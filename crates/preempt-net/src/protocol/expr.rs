//! Expressions over the variables of a protocol: what guards, effects and patterns are made of. Truth is 1 and 0.

use std::fmt;
use std::sync::Arc;

/// Whose variable it is, seen from a rule; patterns and initial conditions speak of the mover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The one global part.
    Global,
    /// The process that moves.
    Mover,
    /// The process that moves with it.
    Partner,
    /// Any process but these.
    Other,
}

/// A variable of somebody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Whose.
    pub scope: Scope,
    /// Its position among the global variables, or among the local ones.
    pub variable: usize,
}

/// An expression; each has a value wherever its variables have one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A constant.
    Value(i64),
    /// The value of a variable before the step.
    Read(Place),
    /// Is it zero?
    Not(Box<Expr>),
    /// Are all different from zero?
    And(Vec<Expr>),
    /// Is one different from zero?
    Or(Vec<Expr>),
    /// Are the two equal?
    Equal(Box<Expr>, Box<Expr>),
    /// Is the first smaller?
    Less(Box<Expr>, Box<Expr>),
    /// Their sum.
    Sum(Box<Expr>, Box<Expr>),
    /// Their difference.
    Difference(Box<Expr>, Box<Expr>),
    /// The second if the first is not zero, or else the third.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Are the values of these variables, together, in a set?
    Member(Arc<Table>),
}

/// A set of tuples of values, a bit each.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// The variables of a tuple.
    pub places: Vec<Place>,
    /// For each of them its smallest value and the number of its values.
    pub ranges: Vec<(i64, u64)>,
    /// A bit for each tuple; the first variable counts fastest.
    pub bits: Vec<u64>,
}

impl Table {
    /// Is the tuple in the set?
    pub fn contains(&self, read: &dyn Fn(Place) -> i64) -> bool {
        let mut index = 0;
        for (place, (low, size)) in self.places.iter().zip(&self.ranges).rev() {
            index = index * size + u64::try_from(read(*place) - low).unwrap_or(0).min(size - 1);
        }
        self.bits[(index / 64) as usize] >> (index % 64) & 1 == 1
    }
}

impl Expr {
    /// Holds always.
    pub const TRUE: Expr = Expr::Value(1);
    /// Never holds.
    pub const FALSE: Expr = Expr::Value(0);

    /// The value of a variable.
    pub fn read(scope: Scope, variable: usize) -> Expr {
        Expr::Read(Place { scope, variable })
    }

    /// Not this; a constant if it is one.
    pub fn negated(self) -> Expr {
        match self {
            Expr::Value(value) => Expr::Value(i64::from(value == 0)),
            Expr::Not(inner) if inner.is_truth() => *inner,
            other => Expr::Not(Box::new(other)),
        }
    }

    /// Is it 0 or 1 whatever the variables are?
    fn is_truth(&self) -> bool {
        match self {
            Expr::Value(value) => *value == 0 || *value == 1,
            Expr::Not(_)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Equal(..)
            | Expr::Less(..)
            | Expr::Member(_) => true,
            Expr::Read(_) | Expr::Sum(..) | Expr::Difference(..) | Expr::If(..) => false,
        }
    }

    /// All of these, without what holds anyway.
    pub fn all(parts: impl IntoIterator<Item = Expr>) -> Expr {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Expr::Value(0) => return Expr::FALSE,
                Expr::Value(_) => {}
                Expr::And(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Expr::TRUE,
            1 if kept[0].is_truth() => kept.remove(0),
            _ => Expr::And(kept),
        }
    }

    /// One of these, without what never holds.
    pub fn any(parts: impl IntoIterator<Item = Expr>) -> Expr {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Expr::Value(0) => {}
                Expr::Value(_) => return Expr::TRUE,
                Expr::Or(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Expr::FALSE,
            1 if kept[0].is_truth() => kept.remove(0),
            _ => Expr::Or(kept),
        }
    }

    /// Are the two equal? A constant if both are.
    pub fn equal(a: Expr, b: Expr) -> Expr {
        match (&a, &b) {
            (Expr::Value(a), Expr::Value(b)) => Expr::Value(i64::from(a == b)),
            _ => Expr::Equal(Box::new(a), Box::new(b)),
        }
    }

    /// The second if the first holds, or else the third.
    pub fn choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
        match condition {
            Expr::Value(0) => otherwise,
            Expr::Value(_) => then,
            condition => Expr::If(Box::new(condition), Box::new(then), Box::new(otherwise)),
        }
    }

    /// Its value, given those of the variables.
    pub fn eval(&self, read: &dyn Fn(Place) -> i64) -> i64 {
        match self {
            Expr::Value(value) => *value,
            Expr::Read(place) => read(*place),
            Expr::Not(inner) => i64::from(inner.eval(read) == 0),
            Expr::And(parts) => i64::from(parts.iter().all(|part| part.eval(read) != 0)),
            Expr::Or(parts) => i64::from(parts.iter().any(|part| part.eval(read) != 0)),
            Expr::Equal(a, b) => i64::from(a.eval(read) == b.eval(read)),
            Expr::Less(a, b) => i64::from(a.eval(read) < b.eval(read)),
            Expr::Sum(a, b) => a.eval(read).saturating_add(b.eval(read)),
            Expr::Difference(a, b) => a.eval(read).saturating_sub(b.eval(read)),
            Expr::If(c, a, b) => if c.eval(read) != 0 { a } else { b }.eval(read),
            Expr::Member(table) => i64::from(table.contains(read)),
        }
    }

    /// Does it hold, given the values of the variables?
    pub fn holds(&self, read: &dyn Fn(Place) -> i64) -> bool {
        self.eval(read) != 0
    }

    /// Its value if the variables that are known decide it.
    pub fn eval_partly(&self, read: &dyn Fn(Place) -> Option<i64>) -> Option<i64> {
        let truth = |part: &Expr| part.eval_partly(read).map(|value| value != 0);
        match self {
            Expr::Value(value) => Some(*value),
            Expr::Read(place) => read(*place),
            Expr::Not(inner) => truth(inner).map(|it| i64::from(!it)),
            Expr::And(parts) => {
                let known: Vec<Option<bool>> = parts.iter().map(truth).collect();
                match known.contains(&Some(false)) {
                    true => Some(0),
                    false => known.iter().all(Option::is_some).then_some(1),
                }
            }
            Expr::Or(parts) => {
                let known: Vec<Option<bool>> = parts.iter().map(truth).collect();
                match known.contains(&Some(true)) {
                    true => Some(1),
                    false => known.iter().all(Option::is_some).then_some(0),
                }
            }
            Expr::Equal(a, b) => Some(i64::from(a.eval_partly(read)? == b.eval_partly(read)?)),
            Expr::Less(a, b) => Some(i64::from(a.eval_partly(read)? < b.eval_partly(read)?)),
            Expr::Sum(a, b) => Some(a.eval_partly(read)?.saturating_add(b.eval_partly(read)?)),
            Expr::Difference(a, b) => Some(a.eval_partly(read)?.saturating_sub(b.eval_partly(read)?)),
            Expr::If(c, a, b) => if truth(c)? { a } else { b }.eval_partly(read),
            Expr::Member(table) => {
                let values: Option<Vec<i64>> = table.places.iter().map(|place| read(*place)).collect();
                let values = values?;
                let of =
                    |place: Place| table.places.iter().position(|it| *it == place).map_or(0, |at| values[at]);
                Some(i64::from(table.contains(&of)))
            }
        }
    }

    /// Every variable that it reads, each once.
    pub fn places(&self) -> Vec<Place> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn collect(&self, found: &mut Vec<Place>) {
        match self {
            Expr::Value(_) => {}
            Expr::Read(place) => found.push(*place),
            Expr::Not(inner) => inner.collect(found),
            Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| part.collect(found)),
            Expr::Equal(a, b) | Expr::Less(a, b) | Expr::Sum(a, b) | Expr::Difference(a, b) => {
                a.collect(found);
                b.collect(found);
            }
            Expr::If(c, a, b) => [c, a, b].into_iter().for_each(|part| part.collect(found)),
            Expr::Member(table) => found.extend(&table.places),
        }
    }

    /// The same about somebody else: every variable is replaced.
    pub fn moved(&self, to: &dyn Fn(Place) -> Place) -> Expr {
        let one = |part: &Expr| Box::new(part.moved(to));
        let all = |parts: &[Expr]| parts.iter().map(|part| part.moved(to)).collect();
        match self {
            Expr::Value(value) => Expr::Value(*value),
            Expr::Read(place) => Expr::Read(to(*place)),
            Expr::Not(inner) => Expr::Not(one(inner)),
            Expr::And(parts) => Expr::And(all(parts)),
            Expr::Or(parts) => Expr::Or(all(parts)),
            Expr::Equal(a, b) => Expr::Equal(one(a), one(b)),
            Expr::Less(a, b) => Expr::Less(one(a), one(b)),
            Expr::Sum(a, b) => Expr::Sum(one(a), one(b)),
            Expr::Difference(a, b) => Expr::Difference(one(a), one(b)),
            Expr::If(c, a, b) => Expr::If(one(c), one(a), one(b)),
            Expr::Member(table) => Expr::Member(Arc::new(Table {
                places: table.places.iter().map(|place| to(*place)).collect(),
                ranges: table.ranges.clone(),
                bits: table.bits.clone(),
            })),
        }
    }
}

/// For tests and internal errors, not to be read again.
impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Value(value) => write!(f, "{value}"),
            Expr::Read(place) => write!(f, "{:?}.{}", place.scope, place.variable),
            Expr::Not(inner) => write!(f, "!{inner:?}"),
            Expr::And(parts) => write!(f, "and{parts:?}"),
            Expr::Or(parts) => write!(f, "or{parts:?}"),
            Expr::Equal(a, b) => write!(f, "({a:?} = {b:?})"),
            Expr::Less(a, b) => write!(f, "({a:?} < {b:?})"),
            Expr::Sum(a, b) => write!(f, "({a:?} + {b:?})"),
            Expr::Difference(a, b) => write!(f, "({a:?} - {b:?})"),
            Expr::If(c, a, b) => write!(f, "({c:?} ? {a:?} : {b:?})"),
            Expr::Member(table) => write!(f, "{:?} in a table", table.places),
        }
    }
}
