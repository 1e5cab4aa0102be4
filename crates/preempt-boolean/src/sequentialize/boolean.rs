//! The sequential program as a Boolean program. The round is one variable for each of its values, exactly one of which
//! holds.

use super::bits::{self, not};
use super::go_on;
use super::skeleton::Skeleton;
use super::slots::{Names, Slot};
use super::writer::Writer;
use crate::ast::{
    At, Declaration, Expr as Formula, Name, Operator, Procedure, Program, Statement, StatementKind,
};
use preempt_core::{Budget, Diagnostic};

pub fn program(skeleton: &Skeleton, budget: &Budget) -> Result<Program, Diagnostic> {
    let shared = Shared::new(skeleton, budget)?;
    let mut program = Program { globals: Vec::new(), procedures: vec![main(skeleton, &shared)] };
    let copies = shared.copies.iter().flatten().flatten();
    let all = copies.chain(shared.guesses.iter().flatten().flatten()).chain(&shared.rounds);
    for name in all.chain([&shared.gone, &shared.failed]) {
        program.globals.push(declared(name));
    }
    for number in 0..skeleton.functions.len() {
        program.procedures.push(Writer::new(skeleton, &shared, number, budget).procedure()?);
    }
    Ok(program)
}

/// The names of the global variables.
pub struct Shared {
    /// For each round and shared variable its bits.
    pub copies: Vec<Vec<Vec<String>>>,
    /// What each round but the first is guessed to begin with.
    guesses: Vec<Vec<Vec<String>>>,
    pub rounds: Vec<String>,
    /// The thread has given up.
    pub gone: String,
    /// An assertion has failed.
    pub failed: String,
    pub functions: Vec<String>,
    pub names: Names,
}

impl Shared {
    fn new(skeleton: &Skeleton, budget: &Budget) -> Result<Shared, Diagnostic> {
        let mut names = Names::default();
        names.reserve(crate::parser::KEYWORDS);
        names.reserve(&["main"]);
        let functions = skeleton.functions.iter().map(|function| names.unique(&function.name)).collect();
        let mut all = |suffix: &dyn Fn(usize) -> String, rounds: std::ops::RangeInclusive<usize>| {
            let round = |names: &mut Names, round: usize| {
                let name = |(slot, _): &(Slot, i32)| {
                    go_on(budget)?;
                    Ok(bit_names(names, &slot.name, slot.ty.bits, &suffix(round)))
                };
                skeleton.shared.iter().map(name).collect::<Result<_, Diagnostic>>()
            };
            rounds.map(|number| round(&mut names, number)).collect::<Result<Vec<_>, Diagnostic>>()
        };
        let copies = all(&|round| format!("_{round}"), 1..=skeleton.contexts)?;
        let guesses = all(&|round| format!("_guess_{round}"), 2..=skeleton.contexts)?;
        let rounds = (1..=skeleton.contexts).map(|round| names.unique(&format!("round_{round}"))).collect();
        let (gone, failed) = (names.unique("gone"), names.unique("failed"));
        Ok(Shared { copies, guesses, rounds, gone, failed, functions, names })
    }
}

pub fn bit_names(names: &mut Names, name: &str, bits: u8, suffix: &str) -> Vec<String> {
    match bits {
        1 => vec![names.unique(&format!("{name}{suffix}"))],
        bits => (0..bits).map(|bit| names.unique(&format!("{name}_b{bit}{suffix}"))).collect(),
    }
}

pub fn declared(name: &str) -> Declaration {
    Declaration { name: Name::new(name), thread_local: false, value: None }
}

pub fn assign(assignments: Vec<(String, Formula)>) -> Statement {
    let (targets, values) = assignments.into_iter().map(|(name, value)| (Name::new(name), value)).unzip();
    Statement::new(StatementKind::Assign { targets, values, constrain: None })
}

pub fn set(name: &str, value: bool) -> (String, Formula) {
    (name.to_string(), bits::constant(value))
}

/// Round 1 begins with the initial values, the others with guesses; then the threads in their order; then the checker.
fn main(skeleton: &Skeleton, shared: &Shared) -> Procedure {
    let mut body = Vec::new();
    let mut first = Vec::new();
    for (names, (_, value)) in shared.copies[0].iter().zip(&skeleton.shared) {
        first.extend(names.iter().enumerate().map(|(bit, name)| set(name, value >> bit & 1 == 1)));
    }
    first.push(set(&shared.failed, false));
    body.push(assign(first));
    for (copies, guesses) in shared.copies[1..].iter().zip(&shared.guesses) {
        let pairs = copies.iter().flatten().zip(guesses.iter().flatten());
        let guessed: Vec<_> = pairs.map(|(copy, guess)| (copy.clone(), Formula::variable(guess))).collect();
        if !guessed.is_empty() {
            body.push(assign(guessed));
        }
    }
    for thread in 0..skeleton.threads.len() {
        let rounds = shared.rounds.iter().enumerate().map(|(number, round)| set(round, number == 0));
        body.push(assign(rounds.chain([set(&shared.gone, false)]).collect()));
        body.push(Statement::new(StatementKind::Call {
            targets: Vec::new(),
            procedure: Name::new(shared.functions[thread].clone()),
            arguments: Vec::new(),
        }));
    }
    for (copies, guesses) in shared.copies.iter().zip(&shared.guesses) {
        for (copy, guess) in copies.iter().flatten().zip(guesses.iter().flatten()) {
            let equal = Formula::binary(Operator::Equal, Formula::variable(copy), Formula::variable(guess));
            body.push(Statement::new(StatementKind::Assume(equal)));
        }
    }
    body.push(Statement::new(StatementKind::Assert(not(Formula::variable(&shared.failed)))));
    procedure("main", 0, Vec::new(), Vec::new(), body)
}

pub fn procedure(
    name: &str,
    results: usize,
    parameters: Vec<Name>,
    locals: Vec<Declaration>,
    body: Vec<Statement>,
) -> Procedure {
    let (enforce, abort_if, end) = (None, None, At::nowhere());
    Procedure { name: Name::new(name), results, parameters, locals, enforce, abort_if, body, end }
}
