//! What cannot be made sequential: whatever makes one thread look at another, except through shared variables.

use super::refused;
use preempt_core::{Diagnostic, Span};
use preempt_model::{Code, CodeKind, Command, Expr, Init, Model, Place, Scope};

pub fn check(model: &Model) -> Result<(), Diagnostic> {
    if !model.templates.is_empty() {
        return Err(Diagnostic::global_error("this cannot be made sequential: it has channels"));
    }
    if model.has_priorities {
        return Err(Diagnostic::global_error("this cannot be made sequential: it has priorities"));
    }
    for code in model.codes.iter().filter(|code| code.kind != CodeKind::Observer) {
        check_code(code)?;
    }
    Ok(())
}

fn check_code(code: &Code) -> Result<(), Diagnostic> {
    if code.provided.is_some() {
        return Err(refused(code.span, "a `provided` clause"));
    }
    for init in &code.init {
        match init {
            Init::Set { value, .. } => check_expr(value, code, code.span)?,
            Init::Channel { .. } => return Err(refused(code.span, "a channel")),
        }
    }
    for edge in code.locations.iter().flat_map(|location| &location.edges) {
        if edge.escape.is_some() {
            return Err(refused(edge.span, "an `unless`"));
        }
        check_command(&edge.command, code, edge.span)?;
    }
    Ok(())
}

fn check_command(command: &Command, code: &Code, span: Span) -> Result<(), Diagnostic> {
    let mut result = Ok(());
    command.visit(&mut |expr| {
        if result.is_ok() {
            result = check_expr(expr, code, span);
        }
    });
    result?;
    match command {
        Command::Send { .. } | Command::Receive { .. } => Err(refused(span, "a channel")),
        Command::SetPriority { .. } => Err(refused(span, "a priority")),
        Command::Run { result: Some((place, _)), .. } if place.scope != Scope::Nowhere => {
            Err(refused(span, "the number of a started process is used"))
        }
        Command::Assign(assignments) => {
            assignments.iter().try_for_each(|(place, _)| check_place(place, span))
        }
        Command::Call { results, .. } => results.iter().try_for_each(|place| check_place(place, span)),
        Command::Deterministic(block) => {
            for edge in block.nodes.iter().flatten() {
                match &edge.command {
                    Some(
                        Command::Deterministic(_) | Command::Run { .. } | Command::Call { .. } | Command::End,
                    ) => {
                        return Err(refused(edge.span, "a start, a call or an end within a d_step sequence"));
                    }
                    Some(command) => check_command(command, code, edge.span)?,
                    None => {}
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn check_place(place: &Place, span: Span) -> Result<(), Diagnostic> {
    if place.scope == Scope::Hidden {
        return Err(refused(span, "a hidden variable"));
    }
    Ok(())
}

fn check_expr(expr: &Expr, code: &Code, span: Span) -> Result<(), Diagnostic> {
    let mut result = Ok(());
    expr.visit(&mut |inner| {
        let what = match inner {
            Expr::Len(_) | Expr::Probe(..) | Expr::Poll { .. } => "a channel",
            Expr::Timeout => "`timeout`",
            Expr::NonProgress => "`np_`",
            Expr::Enabled(_) => "`enabled`",
            Expr::PcValue(_) => "`pc_value`",
            Expr::Priority(_) => "a priority",
            Expr::ProcessCount => "the number of processes",
            Expr::LastPid => "`_last`",
            Expr::At { .. } | Expr::Remote { .. } => "a look into another process",
            Expr::SelfPid if code.kind == CodeKind::Procedure => "`_pid` in a procedure",
            Expr::Load(place) if place.scope == Scope::Hidden => "a hidden variable",
            _ => return,
        };
        if result.is_ok() {
            result = Err(refused(span, what));
        }
    });
    result
}
