//! The table of a run. Every process has its column, the lane, as long as the lanes are wide enough to read;
//! otherwise a small map shows who moves and one column holds the text of every step.

use super::TextOptions;
use super::columns::{Cell, Column, Line, Table, share};
use super::counterexample::pieces;
use super::rows::{Row, net_changes};
use super::words::{clean, cut, fill, grouped, width, wrap};
use crate::style::Ink;
use preempt_core::{Location, Step, SwitchKind, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A lane narrower than its text and than this cannot be read.
const NARROWEST_LANE: usize = 14;
/// The map of the other layout has one character a process.
const WIDEST_MAP: usize = 16;
/// A step takes at most so many lines, unless everything is wanted.
const LINES_A_STEP: usize = 3;

const PREEMPTED: &str = "▒ preempted";
const CANNOT_MOVE: &str = "· cannot move";

pub(super) struct Lanes<'a> {
    trace: &'a Trace,
    full: bool,
    /// Pid and name of every process that moves, in the order of their lanes.
    processes: Vec<(usize, &'a str)>,
    places: Places,
    layout: Layout,
    has_changes: bool,
    table: Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Lanes,
    Names { map: bool },
}

/// How places are written: as lines if there is only one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Places {
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
    pub fn legend(&self) -> String {
        let Layout::Names { map } = self.layout else { return String::new() };
        let legend = match map {
            true => "  ● moves   ▒ was preempted   ○ could not move   ◆ receives",
            false => "  » the process before was preempted   › it could not move",
        };
        format!("{}\n", self.table.style.paint(Ink::Faint, legend))
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
                cells
                    .push(Cell::of(Ink::Plain, cut(&clean(&step.process), self.table.columns[column].width)));
                cells.push(self.own_text(row, self.table.columns[column + 1].width));
            }
        }
        if self.has_changes {
            let room = self.table.columns[cells.len()].width;
            cells.push(self.cell(
                Ink::Changed,
                fill(self.changes(row).iter().map(String::as_str), room),
                room,
            ));
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
            lanes[lane] = self.cell(Ink::Plain, wrap(&clean(&partner.text), room(lane)), room(lane));
        }
        if let Some(lane) = self.left_behind(*i)
            && lanes[lane].is_empty()
        {
            lanes[lane] = Cell::of(switch_ink(step.switch), cut(left_words(step.switch), room(lane)));
        }
    }

    /// The lane of the process that ran before this step, if the step switched away from it.
    fn left_behind(&self, i: usize) -> Option<usize> {
        if self.trace.steps[i].switch == SwitchKind::None {
            return None;
        }
        let (name, pid) = self.trace.steps[i.checked_sub(1)?].running_after();
        self.lane(pid, name)
    }

    fn own_text(&self, row: &Row, room: usize) -> Cell {
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
        let printed = step.output.as_deref().unwrap_or_default().trim_end_matches('\n');
        for line in printed.split('\n').filter(|_| !printed.is_empty()) {
            let lines = wrap(&format!("> {}", clean(line)), room);
            cell.lines.extend(self.cell(Ink::Printed, lines, room).lines);
        }
        cell
    }

    fn words(&self, step: &Step) -> String {
        let mut words = clean(&step.text);
        if let Some(choice) = &step.choice {
            words = format!("{words} → {}", clean(choice));
        }
        if let (Layout::Names { .. }, Some(partner)) = (self.layout, &step.partner) {
            words = format!("{words} → {}: {}", clean(&partner.process), clean(&partner.text));
        }
        words
    }

    fn changes(&self, row: &Row) -> Vec<String> {
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

    fn lane(&self, pid: usize, name: &str) -> Option<usize> {
        self.processes.iter().position(|process| *process == (pid, name))
    }

    /// Lines of one ink, not too many of them.
    fn cell(&self, ink: Ink, mut lines: Vec<String>, room: usize) -> Cell {
        if !self.full && lines.len() > LINES_A_STEP {
            lines.truncate(LINES_A_STEP);
            if let Some(last) = lines.last_mut() {
                *last = format!("{}…", cut(last, room.saturating_sub(1)).trim_end_matches('…'));
            }
        }
        let mut cell = Cell::default();
        lines.into_iter().for_each(|line| cell.push(ink, line));
        cell
    }

    /// Chooses the layout, and shares the width among lanes and changes by what they want to show.
    fn set_columns(&mut self, rows: &[Row], page: usize) {
        let digits = self.trace.steps.len().to_string().len().max("step".len());
        let gutter = if self.trace.loop_start.is_some() { 3 } else { 1 };
        let mut columns = vec![
            Column { before: "", width: gutter, right: false },
            Column { before: " ", width: digits, right: true },
        ];
        if self.places != Places::None {
            let wanted = self.trace.steps.iter().filter_map(|step| step.location.as_ref());
            let wanted = wanted.map(|place| width(&self.places.write(place))).max().unwrap_or(0);
            let right = self.places == Places::Line;
            columns.push(Column {
                before: "  ",
                width: wanted.max("place".len() - usize::from(right)),
                right,
            });
        }
        let used: usize = columns.iter().map(|column| column.before.len() + column.width).sum();
        let changes = if self.has_changes { self.wanted_changes(rows) } else { 0 };
        let bars = 3 * (self.processes.len() - 1 + usize::from(self.has_changes)) + 2;
        let room = page.saturating_sub(used + bars);
        // Changes get a third, and what the lanes leave.
        let wanted = self.wanted_lanes(rows);
        let for_changes = changes.min((room / 3).max("changed".len()));
        let widths = share(&wanted, room.saturating_sub(for_changes));
        let readable = widths.iter().zip(&wanted).all(|(got, want)| got >= want || *got >= NARROWEST_LANE);
        if readable {
            let left = room.saturating_sub(widths.iter().sum());
            for (i, width) in widths.into_iter().enumerate() {
                columns.push(Column { before: if i == 0 { "  " } else { " │ " }, width, right: false });
            }
            if self.has_changes {
                columns.push(Column { before: " │ ", width: changes.min(left), right: false });
            }
        } else {
            let map = self.processes.len() <= WIDEST_MAP;
            self.layout = Layout::Names { map };
            if map {
                columns.push(Column { before: "  ", width: self.processes.len(), right: false });
            }
            let names = self.processes.iter().map(|(_, name)| width(&clean(name))).max().unwrap_or(0);
            columns.push(Column { before: "  ", width: names.clamp("process".len(), 20), right: false });
            let used: usize = columns.iter().map(|column| column.before.len() + column.width).sum();
            let room = page.saturating_sub(used + 2 + if self.has_changes { 3 } else { 0 }).max(20);
            let text = self.wanted_text(rows);
            let widths = share(&[text, changes], room);
            columns.push(Column { before: "  ", width: widths[0].max("does".len()), right: false });
            if self.has_changes {
                columns.push(Column { before: " │ ", width: widths[1].max("changed".len()), right: false });
            }
        }
        self.table.columns = columns;
    }

    /// The widest line that each lane has to show.
    fn wanted_lanes(&self, rows: &[Row]) -> Vec<usize> {
        let mut wanted: Vec<usize> = self.processes.iter().map(|(_, name)| width(&clean(name))).collect();
        for row in rows {
            let step = &self.trace.steps[row.first()];
            if let Some(own) = self.lane(step.pid, &step.process) {
                wanted[own] = wanted[own].max(self.wanted_by(row));
            }
            if let Some(partner) = &step.partner
                && let Some(lane) = self.lane(partner.pid, &partner.process)
            {
                wanted[lane] = wanted[lane].max(width(&clean(&partner.text)));
            }
            if let Row::Step(i) = row
                && let Some(lane) = self.left_behind(*i)
            {
                wanted[lane] = wanted[lane].max(width(left_words(step.switch)));
            }
        }
        wanted
    }

    fn wanted_text(&self, rows: &[Row]) -> usize {
        rows.iter().map(|row| self.wanted_by(row)).max().unwrap_or(0).max("does".len())
    }

    fn wanted_changes(&self, rows: &[Row]) -> usize {
        let joined = |row| self.changes(row).iter().map(|piece| width(piece) + 1).sum::<usize>();
        rows.iter().map(joined).max().unwrap_or(0).saturating_sub(1).max("changed".len())
    }

    fn wanted_by(&self, row: &Row) -> usize {
        let cell = self.own_text(row, usize::MAX / 2);
        cell.lines.iter().flatten().map(|(_, text)| width(text)).max().unwrap_or(0)
    }
}

impl Row {
    fn first(&self) -> usize {
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

    fn write(self, place: &Location) -> String {
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

fn left_words(switch: SwitchKind) -> &'static str {
    match switch {
        SwitchKind::None => "",
        SwitchKind::Forced => CANNOT_MOVE,
        SwitchKind::Preemption => PREEMPTED,
    }
}
