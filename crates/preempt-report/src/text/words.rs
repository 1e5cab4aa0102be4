//! Numbers, plurals and pieces of text that fit into a column.

use preempt_core::Cost;
use std::time::Duration;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// `3 steps`, `1 step`, `0 steps`; thousands are set apart.
pub(super) fn counted(number: usize, what: &str) -> String {
    let what = if number == 1 { what.to_string() } else { plural(what) };
    format!("{} {what}", grouped(number as u64))
}

pub(crate) fn plural(what: &str) -> String {
    let ending = if what.ends_with("ch") || what.ends_with("ss") { "es" } else { "s" };
    format!("{what}{ending}")
}

/// One of what runs are charged for.
pub(crate) fn unit(cost: Cost) -> &'static str {
    match cost {
        Cost::Preemptions => "preemption",
        Cost::Switches => "switch",
        Cost::Steps => "step",
    }
}

/// `1234567` as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60),
        _ => format!("{} h {} min", time.as_secs() / 3600, time.as_secs() / 60 % 60),
    }
}

pub(super) fn bytes(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut amount = bytes as f64;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{amount:.1} {}", units[unit]) }
}

/// The text without characters that would move the cursor or change the colour.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The text with `…` at its end if it is too wide.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if fits(text, room) {
        return text.to_string();
    }
    let (head, _) = split_at_width(text, room.saturating_sub(1));
    format!("{}…", head.trim_end())
}

/// The name of a process with `…` in it if it is too wide: its number, as in `Phi…(12)`, tells it from others.
pub(super) fn cut_name(name: &str, room: usize) -> String {
    let number = name.rfind('(').filter(|_| name.ends_with(')')).unwrap_or(name.len());
    let (kind, number) = name.split_at(number);
    if fits(name, room) || width(number) + 2 > room {
        return cut(name, room);
    }
    cut(kind, room - width(number)) + number
}

/// Lines of at most `room` columns, broken at blanks where there are any.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    fill(text.split(' '), room)
}

/// Pieces joined by blanks into lines of at most `room` columns; only a piece wider than a line is broken.
pub(super) fn fill<'a>(pieces: impl IntoIterator<Item = &'a str>, room: usize) -> Vec<String> {
    let room = room.max(2);
    let mut lines = Vec::new();
    let mut line: Option<String> = None;
    for piece in pieces {
        let joined = match line.take() {
            None => piece.to_string(),
            Some(before) if width(&before) + 1 + width(piece) <= room => format!("{before} {piece}"),
            Some(before) => {
                lines.push(before);
                piece.to_string()
            }
        };
        let mut rest = joined.as_str();
        while !fits(rest, room) {
            let (head, tail) = break_line(rest, room);
            lines.push(head.trim_end().to_string());
            rest = tail.trim_start();
        }
        line = Some(rest.to_string());
    }
    lines.extend(line.filter(|line| !line.is_empty()));
    lines
}

/// The lines of a text, those that are too wide broken at blanks and indented below. Colours take no room.
pub(super) fn fit(text: &str, room: usize) -> String {
    let mut fitting = String::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let (mut rest, mut margin) = (line, 0);
        // Where there is next to no room, a line had better be too wide.
        while room >= margin + 12
            && let Some(end) = painted_end(rest, room - margin)
        {
            let least = if margin == 0 { indent } else { 0 };
            let blank = if rest[end..].starts_with(' ') { Some(end) } else { rest[..end].rfind(' ') };
            let (head, tail) = rest.split_at(blank.filter(|at| *at > least).unwrap_or(end));
            fitting.push_str(&format!("{:margin$}{}\n", "", head.trim_end()));
            (rest, margin) = (tail.trim_start(), indent + 2);
        }
        fitting.push_str(&format!("{:margin$}{rest}\n", ""));
    }
    fitting
}

/// Where the first character stands for which there is no room; escape sequences of colours are passed over.
fn painted_end(text: &str, room: usize) -> Option<usize> {
    let (mut used, mut escaped) = (0, false);
    for (i, c) in text.char_indices() {
        match (escaped, c) {
            (false, '\u{1b}') => escaped = true,
            (true, 'm') => escaped = false,
            (true, _) => {}
            (false, _) => used += c.width().unwrap_or(0),
        }
        if used > room {
            return Some(i);
        }
    }
    None
}

/// Looks only as far as the room goes: the value of a large array has hundreds of thousands of columns.
fn fits(text: &str, room: usize) -> bool {
    split_at_width(text, room).1.is_empty()
}

/// At the last blank that fits, if it is not far back; else wherever the line is full.
fn break_line(text: &str, room: usize) -> (&str, &str) {
    let (head, tail) = split_at_width(text, room);
    match head.rfind(' ') {
        Some(blank) if blank * 2 > head.len() => text.split_at(blank),
        _ => (head, tail),
    }
}

/// As much as fits into `room` columns, at least one character, and the rest.
fn split_at_width(text: &str, room: usize) -> (&str, &str) {
    let mut used = 0;
    for (i, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > room && i > 0 {
            return text.split_at(i);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "step"), "1 step");
        assert_eq!(counted(2, "forced switch"), "2 forced switches");
        assert_eq!(counted(0, "process"), "0 processes");
        assert_eq!(bytes(1023), "1023 bytes");
        assert_eq!(bytes(5 << 30), "5.0 GiB");
        assert_eq!(seconds(Duration::from_millis(1234)), "1.23 s");
        assert_eq!(seconds(Duration::from_secs(754)), "12 min 34 s");
        assert_eq!(seconds(Duration::from_secs(7500)), "2 h 5 min");
    }

    #[test]
    fn lines_break_at_blanks_and_never_exceed_the_room() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("", 8), Vec::<String>::new());
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(fill(["a = 1,", "b = 2,", "c = 3"], 13), ["a = 1, b = 2,", "c = 3"]);
        assert_eq!(wrap("漢字漢字", 4), ["漢字", "漢字"]);
        assert_eq!(wrap("x", 0), ["x"]);
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(fit("short\n  one two three four five", 16), "short\n  one two three\n    four five\n");
        assert_eq!(
            fit("\u{1b}[31mviolated\u{1b}[0m: one two", 13),
            "\u{1b}[31mviolated\u{1b}[0m: one\n  two\n"
        );
        assert_eq!(cut("abc", 4), "abc");
        assert_eq!(cut_name("Philosopher(12)", 8), "Phi…(12)");
        assert_eq!(cut_name("Philosopher(12)", 5), "Phil…");
        assert_eq!((cut_name("P(1)", 4), cut_name("no number", 4)), ("P(1)".into(), "no…".into()));
    }
}
