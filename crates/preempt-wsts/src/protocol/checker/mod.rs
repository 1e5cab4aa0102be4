//! Does a certificate show that a property of a protocol cannot be violated? By diagrams of its own (`diagram`), and without
//! any code of the engines.
//!
//! The certificate gives a set S of states with n processes. With Up(S) everything that has n processes in S among its own, it
//! is checked that
//! 1. S is symmetric in the processes, and contains every bad state with n processes; no pattern is larger,
//! 2. no initial state with n processes is in S. Every part of an initial state is one, so that none is in Up(S);
//! 3. no step leads from outside into Up(S), with n processes and up to as many more as take part in a step by name.
//!
//! Then no run leads into Up(S). For a step with more processes, keep of them only those in S afterwards and those who take
//! part: that is a step with a number of processes that was checked (Definition 8 of Bingham and Hu 2005, paper 004). If only
//! those who take part change, one of them is in S afterwards, and one less is enough. And a run with fewer than n processes to a
//! bad state would be one with n, by adding copies of an initial process.
//!
//! What is checked is the protocol without guards (B' of section 6), made from the text by `preempt_net::protocol::guards`.

pub(crate) mod diagram;
mod layout;

use super::certificate::{CertificateSet, ProtocolCertificate};
use diagram::{Diagram, Diagrams, FALSE, TRUE};
use foldhash::{HashMap, HashMapExt};
use layout::{Bits, Who};
use preempt_core::{Budget, StopReason};
use preempt_net::protocol::guards::reduced;
use preempt_net::protocol::{Bad, Effect, Expr, Place, Protocol, Reaction, Rule, Scope};

/// The reason why the certificate does not show it, if it does not; an error if there was no time to know.
pub fn verify(
    protocol: &Protocol,
    bad: &Bad,
    certificate: &ProtocolCertificate,
    budget: &Budget,
) -> Result<Result<(), String>, StopReason> {
    let reduced = reduced(protocol).protocol;
    // In the protocol without guards the same property has the same name.
    let bad = reduced.properties.iter().find(|it| it.name == bad.name).unwrap_or(bad);
    if certificate.weight == 0 || certificate.weight > MOST_PROCESSES {
        return Ok(Err(format!("it speaks of {} processes", certificate.weight)));
    }
    let most = reduced.rules.iter().map(more).max().unwrap_or(0);
    let bits = match Bits::new(&reduced, certificate, certificate.weight as usize + most) {
        Ok(bits) => bits,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut check = Check { protocol: &reduced, bits, diagrams: Diagrams::new(budget) };
    check.run(bad, certificate)
}

/// Larger certificates are not looked at.
const MOST_PROCESSES: u64 = 200;

/// How many processes more than n a step must be looked at with.
fn more(rule: &Rule) -> usize {
    let keeps_global = rule.effects.iter().all(|effect| effect.place.scope != Scope::Global);
    let named = 1 + usize::from(rule.with.is_some());
    if keeps_global && rule.others.is_empty() { named - 1 } else { named }
}

struct Check<'c> {
    protocol: &'c Protocol,
    bits: Bits,
    diagrams: Diagrams<'c>,
}

impl Check<'_> {
    fn run(
        &mut self,
        bad: &Bad,
        certificate: &ProtocolCertificate,
    ) -> Result<Result<(), String>, StopReason> {
        let n = certificate.weight as usize;
        let mut set = match self.set(certificate)? {
            Ok(set) => set,
            Err(reason) => return Ok(Err(reason)),
        };
        for slot in 1..n {
            let exchange =
                self.bits.permutation(&[(slot - 1, slot), (slot, slot - 1)], &mut self.diagrams)?;
            if self.diagrams.substituted(set, &exchange)? != set {
                return Ok(Err("its set depends on the names of processes".into()));
            }
        }
        for pattern in &bad.patterns {
            if pattern.processes.len() > n {
                return Ok(Err("a bad pattern has more processes than its set".into()));
            }
            let mut matching = self.domain(n)?;
            let parts = pattern.processes.iter().enumerate().map(|(slot, part)| (part, slot));
            for (part, slot) in std::iter::once((&pattern.global, 0)).chain(parts) {
                let holds = self.truth(part, Who::alone(slot))?;
                matching = self.diagrams.and(matching, holds)?;
            }
            if !self.diagrams.implies(matching, set)? {
                return Ok(Err("a bad state is not in its set".into()));
            }
        }
        let mut initial = self.domain(n)?;
        for slot in 0..n {
            let begins = match &self.protocol.initially {
                Some(condition) => self.truth(condition, Who::alone(slot))?,
                None => TRUE,
            };
            initial = self.diagrams.and(initial, begins)?;
        }
        if self.diagrams.and(initial, set)? != FALSE {
            return Ok(Err("an initial state is in its set".into()));
        }
        let most = self.protocol.rules.iter().map(more).max().unwrap_or(0);
        for weight in n..=n + most {
            if weight > n {
                set = self.lifted(set, weight)?;
            }
            for rule in &self.protocol.rules {
                if weight > n + more(rule) || weight < 1 + usize::from(rule.with.is_some()) {
                    continue;
                }
                if !self.stays_outside(rule, set, weight)? {
                    let message = format!("`{}` leads into its set, with {weight} processes", rule.name);
                    return Ok(Err(message));
                }
            }
        }
        Ok(Ok(()))
    }

    /// The states with n processes that the certificate speaks of.
    fn set(&mut self, certificate: &ProtocolCertificate) -> Result<Result<Diagram, String>, StopReason> {
        let n = certificate.weight as usize;
        let domain = self.domain(n)?;
        match &certificate.set {
            CertificateSet::Diagram(diagram) => {
                let mut made: Vec<Diagram> = vec![FALSE, TRUE];
                for (position, low, high) in &diagram.nodes {
                    let level = self.bits.level_of(&diagram.order[*position as usize]);
                    // By a choice, not as a node: whoever wrote it may have mistaken the order.
                    let bit = self.diagrams.bit(level)?;
                    let node = self.diagrams.choice(bit, made[*high], made[*low])?;
                    made.push(node);
                }
                Ok(Ok(self.diagrams.and(made[diagram.root], domain)?))
            }
            CertificateSet::Elements(elements) => {
                let mut all = FALSE;
                for element in elements {
                    if element.processes.len() > n {
                        return Ok(Err("an element is heavier than the certificate says".into()));
                    }
                    let fits = |number: u64, count: Option<u64>| count.is_some_and(|count| number < count);
                    let locals = self.protocol.local_states();
                    if !fits(element.global, self.protocol.global_states())
                        || !element.processes.iter().all(|it| fits(*it, locals))
                    {
                        return Ok(Err("an element is no state".into()));
                    }
                    let above = self.above(element.global, &element.processes, n)?;
                    all = self.diagrams.or(all, above)?;
                }
                Ok(Ok(self.diagrams.and(all, domain)?))
            }
        }
    }

    /// Every state with n processes above an element: slot by slot, for each part of it that was found so far.
    fn above(&mut self, global: u64, processes: &[u64], n: usize) -> Result<Diagram, StopReason> {
        let mut counts: Vec<(u64, usize)> = Vec::new();
        for process in processes {
            match counts.iter_mut().find(|(it, _)| it == process) {
                Some((_, count)) => *count += 1,
                None => counts.push((*process, 1)),
            }
        }
        let mut known = HashMap::new();
        let wanted: Vec<usize> = counts.iter().map(|(_, count)| *count).collect();
        let rest = self.remaining(&counts, &wanted, n, &mut known)?;
        let point = self.point(Scope::Global, global, 0)?;
        self.diagrams.and(point, rest)
    }

    /// The first `slots` slots hold at least so many of each of these processes.
    fn remaining(
        &mut self,
        counts: &[(u64, usize)],
        wanted: &[usize],
        slots: usize,
        known: &mut HashMap<(Vec<usize>, usize), Diagram>,
    ) -> Result<Diagram, StopReason> {
        if wanted.iter().all(|count| *count == 0) {
            return Ok(TRUE);
        }
        let Some(slot) = slots.checked_sub(1) else { return Ok(FALSE) };
        self.diagrams.go_on()?;
        if let Some(found) = known.get(&(wanted.to_vec(), slots)) {
            return Ok(*found);
        }
        // What this slot holds is one of those wanted, or nothing that is.
        let mut result = self.remaining(counts, wanted, slot, known)?;
        for (number, (process, _)) in counts.iter().enumerate() {
            if wanted[number] == 0 {
                continue;
            }
            let mut fewer = wanted.to_vec();
            fewer[number] -= 1;
            let then = self.remaining(counts, &fewer, slot, known)?;
            let here = self.point(Scope::Mover, *process, slot)?;
            let both = self.diagrams.and(here, then)?;
            result = self.diagrams.or(result, both)?;
        }
        known.insert((wanted.to_vec(), slots), result);
        Ok(result)
    }

    /// The global part, or the process in a slot, is this one.
    fn point(&mut self, scope: Scope, number: u64, slot: usize) -> Result<Diagram, StopReason> {
        let mut rest = number;
        let mut all = TRUE;
        for variable in 0..self.protocol.variables(scope).len() {
            let size = self.protocol.variables(scope)[variable].size;
            let equal =
                self.bits.equal((Place { scope, variable }, slot), rest % size, &mut self.diagrams)?;
            all = self.diagrams.and(all, equal)?;
            rest /= size;
        }
        Ok(all)
    }

    /// Only values that there are.
    fn domain(&mut self, slots: usize) -> Result<Diagram, StopReason> {
        let mut all = TRUE;
        for slot in (0..=slots).rev() {
            let (scope, slot) = match slot {
                0 => (Scope::Global, 0),
                slot => (Scope::Mover, slot - 1),
            };
            for variable in 0..self.protocol.variables(scope).len() {
                let size = self.protocol.variables(scope)[variable].size;
                if size.is_power_of_two() {
                    continue;
                }
                let mut any = FALSE;
                for code in 0..size {
                    let place = (Place { scope, variable }, slot);
                    let equal = self.bits.equal(place, code, &mut self.diagrams)?;
                    any = self.diagrams.or(any, equal)?;
                }
                all = self.diagrams.and(all, any)?;
            }
        }
        Ok(all)
    }

    /// With one process more, in whatever slot.
    fn lifted(&mut self, set: Diagram, weight: usize) -> Result<Diagram, StopReason> {
        let mut all = FALSE;
        for free in 0..weight {
            let moved: Vec<(usize, usize)> = (free..weight - 1).map(|slot| (slot, slot + 1)).collect();
            let moved = self.bits.permutation(&moved, &mut self.diagrams)?;
            let with = self.diagrams.substituted(set, &moved)?;
            all = self.diagrams.or(all, with)?;
        }
        let domain = self.domain(weight)?;
        self.diagrams.and(all, domain)
    }

    /// A step by the rule leads into the set only from within. The set is symmetric: the mover may be the first.
    fn stays_outside(&mut self, rule: &Rule, set: Diagram, weight: usize) -> Result<bool, StopReason> {
        let partner = rule.with.is_some().then_some(1);
        let who = Who { mover: 0, partner, other: None };
        let mut functions = HashMap::new();
        for effect in &rule.effects {
            let levels = self.bits.levels(effect.place, who);
            let low = self.protocol.variable(effect.place).low;
            for (bit, level) in levels.into_iter().enumerate() {
                let function = self.bit_of(&effect.value, low, bit, who)?;
                functions.insert(level, function);
            }
        }
        for slot in 1 + usize::from(partner.is_some())..weight {
            self.reaction(rule, Who { other: Some(slot), ..who }, &mut functions)?;
        }
        let mut before = self.diagrams.substituted(set, &functions)?;
        for condition in std::iter::once(&rule.when).chain(&rule.with) {
            let holds = self.truth(condition, who)?;
            before = self.diagrams.and(before, holds)?;
        }
        let domain = self.domain(weight)?;
        before = self.diagrams.and(before, domain)?;
        self.diagrams.implies(before, set)
    }

    /// What becomes of the bits of one of the others.
    fn reaction(
        &mut self,
        rule: &Rule,
        who: Who,
        functions: &mut HashMap<u32, Diagram>,
    ) -> Result<(), StopReason> {
        let mut left = TRUE;
        let mut pieces: Vec<(Diagram, &[Effect])> = Vec::new();
        for Reaction { condition, effects } in &rule.others {
            let holds = self.truth(condition, who)?;
            let here = self.diagrams.and(left, holds)?;
            left = self.diagrams.choice(holds, FALSE, left)?;
            pieces.push((here, effects));
        }
        for (here, effects) in pieces {
            for effect in effects {
                let low = self.protocol.variable(effect.place).low;
                for (bit, level) in self.bits.levels(effect.place, who).into_iter().enumerate() {
                    let value = self.bit_of(&effect.value, low, bit, who)?;
                    let before = match functions.get(&level) {
                        Some(function) => *function,
                        None => self.diagrams.bit(level)?,
                    };
                    let function = self.diagrams.choice(here, value, before)?;
                    functions.insert(level, function);
                }
            }
        }
        Ok(())
    }

    fn truth(&mut self, expr: &Expr, who: Who) -> Result<Diagram, StopReason> {
        let places = expr.places();
        self.by_cases(expr, &places, &mut Vec::new(), who, &|value| value != 0)
    }

    /// A bit of an expression's value, counted from the smallest value.
    fn bit_of(&mut self, expr: &Expr, low: i64, bit: usize, who: Who) -> Result<Diagram, StopReason> {
        let places = expr.places();
        self.by_cases(expr, &places, &mut Vec::new(), who, &|value| {
            u64::try_from(value - low).unwrap_or(0) >> bit & 1 == 1
        })
    }

    /// Value by value of the variables that it reads, until these decide.
    fn by_cases(
        &mut self,
        expr: &Expr,
        places: &[Place],
        values: &mut Vec<i64>,
        who: Who,
        wanted: &dyn Fn(i64) -> bool,
    ) -> Result<Diagram, StopReason> {
        let known =
            |place: Place| places.iter().position(|it| *it == place).and_then(|at| values.get(at).copied());
        if let Some(value) = expr.eval_partly(&known) {
            return Ok(if wanted(value) { TRUE } else { FALSE });
        }
        // All places are known at the end, so that there is a next one.
        let Some(place) = places.get(values.len()).copied() else { return Ok(FALSE) };
        let (low, size) = (self.protocol.variable(place).low, self.protocol.variable(place).size);
        let mut all = FALSE;
        for code in 0..size {
            values.push(low + code as i64);
            let then = self.by_cases(expr, places, values, who, wanted)?;
            values.pop();
            let equal = self.bits.equal(who.at(place), code, &mut self.diagrams)?;
            let here = self.diagrams.and(equal, then)?;
            all = self.diagrams.or(all, here)?;
        }
        Ok(all)
    }
}
