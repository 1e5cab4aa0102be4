//! Random Boolean programs for tests: the same seed gives the same program, and every program is well-formed.
//!
//! `main` gives the globals their values and starts the threads, one after the other; then it has nothing more to do.

use crate::ast::{
    At, Declaration, Expr, ExprKind, Name, Operator, Procedure, Program, Statement, StatementKind,
};
use preempt_core::Rng;

/// What a program may have.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Variables that all threads share.
    pub globals: usize,
    /// Threads that `main` starts.
    pub threads: usize,
    /// All of them execute the same procedure.
    pub equal: bool,
    /// About so many statements in each body.
    pub statements: usize,
    /// Threads call procedures, with parameters and results.
    pub procedures: bool,
    /// Procedures may call themselves and each other.
    pub recursion: bool,
    /// Atomic blocks, also with calls in them.
    pub atomic: bool,
    /// Whatever the language has that the rest does not: for reading and printing, not for running.
    pub everything: bool,
}

impl Shape {
    /// Small enough for brute force, without recursion.
    pub fn small(threads: usize) -> Shape {
        let (globals, statements) = (2, 4);
        Shape {
            globals,
            threads,
            equal: false,
            statements,
            procedures: true,
            recursion: false,
            atomic: true,
            everything: false,
        }
    }

    /// The same with recursion: only analyses of stacks of any depth come to an end.
    pub fn recursive(threads: usize) -> Shape {
        Shape { recursion: true, ..Shape::small(threads) }
    }

    /// Every construct of the language.
    pub fn everything() -> Shape {
        Shape { statements: 8, recursion: true, everything: true, ..Shape::small(2) }
    }
}

/// The program of a seed.
///
/// ```
/// use preempt_boolean::generator::{Shape, program};
/// use preempt_boolean::print;
///
/// let text = print::program(&program(7, &Shape::small(2)));
/// let loaded = preempt_boolean::load("p.bp", &text, &Default::default());
/// assert!(loaded.model.is_some());
/// ```
pub fn program(seed: u64, shape: &Shape) -> Program {
    let mut generator = Generator {
        rng: Rng::new(seed),
        shape,
        variables: Vec::new(),
        labels: 0,
        open_labels: Vec::new(),
        level: 0,
    };
    generator.program()
}

/// Every word and sign of the language.
pub fn spellings() -> Vec<&'static str> {
    let signs = crate::lexer::SIGNS.iter().map(|(text, _)| *text);
    crate::parser::KEYWORDS.iter().copied().chain(signs).collect()
}

/// The same program in other words: what has several spellings gets one of them at random.
pub fn respelled(text: &str, seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut other = |one: &str, two: &str| if rng.one_in(2) { one.to_string() } else { two.to_string() };
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| c.is_whitespace() || "();,".contains(c)) {
        let end = word.trim_end_matches(|c: char| c.is_whitespace() || "();,".contains(c)).len();
        let (word, rest) = word.split_at(end);
        out.push_str(&match word {
            "T" | "1" => other("T", "1"),
            "F" | "0" => other("F", "0"),
            "&" => other("&", "&&"),
            "|" => other("|", "||"),
            "=" => other("=", "=="),
            "void" => other("void", "dfs void"),
            "assume" => other("assume", "constrain"),
            _ if word.starts_with('!') && !word.starts_with("!=") => word.replacen('!', &other("!", "~"), 1),
            _ => word.to_string(),
        });
        out.push_str(rest);
    }
    out
}

struct Generator<'s> {
    rng: Rng,
    shape: &'s Shape,
    /// What is in scope.
    variables: Vec<String>,
    labels: usize,
    /// Labels of this list of statements that may be jumped to.
    open_labels: Vec<String>,
    /// Procedures may call those of a higher number, or with recursion any.
    level: usize,
}

const PROCEDURES: usize = 2;

impl Generator<'_> {
    fn below(&mut self, limit: usize) -> usize {
        self.rng.below(limit)
    }

    fn one_in(&mut self, cases: usize) -> bool {
        self.rng.one_in(cases)
    }

    fn globals(&self) -> Vec<String> {
        (0..self.shape.globals).map(|number| format!("g{number}")).collect()
    }

    fn program(&mut self) -> Program {
        let globals = self.globals();
        let everything = self.shape.everything;
        let mut declarations: Vec<Declaration> = globals.iter().map(|name| declared(name)).collect();
        if everything {
            declarations.push(Declaration { thread_local: true, ..declared("mine") });
            declarations.push(Declaration { value: Some(Expr::any()), ..declared("{x==0}") });
            declarations.push(Declaration { value: Some(Expr::constant(true)), ..declared("set") });
        }
        let mut program = Program { globals: declarations, procedures: Vec::new() };
        program.procedures.push(self.main(&globals));
        for thread in 0..self.shape.threads {
            self.variables = globals.clone();
            self.variables.push("l".into());
            self.level = 0;
            let body = self.body();
            let name = format!("thread{thread}");
            program.procedures.push(procedure(&name, &[], 0, vec![declared("l")], body));
        }
        for number in (0..PROCEDURES).filter(|_| self.shape.procedures) {
            self.variables = globals.clone();
            self.variables.extend(["p".to_string(), "l".to_string()]);
            self.level = number + 1;
            let mut body = self.body();
            let results = self.results_of(number);
            let returned = (0..results).map(|_| self.expr(1)).collect();
            body.push(Statement::new(StatementKind::Return(returned)));
            let mut made = procedure(&format!("f{number}"), &["p"], results, vec![declared("l")], body);
            if everything {
                made.enforce = Some(self.expr(2));
                made.abort_if = self.one_in(2).then(|| self.expr(1));
            }
            program.procedures.push(made);
        }
        program
    }

    fn main(&mut self, globals: &[String]) -> Procedure {
        let mut body = Vec::new();
        if !globals.is_empty() {
            body.push(Statement::new(StatementKind::Assign {
                targets: globals.iter().map(Name::new).collect(),
                values: globals.iter().map(|_| Expr::constant(self.one_in(2))).collect(),
                constrain: None,
            }));
        }
        for thread in 0..self.shape.threads {
            let procedure = Name::new(format!("thread{}", if self.shape.equal { 0 } else { thread }));
            body.push(Statement::new(StatementKind::StartCall { procedure, arguments: Vec::new() }));
        }
        procedure("main", &[], 0, Vec::new(), body)
    }

    fn body(&mut self) -> Vec<Statement> {
        self.labels = 0;
        self.open_labels.clear();
        let count = 1 + self.below(self.shape.statements * 2 - 1);
        self.list(count, 2, false)
    }

    fn list(&mut self, count: usize, depth: usize, atomic: bool) -> Vec<Statement> {
        let mut list = Vec::new();
        let known = self.open_labels.len();
        while list.len() < count {
            if self.shape.atomic && depth > 0 && self.one_in(8) {
                // Jumps must not cross the border of the block.
                let outside = std::mem::take(&mut self.open_labels);
                list.push(Statement::new(StatementKind::AtomicBegin));
                let inside = 1 + self.below(2);
                list.extend(self.list(inside, depth - 1, true));
                list.push(Statement::new(StatementKind::AtomicEnd));
                self.open_labels = outside;
                continue;
            }
            let kind = self.statement(depth, atomic);
            let mut statement = Statement::new(kind);
            if self.one_in(6) {
                let label = format!("m{}", self.labels);
                self.labels += 1;
                self.open_labels.push(label.clone());
                statement.labels.push(Name::new(label));
            }
            list.push(statement);
        }
        self.open_labels.truncate(known);
        list
    }

    fn statement(&mut self, depth: usize, atomic: bool) -> StatementKind {
        match self.below(if self.shape.everything { 19 } else { 14 }) {
            0..=3 => self.assignment(),
            4 => StatementKind::Assume(self.expr(2)),
            // Most assertions hold, or every program would be wrong.
            5 | 6 => {
                let (some, other) = (self.expr(1), self.expr(1));
                let third = self.expr(1);
                StatementKind::Assert(Expr::binary(
                    Operator::Or,
                    Expr::binary(Operator::Or, some, other),
                    third,
                ))
            }
            7 if depth > 0 => self.conditional(depth, atomic),
            8 if depth > 0 => {
                let count = 1 + self.below(2);
                StatementKind::While(self.expr(1), self.list(count, depth - 1, atomic))
            }
            9 if !self.open_labels.is_empty() => {
                let count = 1 + self.below(2);
                StatementKind::Goto((0..count).map(|_| self.label()).collect())
            }
            10 | 11 if self.shape.procedures => self.call(),
            12 => StatementKind::Skip,
            14 => StatementKind::Dead(vec![self.target()]),
            15 => StatementKind::Print(vec![self.expr(1), self.expr(2)]),
            16 if !atomic => StatementKind::EndThread,
            17 => {
                let arguments = Vec::new();
                StatementKind::StartCall { procedure: Name::new("thread0"), arguments }
            }
            // The new thread goes on where this one has been, with a copy of its locals.
            18 if !self.open_labels.is_empty() && !atomic => StatementKind::StartGoto(self.label()),
            _ => self.assignment(),
        }
    }

    fn label(&mut self) -> Name {
        let number = self.below(self.open_labels.len());
        Name::new(self.open_labels[number].clone())
    }

    fn target(&mut self) -> Name {
        let number = self.below(self.variables.len());
        Name::new(self.variables[number].clone())
    }

    fn assignment(&mut self) -> StatementKind {
        let mut targets = vec![self.target()];
        if self.one_in(3) {
            let other = self.target();
            if other != targets[0] {
                targets.push(other);
            }
        }
        let values = targets.iter().map(|_| self.expr(2)).collect();
        let constrain = self.one_in(6).then(|| {
            let after = Expr::new(ExprKind::Primed(targets[0].text.clone()));
            let other = self.expr(1);
            Expr::binary(if self.one_in(2) { Operator::Equal } else { Operator::Or }, after, other)
        });
        StatementKind::Assign { targets, values, constrain }
    }

    fn conditional(&mut self, depth: usize, atomic: bool) -> StatementKind {
        let mut branches = Vec::new();
        for _ in 0..1 + self.below(2) {
            let condition = self.expr(1);
            let count = 1 + self.below(2);
            branches.push((condition, self.list(count, depth - 1, atomic)));
        }
        let otherwise = self.one_in(2).then(|| self.list(1, depth - 1, atomic));
        StatementKind::If { branches, otherwise }
    }

    fn call(&mut self) -> StatementKind {
        let first = if self.shape.recursion { 0 } else { self.level };
        if first >= PROCEDURES {
            return StatementKind::Skip;
        }
        let number = first + self.below(PROCEDURES - first);
        let procedure = Name::new(format!("f{number}"));
        let mut targets = vec![if self.one_in(4) { Name::new("_") } else { self.target() }];
        targets.resize(self.results_of(number), Name::new("_"));
        StatementKind::Call { targets, procedure, arguments: vec![self.expr(1)] }
    }

    /// How many values a procedure returns.
    fn results_of(&self, number: usize) -> usize {
        if self.shape.everything { 1 + number } else { 1 }
    }

    fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.one_in(3) {
            return match self.below(12) {
                0 => Expr::any(),
                1 => Expr::constant(self.one_in(2)),
                _ => Expr::variable(self.target().text),
            };
        }
        let mut inner = || Box::new(self.expr(depth - 1));
        let (one, two, three) = (inner(), inner(), inner());
        const OPERATORS: [Operator; 6] = [
            Operator::And,
            Operator::Or,
            Operator::Equal,
            Operator::Unequal,
            Operator::Xor,
            Operator::Implies,
        ];
        Expr::new(match self.below(10) {
            0 | 1 => ExprKind::Not(one),
            2 => ExprKind::Choose(one, two),
            3 => ExprKind::Conditional(one, two, three),
            _ => ExprKind::Binary(OPERATORS[self.below(OPERATORS.len())], one, two),
        })
    }
}

fn declared(name: &str) -> Declaration {
    Declaration { name: Name::new(name), thread_local: false, value: None }
}

fn procedure(
    name: &str,
    parameters: &[&str],
    results: usize,
    locals: Vec<Declaration>,
    body: Vec<Statement>,
) -> Procedure {
    let parameters = parameters.iter().map(|name| Name::new(*name)).collect();
    let (enforce, abort_if, end) = (None, None, At::nowhere());
    Procedure { name: Name::new(name), results, parameters, locals, enforce, abort_if, body, end }
}
