//! A generated program as a tree of lines, so that it can be printed, and made smaller without knowing the grammar: a
//! smaller text that is no program any more is simply not taken.

/// A line, what stands inside it, and the line that closes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Without what stands inside.
    pub text: String,
    /// Lines that stand in it.
    pub inside: Vec<Line>,
    /// Behind them; empty if nothing has to be closed.
    pub close: &'static str,
}

impl Line {
    /// A line with nothing inside.
    pub fn new(text: impl Into<String>) -> Line {
        Line { text: text.into(), inside: Vec::new(), close: "" }
    }

    /// A line with others inside.
    pub fn block(text: impl Into<String>, inside: Vec<Line>, close: &'static str) -> Line {
        Line { text: text.into(), inside, close }
    }

    fn write(&self, depth: usize, out: &mut String) {
        let indent = "    ".repeat(depth);
        // Directives must stand first on their line, and are the better for standing at its very beginning.
        let margin = if self.text.starts_with('#') { "" } else { &indent };
        out.push_str(margin);
        out.push_str(&self.text);
        out.push('\n');
        for line in &self.inside {
            line.write(depth + 1, out);
        }
        if !self.close.is_empty() {
            let margin = if self.close.starts_with('#') { "" } else { &indent };
            out.push_str(margin);
            out.push_str(self.close);
            out.push('\n');
        }
    }
}

/// The whole text.
pub fn text_of(lines: &[Line]) -> String {
    let mut out = String::new();
    lines.iter().for_each(|line| line.write(0, &mut out));
    out
}

/// The smallest program that this leads to for which `is_as_bad` still says yes, by leaving out lines, by putting
/// what is inside of a line in its place, and by putting constants in the place of what stands in parentheses.
pub fn shrink(lines: &[Line], is_as_bad: &mut dyn FnMut(&str) -> bool) -> Vec<Line> {
    let mut best = lines.to_vec();
    loop {
        let candidates = smaller(&best).chain(simpler(&best));
        let next = candidates.into_iter().find(|candidate| is_as_bad(&text_of(candidate)));
        match next {
            Some(next) => best = next,
            None => return best,
        }
    }
}

/// Every text with one line left out, or with its inside in its place; whole processes come first.
fn smaller(lines: &[Line]) -> impl Iterator<Item = Vec<Line>> + use<> {
    let mut all = Vec::new();
    for at in 0..lines.len() {
        let mut without = lines.to_vec();
        let line = without.remove(at);
        all.push(without.clone());
        if !line.inside.is_empty() {
            without.splice(at..at, line.inside.iter().cloned());
            all.push(without);
            all.extend(smaller(&line.inside).map(|inside| {
                let mut changed = lines.to_vec();
                changed[at].inside = inside;
                changed
            }));
        }
    }
    all.into_iter()
}

/// Every text with `0`, `1`, or one of its sides in the place of something in parentheses.
fn simpler(lines: &[Line]) -> impl Iterator<Item = Vec<Line>> + use<> {
    let mut all = Vec::new();
    for at in 0..lines.len() {
        let mut change = |change: &dyn Fn(&mut Line)| {
            let mut changed = lines.to_vec();
            change(&mut changed[at]);
            all.push(changed);
        };
        for text in simpler_text(&lines[at].text) {
            change(&|line| line.text = text.clone());
        }
        for inside in simpler(&lines[at].inside) {
            change(&|line| line.inside = inside.clone());
        }
    }
    all.into_iter()
}

fn simpler_text(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = Vec::new();
    for (at, char) in text.char_indices() {
        match char {
            '(' => open.push(at),
            ')' => {
                let Some(start) = open.pop() else { continue };
                let inside = &text[start + 1..at];
                let sides = inside.split_once(' ').into_iter().flat_map(|(left, rest)| {
                    [Some(left), rest.split_once(' ').map(|(_, right)| right)].into_iter().flatten()
                });
                for shorter in ["0", "1"].into_iter().chain(sides).filter(|it| it.len() < inside.len()) {
                    all.push(format!("{}{shorter}{}", &text[..start], &text[at + 1..]));
                    all.push(format!("{}({shorter}){}", &text[..start], &text[at + 1..]));
                }
            }
            _ => {}
        }
    }
    all
}
