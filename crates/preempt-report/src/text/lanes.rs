//! The table of a run. Every process has its column, the lane, as long as the lanes are wide enough to read;
//! otherwise a small map shows who moves and one column holds the text of every step.

use super::TextOptions;
use super::columns::{Cell, Line, Table};
use super::counterexample::pieces;
use super::rows::{Row, net_changes};
use super::words::{clean, cut, cut_name, fill, fit, grouped, wrap};
use crate::style::Ink;
use preempt_core::{Call, Location, Partner, Step, SwitchKind, Trace, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A step takes at most so many lines, unless everything is wanted.
const LINES_A_STEP: usize = 3;
/// What a step has changed matters more than how it is written.
const LINES_OF_CHANGES: usize = 12;

const PREEMPTED: &str = "▒ preempted";
const CANNOT_MOVE: &str = "· cannot move";

pub(super) struct Lanes<'a> {
    pub(super) trace: &'a Trace,
    full: bool,
    /// Pid and name of every process that moves, in the order of their lanes.
    pub(super) processes: Vec<(usize, &'a str)>,
    pub(super) places: Places,
    pub(super) layout: Layout,
    pub(super) has_changes: bool,
    pub(super) table: Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Lanes,
    Names { map: bool },
}

/// How places are written: as lines if there is only one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Places {
    None,
    Line,
    FileAndLine,
}

impl<'a> Lanes<'a> {
    pub fn new(trace: &'a Trace, rows: &[Row], options: &TextOptions) -> Lanes<'a> {
        let mut lanes = Lanes {
            trace,
            full: options.full,
            processes: processes(trace),
            places: Places::of(trace),
            layout: Layout::Lanes,
            has_changes: trace.steps.iter().any(|step| !pieces(&step.changed).is_empty()),
            table: Table { columns: Vec::new(), style: options.style },
        };
        lanes.set_columns(rows, options.width);
        lanes
    }

    /// What the signs of the map mean; lanes explain themselves.
    pub fn legend(&self, page: usize) -> String {
        let Layout::Names { map } = self.layout else { return String::new() };
        let legend = match map {
            true => "  ● moves   ▒ was preempted   ○ could not move   ◆ receives",
            false => "  » the process before was preempted   › it could not move",
        };
        fit(&format!("{}\n", self.table.style.paint(Ink::Faint, legend)), page)
    }

    pub fn heading(&self) -> String {
        let head = |text: &str| Cell::of(Ink::Strong, text);
        let mut cells = vec![Cell::default(), head("step")];
        if self.places != Places::None {
            cells.push(head(if self.places == Places::Line { "line" } else { "place" }));
        }
        match self.layout {
            Layout::Lanes => cells.extend(self.processes.iter().map(|(_, name)| head(&clean(name)))),
            Layout::Names { map } => {
                if map {
                    cells.push(Cell::default());
                }
                cells.extend([head("process"), head("does")]);
            }
        }
        if self.has_changes {
            cells.push(head("changed"));
        }
        for (cell, column) in cells.iter_mut().zip(&self.table.columns) {
            for (_, piece) in cell.lines.iter_mut().flatten() {
                *piece = cut(piece, column.width);
            }
        }
        self.table.row(&cells) + &self.table.rule()
    }

    pub fn row(&self, row: &Row) -> String {
        let mut cells = self.cells(row);
        self.mark_loop(row, &mut cells);
        self.table.row(&cells)
    }

    fn cells(&self, row: &Row) -> Vec<Cell> {
        let step = &self.trace.steps[row.first()];
        let mut cells = vec![Cell::default()];
        match row {
            Row::Step(i) => {
                cells[0] = Cell::of(switch_ink(step.switch), switch_sign(step.switch));
                cells.push(Cell::of(Ink::Faint, (i + 1).to_string()));
            }
            Row::Fold(_) => cells.push(Cell::of(Ink::Faint, "…")),
        }
        if self.places != Places::None {
            let place = step.location.as_ref().filter(|_| matches!(row, Row::Step(_)));
            cells.push(place.map(|place| Cell::of(Ink::Faint, self.places.write(place))).unwrap_or_default());
        }
        match self.layout {
            Layout::Lanes => {
                let first = cells.len();
                cells.resize_with(first + self.processes.len(), Cell::default);
                self.fill_lanes(row, &mut cells[first..], first);
            }
            Layout::Names { map } => {
                if map {
                    cells.push(Cell { lines: vec![self.map(row)] });
                }
                let column = cells.len();
                cells.push(Cell::of(
                    Ink::Plain,
                    cut_name(&clean(&step.process), self.table.columns[column].width),
                ));
                cells.push(self.own_text(row, self.table.columns[column + 1].width));
            }
        }
        if self.has_changes {
            cells.push(self.changed(row, self.table.columns[cells.len()].width));
        }
        cells
    }

    /// The step in its lane, its partner in the partner's, and in the lane of the process that was left, why.
    fn fill_lanes(&self, row: &Row, lanes: &mut [Cell], first_column: usize) {
        let room = |lane: usize| self.table.columns[first_column + lane].width;
        let step = &self.trace.steps[row.first()];
        if let Some(own) = self.lane(step.pid, &step.process) {
            lanes[own] = self.own_text(row, room(own));
        }
        let Row::Step(i) = row else { return };
        if let Some(partner) = &step.partner
            && let Some(lane) = self.lane(partner.pid, &partner.process)
            && lanes[lane].is_empty()
        {
            lanes[lane] = self.cell(Ink::Plain, wrap(&partner_words(partner), room(lane)), room(lane));
        }
        if let Some(lane) = self.left_behind(*i)
            && lanes[lane].is_empty()
        {
            lanes[lane] = Cell::of(switch_ink(step.switch), cut(left_words(step.switch), room(lane)));
        }
    }

    /// The lane of the process that ran before this step, if the step switched away from it.
    pub(super) fn left_behind(&self, i: usize) -> Option<usize> {
        if self.trace.steps[i].switch == SwitchKind::None {
            return None;
        }
        let (name, pid) = self.trace.steps[i.checked_sub(1)?].running_after();
        self.lane(pid, name)
    }

    pub(super) fn own_text(&self, row: &Row, room: usize) -> Cell {
        let step = &self.trace.steps[row.first()];
        if let Row::Fold(range) = row {
            // A fold always has several steps: shorter stretches are shown.
            let mut text = format!("{} more steps", grouped(range.len() as u64));
            if matches!(self.layout, Layout::Names { .. }) {
                text = format!("{text} of {}", clean(&step.process));
            }
            return self.cell(Ink::Faint, wrap(&text, room), room);
        }
        let mut cell = self.cell(Ink::Plain, wrap(&self.words(step), room), room);
        if let Some(call) = self.call(row.first()) {
            cell.lines.extend(self.cell(Ink::Faint, wrap(&call, room), room).lines);
        }
        let printed = step.output.as_deref().unwrap_or_default().trim_end_matches('\n');
        for line in printed.split('\n').filter(|_| !printed.is_empty()) {
            let lines = wrap(&format!("> {}", clean(line)), room);
            cell.lines.extend(self.cell(Ink::Printed, lines, room).lines);
        }
        cell
    }

    /// The inlines in which the step is executed, each with where it is used; nothing if that is where the process was before.
    pub(super) fn call(&self, number: usize) -> Option<String> {
        let step = &self.trace.steps[number];
        let own = |other: &&Step| (other.pid, &other.process) == (step.pid, &step.process);
        let before = self.trace.steps[..number].iter().rev().find(own);
        if step.calls.is_empty() || before.is_some_and(|before| before.calls == step.calls) {
            return None;
        }
        let one = |call: &Call| match self.places {
            Places::FileAndLine => format!("{} at {}", clean(&call.name), self.places.write(&call.location)),
            _ => format!("{} at line {}", clean(&call.name), call.location.line),
        };
        Some(format!("in {}", step.calls.iter().map(one).collect::<Vec<_>>().join(", in ")))
    }

    fn words(&self, step: &Step) -> String {
        let mut words = clean(&step.text);
        if let Some(choice) = &step.choice {
            words = format!("{words} → {}", clean(choice));
        }
        if let (Layout::Names { .. }, Some(partner)) = (self.layout, &step.partner) {
            words = format!("{words} → {}: {}", clean(&partner.process), partner_words(partner));
        }
        words
    }

    pub(super) fn changes(&self, row: &Row) -> Vec<String> {
        match row {
            Row::Step(i) => pieces(&self.trace.steps[*i].changed),
            Row::Fold(range) => pieces(&net_changes(self.trace, range.clone())),
        }
    }

    /// One character a process: who moves, and who was left behind how.
    fn map(&self, row: &Row) -> Line {
        let step = &self.trace.steps[row.first()];
        let mut line: Line = vec![(Ink::Faint, "·".to_string()); self.processes.len()];
        if let Row::Step(i) = row
            && let Some(left) = self.left_behind(*i)
        {
            let sign = if step.switch == SwitchKind::Preemption { "▒" } else { "○" };
            line[left] = (switch_ink(step.switch), sign.to_string());
        }
        if let Some(partner) = &step.partner
            && let Some(lane) = self.lane(partner.pid, &partner.process)
        {
            line[lane] = (Ink::Plain, "◆".to_string());
        }
        if let Some(own) = self.lane(step.pid, &step.process) {
            line[own] = (Ink::Strong, "●".to_string());
        }
        line
    }

    /// The first column: in front of the sign of the switch, where the loop begins and ends.
    fn mark_loop(&self, row: &Row, cells: &mut [Cell]) {
        let Some(start) = self.trace.loop_start else { return };
        let height = cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(1);
        let last = self.trace.steps.len() - 1;
        let inside = row.first() >= start;
        let marks = (0..height).map(|line| match (row, line) {
            _ if !inside => "  ",
            (Row::Step(i), 0) if *i == start && *i == last => "↺ ",
            (Row::Step(i), 0) if *i == start => "╭▶",
            (Row::Step(i), 0) if *i == last => "╰─",
            (Row::Step(i), _) if *i == last => "  ",
            _ => "│ ",
        });
        let sign = std::mem::take(&mut cells[0]);
        cells[0].lines = marks.map(|mark| vec![(Ink::Strong, mark.to_string())]).collect();
        if let (Some(line), Some(sign)) = (cells[0].lines.first_mut(), sign.lines.into_iter().next()) {
            line.extend(sign);
        }
    }

    pub(super) fn lane(&self, pid: usize, name: &str) -> Option<usize> {
        self.processes.iter().position(|process| *process == (pid, name))
    }

    /// Where not everything can stand, what a step has put into variables comes before the long rest of a channel or array.
    fn changed(&self, row: &Row, room: usize) -> Cell {
        let lines = |pieces: Vec<String>| fill(pieces.iter().map(String::as_str), room);
        let all = lines(self.changes(row));
        let Row::Step(number) = row else { return self.cell(Ink::Changed, all, room) };
        if all.len() <= LINES_A_STEP {
            return self.cell(Ink::Changed, all, room);
        }
        let mut changes = self.trace.steps[*number].changed.clone();
        changes.sort_by_key(|change| matches!(change.value, Value::List(_)));
        self.cell_within(Ink::Changed, lines(pieces(&changes)), room, LINES_OF_CHANGES)
    }

    /// Lines of one ink, not too many of them.
    fn cell(&self, ink: Ink, lines: Vec<String>, room: usize) -> Cell {
        self.cell_within(ink, lines, room, LINES_A_STEP)
    }

    fn cell_within(&self, ink: Ink, mut lines: Vec<String>, room: usize, most: usize) -> Cell {
        if !self.full && lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                *last = format!("{}…", cut(last, room.saturating_sub(1)).trim_end_matches('…'));
            }
        }
        let mut cell = Cell::default();
        lines.into_iter().for_each(|line| cell.push(ink, line));
        cell
    }
}

impl Row {
    pub(super) fn first(&self) -> usize {
        match self {
            Row::Step(i) => *i,
            Row::Fold(range) => range.start,
        }
    }
}

impl Places {
    fn of(trace: &Trace) -> Places {
        let files: BTreeSet<&str> =
            trace.steps.iter().filter_map(|step| step.location.as_ref()).map(|place| &*place.file).collect();
        match files.len() {
            0 => Places::None,
            1 => Places::Line,
            _ => Places::FileAndLine,
        }
    }

    pub(super) fn write(self, place: &Location) -> String {
        match self {
            Places::None => String::new(),
            Places::Line => place.line.to_string(),
            Places::FileAndLine => {
                let name = place.file.rsplit(['/', '\\']).next().unwrap_or_default();
                format!("{}:{}", cut(&clean(name), 14), place.line)
            }
        }
    }
}

/// By pid; a pid that was used twice has two lanes, the older process first.
fn processes(trace: &Trace) -> Vec<(usize, &str)> {
    let mut first_seen: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (i, step) in trace.steps.iter().enumerate() {
        first_seen.entry((step.pid, &step.process)).or_insert(i);
        if let Some(partner) = &step.partner {
            first_seen.entry((partner.pid, &partner.process)).or_insert(i);
        }
    }
    let mut processes: Vec<_> = first_seen.into_iter().collect();
    processes.sort_by_key(|((pid, _), seen)| (*pid, *seen));
    processes.into_iter().map(|(process, _)| process).collect()
}

/// An engine may know who receives without knowing by which statement.
pub(super) fn partner_words(partner: &Partner) -> String {
    if partner.text.is_empty() { "receives".into() } else { clean(&partner.text) }
}

fn switch_sign(switch: SwitchKind) -> &'static str {
    match switch {
        SwitchKind::None => " ",
        SwitchKind::Forced => "›",
        SwitchKind::Preemption => "»",
    }
}

fn switch_ink(switch: SwitchKind) -> Ink {
    match switch {
        SwitchKind::None => Ink::Plain,
        SwitchKind::Forced => Ink::Forced,
        SwitchKind::Preemption => Ink::Preempted,
    }
}

pub(super) fn left_words(switch: SwitchKind) -> &'static str {
    match switch {
        SwitchKind::None => "",
        SwitchKind::Forced => CANNOT_MOVE,
        SwitchKind::Preemption => PREEMPTED,
    }
}
