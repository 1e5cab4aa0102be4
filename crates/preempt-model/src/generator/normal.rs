//! Turns any tree into a program that means something: names refer to what is there, statements stand only where
//! they may, and nothing that Spin itself is vague about is left.

use super::syntax::{
    Channel, Domain, Expression, Loop, Operator, Pattern, Place, Process, Program, Statement, Variable, size,
};

/// Statements of one process, counted with those that only hold others.
const MAX_SIZE: usize = 12;

const MAX_PROCESSES: u8 = 3;

pub(super) fn normal(mut program: Program, priorities: bool, faults: bool) -> Program {
    // Spin refuses to combine priorities with rendezvous.
    let priorities = priorities && program.channels.iter().all(|channel| channel.capacity > 0);
    for process in program.processes.iter_mut().filter(|_| !priorities) {
        process.priority = 1;
    }
    let mut room = MAX_PROCESSES;
    for process in &mut program.processes {
        process.active = process.active.min(room);
        room -= process.active;
    }
    if room == MAX_PROCESSES {
        program.processes[0].active = 1;
    }
    let count = program.processes.len();
    let locals = program.processes.iter_mut().flat_map(|process| &mut process.locals);
    for variable in program.globals.iter_mut().chain(locals) {
        // Promela has no arrays of such numbers.
        variable.length = variable.length.filter(|_| variable.domain != Domain::TwoBits);
    }
    let Program { globals, channels, processes } = program;
    let processes = processes
        .into_iter()
        .enumerate()
        .map(|(number, mut process)| {
            let body = std::mem::take(&mut process.body);
            let provided = process.provided.take();
            let (channels, globals) = (&channels, &globals);
            let mut scope =
                Scope { globals, channels, process: &process, faults, later: number + 1..count, priorities };
            let body = scope.sequence(body, Within { top: true, ..Within::default() });
            // A clause speaks of global variables only.
            let clause = Process { parameter: false, locals: Vec::new(), channel: None, ..process.clone() };
            let scope = Scope { process: &clause, ..scope };
            let provided = provided.map(|clause| scope.expression(clause));
            Process { provided, body: or_skip(body), ..process }
        })
        .collect();
    Program { globals, channels, processes }
}

fn or_skip(statements: Vec<Statement>) -> Vec<Statement> {
    if statements.is_empty() { vec![Statement::Skip] } else { statements }
}

struct Scope<'p> {
    globals: &'p [Variable],
    channels: &'p [Channel],
    process: &'p Process,
    faults: bool,
    /// The process types that may still be started: only later ones, so that starting ends.
    later: std::ops::Range<usize>,
    priorities: bool,
}

/// Where a sequence of statements stands.
#[derive(Debug, Clone, Copy, Default)]
struct Within {
    /// Directly in the process.
    top: bool,
    /// In a loop that `break` can leave.
    breakable: bool,
    atomic: bool,
    unless: bool,
    /// It is an option of a choice.
    option: bool,
    /// Its first statement is one of the alternatives of a choice around it.
    leading: bool,
}

impl Scope<'_> {
    fn sequence(&mut self, statements: Vec<Statement>, within: Within) -> Vec<Statement> {
        let mut normal: Vec<Statement> = Vec::new();
        for statement in statements {
            let first = normal.is_empty();
            let inside = Within { top: false, option: false, leading: within.leading && first, ..within };
            if size(&normal) >= MAX_SIZE {
                break;
            }
            match statement {
                Statement::Else if within.option && first => normal.push(Statement::Else),
                Statement::Else => {}
                Statement::Break if within.breakable && (within.option || !first) => {
                    normal.push(Statement::Break);
                    break;
                }
                Statement::Break => {}
                Statement::If(options) => normal.extend(self.choice(options, inside).map(Statement::If)),
                Statement::Do(it) if !within.atomic || self.is_counting(&it) => {
                    let options = self.choice(it.options, Within { breakable: true, ..inside });
                    // A label cannot stand between the alternatives of a choice.
                    let end = it.end && !inside.leading;
                    normal.extend(options.map(|options| Statement::Do(Loop { options, end })));
                }
                Statement::Do(it) => normal.extend(self.choice(it.options, inside).map(Statement::If)),
                Statement::Atomic(body) if within.atomic => normal.extend(self.sequence(body, inside)),
                Statement::Atomic(mut body) => {
                    if within.unless {
                        body.retain(|statement| statement.size() == 1);
                    }
                    let body = self.sequence(body, Within { atomic: true, ..inside });
                    normal.extend((!body.is_empty()).then_some(Statement::Atomic(body)));
                }
                Statement::Deterministic(body) => {
                    let body = self.deterministic(body, true);
                    // Spin does not let a `break` lead to a d_step.
                    if !first && normal.last().is_some_and(|before| before.size() > 1) {
                        normal.push(Statement::Skip);
                    }
                    normal.extend((!body.is_empty()).then_some(Statement::Deterministic(body)));
                }
                Statement::Unless { body, escape } if within.top => {
                    let inside = Within { unless: true, ..inside };
                    let body = self.sequence(body, inside);
                    let escape = self.sequence(escape, Within { leading: true, ..inside });
                    // Spin enters an escape that begins with a loop in two ways.
                    if body.is_empty() || matches!(escape.first(), None | Some(Statement::Do(_))) {
                        normal.extend(body);
                    } else {
                        if !first && matches!(body[0], Statement::Deterministic(_)) {
                            normal.push(Statement::Skip);
                        }
                        normal.push(Statement::Unless { body, escape });
                    }
                }
                Statement::Unless { body, .. } => normal.extend(self.sequence(body, inside)),
                Statement::Run { process, priority, argument } => {
                    // Not in a loop, and one in each process: there must not be too many.
                    if !within.breakable && !self.later.is_empty() {
                        let process = self.later.start + process % self.later.len();
                        let priority = if self.priorities { priority } else { 1 };
                        self.later = 0..0;
                        normal.push(Statement::Run {
                            process,
                            priority,
                            argument: self.expression(argument),
                        });
                    }
                }
                simple => normal.extend(self.simple(simple)),
            }
        }
        normal
    }

    /// At most one `else`, at the end. A choice that is itself an alternative of a choice has none.
    fn choice(&mut self, options: Vec<Vec<Statement>>, within: Within) -> Option<Vec<Vec<Statement>>> {
        let inside = Within { option: true, leading: true, ..within };
        let options: Vec<_> = options
            .into_iter()
            .map(|option| {
                let option = self.sequence(option, inside);
                if within.breakable { self.no_idle_loop(option) } else { option }
            })
            .filter(|option| !option.is_empty())
            .collect();
        let (others, mut normal): (Vec<_>, Vec<_>) =
            options.into_iter().partition(|option| option[0] == Statement::Else);
        if !within.leading {
            normal.extend(others.into_iter().next());
        }
        (!normal.is_empty()).then_some(normal)
    }

    /// Spin refuses loops that do nothing at all; one that assigns a variable to itself spins as well.
    fn no_idle_loop(&self, option: Vec<Statement>) -> Vec<Statement> {
        match option.as_slice() {
            [Statement::Skip | Statement::Guard(Expression::Constant(_))] => {
                let place = self.place(Place { local: false, variable: 0, index: None });
                vec![Statement::Assign(place.clone(), Expression::Load(place))]
            }
            _ => option,
        }
    }

    /// The inside of a `d_step`: after its first statement nothing in it may block.
    fn deterministic(&mut self, statements: Vec<Statement>, may_block: bool) -> Vec<Statement> {
        let mut normal: Vec<Statement> = Vec::new();
        for statement in statements {
            let may_block = may_block && normal.is_empty();
            match statement {
                Statement::Else if may_block => {}
                Statement::If(options) => {
                    let mut options: Vec<_> = options
                        .into_iter()
                        .map(|option| self.deterministic(option, true))
                        .filter(|option| !option.is_empty())
                        .collect();
                    if !may_block && !self.faults {
                        options.push(vec![Statement::Else]);
                    }
                    normal.extend((!options.is_empty()).then_some(Statement::If(options)));
                }
                Statement::Do(it) if self.is_counting(&it) && !may_block => {
                    let within = Within { breakable: true, ..Within::default() };
                    let options = self.choice(it.options, within);
                    normal.extend(options.map(|options| Statement::Do(Loop { options, end: false })));
                }
                Statement::Atomic(body) | Statement::Deterministic(body) => {
                    normal.extend(self.deterministic(body, may_block));
                }
                simple @ (Statement::Skip | Statement::Assign(..) | Statement::Assert(_)) => {
                    normal.extend(self.simple(simple));
                }
                Statement::Guard(Expression::Timeout) => {}
                blocking @ (Statement::Guard(_) | Statement::Send { .. } | Statement::Receive { .. })
                    if may_block || self.faults =>
                {
                    let meets = match &blocking {
                        Statement::Send { channel, .. } | Statement::Receive { channel, .. } => {
                            self.channel(*channel).is_none_or(|(_, channel)| channel.capacity == 0)
                        }
                        _ => false,
                    };
                    if !meets {
                        normal.extend(self.simple(blocking));
                    }
                }
                _ => {}
            }
        }
        normal
    }

    fn simple(&self, statement: Statement) -> Option<Statement> {
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
                Statement::Receive { channel, random: random && buffered, keep: keep && buffered, pattern }
            }
            other => other,
        })
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

    fn channel(&self, number: usize) -> Option<(usize, &Channel)> {
        let count = self.channels.len() + usize::from(self.process.channel.is_some());
        let number = number.checked_rem(count)?;
        Some((number, self.channels.get(number).or(self.process.channel.as_ref())?))
    }

    fn place(&self, place: Place) -> Place {
        let local = place.local && self.process.local_count() > 0;
        let count = if local { self.process.local_count() } else { self.globals.len() };
        let variable = place.variable % count;
        let length = self.variable(&Place { local, variable, index: None }).length;
        // An index that reads an array might read the element that is assigned, which Spin then undoes wrongly.
        let index = place.index.map(|index| self.expression(*index)).filter(|index| !reads_array(index));
        let index = length.map(|_| Box::new(index.unwrap_or(Expression::Constant(0))));
        Place { local, variable, index }
    }

    /// `do :: v < n -> v = v + 1 :: else -> break od` ends whatever else happens, if the variable can hold n.
    fn is_counting(&self, it: &Loop) -> bool {
        let [up, out] = it.options.as_slice() else { return false };
        let [Statement::Guard(below), Statement::Assign(counter, next)] = up.as_slice() else { return false };
        let largest = match self.variable(&self.place(counter.clone())).domain {
            Domain::Bit => 1,
            _ => 3,
        };
        let counts = |expression: &Expression, wanted: Operator| {
            matches!(expression, Expression::Binary(operator, left, right)
                if *operator == wanted
                    && **left == Expression::Load(counter.clone())
                    && matches!(**right, Expression::Constant(by) if (1..=largest).contains(&by)))
        };
        *out == [Statement::Else, Statement::Break]
            && counts(below, Operator::Lt)
            && counts(next, Operator::Add)
    }

    fn variable(&self, place: &Place) -> Variable {
        match place.local {
            true => self.process.local(place.variable),
            false => self.globals[place.variable].clone(),
        }
    }

    fn expression(&self, expression: Expression) -> Expression {
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
