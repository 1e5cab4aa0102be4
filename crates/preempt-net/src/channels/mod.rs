//! Lossy channel systems: a finite control with data variables, and channels, first in first out, that may lose any message at any
//! time (Abdulla and Jonsson 1996; Bingham and Hu 2005, paper 004, section 3).
//!
//! A state is the values of the variables and a word of messages for each channel; it lies below another with the same values if
//! each of its words is a subword. Its weight is the number of messages. At first all channels are empty.

mod dead;
mod read;
mod wsts;

pub use dead::dead_rules;
pub use read::read_within;
pub use wsts::Step;

use preempt_core::Span;

/// Variables, channels, rules, and what must not be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelSystem {
    /// Name, and how many values it has.
    pub variables: Vec<(String, u64)>,
    /// Name, and how many values each field of a message has.
    pub channels: Vec<(String, Vec<u64>)>,
    /// What can happen.
    pub rules: Vec<Rule>,
    /// What is true of the variables at first, and else they have any values.
    pub initial: Vec<Condition>,
    /// One of these must not be reached.
    pub bad: Vec<Bad>,
}

/// A guard, perhaps a message that is taken from the head of a channel, and what happens then, all at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// For people.
    pub name: String,
    /// How many values each parameter has; any of them may be chosen.
    pub parameters: Vec<u64>,
    /// All must be true.
    pub guard: Vec<Condition>,
    /// The channel from which a message is taken.
    pub receive: Option<usize>,
    /// Variables and what they become; at most one for each.
    pub assign: Vec<(usize, Value)>,
    /// Channels and what is appended to them; at most one for each, and none is received from.
    pub send: Vec<(usize, Vec<Value>)>,
    /// Where it is written.
    pub span: Span,
}

/// What a rule can speak of; everything is as it was before the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Constant(u64),
    /// A variable; flipped, one minus it.
    Variable(usize, bool),
    /// A parameter of the rule.
    Parameter(usize, bool),
    /// A field of the message that is received.
    Received(usize, bool),
}

/// Two values are equal, or they are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// One side.
    pub left: Value,
    /// Equal, or different.
    pub equal: bool,
    /// The other side.
    pub right: Value,
}

/// Conditions on the variables, and messages that are on their way, in this order and perhaps with others between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// All must be true.
    pub conditions: Vec<Condition>,
    /// A channel, and the messages.
    pub words: Vec<(usize, Vec<Vec<Value>>)>,
}

/// The fields of a message.
pub type Message = Vec<u64>;

/// Values of the variables, and what is on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// In the order of the variables.
    pub control: Vec<u64>,
    /// The head of each channel first.
    pub words: Vec<Vec<Message>>,
}

/// What values are taken from.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// Of the variables, before the step.
    pub control: &'a [u64],
    /// Of the parameters.
    pub parameters: &'a [u64],
    /// Of the message.
    pub received: &'a [u64],
}

impl Value {
    /// What it is.
    pub fn of(self, scope: Scope<'_>) -> u64 {
        let (list, at, flipped) = match self {
            Value::Constant(number) => return number,
            Value::Variable(at, flipped) => (scope.control, at, flipped),
            Value::Parameter(at, flipped) => (scope.parameters, at, flipped),
            Value::Received(at, flipped) => (scope.received, at, flipped),
        };
        let value = list.get(at).copied().unwrap_or(0);
        if flipped { 1 - value.min(1) } else { value }
    }
}

impl Condition {
    /// Is it true?
    pub fn holds(self, scope: Scope<'_>) -> bool {
        (self.left.of(scope) == self.right.of(scope)) == self.equal
    }
}

impl ChannelSystem {
    /// Is it a state to begin with?
    pub fn is_initial(&self, state: &State) -> bool {
        let scope = Scope { control: &state.control, parameters: &[], received: &[] };
        state.words.iter().all(Vec::is_empty) && self.initial.iter().all(|condition| condition.holds(scope))
    }

    /// Is something bad true of it?
    pub fn is_bad(&self, state: &State) -> bool {
        let scope = Scope { control: &state.control, parameters: &[], received: &[] };
        self.bad.iter().any(|bad| {
            bad.conditions.iter().all(|condition| condition.holds(scope))
                && bad.words.iter().all(|(channel, word)| {
                    let word: Vec<Message> = word
                        .iter()
                        .map(|message| message.iter().map(|value| value.of(scope)).collect())
                        .collect();
                    subword(&word, &state.words[*channel])
                })
        })
    }

    /// The state after a step by the exact rule, in which nothing is lost; nothing if it cannot be made.
    pub fn fire(&self, state: &State, step: &Step) -> Option<State> {
        let rule = self.rules.get(step.rule)?;
        let received: &[u64] = match rule.receive {
            Some(channel) => state.words.get(channel)?.first()?,
            None => &[],
        };
        let scope = Scope { control: &state.control, parameters: &step.parameters, received };
        if !rule.guard.iter().all(|condition| condition.holds(scope)) {
            return None;
        }
        let mut after = state.clone();
        for (variable, value) in &rule.assign {
            after.control[*variable] = value.of(scope);
        }
        if let Some(channel) = rule.receive {
            after.words[channel].remove(0);
        }
        for (channel, message) in &rule.send {
            after.words[*channel].push(message.iter().map(|value| value.of(scope)).collect());
        }
        Some(after)
    }

    /// All values of the variables, one after the other; `most` of them at most.
    pub fn controls(&self, most: usize) -> Option<Vec<Vec<u64>>> {
        product(&self.variables.iter().map(|(_, size)| *size).collect::<Vec<_>>(), most)
    }

    /// `a = 1, b = 0; msg 1,2 0,3`, for people.
    pub fn show(&self, state: &State) -> String {
        let values: Vec<String> = self
            .variables
            .iter()
            .zip(&state.control)
            .map(|((name, _), value)| format!("{name} = {value}"))
            .collect();
        let mut text = values.join(", ");
        for ((name, _), word) in self.channels.iter().zip(&state.words).filter(|(_, word)| !word.is_empty()) {
            let messages: Vec<String> = word.iter().map(|message| message_text(message)).collect();
            text.push_str(&format!("; {name} {}", messages.join(" ")));
        }
        text
    }
}

/// The fields with commas between them.
pub fn message_text(message: &[u64]) -> String {
    message.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Is the first word what is left of the second when some of its letters are left out?
pub fn subword<T: PartialEq>(small: &[T], large: &[T]) -> bool {
    let mut letters = large.iter();
    small.iter().all(|wanted| letters.any(|letter| letter == wanted))
}

/// All lists with a value for each size; nothing if there are more than `most`.
pub fn product(sizes: &[u64], most: usize) -> Option<Vec<Vec<u64>>> {
    let count = sizes.iter().try_fold(1u64, |count, size| count.checked_mul(*size));
    if count.is_none_or(|count| count > most as u64) {
        return None;
    }
    let mut all = vec![Vec::with_capacity(sizes.len())];
    for size in sizes {
        let longer = |list: &Vec<u64>| -> Vec<Vec<u64>> {
            (0..*size)
                .map(|value| {
                    let mut list = list.clone();
                    list.push(value);
                    list
                })
                .collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Some(all)
}
