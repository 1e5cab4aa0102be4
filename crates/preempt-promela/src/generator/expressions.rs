//! Expressions of every kind.

use super::{Generator, Whose};

const BINARY: [&str; 18] =
    ["+", "-", "*", "/", "%", "&", "^", "|", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||"];

impl Generator {
    /// A value; `depth` is how many operators may stand in each other.
    pub(super) fn value(&mut self, depth: usize) -> String {
        if depth == 0 || self.one_in(3) {
            return self.leaf();
        }
        if self.whose == Whose::Beginning {
            return self.operation(depth);
        }
        match self.below(24) {
            3 if self.plain => self.operation(depth),
            0 => self.channel().map_or_else(|| self.leaf(), |(channel, _)| format!("len({channel})")),
            1 | 2 => self.poll().unwrap_or_else(|| self.leaf()),
            3 => self.of_processes(depth),
            _ => self.operation(depth),
        }
    }

    fn operation(&mut self, depth: usize) -> String {
        match self.below(10) {
            0 | 1 => {
                let sign = self.pick(&["!", "-", "~"]);
                format!("{sign}({})", self.value(depth - 1))
            }
            2 if self.whose != Whose::Formula => {
                let (condition, yes, no) =
                    (self.value(depth - 1), self.value(depth - 1), self.value(depth - 1));
                format!("(({condition}) -> {yes} : {no})")
            }
            3 if self.macros && self.one_in(2) => format!("low({})", self.value(depth - 1)),
            3 if self.macros && self.one_in(2) => {
                format!("sum({}, {})", self.value(depth - 1), self.value(0))
            }
            3 if self.macros => format!("pick({}, {})", self.value(depth - 1), self.value(0)),
            _ => {
                let operator = self.pick(&BINARY);
                let left = self.value(depth - 1);
                let right = match operator {
                    "/" | "%" if !self.one_in(6) => format!("({} | 1)", self.value(0)),
                    "<<" | ">>" if !self.one_in(6) => self.below(4).to_string(),
                    _ => self.value(depth - 1),
                };
                // Without parentheses the grammar decides what belongs together; then the next one has to know.
                match self.one_in(6) {
                    true => format!("{left} {operator} {right}"),
                    false => format!("({left} {operator} {right})"),
                }
            }
        }
    }

    /// Something without an operator.
    fn leaf(&mut self) -> String {
        match self.below(20) {
            // Spin's verifier computes initial values before records have theirs.
            0..=12 if self.plain && self.whose == Whose::Beginning => self.constant(),
            0..=10 => match self.value_place(1) {
                Some(place) => place,
                None => self.constant(),
            },
            11 if self.whose == Whose::Process => self.pick(&["_pid", "_nr_pr", "_pid"]).to_string(),
            12 if self.plain => "_nr_pr".into(),
            12 if self.whose != Whose::Beginning => self.pick(&["_nr_pr", "_last", "_nr_pr"]).to_string(),
            13 => self.any_symbol(),
            _ => self.constant(),
        }
    }

    pub(super) fn any_symbol(&mut self) -> String {
        let set = self.below(self.symbols.len());
        self.symbol(set)
    }

    pub(super) fn symbol(&mut self, set: usize) -> String {
        match self.symbols.get(set) {
            Some(symbols) => {
                let names = symbols.names.clone();
                self.pick(&names)
            }
            None => "1".into(),
        }
    }

    pub(super) fn constant(&mut self) -> String {
        match self.below(40) {
            0 => "true".into(),
            1 => "false".into(),
            2 => "'a'".into(),
            3 => "'\\n'".into(),
            4 => "255".into(),
            5 => "256".into(),
            6 => "2147483647".into(),
            7 if self.macros => "N".into(),
            8 => "skip".into(),
            _ => self.below(4).to_string(),
        }
    }

    /// Questions about processes. Spin has some of them only in claims; here they have a meaning everywhere.
    fn of_processes(&mut self, depth: usize) -> String {
        let pid = match self.below(4) {
            0 if self.whose == Whose::Process => "_pid".to_string(),
            1 => self.value(depth - 1),
            _ => self.below(3).to_string(),
        };
        let expression = match self.below(8) {
            0 => Some(format!("enabled({pid})")),
            1 => Some(format!("pc_value({pid})")),
            2 if self.priorities => Some(format!("get_priority({pid})")),
            3 => Some("np_".to_string()),
            4 => Some("timeout".to_string()),
            5 if self.priorities && self.whose == Whose::Process => Some("_priority".to_string()),
            6 => self.remote_label(),
            _ => self.remote_variable(),
        };
        expression.unwrap_or_else(|| self.leaf())
    }

    /// What may stand where a condition is expected: `full(c)` and its like stand only here.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        match self.below(12) {
            0 | 1 => {
                let Some(probe) = self.probe() else { return self.value(depth) };
                match self.below(3) {
                    0 => probe,
                    1 => format!("{probe} && {}", self.value(depth)),
                    _ => format!("({} || {probe})", self.value(depth)),
                }
            }
            2 => self.remote_label().unwrap_or_else(|| self.value(depth)),
            3 if self.whose == Whose::Process => "timeout".into(),
            4 => "true".into(),
            _ => self.value(depth),
        }
    }

    pub(super) fn probe(&mut self) -> Option<String> {
        let (channel, _) = self.channel()?;
        let probe = self.pick(&["full", "nfull", "empty", "nempty"]);
        Some(format!("{probe}({channel})"))
    }

    /// A value that stays small, for what has many.
    pub(super) fn small_value(&mut self) -> String {
        match self.below(6) {
            0 | 1 => self.below(4).to_string(),
            2 => format!("({}) % 3", self.value(2)),
            3 if self.macros => format!("low({})", self.value(1)),
            4 if self.one_in(8) => self.value(1),
            _ => format!("({}) & 3", self.value(2)),
        }
    }
}
