//! Sends, receives and polls, in every form that they can be written in.

use super::Generator;
use super::scope::Shape;

/// What is done with a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taking {
    Receiving,
    Polling,
    Observing,
}

impl Generator {
    /// `c!a,b`, `c!!a(b)`
    pub(super) fn send(&mut self) -> Option<String> {
        let (channel, message) = self.channel()?;
        let fields = self.messages[message].fields.clone();
        let mut args = Vec::new();
        for field in &fields {
            args.push(match field {
                Shape::Number { .. } if self.one_in(3) => self.value(1),
                Shape::Number { .. } => self.small_value(),
                Shape::Symbol(set) if self.one_in(2) => self.symbol(*set),
                Shape::Symbol(set) => self.symbol_place(*set).unwrap_or_else(|| "0".into()),
                Shape::Channel(of) => self.channel_of(*of).unwrap_or_else(|| "0".into()),
                Shape::Record(record) => self.record_place(*record)?,
            });
        }
        // A message that does not fit is a run-time error when it is sent.
        if args.len() > 1 && self.one_in(50) {
            args.pop();
        }
        let sign = if self.one_in(3) { "!!" } else { "!" };
        Some(self.written(&channel, sign, &args, false))
    }

    /// `c?a,_`, `c??<3,x>`
    pub(super) fn receive(&mut self) -> Option<String> {
        let (channel, message) = self.channel()?;
        let fields = self.messages[message].fields.clone();
        let mut args = self.pattern(&fields, Taking::Receiving)?;
        if args.len() > 1 && self.one_in(50) {
            args.pop();
        }
        let sign = if self.one_in(3) { "??" } else { "?" };
        if self.one_in(4) {
            return Some(format!("{channel}{sign}<{}>", args.join(",")));
        }
        Some(self.written(&channel, sign, &args, true))
    }

    /// `c?[a,3]`: with as many fields as the message has, or with fewer.
    pub(super) fn poll(&mut self) -> Option<String> {
        let (channel, message) = self.channel()?;
        let fields = self.messages[message].fields.clone();
        let given = if self.one_in(2) { fields.len() } else { 1 + self.below(fields.len()) };
        let args = self.pattern(&fields[..given], Taking::Polling)?;
        let sign = if self.one_in(2) { "??" } else { "?" };
        Some(format!("{channel}{sign}[{}]", args.join(",")))
    }

    /// In a trace assertion only constants and `_` say something; here for a channel that has a name.
    pub(super) fn observed_message(&mut self, channel: &str, message: usize) -> String {
        let fields = self.messages[message].fields.clone();
        let sign = self.pick(&["!", "?"]);
        let args = self.pattern(&fields, Taking::Observing).unwrap_or_default();
        format!("{channel}{sign}{}", args.join(","))
    }

    fn pattern(&mut self, fields: &[Shape], taking: Taking) -> Option<Vec<String>> {
        let mut args: Vec<String> = Vec::new();
        for field in fields {
            let mut arg = match (field, self.below(8)) {
                (Shape::Record(record), _) if taking != Taking::Observing => self.record_place(*record)?,
                (_, 0) => "_".into(),
                (Shape::Number { .. }, 1 | 2) => self.below(3).to_string(),
                (Shape::Number { .. }, 3) => self.pick(&["-1", "true", "false", "255"]).to_string(),
                (Shape::Symbol(set), 1..=3) => self.symbol(*set),
                (Shape::Number { .. } | Shape::Symbol(_), 4) if taking != Taking::Observing => {
                    format!("eval({})", self.value(1))
                }
                (_, _) if taking == Taking::Observing => "_".into(),
                (Shape::Number { .. }, _) => self.number_place(1).map_or("_".into(), |(place, _)| place),
                (Shape::Symbol(set), _) => self.symbol_place(*set).unwrap_or_else(|| "_".into()),
                (Shape::Channel(of), _) => self.channel_variable(*of).unwrap_or_else(|| "_".into()),
                (Shape::Record(_), _) => return None,
            };
            // The same variable cannot take two fields.
            if args.contains(&arg) && arg.starts_with(|c: char| c.is_ascii_alphabetic()) {
                arg = "_".into();
            }
            args.push(arg);
        }
        Some(args)
    }

    /// `c!a,b` or `c!a(b)`; what is received may stand in parentheses altogether.
    fn written(&mut self, channel: &str, sign: &str, args: &[String], received: bool) -> String {
        // `c! !x` must not become a sorted send, and `c!(a), b` no call.
        let first = &args[0];
        let simple = first.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && first.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match self.below(6) {
            0 if args.len() > 1 && simple => format!("{channel}{sign}{first}({})", args[1..].join(",")),
            1 if received => format!("{channel}{sign}({})", args.join(",")),
            _ if received || simple => format!("{channel}{sign}{}", args.join(",")),
            _ => format!("{channel}{sign}0 + {}", args.join(",")),
        }
    }
}
