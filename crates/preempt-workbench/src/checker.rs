//! One call from a text or a Rust type to a report: what `preempt check` does, for programs.

use crate::engine::{self, Context};
use crate::error::Error;
use crate::frontend::{FrontEnd, LoadRequest};
use crate::plan::Plan;
use crate::request::Request;
use crate::verb::Verb;
use preempt_core::{Budget, Limits, Progress, Report, RunInfo, Silent, Snapshot, StopReason};
use preempt_model::System;
use preempt_report::{Style, TextOptions, render_notes, render_report};
use std::fmt;
use std::ops::Deref;
use std::path::Path;

/// Finds the simplest run that violates what a Promela model says about itself, or proves that there is none.
pub fn check_promela(text: &str) -> Result<Checked, Error> {
    check_text("model.pml", text)
}

/// The same for a text of any kind; the extension of its name says of which.
pub fn check_text(name: &str, text: &str) -> Result<Checked, Error> {
    Checker::new().check_text(name, text)
}

/// The same for a system that is a Rust type.
pub fn check_system<S: System<State: Send> + Sync>(system: &S) -> Checked {
    let settings = crate::settings::Settings::default();
    let checked = engine::check_system(system, &settings, &mut Silent);
    // Only what was asked for can be refused, and here is nothing.
    checked.map(Checked::of_a_system).unwrap_or_else(|why| panic!("internal error: {why}"))
}

/// A check with options. Each has the name that it has on the command line, and is refused as it is there: where it does
/// not apply, and where it does not go with another.
///
/// ```
/// use preempt_workbench::{Checker, Verdict};
///
/// let model = "byte x; active [2] proctype P() { x++; x--; assert(x == 0) }";
/// let report = Checker::new().bound(0).check_text("model.pml", model)?;
/// assert_eq!(report.verdict, Verdict::Holds);
/// let report = Checker::new().engine("reference").option("fair-switch", "").check_text("model.pml", model)?;
/// assert_eq!(report.verdict, Verdict::Violated);
/// let refused = Checker::new().engine("symbolic").bound(0).check_text("model.pml", model);
/// assert_eq!(refused.unwrap_err().to_string().split(" (").next(), Some("--bound is an option of the engines reference, explicit"));
/// # Ok::<(), preempt_workbench::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Checker {
    /// Or the first thing that was wrong with an option.
    request: Result<Request, Error>,
    limits: Limits,
}

impl Default for Checker {
    fn default() -> Checker {
        Checker::new()
    }
}

impl Checker {
    /// Without options: the engine that suits, and everything that the input says about itself.
    pub fn new() -> Checker {
        Checker { request: Ok(Request::new(Verb::Check)), limits: Limits::default() }
    }

    /// Any option of the [table](crate::settings) by its name; a flag has the value `""`. What is wrong with it is told
    /// when something is checked.
    #[must_use]
    pub fn option(self, name: &str, value: &str) -> Checker {
        Checker { request: self.request.and_then(|request| request.option(name, value)), ..self }
    }

    /// Only runs with at most so many preemptions.
    #[must_use]
    pub fn bound(self, most: u32) -> Checker {
        self.option("bound", &most.to_string())
    }

    /// The engine with this name, or `auto`.
    #[must_use]
    pub fn engine(self, name: &str) -> Checker {
        self.option("engine", name)
    }

    /// Only the property with this name.
    #[must_use]
    pub fn property(self, name: &str) -> Checker {
        self.option("property", name)
    }

    /// A formula of linear temporal logic, in place of what the model says about itself.
    #[must_use]
    pub fn ltl(self, formula: &str) -> Checker {
        self.option("ltl", formula)
    }

    /// What may be spent; the report is inconclusive where that is not enough.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Checker {
        Checker { limits, ..self }
    }

    /// Checks a text; the extension of its name says what it is. Files that it includes are not read.
    pub fn check_text(&self, name: &str, text: &str) -> Result<Checked, Error> {
        self.check_text_with(name, text, &mut |_| Err("files are not read here".into()), &mut Silent)
    }

    /// The same, with whoever reads included files and whoever listens.
    pub fn check_text_with(
        &self,
        name: &str,
        text: &str,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
        progress: &mut dyn Progress,
    ) -> Result<Checked, Error> {
        let request = self.request.clone()?;
        let front_end = match request.text("input") {
            Some(name) => FrontEnd::find(name),
            None => FrontEnd::of_path(Path::new(name)),
        };
        let front_end =
            front_end.ok_or_else(|| Error::refused(format!("what kind of input is `{name}`?")))?;
        let mut plan = Plan::new(request, front_end)?;
        plan.settings.limits = self.within(plan.settings.limits);
        let budget = progress.budget().part(&Limits { time: plan.settings.limits.time, ..Limits::default() });
        let settings = &plan.settings;
        let mut load = LoadRequest { name, text, properties: None, settings, budget: &budget, read };
        let loaded = plan.load(&mut load);
        if let Some(reason) = budget.exhausted() {
            return Err(Error::Stopped(reason));
        }
        let input = loaded.into_input()?;
        let mut progress = Within { progress, budget };
        let mut context = Context { progress: &mut progress, checkpoints: None, scratch: None };
        plan.run(&input, &mut context).map(Checked)
    }

    /// Checks a system that is a Rust type: options that say how states are searched apply.
    pub fn check_system<S: System<State: Send> + Sync>(
        &self,
        system: &S,
        progress: &mut dyn Progress,
    ) -> Result<Checked, Error> {
        let request = self.request.clone()?;
        request.fits_itself()?;
        let mut settings = request.settings()?;
        settings.limits = self.within(settings.limits);
        match request.text("engine") {
            None | Some(engine::AUTO | "explicit") => {}
            Some(other) => return Err(Error::refused(format!("the {other} engine takes no Rust types"))),
        }
        engine::check_system(system, &settings, progress).map(Checked::of_a_system)
    }

    /// The limits of both.
    fn within(&self, options: Limits) -> Limits {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Limits {
            states: least(self.limits.states, options.states),
            depth: least(self.limits.depth, options.depth),
            time: self.limits.time.into_iter().chain(options.time).min(),
            memory_bytes: least(self.limits.memory_bytes, options.memory_bytes),
        }
    }
}

/// A listener whose budget is that of one check.
struct Within<'a> {
    progress: &'a mut dyn Progress,
    budget: Budget,
}

impl Progress for Within<'_> {
    fn update(&mut self, progress: &Snapshot) {
        self.progress.update(progress);
    }

    fn stop(&self) -> Option<StopReason> {
        self.progress.stop().or_else(|| self.budget.exhausted())
    }

    fn budget(&self) -> Budget {
        self.budget.clone()
    }
}

/// The [`Report`] of a check. `Display` is the report for people, as `preempt check` prints it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked(pub Report);

impl Checked {
    fn of_a_system(report: Report) -> Checked {
        let RunInfo { options, .. } = report.run;
        Checked(Report {
            run: RunInfo { engine: "explicit".into(), options, ..RunInfo::default() },
            ..report
        })
    }

    /// One object, as `preempt check --format json` prints it.
    pub fn to_json(&self) -> String {
        preempt_report::to_json(&self.0)
    }
}

impl Deref for Checked {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.0
    }
}

/// Where nobody says how wide a page is: room for a protocol with several participants.
const WIDTH: usize = 110;

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render_report(&self.0, &TextOptions { width: WIDTH, ..TextOptions::default() }))?;
        f.write_str(&render_notes(&self.0, usize::MAX, Style::plain()))
    }
}
