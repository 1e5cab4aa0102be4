//! The kinds of nodes, each list by the `match` that tells them apart.

use crate::ast::{
    BinaryOp, ExprKind, Initializer, Item, Probe, ProcessKind, ReceiveArg, StmtKind, Temporal, TypeName,
    UnaryOp, Visibility,
};
use preempt_model::kinds;

kinds!(pub(super) ITEMS, item_kind, Item, {
    Item::Mtype(_) => "item mtype",
    Item::Typedef(_) => "item typedef",
    Item::Variables(_) => "item variables",
    Item::Process(_) => "item process",
    Item::Never(_) => "item never",
    Item::Trace(_) => "item trace",
    Item::Ltl(_) => "item ltl",
});

kinds!(pub(super) TYPES, type_kind, TypeName, {
    TypeName::Bit => "type bit",
    TypeName::Bool => "type bool",
    TypeName::Byte => "type byte",
    TypeName::Pid => "type pid",
    TypeName::Short => "type short",
    TypeName::Int => "type int",
    TypeName::Unsigned => "type unsigned",
    TypeName::Mtype(None) => "type mtype",
    TypeName::Mtype(Some(_)) => "type mtype:set",
    TypeName::Chan => "type chan",
    TypeName::Record(_) => "type record",
});

kinds!(pub(super) FIELDS, field_kind, TypeName, {
    TypeName::Bit => "message field bit",
    TypeName::Bool => "message field bool",
    TypeName::Byte => "message field byte",
    TypeName::Pid => "message field pid",
    TypeName::Short => "message field short",
    TypeName::Int => "message field int",
    // The parser refuses it, so that it is not expected.
    TypeName::Unsigned => "message field unsigned",
    TypeName::Mtype(None) => "message field mtype",
    TypeName::Mtype(Some(_)) => "message field mtype:set",
    TypeName::Chan => "message field chan",
    TypeName::Record(_) => "message field record",
});

kinds!(pub(super) PARAMETERS, parameter_kind, TypeName, {
    TypeName::Bit | TypeName::Bool | TypeName::Byte | TypeName::Pid => "parameter small",
    TypeName::Short | TypeName::Int | TypeName::Unsigned => "parameter large",
    TypeName::Mtype(None) => "parameter mtype",
    TypeName::Mtype(Some(_)) => "parameter mtype:set",
    TypeName::Chan => "parameter chan",
    TypeName::Record(_) => "parameter record",
});

kinds!(pub(super) VISIBILITIES, visibility_kind, Option<Visibility>, {
    None => "declared plainly",
    Some(Visibility::Hidden) => "declared hidden",
    Some(Visibility::Show) => "declared show",
    Some(Visibility::Local) => "declared local",
});

kinds!(pub(super) INITIALIZERS, initializer_kind, Option<Initializer>, {
    None => "initial value none",
    Some(Initializer::Value(_)) => "initial value",
    Some(Initializer::List(_)) => "initial list",
    Some(Initializer::Channel { .. }) => "initial channel",
});

kinds!(pub(super) PROCESSES, process_kind, ProcessKind, {
    ProcessKind::Proctype => "process proctype",
    ProcessKind::Deterministic => "process D_proctype",
    ProcessKind::Init => "process init",
});

kinds!(pub(super) STATEMENTS, statement_kind, StmtKind, {
    StmtKind::Declare(_) => "statement declaration",
    StmtKind::Exclusive { receive: true, .. } => "statement xr",
    StmtKind::Exclusive { receive: false, .. } => "statement xs",
    StmtKind::Guard(_) => "statement guard",
    StmtKind::Else => "statement else",
    StmtKind::Assign { .. } => "statement assign",
    StmtKind::Increment(_) => "statement ++",
    StmtKind::Decrement(_) => "statement --",
    StmtKind::Assert(_) => "statement assert",
    StmtKind::Printf { .. } => "statement printf",
    StmtKind::Printm(_) => "statement printm",
    StmtKind::Send { sorted: false, .. } => "statement !",
    StmtKind::Send { sorted: true, .. } => "statement !!",
    StmtKind::Receive { random: false, keep: false, .. } => "statement ?",
    StmtKind::Receive { random: true, keep: false, .. } => "statement ??",
    StmtKind::Receive { random: false, keep: true, .. } => "statement ?<>",
    StmtKind::Receive { random: true, keep: true, .. } => "statement ??<>",
    StmtKind::If(_) => "statement if",
    StmtKind::Do(_) => "statement do",
    StmtKind::Break => "statement break",
    StmtKind::Goto(_) => "statement goto",
    StmtKind::Atomic(_) => "statement atomic",
    StmtKind::DStep(_) => "statement d_step",
    StmtKind::Block { inline: None, .. } => "statement block",
    StmtKind::Block { inline: Some(_), .. } => "statement inline",
    StmtKind::Unless { .. } => "statement unless",
    StmtKind::ForRange { .. } => "statement for range",
    StmtKind::ForIn { .. } => "statement for in",
    StmtKind::Select { .. } => "statement select",
    StmtKind::SetPriority { .. } => "statement set_priority",
});

kinds!(pub(super) ARGUMENTS, argument_kind, ReceiveArg, {
    ReceiveArg::Ref(_) => "received name",
    ReceiveArg::Eval(_) => "received eval",
    ReceiveArg::Constant(..) => "received constant",
});

kinds!(pub(super) EXPRESSIONS, expression_kind, ExprKind, {
    ExprKind::Number(_) => "number",
    ExprKind::Ref(_) => "reference",
    ExprKind::Unary(UnaryOp::Not, _) => "unary !",
    ExprKind::Unary(UnaryOp::Negate, _) => "unary -",
    ExprKind::Unary(UnaryOp::Complement, _) => "unary ~",
    ExprKind::Binary(BinaryOp::Add, ..) => "binary +",
    ExprKind::Binary(BinaryOp::Sub, ..) => "binary -",
    ExprKind::Binary(BinaryOp::Mul, ..) => "binary *",
    ExprKind::Binary(BinaryOp::Div, ..) => "binary /",
    ExprKind::Binary(BinaryOp::Rem, ..) => "binary %",
    ExprKind::Binary(BinaryOp::BitAnd, ..) => "binary &",
    ExprKind::Binary(BinaryOp::BitXor, ..) => "binary ^",
    ExprKind::Binary(BinaryOp::BitOr, ..) => "binary |",
    ExprKind::Binary(BinaryOp::ShiftLeft, ..) => "binary <<",
    ExprKind::Binary(BinaryOp::ShiftRight, ..) => "binary >>",
    ExprKind::Binary(BinaryOp::Lt, ..) => "binary <",
    ExprKind::Binary(BinaryOp::Le, ..) => "binary <=",
    ExprKind::Binary(BinaryOp::Gt, ..) => "binary >",
    ExprKind::Binary(BinaryOp::Ge, ..) => "binary >=",
    ExprKind::Binary(BinaryOp::Eq, ..) => "binary ==",
    ExprKind::Binary(BinaryOp::Ne, ..) => "binary !=",
    ExprKind::Binary(BinaryOp::And, ..) => "binary &&",
    ExprKind::Binary(BinaryOp::Or, ..) => "binary ||",
    ExprKind::Conditional(..) => "conditional",
    ExprKind::Run { priority: None, .. } => "run",
    ExprKind::Run { priority: Some(_), .. } => "run priority",
    ExprKind::Len(_) => "len",
    ExprKind::Probe(Probe::Full, _) => "full",
    ExprKind::Probe(Probe::NotFull, _) => "nfull",
    ExprKind::Probe(Probe::Empty, _) => "empty",
    ExprKind::Probe(Probe::NotEmpty, _) => "nempty",
    ExprKind::Poll { random: false, .. } => "?[]",
    ExprKind::Poll { random: true, .. } => "??[]",
    ExprKind::Timeout => "timeout",
    ExprKind::NonProgress => "np_",
    ExprKind::Enabled(_) => "enabled",
    ExprKind::PcValue(_) => "pc_value",
    ExprKind::GetPriority(_) => "get_priority",
    ExprKind::RemoteLabel { pid: None, .. } => "P@label",
    ExprKind::RemoteLabel { pid: Some(_), .. } => "P[pid]@label",
    ExprKind::RemoteVariable { pid: None, .. } => "P:variable",
    ExprKind::RemoteVariable { pid: Some(_), .. } => "P[pid]:variable",
    ExprKind::Temporal(Temporal::Always(_)) => "ltl []",
    ExprKind::Temporal(Temporal::Eventually(_)) => "ltl <>",
    ExprKind::Temporal(Temporal::Next(_)) => "ltl X",
    ExprKind::Temporal(Temporal::Until(..)) => "ltl U",
    ExprKind::Temporal(Temporal::Release(..)) => "ltl V",
    ExprKind::Temporal(Temporal::WeakUntil(..)) => "ltl W",
    ExprKind::Temporal(Temporal::Implies(..)) => "ltl ->",
    ExprKind::Temporal(Temporal::Equivalent(..)) => "ltl <->",
});
