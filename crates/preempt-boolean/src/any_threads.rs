//! The program with any number of threads: what `start_thread` starts is started once or more often, as many times as one
//! likes. A program that starts nobody is one thread's code, and any number of threads execute its `main`.
//!
//! It is a change of the tree: in front of every start comes a loop that starts the same, and around a `main` without starts
//! a procedure that does nothing else. So the changed program means what every program means, its runs are runs of the
//! reference interpreter, and a thread more than is needed does no harm: it need not move.

use crate::ast::{At, Expr, ExprKind, Name, Procedure, Program, Statement, StatementKind};

/// Where the changed program begins, if that is not `main`. No text has such a name.
const ENTRY: &str = "any number of main";

/// Changes the program, and says with which procedure it begins.
pub(crate) fn any_threads(program: &mut Program) -> &'static str {
    let mut starts = false;
    for procedure in &mut program.procedures {
        procedure.body = body(std::mem::take(&mut procedure.body), &mut starts);
    }
    if starts {
        return "main";
    }
    let Some(main) = program.procedures.iter().find(|procedure| procedure.name.text == "main") else {
        return "main";
    };
    let at = main.name.at;
    let any = Expr { kind: ExprKind::Any, at };
    let start = StatementKind::StartCall {
        procedure: main.name.clone(),
        arguments: vec![any; main.parameters.len()],
    };
    let start = Statement { labels: Vec::new(), kind: start, at };
    program.procedures.push(Procedure {
        name: Name { text: ENTRY.into(), at },
        results: 0,
        parameters: Vec::new(),
        locals: Vec::new(),
        enforce: None,
        abort_if: None,
        body: vec![again_and_again(start.clone(), Vec::new()), start],
        end: main.end,
    });
    ENTRY
}

/// `while * do ... od`.
fn again_and_again(statement: Statement, labels: Vec<Name>) -> Statement {
    let at: At = statement.at;
    let any = Expr { kind: ExprKind::Any, at };
    Statement { labels, kind: StatementKind::While(any, vec![statement]), at }
}

fn body(statements: Vec<Statement>, starts: &mut bool) -> Vec<Statement> {
    let mut changed = Vec::with_capacity(statements.len());
    for mut statement in statements {
        match &mut statement.kind {
            StatementKind::StartCall { .. } | StatementKind::StartGoto(_) => {
                *starts = true;
                let labels = std::mem::take(&mut statement.labels);
                changed.push(again_and_again(statement.clone(), labels));
            }
            StatementKind::If { branches, otherwise } => {
                let bodies = branches.iter_mut().map(|(_, body)| body).chain(otherwise);
                bodies.for_each(|inner| *inner = body(std::mem::take(inner), starts));
            }
            StatementKind::While(_, inner) => *inner = body(std::mem::take(inner), starts),
            _ => {}
        }
        changed.push(statement);
    }
    changed
}
