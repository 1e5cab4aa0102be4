//! `preempt engines`: the table of inputs and engines, as it is planned by.

use crate::ExitStatus;
use crate::console::{self, Failure};
use preempt_workbench::plan::candidates;
use preempt_workbench::{ENGINES, FRONT_ENDS, FrontEnd, Verb};

pub fn run() -> Result<ExitStatus, Failure> {
    console::print(&table())?;
    Ok(ExitStatus::Holds)
}

/// A line for each engine, with what it does for each input; then what the engines and the inputs are.
fn table() -> String {
    let mut rows = vec![line("", |front_end| front_end.title.to_string())];
    rows.push(line("auto", auto));
    rows.extend(ENGINES.iter().map(|engine| {
        line(engine.name, |front_end| match (engine.takes)(front_end.kind) {
            Ok(verbs) => names(verbs),
            Err(_) => "-".into(),
        })
    }));
    let mut text = aligned(&rows);
    text.push('\n');
    let auto = "the first of these that has the verb and every option given";
    let mut about = vec![vec!["auto".to_string(), auto.to_string()]];
    about.extend(ENGINES.iter().map(|engine| vec![engine.name.to_string(), engine.description.to_string()]));
    text.push_str(&aligned(&about));
    text.push('\n');
    let inputs: Vec<Vec<String>> = FRONT_ENDS
        .iter()
        .map(|it| {
            let extensions: Vec<String> = it.extensions.iter().map(|name| format!(".{name}")).collect();
            let also = format!("also {}", names(it.kind.verbs()));
            vec![it.title.to_string(), format!("--input {}", it.name), also, extensions.join(" ")]
        })
        .collect();
    text.push_str(&aligned(&inputs));
    text
}

fn line(name: &str, of: impl Fn(&FrontEnd) -> String) -> Vec<String> {
    std::iter::once(name.to_string()).chain(FRONT_ENDS.iter().map(|front_end| of(front_end))).collect()
}

fn auto(front_end: &FrontEnd) -> String {
    let engines = candidates(Verb::Check, front_end);
    engines.iter().map(|engine| engine.name).collect::<Vec<_>>().join(", ")
}

fn names(verbs: &[Verb]) -> String {
    verbs.iter().map(|verb| verb.name()).collect::<Vec<_>>().join(", ")
}

/// Each column as wide as its widest cell.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| Some(row.get(column)?.len())).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
