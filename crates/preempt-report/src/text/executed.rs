//! What no run has executed, folded to some lines: what Spin calls "unreached".

use super::TextOptions;
use super::words::{clean, counted, cut, grouped, plural, width};
use crate::style::Ink;
use preempt_core::{Executed, ExecutedPart, ExecutedUnit, Guarantee, Report, Unit, Verdict};

/// So many lines of each list, unless all are wanted.
const LINES: usize = 8;

/// Nothing for a report with a run: its search has ended early.
pub(super) fn lines(report: &Report, options: &TextOptions) -> String {
    let Some(executed) = report.executed.as_ref().filter(|_| report.violation.is_none()) else {
        return String::new();
    };
    let mut text = String::new();
    let missing = executed.missing();
    if missing > 0 {
        let of =
            format!("{} of {}", grouped(missing as u64), counted(executed.total(), executed.unit.name()));
        text.push_str(&heading(&format!("{}: {of}", title(report, executed)), options));
        text.push_str(&listed(executed, |part| never_executed(executed.unit, part), options));
    }
    let always =
        executed.parts.iter().filter_map(|part| part.never_false.as_ref()).map(Vec::len).sum::<usize>();
    if always > 0 && executed.complete {
        let title = format!("never false: {}", counted(always, "guard"));
        text.push_str(&heading(&title, options));
        text.push_str(&listed(executed, never_false, options));
    }
    text
}

/// In how many words it can be said how far this reaches.
pub(crate) fn title(report: &Report, executed: &Executed) -> String {
    let title = match (executed.complete, report.verdict, report.guarantee) {
        _ if executed.unit == ExecutedUnit::Transition => "can never fire",
        _ if executed.unit == ExecutedUnit::Rule => match executed.processes {
            Some(processes) => return format!("not used with up to {}", counted(processes, "process")),
            None => "can never be used",
        },
        (true, _, Guarantee::Exhaustive | Guarantee::Parameterised) => "never executed",
        (true, ..) => "not executed within the bound",
        (false, Verdict::Holds, _) => "not executed where the property was checked",
        (false, ..) => "not executed so far",
    };
    title.to_string()
}

fn heading(text: &str, options: &TextOptions) -> String {
    format!("\n  {}\n", options.style.paint(Ink::Strong, text))
}

/// A place, its text, and what there is to say of it.
type Entry<'a> = (Option<&'a Unit>, &'static str);

/// Of those that could not even be executed.
pub(crate) fn never_possible(unit: ExecutedUnit) -> &'static str {
    match unit {
        ExecutedUnit::Statement | ExecutedUnit::Transition => "never possible",
        ExecutedUnit::Rule => "never, with any number",
    }
}

fn never_executed<'a>(kind: ExecutedUnit, part: &'a ExecutedPart) -> Vec<Entry<'a>> {
    if !part.entered {
        return vec![(None, "never started")];
    }
    let reached = part.never_reached.iter().map(|unit| (Some(unit), ""));
    let mut all: Vec<Entry<'a>> =
        reached.chain(part.never_true.iter().map(|unit| (Some(unit), never_possible(kind)))).collect();
    all.sort_by_key(|(unit, _)| *unit);
    all
}

fn never_false(part: &ExecutedPart) -> Vec<Entry<'_>> {
    part.never_false.iter().flatten().map(|unit| (Some(unit), "")).collect()
}

fn listed<'a>(
    executed: &'a Executed,
    list: impl Fn(&'a ExecutedPart) -> Vec<Entry<'a>>,
    options: &TextOptions,
) -> String {
    let all: Vec<(&str, Entry<'a>)> = executed
        .parts
        .iter()
        .flat_map(|part| list(part).into_iter().map(move |entry| (part.name.as_str(), entry)))
        .collect();
    let shown = if options.full || all.len() <= LINES + 1 { all.len() } else { LINES };
    let names = all[..shown].iter().map(|(name, _)| width(&clean(name))).max().unwrap_or(0).min(24);
    let places: Vec<String> = all[..shown].iter().map(|(_, entry)| place(executed, entry)).collect();
    let column = places.iter().map(|place| width(place)).max().unwrap_or(0);
    let mut text = String::new();
    let mut before = "";
    for ((name, (unit, remark)), place) in all[..shown].iter().zip(&places) {
        let label = cut(&clean(if *name == before { "" } else { name }), names);
        before = name;
        let blanks = " ".repeat(names - width(&label) + 2);
        let what = unit.map_or(String::new(), |unit| clean(&unit.text));
        let remark = match (what.is_empty(), remark.is_empty()) {
            (_, true) => String::new(),
            (true, _) => (*remark).to_string(),
            (false, _) => format!("  ({remark})"),
        };
        let room = options.width.saturating_sub(4 + names + 2 + column + 2 + width(&remark));
        let line = format!("    {label}{blanks}{place:>column$}  {}{remark}", cut(&what, room.max(8)));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if shown < all.len() {
        let more = plural(executed.unit.name());
        text.push_str(&format!(
            "    … and {} more {more} (--full lists them)\n",
            grouped((all.len() - shown) as u64)
        ));
    }
    text
}

/// The line, with its file if there are several.
fn place(executed: &Executed, (unit, _): &Entry<'_>) -> String {
    let units = executed.parts.iter().flat_map(|part| part.never_reached.iter().chain(&part.never_true));
    let mut files: Vec<&str> =
        units.filter_map(|unit| unit.location.as_ref()).map(|place| place.file.as_str()).collect();
    files.dedup();
    let Some(location) = unit.and_then(|unit| unit.location.as_ref()) else { return String::new() };
    match files.len() > 1 {
        true => format!("{}:{}", clean(&location.file), location.line),
        false => location.line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{holds, lost_mutex, violated};
    use preempt_core::{Location, PropertyKind, StopReason};

    fn unit(line: u32, text: &str) -> Unit {
        let location = Some(Location { file: "m.pml".into(), line, column: 1 });
        Unit { location, text: text.into() }
    }

    fn executed() -> Executed {
        let server = ExecutedPart {
            name: "Server".into(),
            total: 6,
            entered: true,
            never_reached: vec![unit(20, "replies!refuse(client)")],
            never_true: vec![unit(19, "busy > 0")],
            never_false: Some(vec![unit(25, "served > 0")]),
        };
        let monitor = ExecutedPart {
            name: "Monitor".into(),
            total: 1,
            never_reached: vec![unit(46, "assert(served <= 1)")],
            ..ExecutedPart::default()
        };
        let parts = vec![server, monitor];
        Executed { unit: ExecutedUnit::Statement, complete: true, processes: None, parts }
    }

    #[track_caller]
    fn check(report: &Report, want: &str) {
        assert_eq!(lines(report, &TextOptions::default()), want);
    }

    #[test]
    fn process_by_process_with_lines_and_what_is_the_matter() {
        let mut report = holds(None);
        report.executed = Some(executed());
        check(
            &report,
            "
  never executed: 3 of 7 statements
    Server   19  busy > 0  (never possible)
             20  replies!refuse(client)
    Monitor      never started

  never false: 1 guard
    Server  25  served > 0
",
        );
    }

    #[test]
    fn the_heading_says_how_far_it_reaches() {
        let heading =
            |report: &Report| lines(report, &TextOptions::default()).lines().nth(1).map(str::to_string);
        let mut report = Report { executed: Some(executed()), ..holds(Some(1)) };
        assert_eq!(heading(&report).as_deref(), Some("  not executed within the bound: 3 of 7 statements"));
        report.verdict = Verdict::Inconclusive(StopReason::Time);
        report.executed = Some(Executed { complete: false, ..executed() });
        assert_eq!(heading(&report).as_deref(), Some("  not executed so far: 3 of 7 statements"));
        report.verdict = Verdict::Holds;
        let title = "  not executed where the property was checked: 3 of 7 statements";
        assert_eq!(heading(&report).as_deref(), Some(title));
        // Everything was executed, or the search has ended with a run.
        report.executed = Some(Executed { parts: Vec::new(), ..executed() });
        check(&report, "");
        let violated = violated(PropertyKind::Assertion, "assert(inside == 1)", lost_mutex());
        check(&Report { executed: Some(executed()), ..violated }, "");
    }

    #[test]
    fn rules_of_a_protocol_say_for_how_many_processes() {
        let part = ExecutedPart {
            total: 7,
            entered: true,
            never_reached: vec![unit(12, "upgrade")],
            never_true: vec![unit(9, "recover")],
            ..ExecutedPart::default()
        };
        let executed =
            Executed { unit: ExecutedUnit::Rule, processes: Some(4), complete: true, parts: vec![part] };
        let mut report = Report { executed: Some(executed.clone()), ..holds(None) };
        check(
            &report,
            "
  not used with up to 4 processes: 2 of 7 rules
       9  recover  (never, with any number)
      12  upgrade
",
        );
        report.executed = Some(Executed { processes: None, ..executed });
        assert!(lines(&report, &TextOptions::default()).starts_with("\n  can never be used: 2 of 7 rules\n"));
    }

    #[test]
    fn a_long_list_is_folded_and_no_line_is_too_wide() {
        let units = (1..=30).map(|line| unit(line, &"x = 1 + ".repeat(20))).collect();
        let part = ExecutedPart {
            name: "P".into(),
            total: 40,
            entered: true,
            never_reached: units,
            ..ExecutedPart::default()
        };
        let report = Report { executed: Some(Executed { parts: vec![part], ..executed() }), ..holds(None) };
        let text = lines(&report, &TextOptions::default());
        assert!(text.contains("… and 22 more statements (--full lists them)"), "{text}");
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        let full = lines(&report, &TextOptions { full: true, ..TextOptions::default() });
        assert_eq!(full.lines().count(), 32, "{full}");
    }
}
