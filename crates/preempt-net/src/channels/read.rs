//! Reading `.channels`:
//!
//! ```text
//! const last = 3                              # a name for a number
//! var bit, ack : 0..1                         # control and data
//! var sent : 0..last
//! channel msg : 0..1, 0..last                 # messages with two fields
//! init bit = ack                              # what is not said is any value; channels are empty
//! rule new(d : 0..last) when bit = ack        # for any d
//!   do bit := !bit, sent := d, send msg(!bit, d)
//! rule take when recv msg(b, d), b != ack do ack := b
//! bad bit = ack, sent != 0, msg has (0, 1) (1, 1)
//! ```
//!
//! All values are those before the step. `!x` is one minus a variable of two values. A message that is received binds the names
//! that are new, and must agree with the others.

use super::{Bad, ChannelSystem, Condition, Rule, Value};
use crate::MOST_HINTS;
use crate::scan::{Cursor, Items, Lexis, Read, Token};
use foldhash::{HashMap, HashMapExt};
use preempt_core::diagnostic::nearest;
use preempt_core::{Budget, Diagnostic, SourceId, Span};

const LEXIS: Lexis = Lexis {
    in_word: |letter| letter.is_alphanumeric() || letter == '_',
    reserved: &["const", "var", "channel", "init", "rule", "bad", "when", "do", "send", "recv", "has"],
    numbers: true,
    signs: &[":=", "!=", "..", "=", "!", ":", ",", "(", ")"],
    meant: |letter| match letter {
        '.' => Some("values are `0..n`"),
        '&' | ';' => Some("conditions and effects are separated by commas"),
        '<' | '>' => Some("values are compared by `=` and `!=` only"),
        '+' | '-' => Some("there is no arithmetic, but `!x` is one minus a variable of two values"),
        _ => None,
    },
    ..Lexis::PLAIN
};

/// A variable or field has so many values at most.
const MOST_VALUES: u64 = 1 << 20;
const FLIPPED: &str = "only what has two values can be flipped";

/// Reads a system. It is whole only if no diagnostic is an error.
///
/// ```
/// use preempt_core::{Budget, SourceMap};
/// use preempt_net::channels::read_within;
///
/// let text = "var x : 0..3 channel c : 0..3 init x = 0
///             rule send(n : 0..3) do send c(n) rule take when recv c(n) do x := n bad x = 3";
/// let (system, mistakes) = read_within(SourceMap::new().add("x.channels", text), text, &Budget::unlimited());
/// assert!(mistakes.is_empty());
/// assert_eq!((system.rules.len(), system.bad.len()), (2, 1));
/// ```
pub fn read_within(source: SourceId, text: &str, budget: &Budget) -> (ChannelSystem, Vec<Diagnostic>) {
    let mut reader = Reader {
        cursor: Cursor::new(source, text, &LEXIS),
        system: ChannelSystem::default(),
        constants: HashMap::new(),
        variables: HashMap::new(),
        channels: HashMap::new(),
    };
    reader.read_items(budget);
    let Reader { cursor: Cursor { mut diagnostics, .. }, system, .. } = reader;
    if system.bad.is_empty() && diagnostics.is_empty() {
        let error = Diagnostic::global_error("nothing is bad in this file");
        diagnostics.push(error.hint("say what must not be reached, as in `bad x = 1, y != 0`"));
    }
    (system, diagnostics)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    system: ChannelSystem,
    constants: HashMap<&'a str, u64>,
    variables: HashMap<&'a str, usize>,
    channels: HashMap<&'a str, usize>,
}

/// The names of one rule.
#[derive(Default)]
struct Names<'a> {
    parameters: Vec<(&'a str, u64)>,
    received: Vec<(&'a str, u64, usize)>,
}

impl<'a> Items<'a> for Reader<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    fn resumes(token: Token<'a>) -> bool {
        matches!(token, Token::Reserved("const" | "var" | "channel" | "init" | "rule" | "bad"))
    }

    fn item(&mut self) -> Read<()> {
        let start = self.cursor.peek().1;
        if self.cursor.accept_word("const") {
            let name = self.new_name()?;
            self.cursor.need_sign("=", None)?;
            let value = self.number()?;
            self.constants.insert(name, value);
        } else if self.cursor.accept_word("var") {
            let mut names = vec![self.new_name()?];
            while self.cursor.accept_sign(",") {
                let name = self.new_name()?;
                if names.contains(&name) {
                    let span = self.cursor.last();
                    return Err(self.cursor.error(span, format!("`{name}` is declared twice"), None));
                }
                names.push(name);
            }
            self.cursor.need_sign(":", Some("as in `var x, y : 0..3`"))?;
            let size = self.range()?;
            for name in names {
                self.variables.insert(name, self.system.variables.len());
                self.system.variables.push((name.to_string(), size));
            }
        } else if self.cursor.accept_word("channel") {
            let name = self.new_name()?;
            self.cursor.need_sign(":", Some("as in `channel c : 0..1, 0..3`"))?;
            let mut fields = vec![self.range()?];
            while self.cursor.accept_sign(",") {
                fields.push(self.range()?);
            }
            self.channels.insert(name, self.system.channels.len());
            self.system.channels.push((name.to_string(), fields));
        } else if self.cursor.accept_word("init") {
            loop {
                let condition = self.condition(&Names::default())?;
                self.system.initial.push(condition);
                if !self.cursor.accept_sign(",") {
                    break;
                }
            }
        } else if self.cursor.accept_word("rule") {
            let rule = self.rule(start)?;
            self.system.rules.push(rule);
        } else if self.cursor.accept_word("bad") {
            let bad = self.bad()?;
            self.system.bad.push(bad);
        } else {
            return self.cursor.expected("`const`, `var`, `channel`, `init`, `rule` or `bad`", None);
        }
        Ok(())
    }
}

impl<'a> Reader<'a> {
    fn new_name(&mut self) -> Read<&'a str> {
        let (name, span) = self.cursor.name("a name")?;
        let taken = self.variables.contains_key(name) || self.channels.contains_key(name);
        if taken || self.constants.contains_key(name) {
            return Err(self.cursor.error(span, format!("`{name}` is declared twice"), None));
        }
        Ok(name)
    }

    fn number(&mut self) -> Read<u64> {
        match self.cursor.peek().0 {
            Token::Word(name) if self.constants.contains_key(name) => {
                self.cursor.next();
                Ok(self.constants[name])
            }
            _ => self.cursor.number(),
        }
    }

    /// `0..n`: how many values that is.
    fn range(&mut self) -> Read<u64> {
        let start = self.cursor.peek().1;
        let hint = Some("values are `0..n`");
        if self.number()? != 0 {
            return Err(self.cursor.error(start, "values begin with 0", hint));
        }
        self.cursor.need_sign("..", hint)?;
        let last = self.number()?;
        if last >= MOST_VALUES {
            return Err(self.cursor.error(start.to(self.cursor.last()), "there are too many values", None));
        }
        Ok(last + 1)
    }

    /// A value, and how many values it can have; a constant has none of its own.
    fn value(&mut self, names: &Names<'a>) -> Read<(Value, Option<u64>)> {
        let flipped = self.cursor.accept_sign("!");
        if let (Token::Number(_), span) = self.cursor.peek() {
            let number = self.cursor.number()?;
            return match flipped {
                true => Err(self.cursor.error(span, FLIPPED, None)),
                false => Ok((Value::Constant(number), None)),
            };
        }
        let (word, span) = self.cursor.name("a value")?;
        let number = self.constants.get(word).copied();
        let (value, size) = if let Some((at, (_, size))) =
            names.parameters.iter().enumerate().find(|(_, (name, _))| *name == word)
        {
            (Value::Parameter(at, flipped), Some(*size))
        } else if let Some((_, size, at)) = names.received.iter().find(|(name, ..)| *name == word) {
            (Value::Received(*at, flipped), Some(*size))
        } else if let Some(at) = self.variables.get(word) {
            (Value::Variable(*at, flipped), Some(self.system.variables[*at].1))
        } else if let Some(number) = number {
            (Value::Constant(number), None)
        } else {
            let known = self.variables.keys().chain(self.constants.keys()).copied();
            let near = (self.cursor.diagnostics.len() < MOST_HINTS).then(|| nearest(word, known)).flatten();
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            return Err(self.cursor.error(span, format!("there is no variable `{word}`"), hint.as_deref()));
        };
        if flipped && size != Some(2) {
            return Err(self.cursor.error(span, FLIPPED, None));
        }
        Ok((value, size))
    }

    /// A value for something of this size.
    fn fitting(&mut self, names: &Names<'a>, room: u64) -> Read<Value> {
        let start = self.cursor.peek().1;
        let (value, size) = self.value(names)?;
        let fits = match (value, size) {
            (Value::Constant(number), _) => number < room,
            (_, Some(size)) => size <= room,
            (_, None) => true,
        };
        match fits {
            true => Ok(value),
            false => {
                let hint = format!("there are {room} values, from 0");
                Err(self.cursor.error(
                    start.to(self.cursor.last()),
                    "this value may be too large",
                    Some(&hint),
                ))
            }
        }
    }

    fn condition(&mut self, names: &Names<'a>) -> Read<Condition> {
        let (left, _) = self.value(names)?;
        let different = self.cursor.accept_sign("!=");
        if !different {
            self.cursor.need_sign("=", Some("a condition is `x = y` or `x != y`"))?;
        }
        let (right, _) = self.value(names)?;
        Ok(Condition { left, equal: !different, right })
    }

    fn channel(&mut self) -> Read<usize> {
        let (name, span) = self.cursor.name("a channel")?;
        match self.channels.get(name) {
            Some(channel) => Ok(*channel),
            None => {
                let near = nearest(name, self.channels.keys().copied())
                    .map(|near| format!("did you mean `{near}`?"));
                Err(self.cursor.error(span, format!("there is no channel `{name}`"), near.as_deref()))
            }
        }
    }

    fn message(&mut self, names: &Names<'a>, channel: usize) -> Read<Vec<Value>> {
        self.cursor.need_sign("(", Some("a message is written `(0, x)`"))?;
        let mut values = Vec::new();
        for (at, size) in self.system.channels[channel].1.clone().into_iter().enumerate() {
            if at > 0 {
                self.cursor.need_sign(",", Some("a message has a value for each field"))?;
            }
            values.push(self.fitting(names, size)?);
        }
        self.cursor.need_sign(")", Some("a message has a value for each field"))?;
        Ok(values)
    }

    fn rule(&mut self, start: Span) -> Read<Rule> {
        let (name, _) = self.cursor.any_name("the name of a rule")?;
        let mut names = Names::default();
        if self.cursor.accept_sign("(") {
            loop {
                let (parameter, _) = self.cursor.name("a parameter")?;
                self.cursor.need_sign(":", Some("as in `rule r(d : 0..3)`"))?;
                let size = self.range()?;
                names.parameters.push((parameter, size));
                if !self.cursor.accept_sign(",") {
                    break;
                }
            }
            self.cursor.need_sign(")", None)?;
        }
        let parameters = names.parameters.iter().map(|(_, size)| *size).collect();
        let (guard, assign, send) = (Vec::new(), Vec::new(), Vec::new());
        let mut rule =
            Rule { name: name.to_string(), parameters, guard, receive: None, assign, send, span: start };
        if self.cursor.accept_word("when") {
            loop {
                if self.cursor.accept_word("recv") {
                    self.receive(&mut names, &mut rule)?;
                } else {
                    let condition = self.condition(&names)?;
                    rule.guard.push(condition);
                }
                if !self.cursor.accept_sign(",") {
                    break;
                }
            }
        }
        if self.cursor.accept_word("do") {
            loop {
                self.effect(&names, &mut rule)?;
                if !self.cursor.accept_sign(",") {
                    break;
                }
            }
        }
        rule.span = start.to(self.cursor.last());
        Ok(rule)
    }

    fn receive(&mut self, names: &mut Names<'a>, rule: &mut Rule) -> Read<()> {
        let start = self.cursor.peek().1;
        let channel = self.channel()?;
        if rule.receive.replace(channel).is_some() {
            return Err(self.cursor.error(start, "a rule receives one message at most", None));
        }
        self.cursor.need_sign("(", Some("as in `recv msg(b, d)`"))?;
        for (at, size) in self.system.channels[channel].1.clone().into_iter().enumerate() {
            if at > 0 {
                self.cursor.need_sign(",", Some("a message has a value for each field"))?;
            }
            match self.cursor.peek().0 {
                Token::Word(name)
                    if !self.variables.contains_key(name)
                        && !self.constants.contains_key(name)
                        && names.parameters.iter().all(|(it, _)| *it != name)
                        && names.received.iter().all(|(it, ..)| *it != name) =>
                {
                    self.cursor.next();
                    names.received.push((name, size, at));
                }
                _ => {
                    let (right, _) = self.value(names)?;
                    rule.guard.push(Condition { left: Value::Received(at, false), equal: true, right });
                }
            }
        }
        self.cursor.need_sign(")", Some("a message has a value for each field"))
    }

    fn effect(&mut self, names: &Names<'a>, rule: &mut Rule) -> Read<()> {
        let start = self.cursor.peek().1;
        if self.cursor.accept_word("send") {
            let channel = self.channel()?;
            let message = self.message(names, channel)?;
            if rule.send.iter().any(|(other, _)| *other == channel) {
                return Err(self.cursor.error(start, "a rule sends one message to a channel at most", None));
            }
            if rule.receive == Some(channel) {
                return Err(self.cursor.error(
                    start,
                    "a rule does not send to the channel it receives from",
                    None,
                ));
            }
            rule.send.push((channel, message));
            return Ok(());
        }
        let (name, span) = self.cursor.name("a variable or `send`")?;
        let Some(variable) = self.variables.get(name).copied() else {
            return Err(self.cursor.error(span, format!("there is no variable `{name}`"), None));
        };
        if rule.assign.iter().any(|(other, _)| *other == variable) {
            return Err(self.cursor.error(span, format!("`{name}` is assigned twice"), None));
        }
        self.cursor.need_sign(":=", Some("an effect is `x := y` or `send c(x)`"))?;
        let value = self.fitting(names, self.system.variables[variable].1)?;
        rule.assign.push((variable, value));
        Ok(())
    }

    fn bad(&mut self) -> Read<Bad> {
        let names = Names::default();
        let mut bad = Bad { conditions: Vec::new(), words: Vec::new() };
        loop {
            let has = matches!(self.cursor.second(), Token::Reserved("has"));
            if has {
                let start = self.cursor.peek().1;
                let channel = self.channel()?;
                self.cursor.next();
                let mut word = vec![self.message(&names, channel)?];
                while self.cursor.peek().0 == Token::Sign("(") {
                    word.push(self.message(&names, channel)?);
                }
                if bad.words.iter().any(|(other, _)| *other == channel) {
                    return Err(self.cursor.error(start, "this channel is named twice", None));
                }
                bad.words.push((channel, word));
            } else {
                let condition = self.condition(&names)?;
                bad.conditions.push(condition);
            }
            if !self.cursor.accept_sign(",") {
                return Ok(bad);
            }
        }
    }
}
