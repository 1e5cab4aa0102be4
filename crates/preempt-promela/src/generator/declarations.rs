//! Everything that is declared: macros, symbols, types, variables, channels, inlines.

use super::scope::{Message, Record, Shape, Symbols, Variable};
use super::{Generator, Line, Whose};

impl Generator {
    pub(super) fn defines(&mut self) {
        self.macros = self.one_in(3) && !self.plain;
        if !self.macros {
            return;
        }
        let n = 1 + self.below(3);
        self.lines.push(Line::new(format!("#define N {n}")));
        self.lines.push(Line::new("#define low(x) ((x) & 1)"));
        self.lines.push(Line::new("#define sum(x, ...) ((x) + (__VA_ARGS__))"));
        self.lines.push(Line::new("#define glue(a, b) a ## b"));
        self.lines.push(Line::new("#define spelled(x) # x"));
        let chosen = Line::new("#define pick(a, b) (a)");
        let other = Line::new("#define pick(a, b) (b)");
        let condition = self.pick(&["#if N > 1", "#ifdef N", "#ifndef N", "#if defined(N) && !0"]);
        let otherwise = self.pick(&["#else", "#elif N == 1 || 1"]);
        self.lines.push(Line::block(condition, vec![chosen, Line::new(otherwise), other], "#endif"));
        if self.one_in(2) {
            self.lines.push(Line::new("#define gone 1"));
            self.lines.push(Line::new("#undef gone"));
            let said = ["#pragma once", "#ident \"a name\"", "#warning a word", "#line 20"];
            let said = self.pick(&said);
            self.lines.push(Line::new(said));
        }
    }

    pub(super) fn symbol_sets(&mut self) {
        for number in 0..1 + self.below(2) {
            let names: Vec<String> = (0..1 + self.below(3)).map(|_| self.fresh("s")).collect();
            let set = (number > 0).then(|| "set".to_string());
            let between = self.pick(&[", ", " ", ", , "]);
            let list = names.join(between);
            let bare = self.one_in(3);
            self.lines.push(Line::new(match (&set, bare) {
                (Some(set), _) => format!("mtype:{set} = {{ {list} }};"),
                (None, true) => format!("mtype {{ {list} }}"),
                (None, false) => format!("mtype = {{ {list} }}"),
            }));
            self.symbols.push(Symbols { set, names });
        }
    }

    /// The type of a number, and whether it has many values.
    fn number_type(&mut self) -> (&'static str, bool) {
        self.pick(&[
            ("bit", false),
            ("bool", false),
            ("byte", true),
            ("byte", true),
            ("pid", true),
            ("short", true),
            ("int", true),
        ])
    }

    fn symbol_type(&mut self) -> (String, Shape) {
        let number = self.below(self.symbols.len());
        let name = match &self.symbols[number].set {
            Some(set) => format!("mtype:{set}"),
            None => "mtype".into(),
        };
        (name, Shape::Symbol(number))
    }

    pub(super) fn typedefs(&mut self) {
        for _ in 0..self.pick(&[0, 0, 1, 2]) {
            let name = self.fresh("T");
            let mut fields = Vec::new();
            let mut inside = Vec::new();
            for _ in 0..1 + self.below(3) {
                let field = self.fresh("f");
                let (text, shape, length) = match self.below(8) {
                    0 => (format!("unsigned {field} : 2"), Shape::Number { wide: false }, None),
                    1 => {
                        let (ty, shape) = self.symbol_type();
                        (format!("{ty} {field}"), shape, None)
                    }
                    2 if !self.records.is_empty() => {
                        let number = self.below(self.records.len());
                        let length = self.one_in(2).then_some(2);
                        let ty = self.records[number].name.clone();
                        (format!("{ty} {}", array(&field, length)), Shape::Record(number), length)
                    }
                    _ => {
                        let (ty, wide) = self.number_type();
                        let length = self.one_in(3).then(|| 2 + self.below(2));
                        let value = if self.one_in(4) { " = 1" } else { "" };
                        (format!("{ty} {}{value}", array(&field, length)), Shape::Number { wide }, length)
                    }
                };
                let end = self.pick(&[";", ";", ""]);
                inside.push(Line::new(format!("{text}{end}")));
                fields.push(Variable { name: field, shape, length, fixed: false });
            }
            self.lines.push(Line::block(format!("typedef {name} {{"), inside, "};"));
            self.records.push(Record { name, fields });
        }
    }

    /// Some programs have no channels at all: not every engine takes them.
    pub(super) fn message_types(&mut self) {
        if self.one_in(6) {
            return;
        }
        for number in 0..1 + self.below(2) {
            let (mut types, mut fields) = (Vec::new(), Vec::new());
            for _ in 0..1 + self.below(3) {
                let (ty, shape) = match self.below(8) {
                    0 | 1 => self.symbol_type(),
                    2 if !self.records.is_empty() => {
                        let record = self.below(self.records.len());
                        (self.records[record].name.clone(), Shape::Record(record))
                    }
                    // Channels are sent over channels whose type is known already.
                    3 if number > 0 => ("chan".into(), Shape::Channel(0)),
                    _ => {
                        let (ty, wide) = self.number_type();
                        (ty.into(), Shape::Number { wide })
                    }
                };
                types.push(ty);
                fields.push(shape);
            }
            let capacity = self.pick(&[0, 1, 1, 2, 3]);
            self.messages.push(Message { capacity, types, fields });
        }
    }

    pub(super) fn global_variables(&mut self) {
        self.whose = Whose::Beginning;
        for _ in 0..1 + self.below(3) {
            let (text, variable) = self.variable("g");
            let visibility = if self.plain {
                ""
            } else {
                self.pick(&["", "", "", "", "", "", "show ", "local ", "hidden "])
            };
            self.lines.push(Line::new(format!("{visibility}{text};")));
            self.globals.push(variable);
        }
        if self.one_in(3) {
            let (one, two) = (self.fresh("g"), self.fresh("g"));
            self.lines.push(Line::new(format!("byte {one}, {two} = 1;")));
            for name in [one, two] {
                let shape = Shape::Number { wide: true };
                self.globals.push(Variable { name, shape, length: None, fixed: false });
            }
        }
        for message in 0..self.messages.len() {
            let (text, variable) = self.made_channel("c", message);
            let hidden = if self.one_in(20) && !self.plain { "hidden " } else { "" };
            self.lines.push(Line::new(format!("{hidden}{text};")));
            self.globals.push(variable);
        }
        if self.one_in(3) && !self.messages.is_empty() {
            let (text, variable) = self.unmade_channel("d");
            self.lines.push(Line::new(format!("{text};")));
            self.globals.push(variable);
        }
    }

    /// A declaration without its semicolon. Its value is a constant, or made of what was declared before.
    pub(super) fn variable(&mut self, prefix: &str) -> (String, Variable) {
        let name = self.fresh(prefix);
        let (text, shape, length) = match self.below(10) {
            0 => {
                let value = if self.one_in(2) { " = 2" } else { "" };
                let bits = self.pick(&[1, 2, 2, 3, 9]);
                (format!("unsigned {name} : {bits}{value}"), Shape::Number { wide: bits > 2 }, None)
            }
            1 => {
                let (ty, shape) = self.symbol_type();
                let Shape::Symbol(set) = shape else { return self.variable(prefix) };
                let value = if self.one_in(2) { format!(" = {}", self.symbol(set)) } else { String::new() };
                (format!("{ty} {name}{value}"), shape, None)
            }
            2 | 3 if !self.records.is_empty() => {
                let record = self.below(self.records.len());
                let length = self.one_in(4).then_some(2);
                (
                    format!("{} {}", self.records[record].name, array(&name, length)),
                    Shape::Record(record),
                    length,
                )
            }
            4 | 5 => {
                let (ty, wide) = self.number_type();
                let length = 2 + self.below(2);
                let value = self.pick(&["", "", " = 1", " = { 1, 2 }", " = { 1, 0, 1 }"]);
                let value = if value.matches(',').count() >= length { "" } else { value };
                (format!("{ty} {name}[{length}]{value}"), Shape::Number { wide }, Some(length))
            }
            _ => {
                let (ty, wide) = self.number_type();
                let value = match self.below(4) {
                    0 => format!(" = {}", self.constant()),
                    1 if prefix == "g" => format!(" = ({}) & 3", self.value(1)),
                    _ => String::new(),
                };
                (format!("{ty} {name}{value}"), Shape::Number { wide }, None)
            }
        };
        (text, Variable { name, shape, length, fixed: false })
    }

    pub(super) fn made_channel(&mut self, prefix: &str, message: usize) -> (String, Variable) {
        let name = self.fresh(prefix);
        let length = self.one_in(6).then_some(2);
        let Message { capacity, types, .. } = self.messages[message].clone();
        let text = format!("chan {} = [{capacity}] of {{ {} }}", array(&name, length), types.join(", "));
        (text, Variable { name, shape: Shape::Channel(message), length, fixed: true })
    }

    /// A variable for a channel, which holds none at first.
    pub(super) fn unmade_channel(&mut self, prefix: &str) -> (String, Variable) {
        let name = self.fresh(prefix);
        let message = self.below(self.messages.len());
        (
            format!("chan {name}"),
            Variable { name, shape: Shape::Channel(message), length: None, fixed: false },
        )
    }

    /// `inline f(a, b) { a = b }`, and one that returns a value.
    pub(super) fn inline_definitions(&mut self) {
        self.whose = Whose::Process;
        if self.one_in(3) {
            let name = self.fresh("setting");
            let mut inside = vec![Line::new("a = (b) & 3;")];
            if self.one_in(2) {
                inside.push(Line::new("byte t = 1;"));
                inside.push(Line::new("t = b;"));
            }
            if let Some(statement) = self.receive() {
                inside.insert(self.below(2), Line::new(format!("{statement};")));
            }
            self.lines.push(Line::block(format!("inline {name}(a, b) {{"), inside, "}"));
            self.inlines.push((name, 2, false));
        }
        if self.one_in(6) {
            let name = self.fresh("next");
            self.lines.push(Line::new(format!("inline {name}(a) {{ return ((a) + 1) & 1 }}")));
            self.inlines.push((name, 1, true));
        }
        if self.one_in(6) {
            let name = self.fresh("nothing");
            self.lines.push(Line::new(format!("inline {name}() {{ skip }}")));
            self.inlines.push((name, 0, false));
        }
    }
}

fn array(name: &str, length: Option<usize>) -> String {
    match length {
        Some(length) => format!("{name}[{length}]"),
        None => name.to_string(),
    }
}
