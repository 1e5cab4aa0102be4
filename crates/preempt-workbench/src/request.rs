//! What was asked for: a verb, and options as they were written. What that means is for the [`plan`](crate::plan) to say.

use crate::error::Error;
use crate::frontend::FrontEnd;
use crate::settings::{Inputs, Rule, RuleKind, Setting, Settings, setting, settings};
use crate::verb::Verb;
use preempt_core::diagnostic::nearest;
use std::ffi::{OsStr, OsString};

/// A verb with its options, as they were written.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is to be done.
    pub verb: Verb,
    given: Vec<Given>,
}

/// An option with its value.
#[derive(Debug, Clone)]
pub struct Given {
    /// The row of the table.
    pub setting: &'static Setting,
    /// As it was written; names of files need not be Unicode.
    pub value: OsString,
}

impl Given {
    /// Only names of files can be anything else than Unicode, and what they are does not matter here.
    pub fn text(&self) -> &str {
        self.value.to_str().unwrap_or_default()
    }

    /// As in `--store compact`.
    fn shown(&self) -> String {
        match self.setting.value.choices() {
            Some(_) => format!("{} {}", self.setting.flag(), self.text()),
            None => self.setting.flag(),
        }
    }

    fn is_one_of(&self, values: &[&str]) -> bool {
        values.is_empty() || values.contains(&self.text())
    }
}

impl Request {
    /// The verb without options.
    pub fn new(verb: Verb) -> Request {
        Request { verb, given: Vec::new() }
    }

    /// With an option of the table by its name, as in `("max-states", "10k")`; a flag has the value `""`.
    pub fn option(mut self, name: &str, value: &str) -> Result<Request, Error> {
        let Some(row) = setting(self.verb, name) else {
            let known = settings().filter(|row| row.verbs.contains(&self.verb)).map(|row| row.name);
            let error = Error::refused(format!("`{}` has no option `{name}`", self.verb.name()));
            return Err(match nearest(name, known) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error,
            });
        };
        row.value.check(value).map_err(|why| Error::refused(format!("{}: {why}", row.flag())))?;
        self.give(row, value.into());
        Ok(self)
    }

    /// An option whose value was checked. One that can be given once takes the place of what was given before.
    pub fn give(&mut self, setting: &'static Setting, value: OsString) {
        if !matches!(setting.value, crate::settings::Value::Definition) {
            self.given.retain(|given| !std::ptr::eq(given.setting, setting));
        }
        self.given.push(Given { setting, value });
    }

    /// Everything that was given, in the order in which it was.
    pub fn given(&self) -> &[Given] {
        &self.given
    }

    /// The value of an option, if it was given.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.find(name).map(|given| given.value.as_os_str())
    }

    /// The value of an option that is no file.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.find(name).map(Given::text)
    }

    /// Was the option given?
    pub fn is_given(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&Given> {
        self.given.iter().find(|given| given.setting.name == name)
    }

    /// The options in types.
    pub fn settings(&self) -> Result<Settings, Error> {
        let mut settings = Settings::default();
        for given in &self.given {
            let refused = |why| Error::refused(format!("{}: {why}", given.setting.flag()));
            (given.setting.apply)(&mut settings, given.text()).map_err(refused)?;
        }
        Ok(settings)
    }

    /// Is every option for this input? No option is passed over in silence.
    pub(crate) fn fits_the_input(&self, front_end: &FrontEnd) -> Result<(), Error> {
        let Some(given) = self.given.iter().find(|given| !given.setting.inputs.include(front_end)) else {
            return Ok(());
        };
        let (flag, inputs) = (given.setting.flag(), given.setting.inputs);
        let error =
            Error::refused(format!("{flag} is for {}, and this is {}", inputs.names(), front_end.noun));
        Err(match inputs {
            Inputs::Kind(_) => error.hint(front_end.kind.what_can_be_asked()),
            _ => error,
        })
    }

    /// Do the options go together?
    pub(crate) fn fits_itself(&self) -> Result<(), Error> {
        for given in &self.given {
            for rule in given.setting.rules.iter().filter(|rule| given.is_one_of(rule.own)) {
                self.keeps(given, rule)?;
            }
        }
        Ok(())
    }

    fn keeps(&self, given: &Given, rule: &Rule) -> Result<(), Error> {
        let other = self.find(rule.other);
        let own = if rule.own.is_empty() { given.setting.flag() } else { given.shown() };
        match (rule.kind, other.filter(|other| other.is_one_of(rule.values))) {
            (RuleKind::Needs, None) => {
                let values = rule.values.join(" or ");
                let needed = format!("--{} {values}", rule.other);
                Err(Error::refused(format!("{own} needs {}", needed.trim_end())).hint(rule.why))
            }
            (RuleKind::Excludes, Some(other)) => {
                let other = if rule.values.is_empty() { other.setting.flag() } else { other.shown() };
                Err(Error::refused(format!("{own} and {other} do not go together")).hint(rule.why))
            }
            (RuleKind::Needs, Some(_)) | (RuleKind::Excludes, None) => Ok(()),
        }
    }
}
