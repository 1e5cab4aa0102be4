//! Process types and `init`.

use super::scope::{ProcessType, Shape, Variable};
use super::{Generator, Line, Whose};

impl Generator {
    pub(super) fn all_processes(&mut self) {
        self.process_types();
        let with_init = self.processes.iter().any(|process| !process.active) || self.one_in(5);
        for number in 0..self.processes.len() {
            self.process(number);
        }
        if with_init {
            self.init();
        }
    }

    /// What can be known before the bodies are written: those may start processes that are defined later.
    fn process_types(&mut self) {
        for number in 0..1 + self.below(3) {
            let active = number == 0 || !self.one_in(3);
            let mut parameters = Vec::new();
            if !active || self.one_in(8) {
                for _ in 0..self.below(3) {
                    let message = self.below(self.messages.len());
                    let set = self.below(self.symbols.len());
                    let mut all =
                        vec![Shape::Number { wide: true }, Shape::Number { wide: false }, Shape::Symbol(set)];
                    if !self.messages.is_empty() {
                        all.push(Shape::Channel(message));
                    }
                    all.extend((0..self.records.len()).map(Shape::Record));
                    parameters.push(self.pick(&all));
                }
            }
            let (name, labels, locals) = (format!("P{number}"), Vec::new(), Vec::new());
            self.processes.push(ProcessType { name, active, parameters, labels, locals });
        }
    }

    fn process(&mut self, number: usize) {
        let ProcessType { name, active, parameters, .. } = self.processes[number].clone();
        self.whose = Whose::Process;
        let (texts, variables) = self.parameters(&parameters);
        self.locals = variables;
        let between = self.pick(&["; ", "; ", ";"]);
        let mut head = String::new();
        if active {
            head.push_str(self.pick(&["active ", "active ", "active [2] ", "active [1] "]));
        }
        head.push_str(if self.one_in(12) { "D_proctype" } else { "proctype" });
        head.push_str(&format!(" {name}({})", texts.join(between)));
        if self.priorities && self.one_in(2) {
            head.push_str(&format!(" priority {}", 1 + self.below(3)));
        }
        if self.one_in(12) && !self.plain {
            self.locals.clear();
            let condition = self.condition(1);
            head.push_str(&format!(" provided ({condition})"));
            let (_, variables) = self.parameters(&parameters);
            self.locals = variables;
        }
        let repeats = number != 0 || self.one_in(2);
        let body = self.body(repeats);
        self.processes[number].labels = std::mem::take(&mut self.labels);
        self.processes[number].locals = std::mem::take(&mut self.locals);
        self.lines.push(Line::block(format!("{head} {{"), body, "}"));
    }

    fn parameters(&mut self, shapes: &[Shape]) -> (Vec<String>, Vec<Variable>) {
        let mut texts = Vec::new();
        let mut variables = Vec::new();
        for (number, shape) in shapes.iter().enumerate() {
            let name = format!("p{number}");
            let ty = match shape {
                Shape::Number { wide: true } => self.pick(&["byte", "pid", "short", "int"]).to_string(),
                Shape::Number { wide: false } => self.pick(&["bit", "bool"]).to_string(),
                Shape::Channel(_) => "chan".into(),
                Shape::Record(record) => self.records[*record].name.clone(),
                Shape::Symbol(set) => match &self.symbols[*set].set {
                    Some(set) => format!("mtype:{set}"),
                    None => "mtype".into(),
                },
            };
            texts.push(format!("{ty} {name}"));
            let fixed = matches!(shape, Shape::Channel(_));
            variables.push(Variable { name, shape: shape.clone(), length: None, fixed });
        }
        (texts, variables)
    }

    /// Declarations, then statements, with labels before some of them.
    fn body(&mut self, repeats: bool) -> Vec<Line> {
        let mut lines = Vec::new();
        for _ in 0..self.below(3) {
            let kind = if self.messages.is_empty() { 2 } else { self.below(6) };
            let (text, variable) = match kind {
                0 => {
                    let message = self.below(self.messages.len());
                    self.made_channel("l", message)
                }
                1 => self.unmade_channel("l"),
                _ => self.variable("l"),
            };
            lines.push(Line::new(format!("{text};")));
            self.locals.push(variable);
        }
        if self.one_in(10)
            && !self.plain
            && let Some((channel, _)) = self.channel()
            && !channel.contains('[')
        {
            let word = self.pick(&["xr", "xs"]);
            lines.push(Line::new(format!("{word} {channel};")));
        }
        let count = if repeats { self.below(3) } else { 0 };
        self.labels = (0..count)
            .map(|number| format!("{}{number}", self.pick(&["L", "L", "end", "progress", "accept"])))
            .collect();
        self.may_run = count == 0;
        let mut statements = self.sequence(5, 2);
        for label in self.labels.clone() {
            let at = self.below(statements.len());
            let text = &statements[at].text;
            let before_nothing = self.one_in(8);
            // A label cannot stand before the first half of `unless`, nor inside of what it names.
            let usable = !statements[at].inside.iter().any(|line| line.text.contains("unless"));
            let jumps = text.contains("goto") || text.contains("break");
            match (usable && !jumps, before_nothing) {
                (true, false) => statements[at].text = format!("{label}: {text}"),
                (_, true) => statements.insert(at, Line::new(format!("{label}: ;"))),
                _ => statements.insert(at, Line::new(format!("{label}: skip;"))),
            }
        }
        lines.extend(statements);
        lines
    }

    /// Starts what is not active, and may do more.
    fn init(&mut self) {
        self.whose = Whose::Process;
        self.locals.clear();
        let mut inside = Vec::new();
        for number in 0..self.processes.len() {
            if (!self.processes[number].active || self.one_in(8))
                && let Some(run) = self.run(number)
            {
                inside.push(Line::new(format!("{run};")));
            }
        }
        if self.one_in(2) || inside.is_empty() {
            inside.push(self.statement(1));
        }
        if self.one_in(3) {
            inside = vec![Line::block("atomic {", inside, "}")];
        }
        let priority = if self.priorities && self.one_in(2) { " priority 2" } else { "" };
        self.lines.push(Line::block(format!("init{priority} {{"), inside, "}"));
    }
}
