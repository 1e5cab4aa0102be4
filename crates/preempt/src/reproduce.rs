//! A test that repeats a failing run, as text to paste: the failure stays in the suite after it was found.

use crate::source::Sources;

/// What is known of a check beside its file and line.
#[derive(Debug, Clone, Default)]
pub(crate) struct CheckOrigin {
    pub column: u32,
    /// Methods of the checker that a replay needs too.
    pub options: String,
    /// Which package the test is written for.
    pub package: &'static str,
}

impl CheckOrigin {
    /// The text of a `#[test]` that replays the schedule. If the check was given a closure, and the text can be found, the
    /// test stands for itself; if it was given a name, it belongs where that name is known. Empty for packages that replay
    /// nothing.
    pub fn reproduction(&self, check: &str, test: Option<&str>, schedule: &str) -> String {
        let (file, line) = check.rsplit_once(':').unwrap_or((check, ""));
        let line: u32 = line.parse().unwrap_or(0);
        let tested = Sources::default().tested(file, line, self.column);
        let name: String = test
            .and_then(|test| test.rsplit("::").find(|part| *part != "model"))
            .unwrap_or("it")
            .chars()
            .map(|letter| if letter.is_alphanumeric() { letter } else { '_' })
            .collect();
        let tested = tested.map_or_else(|| format!("|| todo!(\"the test at {check}\")"), |it| indented(&it));
        let options = &self.options;
        let body = match self.package {
            "shuttle" => format!("shuttle::replay({tested}, \"{schedule}\");"),
            "loom" => return String::new(),
            _ => format!(
                "let report = preempt::Checker::new(){options}.replay(\"{schedule}\").run({tested});\n    \
                 assert!(report.failure.is_none(), \"{{report}}\");"
            ),
        };
        format!(
            "/// A schedule in which the check at {check} fails.\n\
             #[test]\n\
             fn {name}_fails_in_this_schedule() {{\n    {body}\n}}\n"
        )
    }
}

/// The lines of a closure behind the first, moved so that the last stands under the first.
fn indented(body: &str) -> String {
    let margin = body.lines().next_back().map_or(0, |last| last.len() - last.trim_start().len());
    let mut lines = body.lines();
    let mut text = lines.next().unwrap_or_default().to_string();
    for line in lines {
        let line = line.get(margin.min(line.len() - line.trim_start().len())..).unwrap_or(line);
        text.push_str(if line.trim().is_empty() { "\n" } else { "\n    " });
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_are_moved_to_their_new_place() {
        assert_eq!(indented("|| f()"), "|| f()");
        let body = "|| {\n            let x = 1;\n\n            f(x);\n        }";
        assert_eq!(indented(body), "|| {\n        let x = 1;\n\n        f(x);\n    }");
    }

    #[test]
    fn without_the_text_there_is_a_place_to_put_it() {
        let text = CheckOrigin::default().reproduction(
            "no/such/file.rs:3",
            Some("queue::two_consumers"),
            "p1:0x2.1",
        );
        assert!(text.contains("fn two_consumers_fails_in_this_schedule()"), "{text}");
        assert!(text.contains(".replay(\"p1:0x2.1\")") && text.contains("no/such/file.rs:3"), "{text}");
        let of =
            |package| CheckOrigin { package, ..CheckOrigin::default() }.reproduction("x.rs:1", None, "p1:0");
        assert!(of("shuttle").contains("shuttle::replay(|| todo!"), "{}", of("shuttle"));
        assert_eq!(of("loom"), "");
    }
}
