//! Conjunctive guards (Bingham and Hu 2005, paper 004, section 6): the reduction B' and the side condition B''.
//!
//! A rule that needs something of all others is no step of a well-structured system: more processes can do less. In B' it is a
//! broadcast, and whoever violates the guard *resigns* and takes part in nothing any more. A run of B' in which nobody
//! resigns is a run of the protocol (Theorem 5), so that B' is safe only if the protocol is.
//!
//! The converse holds under the side condition (Theorem 6): whoever would have to resign could instead have moved, alone and
//! leaving the global part as it is, to where the guard holds of it. With a global part, the set ghat(a) of those who could is
//! one of pairs of a global part and a local state. In B'' who could not has an *error*; if no error can be reached, the
//! protocol is safe exactly if B' is.
//!
//! Processes over several blocks of which every rule touches one resign block by block: the same proof with the length of the
//! suffix of a run in which a process has resigned *from a block*. Otherwise a process resigns as a whole.

use super::expr::Table;
use super::{Bad, Effect, Expr, Pattern, Place, Protocol, Reaction, Rule, Scope, ValueKind, Variable};
use preempt_core::Budget;
use std::sync::Arc;

/// B', with what was added.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// Without guards; its rules and properties are those of the protocol, in their order, and its local variables are
    /// followed by what says who has resigned.
    pub protocol: Protocol,
    /// Processes resign block by block.
    pub by_block: bool,
}

/// The largest set ghat that is computed, in tuples.
const MOST_TUPLES: u64 = 1 << 22;

/// B': the protocol itself if it has no guards.
pub fn reduced(protocol: &Protocol) -> Reduced {
    if !protocol.is_guarded() {
        return Reduced { protocol: protocol.clone(), by_block: false };
    }
    let by_block = blocks(protocol);
    let resigning = Resigning { protocol, by_block };
    Reduced { protocol: resigning.build(None), by_block: by_block.is_some() }
}

/// B'' with the one property that no error is reached; or why it is not computed.
pub fn side_condition(protocol: &Protocol, budget: &Budget) -> Result<Protocol, String> {
    let resigning = Resigning { protocol, by_block: blocks(protocol) };
    let mut could = Vec::new();
    for rule in &protocol.rules {
        could.push(match &rule.all_others {
            Some(guard) => Some(could_satisfy(protocol, guard, budget)?),
            None => None,
        });
    }
    Ok(resigning.build(Some(&could)))
}

/// The rules that a process can move by alone.
pub fn moves_alone(rule: &Rule) -> bool {
    rule.with.is_none() && rule.others.is_empty() && rule.all_others.is_none()
}

/// The number of blocks, if every rule touches exactly one and every local variable belongs to one.
fn blocks(protocol: &Protocol) -> Option<u64> {
    let (domain, _) = protocol.locals.first()?.block?;
    let whole = protocol.locals.iter().all(|it| it.block.is_some_and(|(of, _)| of == domain));
    let one = |rule: &Rule| touched(protocol, rule).len() == 1;
    (whole && domain.size > 1 && protocol.rules.iter().all(one)).then_some(domain.size)
}

/// The blocks that a rule reads or writes.
fn touched(protocol: &Protocol, rule: &Rule) -> Vec<u64> {
    let mut places: Vec<Place> = rule.when.places();
    places.extend(rule.with.iter().chain(&rule.all_others).flat_map(Expr::places));
    let effects = rule.effects.iter().chain(rule.others.iter().flat_map(|it| &it.effects));
    places.extend(effects.flat_map(|it| it.value.places().into_iter().chain([it.place])));
    places.extend(rule.others.iter().flat_map(|it| it.condition.places()));
    blocks_of(protocol, &places)
}

fn blocks_of(protocol: &Protocol, places: &[Place]) -> Vec<u64> {
    let local = places.iter().filter(|place| place.scope != Scope::Global);
    let mut blocks: Vec<u64> =
        local.filter_map(|place| protocol.variable(*place).block.map(|(_, block)| block)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

struct Resigning<'p> {
    protocol: &'p Protocol,
    /// So many blocks to resign from.
    by_block: Option<u64>,
}

impl Resigning<'_> {
    /// B'; or B'', if for each guarded rule it is known who could satisfy the guard.
    fn build(&self, could: Option<&[Option<Expr>]>) -> Protocol {
        let original = self.protocol;
        let mut protocol = original.clone();
        for block in 0..self.by_block.unwrap_or(1) {
            let mut variable = Variable::boolean("(resigned)");
            variable.block =
                self.by_block.and_then(|_| original.locals[0].block).map(|(domain, _)| (domain, block));
            protocol.locals.push(variable);
        }
        let error = protocol.locals.len();
        if could.is_some() {
            protocol.locals.push(Variable::boolean("(error)"));
        }
        let all_blocks: Vec<u64> = (0..self.by_block.unwrap_or(1)).collect();
        let mut begins = vec![original.initially.clone().unwrap_or(Expr::TRUE)];
        begins.push(self.takes_part(Scope::Mover, &all_blocks));
        if could.is_some() {
            begins.push(Expr::read(Scope::Mover, error).negated());
        }
        protocol.initially = Some(Expr::all(begins));
        for (number, rule) in protocol.rules.iter_mut().enumerate() {
            let blocks = match self.by_block {
                Some(_) => touched(original, rule),
                None => vec![0],
            };
            rule.when = Expr::all([rule.when.clone(), self.takes_part(Scope::Mover, &blocks)]);
            if let Some(with) = &mut rule.with {
                *with = Expr::all([with.clone(), self.takes_part(Scope::Partner, &blocks)]);
            }
            let takes_part = self.takes_part(Scope::Other, &blocks);
            for reaction in &mut rule.others {
                reaction.condition = Expr::all([takes_part.clone(), reaction.condition.clone()]);
            }
            let Some(guard) = rule.all_others.take() else { continue };
            let violated = Expr::all([takes_part.clone(), guard.negated()]);
            rule.others.insert(0, Reaction { condition: violated, effects: self.resign(&blocks) });
            let could = could.and_then(|could| could.get(number).cloned().flatten());
            if let Some(could) = could {
                let condition = Expr::all([takes_part, could.negated()]);
                let mut effects = self.resign(&blocks);
                effects.push(set(error, 1));
                rule.others.insert(0, Reaction { condition, effects });
            }
        }
        for pattern in protocol.properties.iter_mut().flat_map(|bad| &mut bad.patterns) {
            for part in &mut pattern.processes {
                let blocks = match self.by_block {
                    Some(_) => blocks_of(original, &part.places()),
                    None => vec![0],
                };
                *part = Expr::all([part.clone(), self.takes_part(Scope::Mover, &blocks)]);
            }
        }
        if could.is_some() {
            let erring = Expr::read(Scope::Mover, error);
            let pattern = Pattern { global: Expr::TRUE, processes: vec![erring] };
            let name = SIDE_CONDITION.to_string();
            protocol.properties = vec![Bad { name, span: None, patterns: vec![pattern] }];
        }
        protocol
    }

    /// Somebody has not resigned from these blocks.
    fn takes_part(&self, scope: Scope, blocks: &[u64]) -> Expr {
        let first = self.protocol.locals.len();
        Expr::all(blocks.iter().map(|block| Expr::read(scope, first + *block as usize).negated()))
    }

    /// One of the others resigns; what it had does not matter any more, and is forgotten.
    fn resign(&self, blocks: &[u64]) -> Vec<Effect> {
        let first = self.protocol.locals.len();
        let mut effects: Vec<Effect> = blocks.iter().map(|block| set(first + *block as usize, 1)).collect();
        for (number, variable) in self.protocol.locals.iter().enumerate() {
            let forgotten = match (self.by_block, variable.block) {
                (Some(_), Some((_, block))) => blocks.contains(&block),
                _ => true,
            };
            if forgotten {
                effects.push(set(number, variable.low));
            }
        }
        effects
    }
}

/// The name of the property that B'' has.
pub const SIDE_CONDITION: &str = "side-condition";

fn set(variable: usize, value: i64) -> Effect {
    Effect { place: Place { scope: Scope::Other, variable }, value: Expr::Value(value) }
}

/// The set ghat of those who can move, alone and leaving the global part as it is, to where the guard holds of them. Only
/// variables matter that the guard reads, or that decide about a move that changes one that matters.
fn could_satisfy(protocol: &Protocol, guard: &Expr, budget: &Budget) -> Result<Expr, String> {
    let moves = alone_as_other(protocol);
    let mut places = guard.places();
    loop {
        let before = places.len();
        for rule in &moves {
            if !rule.effects.iter().any(|it| places.contains(&it.place) && it.place.scope == Scope::Other) {
                continue;
            }
            let mut needed = rule.when.places();
            let matters = |it: &&Effect| it.place.scope == Scope::Global || places.contains(&it.place);
            for effect in rule.effects.iter().filter(matters) {
                needed.push(effect.place);
                needed.extend(effect.value.places());
            }
            places.extend(needed);
            places.sort_unstable();
            places.dedup();
        }
        if places.len() == before {
            break;
        }
    }
    let ranges: Vec<(i64, u64)> =
        places.iter().map(|it| protocol.variable(*it)).map(|it| (it.low, it.size)).collect();
    let count = ranges.iter().fold(1u64, |count, (_, size)| count.saturating_mul(*size));
    if count > MOST_TUPLES {
        return Err(format!("the side condition depends on {count} combinations of values"));
    }
    let moves: Vec<&Rule> = moves
        .iter()
        .filter(|rule| {
            rule.effects.iter().any(|it| places.contains(&it.place) && it.place.scope == Scope::Other)
        })
        .collect();
    let mut table = Table { places, ranges, bits: vec![0; count.div_ceil(64) as usize] };
    closed(&mut table, guard, &moves, count, budget)?;
    Ok(Expr::Member(Arc::new(table)))
}

/// The moves of a process alone, told of one of the others.
fn alone_as_other(protocol: &Protocol) -> Vec<Rule> {
    let to_other = |place: Place| match place.scope {
        Scope::Mover => Place { scope: Scope::Other, ..place },
        _ => place,
    };
    let moved = |rule: &Rule| {
        let effects = rule
            .effects
            .iter()
            .map(|it| Effect { place: to_other(it.place), value: it.value.moved(&to_other) })
            .collect();
        Rule { when: rule.when.moved(&to_other), effects, ..rule.clone() }
    };
    protocol.rules.iter().filter(|rule| moves_alone(rule)).map(moved).collect()
}

/// All tuples from which moves lead to one that satisfies the guard: round by round, until nothing is added.
fn closed(
    table: &mut Table,
    guard: &Expr,
    moves: &[&Rule],
    count: u64,
    budget: &Budget,
) -> Result<(), String> {
    let stopped = || Err("there was no time to compute the side condition".to_string());
    let values = |table: &Table, mut tuple: u64| -> Vec<i64> {
        let digit = |(low, size): &(i64, u64)| {
            let value = low + (tuple % size) as i64;
            tuple /= size;
            value
        };
        table.ranges.iter().map(digit).collect()
    };
    for tuple in 0..count {
        if tuple % 4096 == 0 && budget.exhausted().is_some() {
            return stopped();
        }
        let values = values(table, tuple);
        let of = |place: Place| table.places.iter().position(|it| *it == place).map_or(0, |at| values[at]);
        if guard.holds(&of) {
            table.bits[(tuple / 64) as usize] |= 1 << (tuple % 64);
        }
    }
    loop {
        let mut grown = false;
        for tuple in 0..count {
            if table.bits[(tuple / 64) as usize] >> (tuple % 64) & 1 == 1 {
                continue;
            }
            if tuple % 4096 == 0 && budget.exhausted().is_some() {
                return stopped();
            }
            let values = values(table, tuple);
            let at = |place: Place| table.places.iter().position(|it| *it == place);
            let of = |place: Place| at(place).map_or(0, |at| values[at]);
            let leads = moves.iter().any(|rule| {
                let keeps =
                    |it: &Effect| it.place.scope != Scope::Global || it.value.eval(&of) == of(it.place);
                if !rule.when.holds(&of) || !rule.effects.iter().all(keeps) {
                    return false;
                }
                let mut after = values.clone();
                for effect in &rule.effects {
                    if let Some(at) = at(effect.place) {
                        after[at] = effect.value.eval(&of);
                    }
                }
                table.contains(&|place| at(place).map_or(0, |at| after[at]))
            });
            if leads {
                table.bits[(tuple / 64) as usize] |= 1 << (tuple % 64);
                grown = true;
            }
        }
        if !grown {
            return Ok(());
        }
    }
}

/// A value of the kind that says who has resigned.
pub fn is_added(variable: &Variable) -> bool {
    variable.kind == ValueKind::Bool && variable.name.starts_with('(')
}
