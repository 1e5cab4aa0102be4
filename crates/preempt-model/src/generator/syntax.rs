//! The syntax tree of a random program: as much of Promela as is needed to meet every kind of command.
//!
//! Names are positions: the third global variable is `g2`, the second process type `P1`.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub globals: Vec<Variable>,
    pub channels: Vec<Channel>,
    pub processes: Vec<Process>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub domain: Domain,
    /// `None` for a scalar.
    pub length: Option<u8>,
    pub initial: i8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    Bit,
    Byte,
    Short,
    /// `unsigned : 2`. Message fields of this domain are bytes: Spin has no such fields.
    TwoBits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// 0: rendezvous.
    pub capacity: u8,
    pub fields: Vec<Domain>,
}

/// A process type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// How many of them run from the beginning.
    pub active: u8,
    pub priority: u8,
    pub provided: Option<Expression>,
    /// Does it take a byte? It is the local variable number 0.
    pub parameter: bool,
    /// Without the parameter.
    pub locals: Vec<Variable>,
    /// A channel of its own: it comes after the global ones.
    pub channel: Option<Channel>,
    pub body: Vec<Statement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    Skip,
    Guard(Expression),
    Assign(Place, Expression),
    Assert(Expression),
    Send {
        channel: usize,
        sorted: bool,
        fields: Vec<Expression>,
    },
    Receive {
        channel: usize,
        random: bool,
        keep: bool,
        pattern: Vec<Pattern>,
    },
    /// Starts a process of this type.
    Run {
        process: usize,
        priority: u8,
        argument: Expression,
    },
    If(Vec<Vec<Statement>>),
    Do(Loop),
    /// Only as the first statement of the last option.
    Else,
    Break,
    Atomic(Vec<Statement>),
    Deterministic(Vec<Statement>),
    Unless {
        body: Vec<Statement>,
        escape: Vec<Statement>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    pub options: Vec<Vec<Statement>>,
    /// The process may end here: the loop has an `end` label.
    pub end: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    Constant(i8),
    Eval(Expression),
    Bind(Place),
    Ignore,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub local: bool,
    pub variable: usize,
    pub index: Option<Box<Expression>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    Constant(i8),
    Load(Place),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    Complement(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Conditional(Box<[Expression; 3]>),
    Len(usize),
    Ask(Check, usize),
    Poll { channel: usize, random: bool, pattern: Vec<Pattern> },
    Timeout,
    Pid,
    ProcessCount,
}

/// How full a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Full,
    NotFull,
    Empty,
    NotEmpty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitXor,
    BitOr,
    ShiftLeft,
    ShiftRight,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

impl Process {
    pub fn local_count(&self) -> usize {
        self.locals.len() + usize::from(self.parameter)
    }

    /// What is known of a local variable; the parameter is a byte.
    pub fn local(&self, number: usize) -> Variable {
        match number.checked_sub(usize::from(self.parameter)) {
            None => Variable { domain: Domain::Byte, length: None, initial: 0 },
            Some(number) => self.locals[number].clone(),
        }
    }
}

impl Statement {
    /// How many statements this is, with those inside it: statements are numbered in the order of the text.
    pub fn size(&self) -> usize {
        1 + match self {
            Statement::If(options) | Statement::Do(Loop { options, .. }) => {
                options.iter().map(|option| size(option)).sum()
            }
            Statement::Atomic(body) | Statement::Deterministic(body) => size(body),
            Statement::Unless { body, escape } => size(body) + size(escape),
            _ => 0,
        }
    }
}

pub fn size(statements: &[Statement]) -> usize {
    statements.iter().map(Statement::size).sum()
}

impl Expression {
    pub fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
        Expression::Binary(operator, Box::new(left), Box::new(right))
    }
}
