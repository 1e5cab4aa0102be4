//! Which level of the checker's diagrams is which bit: as the certificate has it, and for further processes behind the last
//! one of each group.

use super::super::certificate::{CertificateSet, ProtocolCertificate};
use super::diagram::{Diagram, Diagrams, FALSE, TRUE};
use foldhash::{HashMap, HashMapExt};
use preempt_core::StopReason;
use preempt_net::protocol::{Place, Protocol, Scope};

/// Who is in which slot.
#[derive(Clone, Copy)]
pub(super) struct Who {
    pub(super) mover: usize,
    pub(super) partner: Option<usize>,
    pub(super) other: Option<usize>,
}

impl Who {
    /// Only one process is spoken of.
    pub(super) fn alone(slot: usize) -> Who {
        Who { mover: slot, partner: None, other: None }
    }

    /// The variable of a slot that is meant; every process's is told as a mover's.
    pub(super) fn at(self, place: Place) -> (Place, usize) {
        let slot = match place.scope {
            Scope::Global => return (place, 0),
            Scope::Mover => self.mover,
            Scope::Partner => self.partner.unwrap_or(0),
            Scope::Other => self.other.unwrap_or(0),
        };
        (Place { scope: Scope::Mover, ..place }, slot)
    }
}

pub(super) struct Bits {
    /// For each variable of the global part or of a slot the levels of its bits, the least significant first.
    levels: HashMap<(Place, usize), Vec<u32>>,
    locals: usize,
}

impl Bits {
    /// With so many slots; or what is wrong with the order of the certificate.
    pub(super) fn new(
        protocol: &Protocol,
        certificate: &ProtocolCertificate,
        slots: usize,
    ) -> Result<Bits, String> {
        let n = certificate.weight as usize;
        let order = match &certificate.set {
            CertificateSet::Diagram(diagram) => diagram.order.clone(),
            CertificateSet::Elements(_) => one_by_one(protocol, n),
        };
        let mut bits = Bits { levels: HashMap::new(), locals: protocol.locals.len() };
        let mut next = 0;
        let mut at = 0;
        while at < order.len() {
            let last = |it: &(Place, usize, usize)| it.0.scope != Scope::Global && it.1 + 1 == n;
            // A stretch of the last slot is repeated for every slot that is added.
            let end = order[at..].iter().position(|it| !last(it)).map_or(order.len(), |n| at + n).max(at + 1);
            let copies = if last(&order[at]) { slots - n + 1 } else { 1 };
            for copy in 0..copies {
                for (place, slot, bit) in &order[at..end] {
                    let levels = bits.levels.entry((*place, slot + copy)).or_default();
                    if levels.len() <= *bit {
                        if *bit > 64 {
                            return Err("it has bits that no variable has".into());
                        }
                        levels.resize(bit + 1, u32::MAX);
                    }
                    if levels[*bit] != u32::MAX {
                        return Err("it has a bit twice".into());
                    }
                    levels[*bit] = next;
                    next += 1;
                }
            }
            at = end;
        }
        bits.are_those_of(protocol, slots)?;
        Ok(bits)
    }

    /// Every bit of every variable has a level, and there are no others.
    fn are_those_of(&self, protocol: &Protocol, slots: usize) -> Result<(), String> {
        let mut count = 0;
        for slot in 0..=slots {
            let (scope, slot) = match slot {
                0 => (Scope::Global, 0),
                slot => (Scope::Mover, slot - 1),
            };
            for (variable, declared) in protocol.variables(scope).iter().enumerate() {
                let wanted = width(declared.size);
                let levels =
                    self.levels.get(&(Place { scope, variable }, slot)).map_or(&[][..], Vec::as_slice);
                if levels.len() != wanted || levels.contains(&u32::MAX) {
                    return Err("its bits are not those of the protocol".into());
                }
                count += usize::from(wanted > 0);
            }
        }
        match count == self.levels.len() {
            true => Ok(()),
            false => Err("it has bits that no variable has".into()),
        }
    }

    pub(super) fn level_of(&self, (place, slot, bit): &(Place, usize, usize)) -> u32 {
        self.levels.get(&(*place, *slot)).and_then(|levels| levels.get(*bit)).copied().unwrap_or(0)
    }

    fn of(&self, place: (Place, usize)) -> &[u32] {
        self.levels.get(&place).map_or(&[], Vec::as_slice)
    }

    /// The levels of whoever's variable it is.
    pub(super) fn levels(&self, place: Place, who: Who) -> Vec<u32> {
        self.of(who.at(place)).to_vec()
    }

    /// The variable has this value, counted from its smallest.
    pub(super) fn equal(
        &self,
        place: (Place, usize),
        code: u64,
        diagrams: &mut Diagrams<'_>,
    ) -> Result<Diagram, StopReason> {
        let mut all = TRUE;
        for (bit, level) in self.of(place).iter().enumerate() {
            let literal = diagrams.bit(*level)?;
            all = match code >> bit & 1 == 1 {
                true => diagrams.choice(literal, all, FALSE)?,
                false => diagrams.choice(literal, FALSE, all)?,
            };
        }
        Ok(all)
    }

    /// What the first slot of each pair has is taken from the second.
    pub(super) fn permutation(
        &self,
        pairs: &[(usize, usize)],
        diagrams: &mut Diagrams<'_>,
    ) -> Result<HashMap<u32, Diagram>, StopReason> {
        let mut functions = HashMap::new();
        for (from, to) in pairs {
            for variable in 0..self.locals {
                let place = Place { scope: Scope::Mover, variable };
                for (old, new) in self.of((place, *from)).iter().zip(self.of((place, *to))) {
                    let literal = diagrams.bit(*new)?;
                    functions.insert(*old, literal);
                }
            }
        }
        Ok(functions)
    }
}

/// How many bits it takes to tell so many values apart.
fn width(size: u64) -> usize {
    (0..64).find(|bits| 1u64 << bits >= size).unwrap_or(64)
}

/// The order for a list of elements: the global part, then process by process; block by block if there are blocks.
fn one_by_one(protocol: &Protocol, slots: usize) -> Vec<(Place, usize, usize)> {
    let mut order = Vec::new();
    let mut add = |scope: Scope, variable: usize, slot: usize| {
        let size = protocol.variables(scope)[variable].size;
        order.extend((0..width(size)).rev().map(|bit| (Place { scope, variable }, slot, bit)));
    };
    (0..protocol.globals.len()).for_each(|variable| add(Scope::Global, variable, 0));
    let mut blocks: Vec<Option<u64>> =
        protocol.locals.iter().map(|it| it.block.map(|(_, block)| block)).collect();
    if blocks.contains(&None) {
        blocks.fill(None);
    }
    let mut names = blocks.clone();
    names.sort_unstable();
    names.dedup();
    for name in names {
        for slot in 0..slots {
            for variable in (0..blocks.len()).filter(|it| blocks[*it] == name) {
                add(Scope::Mover, variable, slot);
            }
        }
    }
    order
}
