//! The chart of a run as one SVG, for papers and pull requests: a lane for each process, time downwards, an arrow for each
//! message, switches between the lanes. It needs no fonts, scripts or colours of the page it stands on.

use super::Chart;
use crate::text::{cut, describe};
use preempt_core::{Property, SwitchKind, Trace};
use std::fmt::Write;

/// In pixels; characters of the font have about the same width everywhere.
const ROW: usize = 26;
const TOP: usize = 40;
const GUTTER: usize = 46;
const CHARACTER: usize = 7;
/// Of a statement, in characters: what is longer is cut.
const LONGEST: usize = 34;

const STYLE: &str = "\
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2430}\
.name{font-weight:bold;text-anchor:middle}.number{fill:#7a8292;text-anchor:end}.does{text-anchor:middle}\
.box{fill:#eef2fb;stroke:#5b7bd5}.lane{stroke:#c9cfda}.message{stroke:#1b7f5c;fill:none;marker-end:url(#tip)}\
.lost{stroke:#1b7f5c;stroke-dasharray:2 3}.what{fill:#1b7f5c;font-size:10px}\
.forced{stroke:#9aa2b1;stroke-dasharray:3 3;fill:none}.preemption{stroke:#c8372d;stroke-width:2;fill:none}\
.loop{stroke:#8a4fc2;stroke-width:2;fill:none}.loop-text{fill:#8a4fc2}.wrong{fill:#c8372d;font-weight:bold}";

/// Draws the run.
///
/// ```
/// use preempt_core::{Property, PropertyKind, Step, SwitchKind, Trace};
///
/// let step = |pid: usize, text: &str, switch| Step {
///     process: format!("P({pid})"), pid, location: None, calls: vec![], text: text.into(), choice: None,
///     switch, changed: vec![], output: None, partner: None,
/// };
/// let steps = vec![step(0, "x < 1", SwitchKind::None), step(1, "x = 1", SwitchKind::Preemption)];
/// let trace = Trace { steps, processes: 2, ..Trace::default() };
/// let property = Property::new(PropertyKind::Assertion, "x < 1".into(), None);
/// let picture = preempt_report::render_svg(&trace, Some(&property));
/// assert!(picture.starts_with("<svg") && picture.contains("x &lt; 1"));
/// ```
pub fn render_svg(trace: &Trace, property: Option<&Property>) -> String {
    let chart = Chart::new(trace, property);
    Drawing::new(&chart, trace).whole(property)
}

struct Drawing<'a> {
    chart: &'a Chart,
    trace: &'a Trace,
    /// Of a lane.
    width: usize,
    out: String,
}

impl<'a> Drawing<'a> {
    fn new(chart: &'a Chart, trace: &'a Trace) -> Drawing<'a> {
        let names = chart.lanes.iter().map(|name| name.chars().count());
        let texts = trace.steps.iter().map(|step| step.text.chars().count());
        let received = trace.steps.iter().filter_map(|step| step.partner.as_ref());
        let longest = names.chain(texts).chain(received.map(|partner| partner.text.chars().count())).max();
        let width = (longest.unwrap_or(0).clamp(8, LONGEST) + 5) * CHARACTER;
        Drawing { chart, trace, width, out: String::new() }
    }

    /// The middle of a lane, and of a row.
    fn x(&self, lane: usize) -> usize {
        GUTTER + lane * self.width + self.width / 2
    }

    fn y(step: usize) -> usize {
        TOP + step * ROW + ROW / 2
    }

    fn whole(mut self, property: Option<&Property>) -> String {
        let rows = self.trace.steps.len();
        let wrong = property.map(describe).unwrap_or_default();
        let (lanes, last) = (self.chart.lanes.len().max(1), TOP + rows * ROW);
        let width = (GUTTER + lanes * self.width + 40).max(GUTTER + (wrong.chars().count() + 4) * CHARACTER);
        let height = last + 2 * ROW;
        self.line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"a run of {rows} steps\">"
        ));
        self.line(format_args!("<style>{STYLE}</style>"));
        self.line(format_args!(
            "<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\">\
             <path d=\"M0,0 L8,4 L0,8 z\" fill=\"#1b7f5c\"/></marker></defs>"
        ));
        self.line(format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"));
        for (lane, name) in self.chart.lanes.iter().enumerate() {
            let x = self.x(lane);
            self.line(format_args!("<path class=\"lane\" d=\"M{x},{TOP} V{last}\"/>"));
            self.line(format_args!("<text class=\"name\" x=\"{x}\" y=\"24\">{}</text>", escaped(name)));
        }
        self.switches();
        self.steps();
        self.messages();
        self.circle(last);
        if !wrong.is_empty() {
            let (y, wrong) = (last + ROW, escaped(&wrong));
            self.line(format_args!("<text class=\"wrong\" x=\"{GUTTER}\" y=\"{y}\">✗ {wrong}</text>"));
        }
        self.out.push_str("</svg>\n");
        self.out
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(text);
        self.out.push('\n');
    }

    /// From the process that was left to the one that goes on.
    fn switches(&mut self) {
        for (number, step) in self.trace.steps.iter().enumerate().skip(1) {
            let class = match step.switch {
                SwitchKind::None => continue,
                SwitchKind::Forced => "forced",
                SwitchKind::Preemption => "preemption",
            };
            let (lane, partner) = self.chart.steps[number - 1];
            let (from, to) = (self.x(partner.unwrap_or(lane)), self.x(self.chart.steps[number].0));
            let (before, y) = (Self::y(number - 1), Self::y(number));
            let middle = (before + y) / 2;
            self.line(format_args!("<path class=\"{class}\" d=\"M{from},{before} V{middle} H{to} V{y}\"/>"));
        }
    }

    fn steps(&mut self) {
        for (number, step) in self.trace.steps.iter().enumerate() {
            let (lane, partner) = self.chart.steps[number];
            let (y, label) = (Self::y(number) + 4, number + 1);
            self.line(format_args!("<text class=\"number\" x=\"{}\" y=\"{y}\">{label}</text>", GUTTER - 10));
            self.does(lane, number, &step.text);
            if let (Some(to), Some(partner)) = (partner, &step.partner) {
                self.does(to, number, &partner.text);
                let half = self.width / 2 - 8;
                let (from, to) = match lane < to {
                    true => (self.x(lane) + half, self.x(to) - half),
                    false => (self.x(lane) - half, self.x(to) + half),
                };
                let y = Self::y(number);
                self.line(format_args!("<path class=\"message\" d=\"M{from},{y} H{to}\"/>"));
            }
        }
    }

    fn does(&mut self, lane: usize, row: usize, text: &str) {
        let (x, y, width) = (self.x(lane), Self::y(row), self.width - 16);
        let (left, top) = (x - width / 2, y - 10);
        let text = escaped(&cut(text, LONGEST));
        self.line(format_args!(
            "<rect class=\"box\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"20\" rx=\"4\"/>\
             <text class=\"does\" x=\"{x}\" y=\"{}\">{text}</text>",
            y + 4
        ));
    }

    /// From the send to the receive; a message that nobody takes ends in its own lane.
    fn messages(&mut self) {
        for message in &self.chart.messages {
            let Some(sent) = message.sent else { continue };
            let from = self.x(self.chart.steps[sent].0);
            let label = escaped(&cut(&format!("{}: {}", message.channel, message.text), LONGEST));
            let half = self.width / 2 - 8;
            match message.received {
                Some(received) => {
                    let to = self.x(self.chart.steps[received].0);
                    let (from, to) = match from.cmp(&to) {
                        std::cmp::Ordering::Less => (from + half, to - half),
                        std::cmp::Ordering::Greater => (from - half, to + half),
                        std::cmp::Ordering::Equal => (from + half, to + half),
                    };
                    let (y, end) = (Self::y(sent), Self::y(received));
                    self.line(format_args!("<path class=\"message\" d=\"M{from},{y} L{to},{end}\"/>"));
                    let (x, y) = ((from + to) / 2 + 4, (y + end) / 2 - 3);
                    self.line(format_args!("<text class=\"what\" x=\"{x}\" y=\"{y}\">{label}</text>"));
                }
                None => {
                    let (from, to, y) = (from + half, from + half + 18, Self::y(sent));
                    self.line(format_args!("<path class=\"lost\" d=\"M{from},{y} H{to}\"/>"));
                }
            }
        }
    }

    /// A run without end: where its last step leads back to.
    fn circle(&mut self, last: usize) {
        let Some(start) = self.trace.loop_start else { return };
        let (top, bottom) = (TOP + start * ROW + 4, last - 4);
        if start >= self.trace.steps.len() {
            self.line(format_args!(
                "<text class=\"loop-text\" x=\"{GUTTER}\" y=\"{}\">↺ it stays like this</text>",
                last + 12
            ));
            return;
        }
        self.line(format_args!("<path class=\"loop\" d=\"M12,{top} H6 V{bottom} H12\"/>"));
        self.line(format_args!("<text class=\"loop-text\" x=\"2\" y=\"{}\">↺</text>", top - 6));
    }
}

/// As text of an XML document; characters that it cannot hold become the one that stands for them.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}
