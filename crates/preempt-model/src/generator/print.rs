//! The program as Promela text, and where each statement stands in it.

use super::syntax::{
    Channel, Check, Domain, Expression, Loop, Operator, Pattern, Place, Process, Program, Statement, Variable,
};
use std::fmt::Write;
use std::ops::Range;

impl Program {
    /// As Promela text.
    pub fn to_promela(&self) -> String {
        self.printed().text
    }

    pub(super) fn printed(&self) -> Printed {
        let mut printer = Printer { text: String::new(), statements: Vec::new(), labels: 0, depth: 0 };
        for (number, variable) in self.globals.iter().enumerate() {
            printer.line(&declaration(variable, &format!("g{number}")));
        }
        for (number, channel) in self.channels.iter().enumerate() {
            printer.line(&channel_declaration(channel, &format!("c{number}")));
        }
        for (number, process) in self.processes.iter().enumerate() {
            printer.process(self, number, process);
        }
        Printed { text: printer.text, statements: printer.statements }
    }
}

#[derive(Debug)]
pub(super) struct Printed {
    pub text: String,
    /// Of every statement, in the order in which they begin.
    pub statements: Vec<Range<usize>>,
}

struct Printer {
    text: String,
    statements: Vec<Range<usize>>,
    labels: usize,
    depth: usize,
}

impl Printer {
    fn indent(&mut self) {
        (0..self.depth).for_each(|_| self.text.push('\t'));
    }

    fn line(&mut self, line: &str) {
        self.indent();
        self.text += line;
        self.text.push('\n');
    }

    fn process(&mut self, program: &Program, number: usize, process: &Process) {
        let names = Names { program };
        let mut head = String::new();
        match process.active {
            0 => {}
            1 => head += "active ",
            more => _ = write!(head, "active [{more}] "),
        }
        _ = write!(head, "proctype P{number}({})", if process.parameter { "byte l0" } else { "" });
        if process.priority != 1 && process.active > 0 {
            _ = write!(head, " priority {}", process.priority);
        }
        if let Some(clause) = &process.provided {
            _ = write!(head, " provided {}", names.expression(clause));
        }
        self.line(&format!("{head} {{"));
        self.depth += 1;
        for (number, variable) in (usize::from(process.parameter)..).zip(&process.locals) {
            self.line(&declaration(variable, &format!("l{number}")));
        }
        if let Some(channel) = &process.channel {
            self.line(&channel_declaration(channel, "own"));
        }
        self.sequence(&names, &process.body, false);
        self.depth -= 1;
        self.line("}");
    }

    /// One statement a line, with a separator between them; the first line of an option begins with `::`.
    fn sequence(&mut self, names: &Names<'_>, statements: &[Statement], option: bool) {
        for (i, statement) in statements.iter().enumerate() {
            if option && i == 0 {
                self.depth -= 1;
                self.indent();
                self.depth += 1;
                self.text += "::\t";
            } else {
                self.indent();
            }
            self.statement(names, statement);
            // Both separators mean the same; the arrow is the custom after a guard.
            match statement {
                _ if i + 1 == statements.len() => {}
                Statement::Guard(_) | Statement::Else => self.text += " ->",
                _ => self.text.push(';'),
            }
            self.text.push('\n');
        }
    }

    fn braces(&mut self, names: &Names<'_>, head: &str, statements: &[Statement]) {
        self.text += head;
        self.text += "{\n";
        self.depth += 1;
        self.sequence(names, statements, false);
        self.depth -= 1;
        self.indent();
        self.text.push('}');
    }

    fn options(&mut self, names: &Names<'_>, (open, close): (&str, &str), options: &[Vec<Statement>]) {
        self.text += open;
        self.text.push('\n');
        self.depth += 1;
        for option in options {
            self.sequence(names, option, true);
        }
        self.depth -= 1;
        self.indent();
        self.text += close;
    }

    fn statement(&mut self, names: &Names<'_>, statement: &Statement) {
        let start = self.text.len();
        let number = self.statements.len();
        self.statements.push(start..start);
        match statement {
            Statement::If(options) => self.options(names, ("if", "fi"), options),
            Statement::Do(Loop { options, end }) => {
                if *end {
                    _ = write!(self.text, "end{}: ", self.labels);
                    self.labels += 1;
                }
                self.options(names, ("do", "od"), options);
            }
            Statement::Atomic(body) => self.braces(names, "atomic ", body),
            Statement::Deterministic(body) => self.braces(names, "d_step ", body),
            Statement::Unless { body, escape } => {
                self.braces(names, "", body);
                self.braces(names, " unless ", escape);
            }
            simple => self.text += &names.simple(simple),
        }
        self.statements[number].end = self.text.len();
    }
}

fn domain_name(domain: Domain) -> &'static str {
    match domain {
        Domain::Bit => "bit",
        Domain::Byte => "byte",
        Domain::Short => "short",
        Domain::TwoBits => "unsigned",
    }
}

fn declaration(variable: &Variable, name: &str) -> String {
    let width = if variable.domain == Domain::TwoBits { " : 2" } else { "" };
    let length = variable.length.map_or(String::new(), |length| format!("[{length}]"));
    format!("{} {name}{width}{length} = {};", domain_name(variable.domain), variable.initial)
}

fn channel_declaration(channel: &Channel, name: &str) -> String {
    let fields: Vec<_> = channel.fields.iter().map(|field| domain_name(*field)).collect();
    format!("chan {name} = [{}] of {{ {} }};", channel.capacity, fields.join(", "))
}

struct Names<'p> {
    program: &'p Program,
}

impl Names<'_> {
    fn simple(&self, statement: &Statement) -> String {
        match statement {
            Statement::Guard(condition) => self.expression(condition),
            Statement::Assign(place, value) => format!("{} = {}", self.place(place), self.expression(value)),
            Statement::Assert(condition) => format!("assert({})", self.expression(condition)),
            Statement::Send { channel, sorted, fields } => {
                let fields: Vec<_> = fields.iter().map(|field| self.expression(field)).collect();
                let operator = if *sorted { "!!" } else { "!" };
                format!("{}{operator}{}", self.channel(*channel), fields.join(","))
            }
            Statement::Receive { channel, random, keep, pattern } => {
                let operator = if *random { "??" } else { "?" };
                let pattern = self.patterns(pattern);
                let pattern = if *keep { format!("<{pattern}>") } else { pattern };
                format!("{}{operator}{pattern}", self.channel(*channel))
            }
            Statement::Run { process, priority, argument } => {
                let takes = self.program.processes[*process].parameter;
                let argument = if takes { self.expression(argument) } else { String::new() };
                let priority = if *priority == 1 { String::new() } else { format!(" priority {priority}") };
                format!("run P{process}({argument}){priority}")
            }
            Statement::Else => "else".into(),
            Statement::Break => "break".into(),
            _ => "skip".into(),
        }
    }

    fn channel(&self, number: usize) -> String {
        match number < self.program.channels.len() {
            true => format!("c{number}"),
            false => "own".into(),
        }
    }

    fn place(&self, place: &Place) -> String {
        let name = format!("{}{}", if place.local { 'l' } else { 'g' }, place.variable);
        match &place.index {
            Some(index) => format!("{name}[{}]", self.expression(index)),
            None => name,
        }
    }

    fn patterns(&self, patterns: &[Pattern]) -> String {
        let one = |pattern: &Pattern| match pattern {
            Pattern::Constant(value) => value.to_string(),
            Pattern::Eval(expression) => format!("eval({})", self.expression(expression)),
            Pattern::Bind(place) => self.place(place),
            Pattern::Ignore => "_".into(),
        };
        patterns.iter().map(one).collect::<Vec<_>>().join(",")
    }

    /// Fully in parentheses, unless there is only one thing to see.
    fn expression(&self, expression: &Expression) -> String {
        match expression {
            Expression::Constant(value) => value.to_string(),
            Expression::Load(place) => self.place(place),
            Expression::Not(inner) => format!("(!{})", self.expression(inner)),
            Expression::Negate(inner) => format!("(-{})", self.expression(inner)),
            Expression::Complement(inner) => format!("(~{})", self.expression(inner)),
            Expression::Binary(operator, left, right) => {
                format!("({} {} {})", self.expression(left), symbol(*operator), self.expression(right))
            }
            Expression::Conditional(parts) => {
                let [condition, then, otherwise] = parts.each_ref().map(|part| self.expression(part));
                format!("({condition} -> {then} : {otherwise})")
            }
            Expression::Len(channel) => format!("len({})", self.channel(*channel)),
            Expression::Ask(question, channel) => {
                let name = match question {
                    Check::Full => "full",
                    Check::NotFull => "nfull",
                    Check::Empty => "empty",
                    Check::NotEmpty => "nempty",
                };
                format!("{name}({})", self.channel(*channel))
            }
            Expression::Poll { channel, random, pattern } => {
                let operator = if *random { "??" } else { "?" };
                format!("{}{operator}[{}]", self.channel(*channel), self.patterns(pattern))
            }
            Expression::Timeout => "timeout".into(),
            Expression::Pid => "_pid".into(),
            Expression::ProcessCount => "_nr_pr".into(),
        }
    }
}

fn symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Sub => "-",
        Operator::Mul => "*",
        Operator::Div => "/",
        Operator::Rem => "%",
        Operator::BitAnd => "&",
        Operator::BitXor => "^",
        Operator::BitOr => "|",
        Operator::ShiftLeft => "<<",
        Operator::ShiftRight => ">>",
        Operator::Lt => "<",
        Operator::Le => "<=",
        Operator::Gt => ">",
        Operator::Ge => ">=",
        Operator::Eq => "==",
        Operator::Ne => "!=",
        Operator::And => "&&",
        Operator::Or => "||",
    }
}
