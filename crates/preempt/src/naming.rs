//! What the objects of a failing run are called in its report.
//!
//! By what the test has for the object where it is first used (`self.head`), if the text can be found and says so; otherwise
//! by kind and number (`mutex 1`). A second object of the same name has a number behind it. Names follow from the steps of the
//! run, so they are the same whenever it is repeated.

use crate::report::FailureObject;
use crate::runtime::context::Context;
use crate::runtime::thread::CodeLocation;
use crate::source::Sources;
use preempt_core::Location;
use preempt_stateless::ObjectId;
use std::collections::HashMap;

/// The names of a run's objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectNames {
    names: HashMap<ObjectId, String>,
    /// In the order of their first use.
    pub list: Vec<FailureObject>,
}

impl ObjectNames {
    /// Of the objects that steps, pending operations and racing accesses have used, in this order.
    pub fn of_run(context: &Context, accesses: &[(ObjectId, CodeLocation)]) -> ObjectNames {
        let steps = context.steps.iter().flatten().filter_map(|step| Some((step.object?, step.location)));
        let pending = context.threads.iter().filter_map(|thread| {
            let pending = thread.pending?;
            Some((pending.label.object?, pending.location))
        });
        let mut names = ObjectNames::default();
        let (mut sources, mut counts) = (Sources::default(), HashMap::<String, usize>::new());
        for (id, location) in steps.chain(accesses.iter().copied()).chain(pending) {
            if names.names.contains_key(&id) {
                continue;
            }
            let Some(object) = context.objects.get(id) else { continue };
            let kind = if object.kind.is_empty() { kind_of(object.type_name) } else { object.kind };
            if kind.is_empty() {
                continue;
            }
            // The others are parts of objects, which the test does not name.
            let found = (!object.type_name.is_empty())
                .then(|| sources.receiver(location.file(), location.line(), location.column()))
                .flatten();
            let count = counts.entry(found.clone().unwrap_or_else(|| kind.to_string())).or_insert(0);
            *count += 1;
            let name = match (found, *count) {
                (Some(name), 1) => name,
                (Some(name), count) => format!("{name} #{count}"),
                (None, count) => format!("{kind} {count}"),
            };
            if !object.type_name.is_empty() {
                names.list.push(FailureObject {
                    name: name.clone(),
                    type_name: short(object.type_name),
                    made: object.made.map(place),
                    first_used: place(location),
                });
            }
            names.names.insert(id, name);
        }
        names
    }

    /// Where the object was made, or first used.
    pub fn origin(&self, id: ObjectId) -> Option<&Location> {
        let name = self.get(id);
        let object = self.list.iter().find(|object| object.name == name)?;
        Some(object.made.as_ref().unwrap_or(&object.first_used))
    }

    /// Empty for what has none.
    pub fn get(&self, id: ObjectId) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }
}

/// A place as reports have it.
pub(crate) fn place(location: CodeLocation) -> Location {
    Location { file: location.file().to_string(), line: location.line(), column: location.column() }
}

/// `UnsafeCell` is a cell, and what is not known is an object.
fn kind_of(type_name: &str) -> &'static str {
    match short(type_name).split('<').next() {
        Some("UnsafeCell") => "cell",
        Some("") | None => "",
        Some(_) => "object",
    }
}

/// The name of a type without the paths: `preempt::sync::mutex::Mutex<alloc::vec::Vec<i32>>` is `Mutex<Vec<i32>>`.
fn short(type_name: &str) -> String {
    let mut short = String::new();
    let mut word = String::new();
    let mut rest = type_name.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            ':' if rest.peek() == Some(&':') => {
                rest.next();
                word.clear();
            }
            next if next.is_alphanumeric() || "_{}#".contains(next) => word.push(next),
            next => {
                short.push_str(&word);
                word.clear();
                short.push(next);
            }
        }
    }
    short + &word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_shown_without_paths() {
        assert_eq!(
            short("preempt::sync::mutex::Mutex<alloc::vec::Vec<(i32, &str)>>"),
            "Mutex<Vec<(i32, &str)>>"
        );
        assert_eq!(short("AtomicUsize"), "AtomicUsize");
        assert_eq!(short("a::B<dyn core::ops::Fn() -> x::Y>"), "B<dyn Fn() -> Y>");
        assert_eq!(kind_of("preempt::cell::UnsafeCell<u8>"), "cell");
    }
}
