//! A protocol with a fixed number of processes as a Promela model: one process that makes all steps, each indivisible, with a
//! variable for each variable of the global part and of each process. Guards over the others are exact, so that the model has
//! the runs of the protocol with so many processes, and no others. An assertion fails where a bad state is reached.

use super::{Bad, Effect, Expr, Pattern, Place, Protocol, Reaction, Rule, Scope, Variable};
use std::fmt::Write;

/// More processes are refused, and so are texts of more steps: every step of every process is written out.
const MOST_PROCESSES: usize = 64;
const MOST_STEPS: usize = 200_000;

/// The text for so many processes, with these properties.
pub fn print(protocol: &Protocol, processes: usize, properties: &[&Bad]) -> Result<String, String> {
    if !(1..=MOST_PROCESSES).contains(&processes) {
        return Err(format!("a model has between 1 and {MOST_PROCESSES} processes"));
    }
    let steps = |rule: &Rule| processes * if rule.with.is_some() { processes - 1 } else { 1 };
    if protocol.rules.iter().map(steps).sum::<usize>() > MOST_STEPS {
        return Err(format!("there are more than {MOST_STEPS} different steps"));
    }
    let parts = properties.iter().flat_map(|bad| &bad.patterns).map(|pattern| pattern.processes.len());
    if parts.max().is_some_and(|most| (processes as f64).powi(most as i32) > MOST_STEPS as f64) {
        return Err("a pattern has too many processes for so many".into());
    }
    let mut writer = Writer { protocol, text: String::new() };
    writer.declarations(processes);
    writer.bad(properties, processes);
    writer.steps(processes);
    Ok(writer.text)
}

struct Writer<'p> {
    protocol: &'p Protocol,
    text: String,
}

/// Who is who in a step.
#[derive(Clone, Copy)]
struct Cast {
    mover: usize,
    partner: Option<usize>,
    other: usize,
}

impl Cast {
    fn alone(process: usize) -> Cast {
        Cast { mover: process, partner: None, other: process }
    }
}

impl Writer<'_> {
    fn declarations(&mut self, processes: usize) {
        let _ = writeln!(
            self.text,
            "/* A protocol with {processes} processes: pN_x is the variable x of process N. */\n"
        );
        let declare = |variable: &Variable, name: &str, text: &mut String| {
            let kind = match (variable.low, variable.low + variable.size as i64 - 1) {
                (0.., ..=255) => "byte",
                (-32768.., ..=32767) => "short",
                _ => "int",
            };
            let _ = match variable.low {
                0 => writeln!(text, "{kind} {name};"),
                low => writeln!(text, "{kind} {name} = {low};"),
            };
        };
        for (number, variable) in self.protocol.globals.iter().enumerate() {
            let name = self.name(Place { scope: Scope::Global, variable: number }, Cast::alone(0));
            declare(variable, &name, &mut self.text);
        }
        for process in 0..processes {
            for (number, variable) in self.protocol.locals.iter().enumerate() {
                let name = self.name(Place { scope: Scope::Mover, variable: number }, Cast::alone(process));
                declare(variable, &name, &mut self.text);
            }
        }
    }

    fn bad(&mut self, properties: &[&Bad], processes: usize) {
        let mut any = Vec::new();
        for pattern in properties.iter().flat_map(|bad| &bad.patterns) {
            self.matching(pattern, &mut Vec::new(), processes, &mut any);
        }
        let bad = if any.is_empty() { "false".into() } else { any.join(" ||\\\n  ") };
        let _ = writeln!(self.text, "\n#define BAD ({bad})\n");
    }

    /// One conjunction for every way to choose different processes.
    fn matching(&self, pattern: &Pattern, chosen: &mut Vec<usize>, processes: usize, any: &mut Vec<String>) {
        if chosen.len() == pattern.processes.len() {
            let parts = pattern.processes.iter().zip(chosen.iter());
            let parts = parts.map(|(part, process)| self.expr(part, Cast::alone(*process)));
            let all: Vec<String> =
                std::iter::once(self.expr(&pattern.global, Cast::alone(0))).chain(parts).collect();
            any.push(format!("({})", all.join(" && ")));
            return;
        }
        for process in 0..processes {
            // Equal parts are chosen in the order of the processes.
            let equal = chosen
                .len()
                .checked_sub(1)
                .filter(|last| pattern.processes[*last] == pattern.processes[chosen.len()]);
            let in_order = equal.is_none_or(|last| chosen[last] < process);
            if in_order && !chosen.contains(&process) {
                chosen.push(process);
                self.matching(pattern, chosen, processes, any);
                chosen.pop();
            }
        }
    }

    fn steps(&mut self, processes: usize) {
        let longest = self.protocol.rules.iter().map(|rule| writes(rule, processes)).max().unwrap_or(0);
        self.text.push_str("active proctype protocol() {\n");
        for number in 0..longest {
            let _ = writeln!(self.text, "  int next{number};");
        }
        self.text.push_str("  atomic {\n");
        for (number, variable) in self.protocol.globals.iter().enumerate() {
            self.begin(Place { scope: Scope::Global, variable: number }, variable, Cast::alone(0));
        }
        for process in 0..processes {
            for (number, variable) in self.protocol.locals.iter().enumerate() {
                self.begin(Place { scope: Scope::Mover, variable: number }, variable, Cast::alone(process));
            }
        }
        if let Some(condition) = &self.protocol.initially {
            let all: Vec<String> =
                (0..processes).map(|process| self.expr(condition, Cast::alone(process))).collect();
            let _ = writeln!(
                self.text,
                "    /* Only what is initial goes on. */\nend_not_initial:\n    ({});",
                all.join(" && ")
            );
        }
        self.text.push_str("    assert(!BAD)\n  }\nend:\n  do\n");
        for rule in &self.protocol.rules {
            for mover in 0..processes {
                let partners: Vec<Option<usize>> = match rule.with {
                    Some(_) => (0..processes).filter(|it| *it != mover).map(Some).collect(),
                    None => vec![None],
                };
                for partner in partners {
                    self.step(rule, Cast { mover, partner, other: mover }, processes);
                }
            }
        }
        self.text.push_str("  :: false\n  od\n}\n");
    }

    /// Any value at first, if the initial condition does not say which.
    fn begin(&mut self, place: Place, variable: &Variable, cast: Cast) {
        let name = self.name(place, cast);
        let fixed = self.protocol.initially.as_ref().and_then(|condition| fixed(condition, place));
        if let Some(value) = fixed {
            let _ = writeln!(self.text, "    {name} = {value};");
        } else if variable.size > 1 {
            let high = variable.low + variable.size as i64 - 1;
            let _ = writeln!(self.text, "    do :: {name} < {high} -> {name}++ :: break od;");
        }
    }

    fn step(&mut self, rule: &Rule, cast: Cast, processes: usize) {
        let others: Vec<usize> =
            (0..processes).filter(|it| *it != cast.mover && Some(*it) != cast.partner).collect();
        let mut conditions = vec![self.expr(&rule.when, cast)];
        conditions.extend(rule.with.iter().map(|with| self.expr(with, cast)));
        if let Some(guard) = &rule.all_others {
            conditions.extend(others.iter().map(|other| self.expr(guard, Cast { other: *other, ..cast })));
        }
        let mut assigned: Vec<(String, String)> = Vec::new();
        for Effect { place, value } in &rule.effects {
            assigned.push((self.name(*place, cast), self.expr(value, cast)));
        }
        for other in others {
            let cast = Cast { other, ..cast };
            for place in reacting(rule) {
                // The first reaction that applies wins.
                let mut value = self.name(place, cast);
                for Reaction { condition, effects } in rule.others.iter().rev() {
                    let then = match effects.iter().find(|effect| effect.place == place) {
                        Some(effect) => self.expr(&effect.value, cast),
                        None => self.name(place, cast),
                    };
                    value = format!("({} -> {then} : {value})", self.expr(condition, cast));
                }
                assigned.push((self.name(place, cast), value));
            }
        }
        let who = match cast.partner {
            Some(partner) => format!("{} with {partner}", cast.mover),
            None => cast.mover.to_string(),
        };
        let name: String = rule.name.replace("*/", "* /");
        let _ = writeln!(
            self.text,
            "  :: d_step {{ /* {name}: process {who} */\n      {} ->",
            conditions.join(" && ")
        );
        for (number, (_, value)) in assigned.iter().enumerate() {
            let _ = writeln!(self.text, "      next{number} = {value};");
        }
        for (number, (name, _)) in assigned.iter().enumerate() {
            let _ = writeln!(self.text, "      {name} = next{number}; next{number} = 0;");
        }
        self.text.push_str("      assert(!BAD)\n    }\n");
    }

    fn name(&self, place: Place, cast: Cast) -> String {
        let plain = |name: &str| -> String {
            let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
            letters.collect::<String>().trim_end_matches('_').to_string()
        };
        let variables = self.protocol.variables(place.scope);
        let mut name = plain(&variables[place.variable].name);
        let same = variables.iter().enumerate().filter(|(_, it)| plain(&it.name) == name).count();
        if same > 1 || name.is_empty() {
            name = format!("{name}_{}", place.variable);
        }
        match place.scope {
            Scope::Global => format!("g_{name}"),
            Scope::Mover => format!("p{}_{name}", cast.mover),
            Scope::Partner => format!("p{}_{name}", cast.partner.unwrap_or(cast.mover)),
            Scope::Other => format!("p{}_{name}", cast.other),
        }
    }

    fn expr(&self, expr: &Expr, cast: Cast) -> String {
        let of = |part: &Expr| self.expr(part, cast);
        let joined = |parts: &[Expr], sign: &str, nothing: &str| match parts {
            [] => nothing.to_string(),
            _ => format!("({})", parts.iter().map(of).collect::<Vec<_>>().join(sign)),
        };
        match expr {
            Expr::Value(value) if *value < 0 => format!("({value})"),
            Expr::Value(value) => value.to_string(),
            Expr::Read(place) => self.name(*place, cast),
            Expr::Not(inner) => format!("!({})", of(inner)),
            Expr::And(parts) => joined(parts, " && ", "true"),
            Expr::Or(parts) => joined(parts, " || ", "false"),
            Expr::Equal(a, b) => format!("({} == {})", of(a), of(b)),
            Expr::Less(a, b) => format!("({} < {})", of(a), of(b)),
            Expr::Sum(a, b) => format!("({} + {})", of(a), of(b)),
            Expr::Difference(a, b) => format!("({} - {})", of(a), of(b)),
            Expr::If(c, a, b) => format!("({} -> {} : {})", of(c), of(a), of(b)),
            // Only reductions have tables, and those are not written.
            Expr::Member(_) => "false".to_string(),
        }
    }
}

/// The value that a condition gives a variable, if it is one of its conjuncts.
fn fixed(condition: &Expr, place: Place) -> Option<i64> {
    match condition {
        Expr::And(parts) => parts.iter().find_map(|part| fixed(part, place)),
        Expr::Equal(a, b) => match (a.as_ref(), b.as_ref()) {
            (Expr::Read(it), Expr::Value(value)) if *it == place => Some(*value),
            _ => None,
        },
        _ => None,
    }
}

/// The variables that a reaction may change.
fn reacting(rule: &Rule) -> Vec<Place> {
    let mut places: Vec<Place> =
        rule.others.iter().flat_map(|it| &it.effects).map(|effect| effect.place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

fn writes(rule: &Rule, processes: usize) -> usize {
    rule.effects.len() + reacting(rule).len() * processes.saturating_sub(rule.participants() as usize)
}
