//! Makes names refer to what is there, and keeps out of expressions and receives what Spin gets wrong.

use super::build::{field_type, variable_type};
use super::syntax::{Channel, Expression, Pattern, Place, Process, Statement, Variable};

/// What is declared around a statement.
pub(super) struct Scope<'p> {
    pub globals: &'p [Variable],
    pub channels: &'p [Channel],
    pub process: &'p Process,
    pub faults: bool,
    /// The process types that may still be started: only later ones, so that starting ends.
    pub later: std::ops::Range<usize>,
    pub priorities: bool,
}

impl Scope<'_> {
    /// A statement without others inside.
    pub fn simple(&self, statement: Statement) -> Option<Statement> {
        Some(match statement {
            Statement::Guard(condition) => Statement::Guard(self.expression(condition)),
            Statement::Assert(condition) => Statement::Assert(self.expression(condition)),
            Statement::Assign(place, value) => Statement::Assign(self.place(place), self.expression(value)),
            Statement::Send { channel, sorted, fields } => {
                let (channel, declared) = self.channel(channel)?;
                let fields = fields.into_iter().take(declared.fields.len());
                Statement::Send {
                    channel,
                    sorted: sorted && declared.capacity > 0,
                    fields: fields.map(|field| self.argument(field)).collect(),
                }
            }
            Statement::Receive { channel, random, keep, pattern } => {
                let (channel, declared) = self.channel(channel)?;
                let buffered = declared.capacity > 0;
                let pattern = once_each(self.patterns(pattern, declared));
                let pattern = self.without_loss(pattern, declared);
                Statement::Receive { channel, random: random && buffered, keep: keep && buffered, pattern }
            }
            other => other,
        })
    }

    /// Where a variable cannot hold what it receives, Spin undoes the receive wrongly: the field goes nowhere.
    fn without_loss(&self, mut patterns: Vec<Pattern>, channel: &Channel) -> Vec<Pattern> {
        for (pattern, field) in patterns.iter_mut().zip(&channel.fields) {
            let field = field_type(*field, channel.fields.len()).bits;
            if matches!(pattern, Pattern::Bind(place) if variable_type(&self.variable(place)).bits < field) {
                *pattern = Pattern::Ignore;
            }
        }
        patterns
    }

    /// Questions about channels are no arguments in Promela.
    fn argument(&self, expression: Expression) -> Expression {
        match self.expression(expression) {
            Expression::Ask(..) => Expression::Constant(1),
            other => other,
        }
    }

    fn patterns(&self, patterns: Vec<Pattern>, channel: &Channel) -> Vec<Pattern> {
        let normal = |pattern| match pattern {
            Pattern::Bind(place) => Pattern::Bind(self.place(place)),
            Pattern::Eval(expression) => Pattern::Eval(self.expression(expression)),
            other => other,
        };
        patterns.into_iter().take(channel.fields.len()).map(normal).collect()
    }

    pub fn channel(&self, number: usize) -> Option<(usize, &Channel)> {
        let count = self.channels.len() + usize::from(self.process.channel.is_some());
        let number = number.checked_rem(count)?;
        Some((number, self.channels.get(number).or(self.process.channel.as_ref())?))
    }

    pub fn is_buffered(&self, number: usize) -> bool {
        self.channel(number).is_some_and(|(_, channel)| channel.capacity > 0)
    }

    pub fn place(&self, place: Place) -> Place {
        let local = place.local && self.process.local_count() > 0;
        let count = if local { self.process.local_count() } else { self.globals.len() };
        let variable = place.variable % count;
        let length = self.variable(&Place { local, variable, index: None }).length;
        // An index that reads an array might read the element that is assigned, which Spin then undoes wrongly.
        let index = place.index.map(|index| self.expression(*index)).filter(|index| !reads_array(index));
        let index = length.map(|_| Box::new(index.unwrap_or(Expression::Constant(0))));
        Place { local, variable, index }
    }

    pub fn variable(&self, place: &Place) -> Variable {
        match place.local {
            true => self.process.local(place.variable),
            false => self.globals[place.variable].clone(),
        }
    }

    pub fn expression(&self, expression: Expression) -> Expression {
        let boxed = |inner: Box<Expression>| Box::new(self.expression(*inner));
        match expression {
            Expression::Load(place) => Expression::Load(self.place(place)),
            Expression::Not(inner) => Expression::Not(boxed(inner)),
            Expression::Negate(inner) => Expression::Negate(boxed(inner)),
            Expression::Complement(inner) => Expression::Complement(boxed(inner)),
            Expression::Binary(operator, left, right) => {
                Expression::Binary(operator, boxed(left), boxed(right))
            }
            Expression::Conditional(parts) => {
                Expression::Conditional(Box::new((*parts).map(|part| self.expression(part))))
            }
            Expression::Len(channel) => match self.channel(channel) {
                Some((channel, _)) => Expression::Len(channel),
                None => Expression::Constant(0),
            },
            Expression::Ask(question, channel) => match self.channel(channel) {
                Some((channel, _)) => Expression::Ask(question, channel),
                None => Expression::Constant(1),
            },
            Expression::Poll { channel, random, pattern } => match self.channel(channel) {
                Some((channel, declared)) if declared.capacity > 0 => {
                    let pattern = self.patterns(pattern, declared);
                    Expression::Poll { channel, random, pattern }
                }
                _ => Expression::Constant(1),
            },
            other => other,
        }
    }
}

fn reads_array(expression: &Expression) -> bool {
    match expression {
        Expression::Load(place) => place.index.is_some(),
        Expression::Binary(_, left, right) => reads_array(left) || reads_array(right),
        _ => false,
    }
}

/// Spin refuses to receive two fields into the same variable.
fn once_each(mut patterns: Vec<Pattern>) -> Vec<Pattern> {
    if let [Pattern::Bind(first), Pattern::Bind(second)] = patterns.as_slice()
        && (first.local, first.variable) == (second.local, second.variable)
    {
        patterns[1] = Pattern::Ignore;
    }
    patterns
}
