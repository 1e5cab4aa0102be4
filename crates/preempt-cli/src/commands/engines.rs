//! `preempt engines`: the table of inputs and engines, as it is planned by.

use crate::ExitStatus;
use crate::console::{self, Failure};
use preempt_workbench::plan::candidates;
use preempt_workbench::{ENGINES, FRONT_ENDS, FrontEnd, Kind, Verb};

pub fn run() -> Result<ExitStatus, Failure> {
    console::print(&table())?;
    Ok(ExitStatus::Holds)
}

/// What `auto` means for which inputs; what each engine does with each kind of input; what engines and inputs are.
fn table() -> String {
    let auto = "auto: the first that has the verb and every option given";
    let mut inputs: Vec<Vec<String>> = vec![vec!["input".into(), auto.into()]];
    for front_end in FRONT_ENDS {
        let meant = vec![front_end.title.to_string(), meaning_of_auto(front_end)];
        // Of the same kind and with the same engines: one line.
        match inputs.iter_mut().find(|row| row[1] == meant[1] && same_kind(&row[0], front_end)) {
            Some(row) => row[0] = format!("{}, {}", row[0], meant[0]),
            None => inputs.push(meant),
        }
    }
    let kinds = [Kind::Model, Kind::Net, Kind::System];
    let mut does =
        vec![std::iter::once("engine".to_string()).chain(kinds.map(|it| it.plural().to_string())).collect()];
    does.extend(ENGINES.iter().map(|engine| {
        let verbs = |kind| (engine.takes)(kind).map_or("-".to_string(), names);
        std::iter::once(engine.name.to_string()).chain(kinds.map(verbs)).collect::<Vec<_>>()
    }));
    let about = ENGINES.iter().map(|engine| vec![engine.name.to_string(), engine.description.to_string()]);
    let about: Vec<Vec<String>> = about.collect();
    let mut text = format!("{}\n{}\n{}\n", aligned(&inputs), aligned(&does), aligned(&about));
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

/// Do these inputs give what this one gives?
fn same_kind(titles: &str, front_end: &FrontEnd) -> bool {
    let last = titles.rsplit(", ").next().unwrap_or(titles);
    FRONT_ENDS.iter().any(|it| it.title == last && it.kind == front_end.kind)
}

fn meaning_of_auto(front_end: &FrontEnd) -> String {
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
