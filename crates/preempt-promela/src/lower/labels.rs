//! The labels of one body, found by their name and by the element that they stand on.

use super::flow::{ElementId, ScopePath};
use crate::ast::Name;
use std::collections::HashMap;

#[derive(Debug, Clone)]
pub(super) struct FlowLabel {
    pub name: Name,
    pub scope: ScopePath,
    pub element: ElementId,
}

/// In the order of the text, with an index each way: a body may have thousands of jumps and labels, and an inline
/// gives each of its copies the same.
#[derive(Debug, Default)]
pub(super) struct Labels {
    all: Vec<FlowLabel>,
    by_name: HashMap<String, HashMap<ScopePath, usize>>,
    by_element: HashMap<ElementId, Vec<usize>>,
}

impl Labels {
    pub fn iter(&self) -> impl Iterator<Item = &FlowLabel> {
        self.all.iter()
    }

    pub fn add(&mut self, label: FlowLabel) {
        let number = self.all.len();
        self.by_name.entry(label.name.text.clone()).or_default().insert(label.scope.clone(), number);
        self.by_element.entry(label.element).or_default().push(number);
        self.all.push(label);
    }

    /// The labels on an element.
    pub fn of(&self, element: ElementId) -> impl Iterator<Item = &FlowLabel> {
        self.by_element.get(&element).into_iter().flatten().map(|number| &self.all[*number])
    }

    /// All labels of `from` now stand on `to`.
    pub fn move_to(&mut self, from: ElementId, to: ElementId) {
        let numbers = self.by_element.remove(&from).unwrap_or_default();
        numbers.iter().for_each(|number| self.all[*number].element = to);
        self.by_element.entry(to).or_default().extend(numbers);
    }

    pub fn in_scope(&self, name: &str, scope: &[u32]) -> Option<&FlowLabel> {
        Some(&self.all[*self.by_name.get(name)?.get(scope)?])
    }

    /// The label that a jump means: in the same block, in an enclosing one, or else anywhere in the process.
    pub fn meant(&self, name: &str, scope: &[u32]) -> Option<&FlowLabel> {
        let same = self.by_name.get(name)?;
        let around = || (0..scope.len()).filter_map(|depth| same.get(&scope[..depth])).min();
        let number = same.get(scope).or_else(around).or_else(|| same.values().max())?;
        Some(&self.all[*number])
    }
}
