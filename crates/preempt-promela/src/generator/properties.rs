//! Claims, trace assertions and formulas.

use super::scope::Shape;
use super::{Generator, Line, Whose};

impl Generator {
    pub(super) fn properties(&mut self) {
        if self.plain {
            return;
        }
        if self.one_in(5) {
            self.claim();
        }
        if self.one_in(8) {
            self.trace();
        }
        for number in 0..self.pick(&[0, 0, 0, 1, 2]) {
            self.whose = Whose::Formula;
            let formula = self.formula(3);
            let name = if self.one_in(4) { String::new() } else { format!("p{number} ") };
            let end = if self.one_in(4) { ";" } else { "" };
            self.lines.push(Line::new(format!("ltl {name}{{ {formula}{end} }}")));
        }
    }

    fn claim(&mut self) {
        self.whose = Whose::Claim;
        let name = if self.one_in(2) { "never {" } else { "never watching {" };
        let conditions: Vec<String> = (0..4).map(|_| self.condition(2)).collect();
        let [one, two, three, four] = &conditions[..] else { return };
        let inside = match self.below(5) {
            0 => vec![
                Line::new("start:"),
                Line::block(
                    "if",
                    vec![
                        Line::new(format!(":: ({one}) -> goto accept_seen")),
                        Line::new(":: true -> goto start"),
                    ],
                    "fi;",
                ),
                Line::new("accept_seen:"),
                Line::block("if", vec![Line::new(format!(":: ({two}) -> goto accept_seen"))], "fi;"),
            ],
            1 => vec![
                Line::block(
                    "do",
                    vec![Line::new(format!(":: ({one}) -> break")), Line::new(":: else")],
                    "od;",
                ),
                Line::new(format!("({two});")),
            ],
            2 => vec![
                Line::new(format!("{one};")),
                Line::new("skip;"),
                Line::block(
                    "accept: do",
                    vec![
                        Line::new(format!(":: ({three}) -> ({four})")),
                        Line::new(format!(":: atomic {{ ({two}); ({one}) }}")),
                    ],
                    "od",
                ),
            ],
            3 => vec![Line::block(
                "do",
                vec![
                    Line::new(format!(":: assert({one} || true)")),
                    Line::new(format!(":: ({two}) -> progress: ({three})")),
                    Line::new(format!(":: d_step {{ ({two}) -> assert({three} || ({four}) || true) }}")),
                ],
                "od",
            )],
            _ => vec![
                Line::block(
                    "if",
                    vec![Line::new(format!(":: ({one})")), Line::new(format!(":: !({two})"))],
                    "fi;",
                ),
                Line::block(
                    "{",
                    vec![Line::block(
                        "do",
                        vec![Line::new(format!(":: ({three})")), Line::new(":: skip; accept: skip")],
                        "od",
                    )],
                    "} unless { false };",
                ),
            ],
        };
        self.lines.push(Line::block(name, inside, "}"));
    }

    /// About one channel, which must have a name.
    fn trace(&mut self) {
        self.whose = Whose::Claim;
        let channels: Vec<_> =
            self.globals.iter().filter(|it| it.fixed && it.length.is_none()).cloned().collect();
        if channels.is_empty() {
            return;
        }
        let channel = self.pick(&channels);
        let Shape::Channel(message) = channel.shape else { return };
        let word = self.pick(&["trace", "notrace"]);
        let options = (0..1 + self.below(3)).map(|_| {
            let event = self.observed_message(&channel.name, message);
            Line::new(format!(":: {event}"))
        });
        let mut options: Vec<Line> = options.collect();
        if self.one_in(3) {
            options.push(Line::new(":: break"));
        }
        let mut inside = vec![Line::block("do", options, "od")];
        if self.one_in(3) {
            let event = self.observed_message(&channel.name, message);
            inside.insert(0, Line::new(format!("{event};")));
        }
        self.lines.push(Line::block(format!("{word} {{"), inside, "}"));
    }

    fn formula(&mut self, depth: usize) -> String {
        if depth == 0 || self.one_in(5) {
            return format!("({})", self.condition(1));
        }
        let left = self.formula(depth - 1);
        match self.below(12) {
            0 => format!("{} {left}", self.pick(&["[]", "always"])),
            1 => format!("{} {left}", self.pick(&["<>", "eventually"])),
            2 => format!("{} {left}", self.pick(&["X", "next"])),
            3 => format!("!{left}"),
            number => {
                let right = self.formula(depth - 1);
                let word = match number {
                    4 => self.pick(&["U", "until", "stronguntil"]),
                    5 => self.pick(&["V", "release"]),
                    6 => self.pick(&["W", "weakuntil"]),
                    7 => self.pick(&["->", "implies"]),
                    8 => self.pick(&["<->", "equivalent"]),
                    9 | 10 => "&&",
                    _ => "||",
                };
                format!("({left} {word} {right})")
            }
        }
    }
}
