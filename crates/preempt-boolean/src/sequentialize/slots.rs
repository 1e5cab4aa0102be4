//! The variables of a program slot by slot, each with a name that is good in every language.

use preempt_model::{Type, Variable};
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone)]
pub struct Slot {
    pub name: String,
    pub ty: Type,
}

/// Gives every name once.
#[derive(Debug, Clone, Default)]
pub struct Names {
    taken: HashSet<String>,
    /// For names that were wanted again: the number to try next.
    next: HashMap<String, u64>,
}

impl Names {
    /// The name itself if it is one and still free, otherwise one like it.
    pub fn unique(&mut self, wanted: &str) -> String {
        let mut name: String =
            wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert_str(0, "v_");
        }
        let name = name.trim_end_matches('_').to_string();
        if self.taken.insert(name.clone()) {
            return name;
        }
        let number = self.next.entry(name.clone()).or_insert(2);
        loop {
            let other = format!("{name}_{number}");
            *number += 1;
            if self.taken.insert(other.clone()) {
                return other;
            }
        }
    }

    pub fn reserve(&mut self, names: &[&str]) {
        self.taken.extend(names.iter().map(|name| name.to_string()));
    }
}

/// One for each slot; an array has one for each element.
pub fn of(variables: &[Variable], count: u32, names: &mut Names) -> Vec<Slot> {
    let unnamed = |_| Slot { name: String::new(), ty: Type::INT };
    let mut slots: Vec<Slot> = (0..count).map(unnamed).collect();
    for variable in variables {
        for element in 0..variable.length.unwrap_or(1) {
            let Some(slot) = slots.get_mut((variable.slot + element) as usize) else { continue };
            let name = match variable.length {
                Some(_) => format!("{}_{element}", variable.name),
                None => variable.name.clone(),
            };
            // Variables of different blocks may share a slot: it must hold the widest of them.
            let wider = slot.name.is_empty() || variable.ty.bits > slot.ty.bits;
            *slot = Slot {
                name: if slot.name.is_empty() { name } else { slot.name.clone() },
                ty: if wider { variable.ty } else { slot.ty },
            };
        }
    }
    for slot in &mut slots {
        slot.name = names.unique(&slot.name);
    }
    slots
}
