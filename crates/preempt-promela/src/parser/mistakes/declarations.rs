//! Mistakes at the outermost level and in declarations.

use preempt_core::diagnostic::nearest;
use preempt_core::{Diagnostic, Span};

use super::super::cursor::Kind;
use super::super::{Parser, Reported};
use crate::ast::Name;
use crate::token::{Keyword, Punct};

/// What starts something at the outermost level.
const ITEMS: &[Keyword] = &[
    Keyword::Active,
    Keyword::Proctype,
    Keyword::DProctype,
    Keyword::Init,
    Keyword::Never,
    Keyword::Ltl,
    Keyword::Trace,
    Keyword::Notrace,
    Keyword::Typedef,
    Keyword::Inline,
    Keyword::Hidden,
    Keyword::Show,
    Keyword::Local,
    Keyword::Mtype,
];

const TYPES: &[Keyword] = &[
    Keyword::Bit,
    Keyword::Bool,
    Keyword::Byte,
    Keyword::Pid,
    Keyword::Short,
    Keyword::Int,
    Keyword::Unsigned,
    Keyword::Mtype,
    Keyword::Chan,
];

impl Parser<'_> {
    pub(in crate::parser) fn not_an_item(&mut self) -> Reported {
        let span = self.span();
        let error = match self.peek() {
            Kind::P(Punct::RBrace) => Diagnostic::error(span, "this `}` closes nothing"),
            Kind::K(keyword @ (Keyword::Fi | Keyword::Od)) => {
                Diagnostic::error(span, format!("this `{}` closes nothing", keyword.text()))
                    .hint("is there a `}` too many above?")
            }
            Kind::Ident => return self.word_outside(span),
            Kind::P(Punct::LBrace) => Diagnostic::error(span, "a block can stand only within a process")
                .hint("did you mean init { ... }?"),
            Kind::K(_) => {
                let message = format!("{} can stand only within a process", self.found());
                Diagnostic::error(span, message).hint("put statements into `init { ... }` or a proctype")
            }
            _ => return self.unexpected("a declaration or a process"),
        };
        self.report(error)
    }

    /// A name at the outermost level.
    fn word_outside(&mut self, span: Span) -> Reported {
        let word = self.ident().unwrap_or_else(|| "".into());
        let error = match (&*word, self.raw(1)) {
            ("const", _) => Diagnostic::error(span, "Promela has no `const`")
                .hint("name a constant by a macro: #define N 3"),
            ("void" | "func" | "function" | "def" | "fn", _) => {
                Diagnostic::error(span, "Promela has no functions")
                    .hint("use `inline name(parameters) { ... }` or a `proctype`")
            }
            ("process" | "thread" | "proc" | "task", _) => {
                Diagnostic::error(span, format!("a process is declared with `proctype`, not `{word}`"))
            }
            ("struct" | "record" | "class", _) => Diagnostic::error(span, format!("Promela has no `{word}`"))
                .hint("use `typedef name { fields }`"),
            ("enum", _) => Diagnostic::error(span, "Promela has no `enum`").hint("use `mtype = { a, b }`"),
            ("import" | "include" | "define", _) => Diagnostic::error(span, format!("`{word}` needs a `#`"))
                .hint(format!("write `#{}`", if &*word == "define" { "define" } else { "include" })),
            (
                _,
                Kind::P(Punct::Assign | Punct::Inc | Punct::Dec | Punct::Not | Punct::Query | Punct::LParen),
            ) => Diagnostic::error(span, "a statement can stand only within a process")
                .hint("put it into `init { ... }` or a proctype"),
            (_, Kind::Ident) if foreign_type(&word).is_some() => return self.unknown_type(span, &word),
            (_, Kind::Ident | Kind::P(Punct::LBrace) | Kind::K(_)) => {
                match nearest(&word, ITEMS.iter().chain(TYPES).map(|k| k.text())) {
                    Some(near) => Diagnostic::error(span, format!("unknown word `{word}`"))
                        .hint(format!("did you mean `{near}`?")),
                    None => return self.unknown_type(span, &word),
                }
            }
            _ => return self.unexpected("a declaration or a process"),
        };
        self.report(error)
    }

    /// A name where a type is wanted.
    pub(in crate::parser) fn unknown_type(&mut self, span: Span, word: &str) -> Reported {
        let error = Diagnostic::error(span, format!("unknown type `{word}`"));
        let types = TYPES.iter().map(|keyword| keyword.text());
        let known = self.typedefs.iter().map(|name| &**name);
        let hint = match foreign_type(word) {
            Some(hint) => Some(hint.to_string()),
            None => nearest(word, types.chain(known)).map(|near| format!("did you mean `{near}`?")),
        };
        let error = match hint {
            Some(hint) => error.hint(hint),
            None => error.hint("a typedef must stand above its first use"),
        };
        self.report(error)
    }

    pub(in crate::parser) fn not_a_type(&mut self, what: &str) -> Reported {
        match self.ident() {
            Some(word) => self.unknown_type(self.span(), &word),
            None => self.unexpected(what),
        }
    }

    pub(in crate::parser) fn missing_parameters(&mut self, process: &Name) -> Reported {
        let message = format!("the process `{}` needs a list of parameters", process.text);
        let hint = format!("without parameters it is written `proctype {}()`", process.text);
        let error = Diagnostic::error(process.span, message).hint(hint);
        self.report(error)
    }

    pub(in crate::parser) fn not_a_parameter(&mut self, open: Span) -> Reported {
        if self.at_word("void") {
            let error =
                Diagnostic::error(self.span(), "Promela has no `void`").hint("write () for no parameters");
            return self.report(error);
        }
        if let Some(word) = self.ident() {
            if self.raw(1) == Kind::Ident {
                return self.unknown_type(self.span(), &word);
            }
            let error = Diagnostic::error(self.span(), format!("the parameter `{word}` has no type"))
                .hint(format!("write its type: byte {word}"));
            return self.report(error);
        }
        self.unexpected_with("a parameter or `)`", |error| error.label(open, "in this list"))
    }

    pub(in crate::parser) fn init_with_parentheses(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "`init` has no parameters").hint("write `init { ... }`");
        self.report(error)
    }

    pub(in crate::parser) fn priority_after_provided(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "`priority` must stand before `provided`");
        self.report(error)
    }

    pub(in crate::parser) fn missing_body(&mut self, what: &str) -> Reported {
        self.unexpected(&format!("`{{` before the body of {what}"))
    }

    pub(in crate::parser) fn not_a_field(&mut self, name: &Name, open: Span) -> Reported {
        let text = name.text.as_str();
        match (self.peek(), self.ident()) {
            (_, Some(word)) if self.raw(1) == Kind::Ident => self.unknown_type(self.span(), &word),
            (Kind::P(Punct::Comma), _) => {
                let error = Diagnostic::error(self.span(), "fields are separated by `;`");
                self.report(error)
            }
            _ => self.unexpected_with(&format!("a field of `{text}`, `;` or `}}`"), |error| {
                error.label(open, format!("in `{text}`, which starts here"))
            }),
        }
    }

    pub(in crate::parser) fn type_after_comma(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "after `,` another variable of the same type is expected")
            .hint("separate declarations, and parameters of different declarations, by `;`");
        self.report(error)
    }

    pub(in crate::parser) fn length_before_name(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "an array's length stands behind its name")
            .hint("write byte a[3]");
        self.report(error)
    }

    pub(in crate::parser) fn missing_length(&mut self, name: &Name) -> Reported {
        let error = Diagnostic::error(self.span(), format!("the array `{}` needs a length", name.text))
            .hint(format!("write {}[3]", name.text));
        self.report(error)
    }

    pub(in crate::parser) fn of_without_assignment(&mut self, name: &Name) -> Reported {
        let message = format!("the channel `{}` needs `=` before its capacity", name.text);
        let error = Diagnostic::error(self.span(), message)
            .hint(format!("write chan {} = [2] of {{ byte }}", name.text));
        self.report(error)
    }

    pub(in crate::parser) fn channel_without_brackets(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "a channel's capacity stands in brackets")
            .hint("write chan c = [2] of { byte }");
        self.report(error)
    }

    pub(in crate::parser) fn channel_type_without_braces(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "the types of a channel's messages stand in braces")
            .hint("write chan c = [2] of { byte, mtype }");
        self.report(error)
    }

    pub(in crate::parser) fn message_goes_on(&mut self) -> Reported {
        if self.peek() == Kind::Ident {
            let error = Diagnostic::error(self.span(), "a message's fields have types but no names")
                .hint("write { byte, int }");
            return self.report(error);
        }
        self.unexpected("`,` or `}` after the type of a field")
    }

    pub(in crate::parser) fn local_mtype(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "mtype names are declared outside of processes")
            .hint("move the declaration above the process");
        self.report(error)
    }

    pub(in crate::parser) fn typed_inline_parameter(&mut self) -> Reported {
        let error = Diagnostic::error(self.span(), "the parameters of an inline have no types")
            .hint("write only their names: they stand for the arguments' text");
        self.report(error)
    }
}

/// What to use instead of a type of another language.
fn foreign_type(word: &str) -> Option<&'static str> {
    Some(match word {
        "char" | "uint8" | "u8" | "uint8_t" => "use `byte` (0 to 255)",
        "long" | "integer" | "int32" | "i32" | "int32_t" | "int64" | "uint" | "u32" => "use `int` (32 bits)",
        "float" | "double" | "real" => "Promela has only whole numbers",
        "boolean" | "Bool" | "BOOL" => "use `bool`",
        "string" | "String" => "Promela has no strings; name values by an mtype",
        "channel" | "Chan" => "use `chan`",
        "void" => "Promela has no functions; use an inline",
        _ => return None,
    })
}
