//! The names of everything that can be met.

use crate::command::{Command, Pattern};
use crate::expr::{BinaryOp, Expr, Place, Probe, Scope, UnaryOp};
use crate::program::{CodeKind, Init};
use crate::property::Ltl;
use crate::types::{Type, ValueKind};

kinds!(pub(super) COMMANDS, command_kind, Command, {
    Command::Guard(_) => "command guard",
    Command::Else => "command else",
    Command::Assign(_) => "command assign",
    Command::Assert(_) => "command assert",
    Command::Print { .. } => "command print",
    Command::Send { sorted: false, .. } => "command send",
    Command::Send { sorted: true, .. } => "command sorted send",
    Command::Receive { random: false, keep: false, .. } => "command receive",
    Command::Receive { random: true, keep: false, .. } => "command random receive",
    Command::Receive { random: false, keep: true, .. } => "command receive and keep",
    Command::Receive { random: true, keep: true, .. } => "command random receive and keep",
    Command::Run { result: None, .. } => "command run",
    Command::Run { result: Some(_), .. } => "command run with result",
    Command::End => "command end",
    Command::SetPriority { .. } => "command set priority",
    Command::Deterministic(_) => "command d_step",
    Command::Call { .. } => "command call",
    Command::Return(_) => "command return",
});

kinds!(pub(super) EXPRESSIONS, expression_kind, Expr, {
    Expr::Const(_) => "expression constant",
    Expr::Load(_) => "expression load",
    Expr::Unary(UnaryOp::Not, _) => "expression !",
    Expr::Unary(UnaryOp::Negate, _) => "expression unary -",
    Expr::Unary(UnaryOp::Complement, _) => "expression ~",
    Expr::Binary(BinaryOp::Add, ..) => "expression +",
    Expr::Binary(BinaryOp::Sub, ..) => "expression -",
    Expr::Binary(BinaryOp::Mul, ..) => "expression *",
    Expr::Binary(BinaryOp::Div, ..) => "expression /",
    Expr::Binary(BinaryOp::Rem, ..) => "expression %",
    Expr::Binary(BinaryOp::BitAnd, ..) => "expression &",
    Expr::Binary(BinaryOp::BitXor, ..) => "expression ^",
    Expr::Binary(BinaryOp::BitOr, ..) => "expression |",
    Expr::Binary(BinaryOp::ShiftLeft, ..) => "expression <<",
    Expr::Binary(BinaryOp::ShiftRight, ..) => "expression >>",
    Expr::Binary(BinaryOp::Lt, ..) => "expression <",
    Expr::Binary(BinaryOp::Le, ..) => "expression <=",
    Expr::Binary(BinaryOp::Gt, ..) => "expression >",
    Expr::Binary(BinaryOp::Ge, ..) => "expression >=",
    Expr::Binary(BinaryOp::Eq, ..) => "expression ==",
    Expr::Binary(BinaryOp::Ne, ..) => "expression !=",
    Expr::Binary(BinaryOp::And, ..) => "expression &&",
    Expr::Binary(BinaryOp::Or, ..) => "expression ||",
    Expr::Conditional(..) => "expression conditional",
    Expr::Len(_) => "expression len",
    Expr::Probe(Probe::Full, _) => "expression full",
    Expr::Probe(Probe::NotFull, _) => "expression nfull",
    Expr::Probe(Probe::Empty, _) => "expression empty",
    Expr::Probe(Probe::NotEmpty, _) => "expression nempty",
    Expr::Poll { random: false, .. } => "expression poll",
    Expr::Poll { random: true, .. } => "expression random poll",
    Expr::Timeout => "expression timeout",
    Expr::NonProgress => "expression np_",
    Expr::Enabled(_) => "expression enabled",
    Expr::PcValue(_) => "expression pc_value",
    Expr::Priority(_) => "expression priority",
    Expr::SelfPid => "expression _pid",
    Expr::ProcessCount => "expression _nr_pr",
    Expr::LastPid => "expression _last",
    Expr::At { pid: None, .. } => "expression P@label",
    Expr::At { pid: Some(_), .. } => "expression P[pid]@label",
    Expr::Remote { pid: None, .. } => "expression P:variable",
    Expr::Remote { pid: Some(_), .. } => "expression P[pid]:variable",
    Expr::Any { .. } => "expression any value",
    Expr::NewPid => "expression number of the new process",
});

kinds!(pub(super) PATTERNS, pattern_kind, Pattern, {
    Pattern::Match(Expr::Const(_)) => "pattern constant",
    Pattern::Match(_) => "pattern eval",
    Pattern::Bind(Place { scope: Scope::Nowhere, .. }) => "pattern _",
    Pattern::Bind(Place { scope: Scope::Hidden, .. }) => "pattern hidden variable",
    Pattern::Bind(Place { scope: Scope::Global, .. }) => "pattern global variable",
    Pattern::Bind(Place { scope: Scope::Local, .. }) => "pattern local variable",
});

kinds!(pub(super) SCOPES, scope_kind, Scope, {
    Scope::Global => "place global",
    Scope::Hidden => "place hidden",
    Scope::Local => "place local",
    Scope::Nowhere => "place nowhere",
});

kinds!(pub(super) VALUE_KINDS, value_kind, ValueKind, {
    ValueKind::Number => "type number",
    ValueKind::Boolean => "type bool",
    ValueKind::Symbol(_) => "type mtype",
    ValueKind::Channel => "type chan",
    ValueKind::Process => "type pid",
});

kinds!(pub(super) SIZES, size_kind, Type, {
    Type { bits: 1, .. } => "type of 1 bit",
    Type { bits: 2..=7, .. } => "type of 2 to 7 bits",
    Type { bits: 8, .. } => "type of 8 bits",
    Type { bits: 16, .. } => "type of 16 bits",
    Type { bits: 32, .. } => "type of 32 bits",
    Type { .. } => "type of another size",
});

kinds!(pub(super) CODES, code_kind, CodeKind, {
    CodeKind::Process => "code of a process",
    CodeKind::Procedure => "code of a procedure",
    CodeKind::Observer => "code of an observer",
});

kinds!(pub(super) INITS, init_kind, Init, {
    Init::Set { hidden: false, .. } => "initial value",
    Init::Set { hidden: true, .. } => "initial value of a hidden variable",
    Init::Channel { hidden: false, .. } => "initial channel",
    Init::Channel { hidden: true, .. } => "initial hidden channel",
});

kinds!(pub(super) FORMULAS, formula_kind, Ltl, {
    Ltl::Atom(_) => "ltl atom",
    Ltl::Not(_) => "ltl !",
    Ltl::And(..) => "ltl &&",
    Ltl::Or(..) => "ltl ||",
    Ltl::Implies(..) => "ltl ->",
    Ltl::Equivalent(..) => "ltl <->",
    Ltl::Next(_) => "ltl X",
    Ltl::Always(_) => "ltl []",
    Ltl::Eventually(_) => "ltl <>",
    Ltl::Until(..) => "ltl U",
    Ltl::Release(..) => "ltl V",
    Ltl::WeakUntil(..) => "ltl W",
});

/// What is no variant of anything, but decides which code runs.
pub(super) const OPTIONS: &[&str] = &[
    "command assign several",
    "channel of capacity 0",
    "channel of capacity 1",
    "channel of more",
    "message of 1 field",
    "message of more fields",
    "poll with fewer fields",
    "array indexed by a constant",
    "array indexed by a variable",
    "record in an array",
    "edge atomic",
    "edge of an escape",
    "location end",
    "location progress",
    "location accept",
    "process deterministic",
    "process provided",
    "process with parameters",
    "process with its own channel",
    "several processes of one code",
    "priorities",
    "remembers the last process",
    "a process that feels a claim",
    "never claim",
    "several claims or formulas",
    "trace",
    "notrace",
    "exclusive receive",
    "exclusive send",
    "call of a d_step with a choice",
];
