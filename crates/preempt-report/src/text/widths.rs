//! How the page is shared among the columns of a run, and whether there is room for lanes at all.

use super::columns::{Column, share};
use super::lanes::{Lanes, Layout, Places, left_words, partner_words};
use super::rows::Row;
use super::words::{clean, width};

/// A lane narrower than its text and than this cannot be read.
const NARROWEST_LANE: usize = 14;
/// The map of the other layout has one character a process.
const WIDEST_MAP: usize = 16;
/// What a step does and what it has changed can be read in so many columns together; with fewer than these, hardly.
const ENOUGH: usize = 20;
const LEAST: usize = 12;

impl Lanes<'_> {
    /// Chooses the layout, and shares the width among lanes and changes by what they want to show.
    pub(super) fn set_columns(&mut self, rows: &[Row], page: usize) {
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
            let names = self.processes.iter().map(|(_, name)| width(&clean(name))).max().unwrap_or(0);
            let bar = if self.has_changes { 3 } else { 0 };
            let left = |map: usize, names: usize| page.saturating_sub(used + map + 2 + names + 2 + bar);
            // On a narrow page names are cut first, and then the map goes.
            let map_width = self.processes.len() + 2;
            let map = self.processes.len() <= WIDEST_MAP && left(map_width, "process".len()) >= ENOUGH;
            let map_width = if map { map_width } else { 0 };
            let names = names.clamp("process".len(), 20);
            let names =
                names.saturating_sub(ENOUGH.saturating_sub(left(map_width, names))).max("process".len());
            self.layout = Layout::Names { map };
            if map {
                columns.push(Column { before: "  ", width: self.processes.len(), right: false });
            }
            columns.push(Column { before: "  ", width: names, right: false });
            let room = left(map_width, names).max(LEAST);
            let text = self.wanted_text(rows);
            let widths = share(&[text, changes], room);
            let changed = if self.has_changes { widths[1].max("changed".len()) } else { 0 };
            let does = widths[0].min(room.saturating_sub(changed)).max("does".len());
            columns.push(Column { before: "  ", width: does, right: false });
            if self.has_changes {
                columns.push(Column { before: " │ ", width: changed, right: false });
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
                wanted[lane] = wanted[lane].max(width(&partner_words(partner)));
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
