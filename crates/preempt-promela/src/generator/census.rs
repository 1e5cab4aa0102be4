//! What a Promela text exercises: the words and signs of the lexer, the directives, and every kind of node that the
//! parser can make, with each of its options. A test fails on what no seed produces.
//!
//! As in the census of models, the list of kinds is the `match` that tells them apart: a new variant or field of the
//! tree does not compile until it is counted.

mod kinds;

use kinds::*;

use crate::ast::{
    Claim, Declaration, Expr, ExprKind, Initializer, Item, Ltl, Process, Program, ReceiveArg, RefPart, Stmt,
    StmtKind, Temporal, TraceAssertion, TypeName, Typedef, VarRef, Variable,
};
use crate::lexer::lex;
use crate::preprocess::DIRECTIVES;
use crate::token::{Keyword, Punct, Token, TokenKind};
use preempt_core::{Budget, SourceId};
pub use preempt_model::generator::census::Census;

/// What a tree does not tell apart, or what stands in a field that may be empty.
const FORMS: &[&str] = &[
    "active",
    "active [n]",
    "process priority",
    "process provided",
    "parameters",
    "parameters none",
    "parameters several",
    "several variables in a declaration",
    "array",
    "unsigned with width",
    "mtype named set",
    "mtype without =",
    "typedef in a typedef",
    "never without a name",
    "never with a name",
    "ltl without a name",
    "ltl with a name",
    "notrace",
    "label",
    "label before nothing",
    "label end",
    "label progress",
    "label accept",
    "index",
    "field of a record",
    "send a(b)",
    "receive a(b)",
    "receive (a, b)",
    "received _",
    "assert without parentheses",
    "a line end for a semicolon",
    "macro with arguments",
    "macro with any number of arguments",
    "returned value of an inline",
];

/// The words of `ltl`, which are names elsewhere.
const LTL_WORDS: &[&str] = &[
    "always",
    "eventually",
    "next",
    "X",
    "U",
    "until",
    "stronguntil",
    "V",
    "release",
    "W",
    "weakuntil",
    "implies",
    "equivalent",
];

/// Every feature that a text can have; `refused` ones are errors by themselves.
pub fn features() -> Vec<&'static str> {
    let lists = [
        ITEMS,
        TYPES,
        FIELDS,
        PARAMETERS,
        VISIBILITIES,
        INITIALIZERS,
        PROCESSES,
        STATEMENTS,
        ARGUMENTS,
        EXPRESSIONS,
        FORMS,
        LTL_WORDS,
    ];
    let words = Keyword::ALL.iter().map(|keyword| keyword.text());
    let signs = Punct::ALL.iter().map(|sign| sign.text());
    let mut all = lists.concat();
    all.extend(words.chain(signs).chain(DIRECTIVES.iter().copied()));
    all.retain(|feature| !REFUSED.contains(feature));
    all.sort_unstable();
    all.dedup();
    all
}

/// Embedded C, and what an error is by itself or needs a second file.
const REFUSED: &[&str] =
    &["c_code", "c_decl", "c_expr", "c_state", "c_track", "message field unsigned", "error", "include"];

/// Adds the features of one text, each once.
pub fn count(text: &str, program: &Program, census: &mut Census) {
    let mut met = Met { features: Vec::new() };
    met.tokens(&lex(text, SourceId(0), &Budget::unlimited()));
    program.items.iter().for_each(|item| met.item(item));
    met.features.sort_unstable();
    met.features.dedup();
    for feature in met.features {
        *census.entry(feature).or_default() += 1;
    }
}

struct Met {
    features: Vec<&'static str>,
}

impl Met {
    fn note(&mut self, is: bool, feature: &'static str) {
        if is {
            self.features.push(feature);
        }
    }

    fn tokens(&mut self, tokens: &[Token]) {
        for (at, token) in tokens.iter().enumerate() {
            let after = |steps: usize| tokens.get(at + steps).map(|token| &token.kind);
            let sign = |steps: usize, punct: Punct| after(steps) == Some(&TokenKind::Punct(punct));
            let name = |steps: usize| matches!(after(steps), Some(TokenKind::Ident(_)));
            match &token.kind {
                TokenKind::Ident(word) => {
                    let keyword = Keyword::from_text(word);
                    self.features.extend(keyword.map(Keyword::text));
                    self.features.extend(LTL_WORDS.iter().copied().filter(|known| *known == &**word));
                    self.note(keyword == Some(Keyword::Mtype) && sign(1, Punct::LBrace), "mtype without =");
                    let bare = keyword == Some(Keyword::Assert) && !sign(1, Punct::LParen);
                    self.note(bare, "assert without parentheses");
                    self.note(keyword == Some(Keyword::Return), "returned value of an inline");
                    let labels = keyword.is_none() && sign(1, Punct::Colon) && sign(2, Punct::Semi);
                    self.note(labels, "label before nothing");
                    let expanded = matches!(&**word, "low" | "pick") && sign(1, Punct::LParen);
                    self.note(expanded, "macro with arguments");
                    let any = &**word == "sum" && sign(1, Punct::LParen);
                    self.note(any, "macro with any number of arguments");
                }
                TokenKind::Punct(punct) => {
                    self.features.push(punct.text());
                    let sends = matches!(punct, Punct::Not | Punct::NotNot);
                    let receives = matches!(punct, Punct::Query | Punct::QueryQuery);
                    self.note(
                        sends && name(1) && sign(2, Punct::LParen) && !sign(1, Punct::LParen),
                        "send a(b)",
                    );
                    self.note(receives && name(1) && sign(2, Punct::LParen), "receive a(b)");
                    self.note(receives && sign(1, Punct::LParen), "receive (a, b)");
                    if *punct == Punct::Hash
                        && token.newline
                        && let Some(TokenKind::Ident(word)) = after(1)
                    {
                        self.features.extend(DIRECTIVES.iter().copied().filter(|known| *known == &**word));
                    }
                }
                _ => {}
            }
            let ends = matches!(token.kind, TokenKind::Number(_) | TokenKind::Punct(Punct::RParen));
            let next = tokens.get(at + 1).is_some_and(|next| next.newline && next.ident().is_some());
            self.note(ends && next, "a line end for a semicolon");
        }
    }

    fn item(&mut self, item: &Item) {
        self.features.push(item_kind(item));
        match item {
            Item::Mtype(mtype) => self.note(mtype.set.is_some(), "mtype named set"),
            Item::Typedef(Typedef { name: _, fields }) => {
                for field in fields {
                    self.note(matches!(field.ty, TypeName::Record(_)), "typedef in a typedef");
                    self.declaration(field);
                }
            }
            Item::Variables(declaration) => self.declaration(declaration),
            Item::Process(process) => self.process(process),
            Item::Never(Claim { name, body, span: _, end: _ }) => {
                self.note(name.is_some(), "never with a name");
                self.note(name.is_none(), "never without a name");
                self.statements(body);
            }
            Item::Trace(TraceAssertion { negated, body, span: _, end: _ }) => {
                self.note(*negated, "notrace");
                self.statements(body);
            }
            Item::Ltl(Ltl { name, formula, span: _ }) => {
                self.note(name.is_some(), "ltl with a name");
                self.note(name.is_none(), "ltl without a name");
                self.expression(formula);
            }
        }
    }

    fn process(&mut self, process: &Process) {
        let Process { name: _, kind, active, parameters, priority, provided, body, end: _ } = process;
        self.features.push(process_kind(kind));
        self.note(matches!(active, Some(None)), "active");
        self.note(matches!(active, Some(Some(_))), "active [n]");
        self.note(priority.is_some(), "process priority");
        self.note(provided.is_some(), "process provided");
        self.note(parameters.is_empty(), "parameters none");
        self.note(!parameters.is_empty(), "parameters");
        self.note(parameters.len() > 1, "parameters several");
        for parameter in parameters {
            self.features.push(parameter_kind(&parameter.ty));
            self.declaration(parameter);
        }
        provided.iter().for_each(|expr| self.expression(expr));
        self.statements(body);
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let Declaration { visibility, ty, variables, span: _ } = declaration;
        self.features.push(visibility_kind(visibility));
        self.features.push(type_kind(ty));
        self.note(variables.len() > 1, "several variables in a declaration");
        for Variable { name: _, width, length, init } in variables {
            self.note(width.is_some(), "unsigned with width");
            self.note(length.is_some(), "array");
            self.features.push(initializer_kind(init));
            length.iter().for_each(|expr| self.expression(expr));
            match init {
                None => {}
                Some(Initializer::Value(value)) => self.expression(value),
                Some(Initializer::List(values)) => values.iter().for_each(|value| self.expression(value)),
                Some(Initializer::Channel { capacity, fields, span: _ }) => {
                    self.expression(capacity);
                    self.features.extend(fields.iter().map(field_kind));
                }
            }
        }
    }

    fn statements(&mut self, statements: &[Stmt]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        let Stmt { labels, kind, span: _ } = statement;
        self.features.push(statement_kind(kind));
        for label in labels {
            self.note(true, "label");
            self.note(label.text.starts_with("end"), "label end");
            self.note(label.text.starts_with("progress"), "label progress");
            self.note(label.text.starts_with("accept"), "label accept");
        }
        match kind {
            StmtKind::Declare(declaration) => self.declaration(declaration),
            StmtKind::Exclusive { channels, .. } => channels.iter().for_each(|it| self.reference(it)),
            StmtKind::Guard(expr) | StmtKind::Assert(expr) | StmtKind::Printm(expr) => self.expression(expr),
            StmtKind::Else | StmtKind::Break | StmtKind::Goto(_) => {}
            StmtKind::Assign { target, value } => {
                self.reference(target);
                self.expression(value);
            }
            StmtKind::Increment(target) | StmtKind::Decrement(target) => self.reference(target),
            StmtKind::Printf { format: _, args } => args.iter().for_each(|arg| self.expression(arg)),
            StmtKind::Send { channel, args, .. } => {
                self.reference(channel);
                args.iter().for_each(|arg| self.expression(arg));
            }
            StmtKind::Receive { channel, args, .. } => self.received(channel, args),
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter().for_each(|option| self.statements(option));
            }
            StmtKind::Atomic(body) | StmtKind::DStep(body) | StmtKind::Block { body, .. } => {
                self.statements(body);
            }
            StmtKind::Unless { main, escape } => {
                self.statement(main);
                self.statement(escape);
            }
            StmtKind::ForRange { variable, from, to, body } => {
                self.reference(variable);
                self.expression(from);
                self.expression(to);
                self.statements(body);
            }
            StmtKind::ForIn { variable, container, body } => {
                self.reference(variable);
                self.reference(container);
                self.statements(body);
            }
            StmtKind::Select { variable, from, to } => {
                self.reference(variable);
                self.expression(from);
                self.expression(to);
            }
            StmtKind::SetPriority { pid, priority } => {
                self.expression(pid);
                self.expression(priority);
            }
        }
    }

    fn received(&mut self, channel: &VarRef, args: &[ReceiveArg]) {
        self.reference(channel);
        for arg in args {
            self.features.push(argument_kind(arg));
            match arg {
                ReceiveArg::Ref(reference) => {
                    self.note(reference.parts[0].name.text == "_", "received _");
                    self.reference(reference);
                }
                ReceiveArg::Eval(expr) => self.expression(expr),
                ReceiveArg::Constant(..) => {}
            }
        }
    }

    fn reference(&mut self, reference: &VarRef) {
        self.note(reference.parts.len() > 1, "field of a record");
        for RefPart { name: _, index } in &reference.parts {
            self.note(index.is_some(), "index");
            index.iter().for_each(|index| self.expression(index));
        }
    }

    fn expression(&mut self, expr: &Expr) {
        self.features.push(expression_kind(&expr.kind));
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Timeout | ExprKind::NonProgress => {}
            ExprKind::Ref(reference) | ExprKind::Len(reference) | ExprKind::Probe(_, reference) => {
                self.reference(reference);
            }
            ExprKind::Unary(_, one)
            | ExprKind::Enabled(one)
            | ExprKind::PcValue(one)
            | ExprKind::GetPriority(one) => self.expression(one),
            ExprKind::Binary(_, one, two) => {
                self.expression(one);
                self.expression(two);
            }
            ExprKind::Conditional(one, two, three) => {
                [one, two, three].into_iter().for_each(|it| self.expression(it));
            }
            ExprKind::Run { args, .. } => args.iter().for_each(|arg| self.expression(arg)),
            ExprKind::Poll { channel, args, .. } => self.received(channel, args),
            ExprKind::RemoteLabel { pid, .. } => pid.iter().for_each(|pid| self.expression(pid)),
            ExprKind::RemoteVariable { pid, variable, .. } => {
                pid.iter().for_each(|pid| self.expression(pid));
                self.reference(variable);
            }
            ExprKind::Temporal(temporal) => match temporal {
                Temporal::Always(one) | Temporal::Eventually(one) | Temporal::Next(one) => {
                    self.expression(one);
                }
                Temporal::Until(one, two)
                | Temporal::Release(one, two)
                | Temporal::WeakUntil(one, two)
                | Temporal::Implies(one, two)
                | Temporal::Equivalent(one, two) => {
                    self.expression(one);
                    self.expression(two);
                }
            },
        }
    }
}
