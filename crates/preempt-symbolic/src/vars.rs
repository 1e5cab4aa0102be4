//! The BDD variables: which copies of the program's variables there are, and in which order they stand.
//!
//! A shared variable has, for each execution context i, a copy in the vector that the first thread starts from
//! (`Other`), in the vector that this thread starts from (`Start`, g0 in Lal and Reps 2009, paper 002) and in the vector of where it is now
//! (`Now`, g2); one copy at the entry of the procedure (`Entry`, g1: only the context of the entry matters, since
//! contexts before it are over and later ones begin as `Start` says); and one for the state after a step (`Next`).
//! A local has `Now` and `Next`, a parameter its value at the entry and the value handed to a callee.

use crate::baton::{Baton, Runner};
use crate::dependencies::{self, Numbers};
use crate::error::{AnalysisError, Result};
use crate::numbers::{Numbered, Numbering, Slots};
use preempt_bdd::{Bdd, Cube, Layout, Renaming, Space, TableOptions, Variable, order};
use preempt_core::Budget;
use preempt_model::{CodeId, Command, Expr, Model, Type};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many bits each kind of variable has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape {
    /// Types of the shared slots: those of the model, and after them those that starting threads needs.
    pub shared: Vec<Type>,
    /// If there is one variable for all shared slots: the shared states that it counts.
    pub numbering: Option<Arc<Numbering>>,
    /// Types of the locals of each code.
    pub locals: Vec<Vec<Type>>,
    pub results: Vec<u8>,
    pub choices: u32,
    /// Shared slots, locals and results that depend on each other, with the code in which they do.
    pub groups: Vec<(CodeId, Vec<u32>)>,
    /// For each thread what it has for itself, if each of its codes can be in progress only once.
    pub own: Vec<Own>,
}

/// What the variables of a single thread have to tell apart.
#[derive(Debug, Clone)]
pub(crate) struct Own {
    /// The codes that it can be in.
    pub codes: Vec<CodeId>,
    /// How many places it can stand at.
    pub places: u64,
}

/// Which order the variables stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VariableOrder {
    /// The better one of the others, by what one context of each thread takes.
    #[default]
    Trial,
    /// Those that occur in the same commands together.
    Dependencies,
    /// As the program declares them: shared variables first.
    Declared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Copy {
    Other(usize),
    Start(usize),
    Now(usize),
    Entry,
    Next,
}

/// A nondeterministic value takes this many bits at most, together with all others of the same command.
const MOST_CHOICES: u32 = 256;

impl Shape {
    /// `extra`: shared slots that the model does not have.
    pub fn of(model: &Model, extra: &[Type]) -> Shape {
        let mut shape = Shape { shared: types(&model.globals, model.global_slots, &[]), ..Shape::default() };
        shape.shared.extend(extra);
        for code in &model.codes {
            shape.locals.push(types(&code.variables, code.slots, &code.parameters));
        }
        for edge in model.edges() {
            if let Command::Call { results, .. } = &edge.command {
                shape.results.resize(shape.results.len().max(results.len()), 1);
                for (bits, place) in shape.results.iter_mut().zip(results) {
                    *bits = (*bits).max(place.ty.bits);
                }
            }
            shape.choices = shape.choices.max(choice_bits(&edge.command).min(MOST_CHOICES));
        }
        let numbers = Numbers { shared: shape.shared.len() as u32, locals: shape.local_bits().len() as u32 };
        shape.groups = dependencies::groups(model, &numbers);
        shape
    }

    /// Widths of the variables that say what the shared state is.
    fn shared_bits(&self) -> Vec<u8> {
        match &self.numbering {
            Some(numbering) => vec![numbering.bits()],
            None => self.shared.iter().map(|ty| ty.bits).collect(),
        }
    }

    /// What depends on each other, by the numbers of the variables that there are.
    fn variable_groups(&self) -> Vec<(CodeId, Vec<u32>)> {
        let slots = self.shared.len() as u32;
        let variable = |&slot: &u32| match (&self.numbering, slot.checked_sub(slots)) {
            (None, _) => slot,
            (Some(_), None) => 0,
            (Some(_), Some(other)) => other + 1,
        };
        let group = |(code, group): &(CodeId, Vec<u32>)| (*code, group.iter().map(variable).collect());
        self.groups.iter().map(group).collect()
    }

    /// Widths of the locals, shared by all codes.
    fn local_bits(&self) -> Vec<u8> {
        let count = self.locals.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |slot: usize| self.locals.iter().filter_map(|types| Some(types.get(slot)?.bits)).max();
        (0..count).map(|slot| widest(slot).unwrap_or(1)).collect()
    }
}

/// For each slot the type of the variable in it.
fn types(variables: &[preempt_model::Variable], slots: u32, parameters: &[Type]) -> Vec<Type> {
    let mut types = vec![Type::INT; slots as usize];
    for (slot, ty) in types.iter_mut().zip(parameters) {
        *slot = *ty;
    }
    for variable in variables {
        let first = variable.slot as usize;
        for slot in types.iter_mut().skip(first).take(variable.length.unwrap_or(1) as usize) {
            *slot = variable.ty;
        }
    }
    types
}

fn choice_bits(command: &Command) -> u32 {
    let mut bits = 0;
    command.visit(&mut |expr| {
        if let Expr::Any { low, high } = expr {
            bits += preempt_bdd::space::bits((i64::from(*high) - i64::from(*low)).max(0) as u64 + 1) as u32;
        }
    });
    // a block may execute a command again and again
    if matches!(command, Command::Deterministic(_)) { bits * 8 } else { bits }
}

pub(crate) struct Vars {
    pub space: Space,
    budget: Budget,
    /// If somebody else works at the same question, in turns.
    pub baton: Option<Arc<Baton>>,
    pub shape: Shape,
    /// If shared states are carried as numbers.
    pub numbered: Option<Numbered>,
    pub contexts: usize,
    shared: Vec<Variable>,
    locals: Vec<Variable>,
    params: Vec<Variable>,
    results: Vec<Variable>,
    choices: Vec<Variable>,
    /// For each thread where it stands, and the locals of each code that it can be in.
    own: Vec<(Variable, BTreeMap<CodeId, Vec<Variable>>)>,
    lift: Vec<Renaming>,
    choice_levels: BTreeSet<u32>,
    made: Made,
    pub all_locals: Cube,
    pub all_results: Cube,
    pub all_choices: Cube,
    /// Parameters, as at the entry and as handed to a callee.
    pub own_params: Cube,
    pub params_become_own: Renaming,
}

/// What was asked for before, and is asked for again and again.
#[derive(Default)]
struct Made {
    cubes: RefCell<BTreeMap<Vec<Copy>, Cube>>,
    renamings: RefCell<BTreeMap<Vec<(Copy, Copy)>, Renaming>>,
    equalities: RefCell<BTreeMap<(Copy, Copy), Bdd>>,
}

impl Vars {
    pub fn new(
        shape: Shape,
        contexts: usize,
        order: VariableOrder,
        options: TableOptions,
        budget: &Budget,
    ) -> Result<Vars> {
        let mut layout = Layout::new().within(budget);
        let copies = 3 * contexts as u32 + 2;
        let local_bits = shape.local_bits();
        let values = |bits: u8| 1u64 << bits.clamp(1, 32);
        let shared: Vec<Variable> =
            shape.shared_bits().into_iter().map(|bits| layout.add(values(bits), copies)).collect();
        // A parameter is a local that keeps its first value: copies 2 and 3.
        let locals: Vec<Variable> = local_bits.iter().map(|&bits| layout.add(values(bits), 4)).collect();
        let results: Vec<Variable> = shape.results.iter().map(|&bits| layout.add(values(bits), 1)).collect();
        let choices: Vec<Variable> = (0..shape.choices).map(|_| layout.add(2, 1)).collect();
        let own: Vec<_> = shape
            .own
            .iter()
            .map(|own| {
                let place = layout.add(own.places, 1);
                let mut variables = BTreeMap::new();
                for code in &own.codes {
                    let types = &shape.locals[usize::from(code.0)];
                    let locals = types.iter().map(|ty| layout.add(values(ty.bits), 1)).collect();
                    variables.insert(*code, locals);
                }
                (place, variables)
            })
            .collect();
        let slots: Vec<Variable> = match &shape.numbering {
            Some(_) => shape.shared.iter().map(|ty| layout.add(values(ty.bits), 1)).collect(),
            None => Vec::new(),
        };
        let order = match order {
            VariableOrder::Declared => Vec::new(),
            VariableOrder::Dependencies | VariableOrder::Trial => {
                dependency_order(&shape, layout.len() as u32, &own)
            }
        };
        let space = layout.build_ordered(&order, options)?;
        let params = locals.clone();
        let lift = (0..contexts)
            .map(|k| {
                let now = |v: &Variable, k| v.copy(copy(contexts, Copy::Now(k)));
                space.renaming(shared.iter().map(|v| (now(v, 0), now(v, k))))
            })
            .collect();
        let choice_levels = choices.iter().flat_map(|choice| space.levels(*choice).to_vec()).collect();
        let all_locals = space.cube(locals.iter().copied())?;
        let all_results = space.cube(results.iter().copied())?;
        let all_choices = space.cube(choices.iter().copied())?;
        let own_params = space.cube(params.iter().map(|v| v.copy(2)))?;
        let params_become_own = space.renaming(params.iter().map(|v| (v.copy(3), v.copy(2))));
        let numbered = match &shape.numbering {
            Some(numbering) => {
                let step = [Copy::Now(0), Copy::Next].map(|which| shared[0].copy(copy(contexts, which)));
                Some(Numbered::new(&space, numbering.clone(), (step[0], step[1]), slots)?)
            }
            None => None,
        };
        Ok(Vars {
            space,
            numbered,
            budget: budget.clone(),
            baton: None,
            shape,
            contexts,
            shared,
            locals,
            params,
            results,
            choices,
            own,
            lift,
            choice_levels,
            made: Made::default(),
            all_locals,
            all_results,
            all_choices,
            own_params,
            params_become_own,
        })
    }

    /// Between operations: one more is counted, and the analysis ends if its budget is exhausted. A single operation on
    /// diagrams is not interrupted.
    pub fn poll(&self) -> Result<()> {
        self.budget.counters().transitions.add(1);
        if let Some(baton) = &self.baton {
            baton.wait(Runner::Diagrams);
        }
        self.budget.exhausted().map_or(Ok(()), |reason| Err(AnalysisError::Stopped(reason)))
    }

    /// How many variables say what the shared state is: one for each slot, or one for all.
    pub fn shared_count(&self) -> usize {
        self.shared.len()
    }

    /// A shared state, slot by slot, as these variables say it.
    pub fn encode(&self, slots: Slots) -> Slots {
        match &self.numbered {
            Some(numbered) => vec![numbered.numbering.number(&slots).unwrap_or(0)],
            None => slots,
        }
    }

    /// And back.
    pub fn decode<'s>(&'s self, values: &'s [u64]) -> &'s [u64] {
        match (&self.numbered, values) {
            (Some(numbered), [number]) => numbered.numbering.state(*number).unwrap_or(&[]),
            _ => values,
        }
    }

    pub fn shared(&self, slot: usize, which: Copy) -> Variable {
        self.shared[slot].copy(copy(self.contexts, which))
    }

    pub fn all_shared(&self, which: Copy) -> impl Iterator<Item = Variable> + '_ {
        self.shared.iter().map(move |variable| variable.copy(copy(self.contexts, which)))
    }

    pub fn local(&self, slot: usize) -> Variable {
        self.locals[slot]
    }

    pub fn local_next(&self, slot: usize) -> Variable {
        self.locals[slot].copy(1)
    }

    pub fn locals(&self) -> &[Variable] {
        &self.locals
    }

    pub fn param(&self, slot: usize) -> Variable {
        self.params[slot].copy(2)
    }

    pub fn param_handed(&self, slot: usize) -> Variable {
        self.params[slot].copy(3)
    }

    pub fn param_count(&self) -> usize {
        self.params.len()
    }

    pub fn result(&self, index: usize) -> Variable {
        self.results[index]
    }

    pub fn results(&self) -> &[Variable] {
        &self.results
    }

    pub fn choice(&self, index: usize) -> Option<Variable> {
        self.choices.get(index).copied()
    }

    pub fn is_choice(&self, level: u32) -> bool {
        self.choice_levels.contains(&level)
    }

    /// From the first context to context `k`.
    pub fn lift(&self, k: usize) -> &Renaming {
        &self.lift[k]
    }

    /// Copies of shared variables as one cube, made once.
    pub fn shared_cube(&self, copies: impl IntoIterator<Item = Copy>) -> Result<Cube> {
        let copies: Vec<Copy> = copies.into_iter().collect();
        if let Some(known) = self.made.cubes.borrow().get(&copies) {
            return Ok(known.clone());
        }
        let cube = self.space.cube(copies.iter().flat_map(|which| self.all_shared(*which)))?;
        self.made.cubes.borrow_mut().insert(copies, cube.clone());
        Ok(cube)
    }

    /// Copies of the shared variables in the place of other copies. It is made once: the results of a renaming are found
    /// again by its identity.
    pub fn shared_renaming(&self, pairs: impl IntoIterator<Item = (Copy, Copy)>) -> Renaming {
        let pairs: Vec<(Copy, Copy)> = pairs.into_iter().collect();
        if let Some(known) = self.made.renamings.borrow().get(&pairs) {
            return known.clone();
        }
        let variables = pairs.iter().flat_map(|(from, to)| self.all_shared(*from).zip(self.all_shared(*to)));
        let renaming = self.space.renaming(variables);
        self.made.renamings.borrow_mut().insert(pairs, renaming.clone());
        renaming
    }

    /// All shared variables agree in these two copies.
    pub fn shared_equal(&self, left: Copy, right: Copy) -> Result<Bdd> {
        if let Some(known) = self.made.equalities.borrow().get(&(left, right)) {
            return Ok(known.clone());
        }
        let mut result = self.space.yes();
        // from the bottom up: every step adds on top
        let key = (left, right);
        let mut pairs: Vec<_> = self.all_shared(left).zip(self.all_shared(right)).collect();
        pairs.sort_by_key(|(left, _)| std::cmp::Reverse(self.space.levels(*left).first().copied()));
        for (left, right) in pairs {
            self.space.go_on()?;
            result = self.space.same(left, right)?.and(&result)?;
        }
        self.made.equalities.borrow_mut().insert(key, result.clone());
        Ok(result)
    }

    /// Where a thread stands, and its own locals of a code, where threads have such variables.
    pub fn own(&self, thread: usize) -> Option<&(Variable, BTreeMap<CodeId, Vec<Variable>>)> {
        self.own.get(thread)
    }
}

/// Where each variable stands relative to the others: by the commands in which they occur together. A thread's own
/// variables occur where the locals do.
fn dependency_order(
    shape: &Shape,
    count: u32,
    own: &[(Variable, BTreeMap<CodeId, Vec<Variable>>)],
) -> Vec<u32> {
    let shared = shape.shared_bits().len() as u32;
    let results = shared + shape.local_bits().len() as u32;
    let by_code = shape.variable_groups();
    let mut groups: Vec<Vec<u32>> = by_code.iter().map(|(_, group)| group.clone()).collect();
    for (_, codes) in own {
        for (code, group) in &by_code {
            let Some(locals) = codes.get(code) else { continue };
            let place = |&number: &u32| match number.checked_sub(shared) {
                _ if number >= results => Some(number),
                None => Some(number),
                Some(slot) => locals.get(slot as usize).map(|variable| variable.index),
            };
            groups.push(group.iter().filter_map(place).collect());
        }
    }
    let mut order = order::force(count, &groups);
    // What depends on nothing is control: flags and counters that are only tested and set. Everything else is small once
    // they are known.
    let depends: BTreeSet<u32> = groups.into_iter().flatten().collect();
    order.sort_by_key(|number| *number >= shared || depends.contains(number));
    order
}

fn copy(contexts: usize, which: Copy) -> u32 {
    // What belongs to one context stands together, and copies stand so that no renaming of the rules and of the hand-off
    // turns two of them round: a renaming that keeps the order costs a visit to each node, another one builds the diagram
    // anew. `Next` becomes the last `Now`, or takes its place, while `Entry` stays; `Start` and `Now` of the threads after
    // become `Now` and the `Other` of the next context.
    (match which {
        Copy::Other(k) => 3 * k,
        Copy::Start(k) => 3 * k + 1,
        Copy::Now(k) => 3 * k + 2,
        Copy::Next => 3 * contexts,
        Copy::Entry => 3 * contexts + 1,
    }) as u32
}
