//! A table: cells of several lines in several inks, side by side.

use super::words::width;
use crate::style::{Ink, Style};

/// One line of a cell, as pieces in their inks.
pub(super) type Line = Vec<(Ink, String)>;

#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub lines: Vec<Line>,
}

impl Cell {
    pub fn of(ink: Ink, text: impl Into<String>) -> Cell {
        Cell { lines: vec![vec![(ink, text.into())]] }
    }

    pub fn push(&mut self, ink: Ink, text: impl Into<String>) {
        self.lines.push(vec![(ink, text.into())]);
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    /// What stands between this column and the one before it.
    pub before: &'static str,
    pub width: usize,
    pub right: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Table {
    pub columns: Vec<Column>,
    pub style: Style,
}

impl Table {
    /// The lines of one row, each with its newline; missing cells are empty.
    pub fn row(&self, cells: &[Cell]) -> String {
        let height = cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0);
        let mut text = String::new();
        for number in 0..height {
            let mut blanks = 0;
            for (i, column) in self.columns.iter().enumerate() {
                // Blanks are held back until something follows them, so that no line ends in blanks.
                let line = cells.get(i).and_then(|cell| cell.lines.get(number));
                let used = line.map_or(0, |line| line.iter().map(|(_, piece)| width(piece)).sum());
                let padding = column.width.saturating_sub(used);
                let bar = column.before.trim_end();
                if bar.is_empty() {
                    blanks += column.before.len();
                } else {
                    let lead = bar.len() - bar.trim_start().len();
                    text.push_str(&" ".repeat(blanks + lead));
                    text.push_str(&self.style.paint(Ink::Faint, bar.trim_start()));
                    blanks = column.before.len() - bar.len();
                }
                if column.right {
                    blanks += padding;
                }
                for (ink, piece) in line.into_iter().flatten() {
                    let visible = piece.trim_end();
                    if !visible.is_empty() {
                        text.push_str(&" ".repeat(blanks));
                        text.push_str(&self.style.paint(*ink, visible));
                        blanks = 0;
                    }
                    blanks += piece.len() - visible.len();
                }
                if !column.right {
                    blanks += padding;
                }
            }
            text.push('\n');
        }
        text
    }

    /// The line under the headings.
    pub fn rule(&self) -> String {
        let mut line = String::new();
        for column in &self.columns {
            line.push_str(&column.before.replace(' ', "─").replace('│', "┼"));
            line.push_str(&"─".repeat(column.width));
        }
        format!("{}\n", self.style.paint(Ink::Faint, &line))
    }
}

/// How wide columns may be that want so much when there is only so much: none is cut before the widest.
pub(super) fn share(wanted: &[usize], room: usize) -> Vec<usize> {
    let most = wanted.iter().copied().max().unwrap_or(0);
    let fits = |cap: usize| wanted.iter().map(|w| (*w).min(cap)).sum::<usize>() <= room;
    let cap = (0..=most).rev().find(|cap| fits(*cap)).unwrap_or(0);
    let mut widths: Vec<usize> = wanted.iter().map(|w| (*w).min(cap)).collect();
    let mut left = room.saturating_sub(widths.iter().sum());
    for (width, wanted) in widths.iter_mut().zip(wanted) {
        if left > 0 && *width < *wanted {
            *width += 1;
            left -= 1;
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn the_widest_gives_way_first() {
        assert_eq!(share(&[5, 30, 10], 50), [5, 30, 10]);
        assert_eq!(share(&[5, 30, 10], 30), [5, 15, 10]);
        assert_eq!(share(&[30, 30], 21), [11, 10]);
        assert_eq!(share(&[30, 30], 0), [0, 0]);
        assert!(share(&[], 10).is_empty());
    }
}
