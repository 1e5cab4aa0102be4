//! Where every process stands when nobody can move.

use super::TextOptions;
use super::words::{clean, counted, width, wrap};
use crate::style::Ink;
use preempt_core::{Awaited, Property, Trace, Waiting};
use std::collections::BTreeMap;

/// So many processes, unless all are wanted.
const ROWS: usize = 12;

/// A row for each process: who is stuck and what for, who may end where it stands, who has ended. Nothing if that is not known.
pub(super) fn lines(property: &Property, trace: &Trace, options: &TextOptions) -> String {
    if property.waiting.is_empty() {
        return String::new();
    }
    let rows = rows(property, trace);
    let shown = if options.full || rows.len() <= ROWS + 1 { rows.len() } else { ROWS };
    let names = rows.iter().take(shown).map(|row| width(&row.name)).max().unwrap_or(0).min(24);
    let room = options.width.saturating_sub(4 + names + 2 + 10);
    let mut text = String::new();
    for row in &rows[..shown] {
        let ink = if row.how == "waits" { Ink::Bad } else { Ink::Faint };
        let how = options.style.paint(ink, &format!("{:<8}", row.how));
        let mut what = wrap(&row.what, room).into_iter();
        let first = format!("    {:<names$}  {how}  {}", row.name, what.next().unwrap_or_default());
        text.push_str(&format!("{}\n", first.trim_end()));
        what.for_each(|line| text.push_str(&format!("{:indent$}{line}\n", "", indent = 4 + names + 2 + 10)));
    }
    if shown < rows.len() {
        text.push_str(&format!("    and {} (--full)\n", counted(rows.len() - shown, "more process")));
    }
    text
}

struct Row {
    name: String,
    how: &'static str,
    what: String,
}

/// Those who are stuck come first: they are what a reader looks for.
fn rows(property: &Property, trace: &Trace) -> Vec<Row> {
    let mut ended: BTreeMap<usize, &str> = BTreeMap::new();
    for step in &trace.steps {
        ended.insert(step.pid, &step.process);
        ended.extend(step.partner.iter().map(|partner| (partner.pid, partner.process.as_str())));
    }
    // Who stands at its end has ended, and waits only for those who were started after it.
    let at_end = |it: &Waiting| it.may_end && it.statements.iter().all(|statement| statement.text == "-end-");
    for it in &property.waiting {
        match at_end(it) {
            true => ended.insert(it.pid, &it.process),
            false => ended.remove(&it.pid),
        };
    }
    let standing = |how, it: &Waiting| Row { name: clean(&it.process), how, what: awaited(&it.statements) };
    let stuck = property.stuck().map(|it| standing("waits", it));
    let resting = property.waiting.iter().filter(|it| it.may_end && !at_end(it));
    let resting = resting.map(|it| standing("may end", it));
    let ended = ended.values().map(|name| Row { name: clean(name), how: "ended", what: String::new() });
    stuck.chain(resting).chain(ended).collect()
}

/// `line 3: a or c?x, line 4: b`: a line is named once for all of its statements.
fn awaited(statements: &[Awaited]) -> String {
    let mut lines: Vec<(Option<u32>, Vec<String>)> = Vec::new();
    for statement in statements {
        let line = statement.location.as_ref().map(|place| place.line);
        let text = clean(&statement.text);
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, texts)) if texts.contains(&text) => {}
            Some((_, texts)) => texts.push(text),
            None => lines.push((line, vec![text])),
        }
    }
    let said = lines.iter().map(|(line, texts)| {
        let place = line.map_or(String::new(), |line| format!("line {line}: "));
        format!("{place}{}", texts.join(" or "))
    });
    said.collect::<Vec<_>>().join(", ")
}
