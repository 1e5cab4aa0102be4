//! Turns any tree into a program that means something: names refer to what is there, statements stand only where
//! they may, and nothing that Spin itself is vague about is left.

use super::names::Scope;
use super::syntax::{Domain, Expression, Loop, Operator, Place, Process, Program, Statement, size};

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
    for variable in program.processes.iter_mut().flat_map(|process| &mut process.locals) {
        // With priorities, Spin forgets such variables of processes when it compares states.
        if priorities && matches!(variable.domain, Domain::Bit | Domain::TwoBits) {
            variable.domain = Domain::Byte;
        }
    }
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
        // Spin leaves out some of several in a row.
        normal.dedup_by(|second, first| is_idle(first) && is_idle(second));
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
    fn no_idle_loop(&self, mut option: Vec<Statement>) -> Vec<Statement> {
        if option.iter().all(|statement| is_idle(statement) || *statement == Statement::Break)
            && let Some(idle) = option.iter_mut().find(|statement| is_idle(statement))
        {
            let place = self.place(Place { local: false, variable: 0, index: None });
            *idle = Statement::Assign(place.clone(), Expression::Load(place));
        }
        option
    }

    /// The inside of a `d_step`: after its first statement nothing in it may block.
    fn deterministic(&mut self, statements: Vec<Statement>, may_block: bool) -> Vec<Statement> {
        let mut normal: Vec<Statement> = Vec::new();
        for statement in statements {
            let may_block = may_block && normal.is_empty();
            match statement {
                Statement::Else if may_block => {}
                Statement::If(options) => {
                    let has_else = options.iter().any(|option| option.first() == Some(&Statement::Else));
                    let mut options: Vec<_> = options
                        .into_iter()
                        .map(|option| self.deterministic(option, true))
                        .filter(|option| option.first().is_some_and(|first| !may_block || is_guard(first)))
                        .collect();
                    if has_else || (!may_block && !self.faults) {
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
                    // Spin executes a d_step that begins with an assertion even in the middle of a rendezvous.
                    if may_block && matches!(simple, Statement::Assert(_)) {
                        normal.push(Statement::Skip);
                    }
                    normal.extend(self.simple(simple));
                }
                Statement::Guard(Expression::Timeout) => {}
                Statement::Guard(_) | Statement::Send { .. } | Statement::Receive { .. }
                    if !may_block && !self.faults => {}
                guard @ Statement::Guard(_) => normal.extend(self.simple(guard)),
                // A rendezvous can only be the first thing that it does, and only at the receiving end.
                send @ Statement::Send { channel, .. } if self.is_buffered(channel) => {
                    normal.extend(self.simple(send));
                }
                Statement::Receive { channel, random, pattern, .. }
                    if may_block || self.is_buffered(channel) =>
                {
                    // Spin's code for a copying receive does not compile here.
                    let receive = Statement::Receive { channel, random, pattern, keep: false };
                    normal.extend(self.simple(receive));
                }
                _ => {}
            }
        }
        normal
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
}

fn is_idle(statement: &Statement) -> bool {
    match statement {
        Statement::Skip | Statement::Guard(Expression::Constant(_)) => true,
        Statement::Atomic(body) => body.iter().all(is_idle),
        _ => false,
    }
}

/// Where a `d_step` begins with a choice, Spin looks only at these to see whether it can be executed.
fn is_guard(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Guard(_) | Statement::Skip | Statement::Send { .. } | Statement::Receive { .. }
    )
}
