//! Statements of every kind.

use super::scope::Shape;
use super::{Generator, Line};

impl Generator {
    /// Up to so many statements, with what is declared among them in scope until the end.
    pub(super) fn sequence(&mut self, most: usize, depth: usize) -> Vec<Line> {
        // What is repeated in a d_step must change nothing, or it might never end; and it has to be only one step.
        if self.in_d_step && self.loops > 0 {
            return vec![Line::new(self.pick(&["skip;", "printf(\"again\");", "assert(true);"]))];
        }
        let count = 1 + self.below(most);
        (0..count).map(|_| self.statement(depth)).collect()
    }

    /// One statement with its separator; `depth` is how many may stand in each other.
    pub(super) fn statement(&mut self, depth: usize) -> Line {
        if depth > 0 && self.one_in(3) {
            return self.compound(depth);
        }
        let text = self.simple();
        let end = self.pick(&[";", ";", ";", ";;", " ->", ""]);
        // Only a line end stands for a separator; a new line may begin like the rest of an expression.
        Line::new(format!("{text}{}", if end.is_empty() && !self.one_in(4) { ";" } else { end }))
    }

    fn simple(&mut self) -> String {
        let made = match self.below(26) {
            0..=4 => self.assignment(),
            5..=7 => self.send(),
            8..=10 => self.receive(),
            11 | 12 => Some(format!("({})", self.condition(2))),
            13 => Some(format!("assert({})", self.assertion())),
            14 => self.number_place(1).map(|(place, wide)| match (wide, self.one_in(2)) {
                (true, _) => format!("{place} = ({place} + 1) & 3"),
                (false, true) => format!("{place}++"),
                (false, false) => format!("{place}--"),
            }),
            15 => Some(self.print()),
            16 if self.loops > 0 => Some("break".into()),
            17 if !self.labels.is_empty() && !self.in_d_step => {
                let labels = self.labels.clone();
                Some(format!("goto {}", self.pick(&labels)))
            }
            18 => self.start(),
            19 if self.priorities => {
                Some(format!("set_priority({}, {})", self.pick(&["_pid", "0", "1"]), 1 + self.below(3)))
            }
            20 => self.inline_call(),
            21 => {
                let place = self.number_place(0).map(|(place, _)| place);
                let to = self.below(3);
                place.map(|place| format!("select ({place} : {} .. {to})", self.below(to + 1)))
            }
            22 => self.keep_channel(),
            23 => Some("assert true".into()),
            _ => Some("skip".into()),
        };
        made.unwrap_or_else(|| "skip".into())
    }

    fn assignment(&mut self) -> Option<String> {
        if self.one_in(6) {
            let (place, set) = self.any_symbol_place()?;
            return Some(format!("{place} = {}", self.symbol(set)));
        }
        let (place, wide) = self.number_place(2)?;
        let value = match self.below(10) {
            0 => self.poll(),
            1 => self.channel().map(|(channel, _)| format!("len({channel})")),
            2 => Some(self.value(2)).filter(|_| !wide),
            _ => None,
        };
        let value = value.unwrap_or_else(|| self.small_value());
        Some(format!("{place} = {value}"))
    }

    /// Most assertions hold, or every program would be wrong.
    fn assertion(&mut self) -> String {
        match self.below(4) {
            0 => self.condition(2),
            _ => format!("({} || ({} || true))", self.value(1), self.value(1)),
        }
    }

    fn print(&mut self) -> String {
        match self.below(6) {
            0 => format!("printm({})", self.any_symbol()),
            1 => format!("printf(\"%d %x\\n\", {}, {})", self.value(1), self.value(0)),
            2 => format!("printf(\"%e %c %u %o\", {}, 'b', 1, 8)", self.any_symbol()),
            3 if self.macros => "printf(spelled(a word))".into(),
            4 => "printf(\"a \\\"text\\\" %% \\t\")".into(),
            _ => "printf(\"text\")".into(),
        }
    }

    /// `run P(..)`, its number kept or not. Only what is defined later is started, so that this ends.
    fn start(&mut self) -> Option<String> {
        if !self.may_run || self.in_d_step {
            return None;
        }
        let later: Vec<usize> = (0..self.processes.len())
            .filter(|number| !self.processes[*number].active && self.processes[*number].labels.is_empty())
            .collect();
        if later.is_empty() {
            return None;
        }
        let process = self.pick(&later);
        self.run(process)
    }

    pub(super) fn run(&mut self, process: usize) -> Option<String> {
        let (name, parameters) =
            (self.processes[process].name.clone(), self.processes[process].parameters.clone());
        let mut args = Vec::new();
        for parameter in &parameters {
            args.push(match parameter {
                Shape::Symbol(set) => self.symbol(*set),
                Shape::Channel(message) => self.channel_of(*message).unwrap_or_else(|| "0".into()),
                Shape::Record(record) => self.record_place(*record)?,
                Shape::Number { .. } => self.small_value(),
            });
        }
        let priority =
            if self.priorities { format!(" priority {}", 1 + self.below(3)) } else { String::new() };
        let run = format!("run {name}({}){priority}", args.join(", "));
        Some(match (self.below(6), self.number_place(0)) {
            (0, Some((place, _))) => format!("{place} = {run}"),
            (1, Some((place, _))) if priority.is_empty() => format!("{place} = ({run} + 1) & 3"),
            _ => run,
        })
    }

    fn inline_call(&mut self) -> Option<String> {
        if self.inlines.is_empty() {
            return None;
        }
        let inlines = self.inlines.clone();
        let (name, parameters, returns) = self.pick(&inlines);
        let place = self.number_place(0).map(|(place, _)| place);
        match (parameters, returns) {
            (0, _) => Some(format!("{name}()")),
            (1, true) => Some(format!("{} = {name}({})", place?, self.value(1))),
            _ => Some(format!("{name}({}, {})", place?, self.value(1))),
        }
    }

    /// `d = c`: a channel into a variable for channels.
    fn keep_channel(&mut self) -> Option<String> {
        let (variable, message) = self.any_channel_variable()?;
        let channel = self.channel_of(message)?;
        Some(format!("{variable} = {channel}"))
    }

    fn compound(&mut self, depth: usize) -> Line {
        let may_run = self.may_run;
        let made = match self.below(12) {
            0..=2 => Some(self.choice("if", "fi;", depth)),
            3..=5 => {
                self.loops += usize::from(!self.in_d_step);
                self.may_run = false;
                let line = self.choice("do", "od;", depth);
                self.loops -= usize::from(!self.in_d_step);
                Some(line)
            }
            6 | 7 => {
                let inside = self.scoped(|made| made.sequence(3, depth - 1));
                Some(Line::block("atomic {", inside, "};"))
            }
            8 if !self.in_d_step => {
                let loops = std::mem::take(&mut self.loops);
                self.in_d_step = true;
                let inside = self.scoped(|made| made.sequence(3, depth - 1));
                self.in_d_step = false;
                self.loops = loops;
                Some(Line::block("d_step {", inside, "};"))
            }
            9 => Some(self.block(depth)),
            10 if !self.in_d_step => Some(self.unless(depth)),
            _ => self.counted(depth),
        };
        self.may_run = may_run;
        made.unwrap_or_else(|| Line::new("skip;"))
    }

    /// What is declared inside stays inside.
    fn scoped<T>(&mut self, make: impl FnOnce(&mut Generator) -> T) -> T {
        let known = self.locals.len();
        let made = make(self);
        self.locals.truncate(known);
        made
    }

    fn choice(&mut self, open: &str, close: &'static str, depth: usize) -> Line {
        let mut options = Vec::new();
        for _ in 0..1 + self.below(3) {
            let guard = match self.below(4) {
                0 => self.simple(),
                _ => self.condition(2),
            };
            // A label's colon and a bare name would be read as something else.
            let arrow = self.pick(&[" ->", ";"]);
            let mut rest =
                if self.one_in(4) { Vec::new() } else { self.scoped(|it| it.sequence(2, depth - 1)) };
            if self.in_d_step && open == "do" {
                rest.push(Line::new("break"));
            }
            options.push(Line::block(format!(":: {guard}{arrow}"), rest, ""));
        }
        if self.one_in(2) {
            let mut rest = self.scoped(|made| made.sequence(1, depth - 1));
            if open == "do" && (self.in_d_step || self.one_in(2)) {
                rest.push(Line::new("break"));
            }
            options.push(Line::block(self.pick(&[":: else ->", ":: else"]), rest, ""));
        } else if open == "do" && self.one_in(2) {
            options.push(Line::new(":: break"));
        }
        Line::block(open, options, close)
    }

    /// `{ byte t = 1; ... }`
    fn block(&mut self, depth: usize) -> Line {
        let inside = self.scoped(|made| {
            let mut inside = Vec::new();
            if made.one_in(2) {
                let (text, variable) = made.variable("t");
                inside.push(Line::new(format!("{text};")));
                made.locals.push(variable);
            }
            inside.extend(made.sequence(3, depth - 1));
            inside
        });
        Line::block("{", inside, "};")
    }

    fn unless(&mut self, depth: usize) -> Line {
        let main = self.scoped(|made| made.sequence(3, depth - 1));
        let guard = self.condition(1);
        let rest = self.scoped(|made| made.sequence(1, depth - 1));
        let mut escape = vec![Line::new(format!("({guard});"))];
        escape.extend(rest);
        let mut inside = main;
        inside.push(Line::block("} unless {", escape, ""));
        Line::block("{", inside, "};")
    }

    /// `for (i : 0 .. 2) { ... }` and its like.
    fn counted(&mut self, depth: usize) -> Option<Line> {
        let head = match self.below(3) {
            0 => {
                let (place, wide) = self.number_place(0)?;
                // A bit that counts to 1 never ends.
                if self.in_d_step && !wide {
                    return None;
                }
                format!("for ({place} : {} .. {}) {{", self.below(2), self.below(3))
            }
            1 => {
                let arrays: Vec<_> = self.globals.iter().chain(&self.locals).cloned().collect();
                let arrays: Vec<_> = arrays.into_iter().filter(|it| it.length.is_some()).collect();
                if arrays.is_empty() {
                    return None;
                }
                let (place, wide) = self.number_place(0)?;
                if !wide {
                    return None;
                }
                format!("for ({place} in {}) {{", self.pick(&arrays).name)
            }
            _ => self.over_messages()?,
        };
        self.loops += 1;
        self.may_run = false;
        let inside = self.scoped(|made| made.sequence(2, depth - 1));
        self.loops -= 1;
        Some(Line::block(head, inside, "};"))
    }

    /// `for (r in c)`, where the messages of `c` are records like `r`.
    fn over_messages(&mut self) -> Option<String> {
        let channels: Vec<_> =
            self.globals.iter().filter(|it| it.fixed && it.length.is_none()).cloned().collect();
        for channel in channels {
            let Shape::Channel(message) = channel.shape else { continue };
            if let [Shape::Record(record)] = self.messages[message].fields[..] {
                let variable = self.record_place(record)?;
                return Some(format!("for ({variable} in {}) {{", channel.name));
            }
        }
        None
    }
}
