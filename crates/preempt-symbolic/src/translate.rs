//! From a thread of a model to its control-flow graph: commands become relations between the states before and after.
//!
//! An edge is taken where the interpreter would take it: its guard holds, nothing that comes earlier with `else` or an
//! escape is enabled, and evaluating it has a meaning. Where it has none, or an assertion fails, the state is *bad*. A
//! relation is kept in parts (see `relation`), names only what it writes, and sets locals to 0 that are not read again
//! (see `liveness`).

use crate::effect::Effect;
use crate::error::{Result, unsupported};
use crate::graph::{Call, Graph, Node, Procedure, Return, Step, ranks, raw};
use crate::liveness::Liveness;
use crate::relation::{Condition, Product, Relation};
use crate::threads::{EdgeAt, Thread, Threads};
use crate::value::{Evaluator, Valuation};
use crate::vars::{Copy, Vars};
use crate::word::Word;
use preempt_bdd::{Bdd, Variable};
use preempt_model::{CodeId, Command, Edge, LocationId, Model, Place};
use std::collections::BTreeMap;

/// What building a graph needs to know, and the procedures that are still to be built.
pub(crate) struct Builder<'a> {
    pub vars: &'a Vars,
    pub model: &'a Model,
    pub threads: &'a Threads,
    pub liveness: &'a Liveness,
    pub pid: Option<i32>,
    keys: BTreeMap<(CodeId, bool), usize>,
    queue: Vec<(CodeId, bool)>,
}

/// The nodes of a procedure in the order in which they are met: locations, inside and outside of atomic sequences.
struct Numbering {
    numbers: BTreeMap<(LocationId, bool), usize>,
    order: Vec<(LocationId, bool)>,
}

impl Numbering {
    fn number(&mut self, location: LocationId, exclusive: bool) -> usize {
        *self.numbers.entry((location, exclusive)).or_insert_with(|| {
            self.order.push((location, exclusive));
            self.order.len() - 1
        })
    }
}

/// An edge that is being translated.
pub(crate) struct Translated<'e, 'v> {
    pub at: EdgeAt,
    pub edge: &'e Edge,
    /// The state before it.
    pub now: &'e Valuation,
    pub evaluator: Evaluator<'v>,
    /// Where it is taken.
    taken: Bdd,
}

impl Graph {
    pub fn new(
        vars: &Vars,
        model: &Model,
        threads: &Threads,
        thread: &Thread,
        liveness: &Liveness,
    ) -> Result<Graph> {
        let pid = thread.pid.map(|pid| pid as i32);
        let (keys, queue) = (BTreeMap::new(), Vec::new());
        let mut builder = Builder { vars, model, threads, liveness, pid, keys, queue };
        let mut root = builder.procedure(thread.code, thread.location, thread.exclusive, true)?;
        let mut start = vars.space.yes();
        let types = &vars.shape.locals[usize::from(thread.code.0)];
        let live = liveness.at(thread.code, thread.location);
        for (slot, (&value, ty)) in thread.locals.iter().zip(types).enumerate() {
            let value = if live[slot] { raw(value, *ty) } else { 0 };
            start = start.and(&vars.space.equals(vars.local(slot), value)?)?;
        }
        // Nobody called a thread's own code: there is nowhere to return to.
        for node in &mut root.nodes {
            for exit in std::mem::take(&mut node.returns) {
                let here = exit.values.and_exists(vars, &vars.space.yes(), 0, &vars.all_results)?;
                node.bad.push((exit.edge, Condition::new(here)));
            }
        }
        if let Some((site, instance)) = thread.waits {
            builder.waiting(&mut root, thread, site, instance)?;
        }
        root.ranks = ranks(&root.nodes, root.entry);
        let mut graph = Graph { procedures: vec![root], start };
        while graph.procedures.len() <= builder.queue.len() {
            let (code, exclusive) = builder.queue[graph.procedures.len() - 1];
            let entry = model.code(code).entry;
            let procedure = builder.procedure(code, entry, exclusive, false)?;
            graph.procedures.push(procedure);
        }
        Ok(graph)
    }
}

impl Builder<'_> {
    fn procedure(
        &mut self,
        code: CodeId,
        entry: LocationId,
        exclusive: bool,
        root: bool,
    ) -> Result<Procedure> {
        let mut numbering = Numbering { numbers: BTreeMap::new(), order: Vec::new() };
        numbering.number(entry, exclusive);
        let mut nodes = Vec::new();
        while let Some(&place) = numbering.order.get(nodes.len()) {
            nodes.push(self.node(code, place, root, &mut numbering)?);
        }
        let init = if root { self.vars.space.yes() } else { self.entry_locals(code)? };
        let ranks = ranks(&nodes, 0);
        Ok(Procedure { code, nodes, entry: 0, ranks, init: Condition::new(init) })
    }

    fn node(
        &mut self,
        code: CodeId,
        (location, exclusive): (LocationId, bool),
        root: bool,
        numbering: &mut Numbering,
    ) -> Result<Node> {
        let space = &self.vars.space;
        let now = Valuation::now(self.vars, code);
        let definition = self.model.code(code);
        let mut node = Node {
            location: Some(location),
            exclusive,
            resume: numbering.number(location, false),
            blocked: Condition::new(space.no()),
            steps: Vec::new(),
            calls: Vec::new(),
            returns: Vec::new(),
            bad: Vec::new(),
        };
        let provided = match &definition.provided {
            None => space.yes(),
            Some(_) if !root => return unsupported("a provided clause of a procedure"),
            Some(clause) => {
                let (holds, fault) = Evaluator::new(self.vars, code, self.pid).holds(&now, clause)?;
                holds.or(&fault)?
            }
        };
        let mut nothing_earlier = space.yes();
        // Once an escape is enabled, only edges of the same escape are looked at: `latest` says which it is.
        let mut latest: BTreeMap<u32, Bdd> = BTreeMap::new();
        let mut stopped = provided.not()?;
        for (index, edge) in definition.location(location).edges.iter().enumerate() {
            space.go_on()?;
            for (escape, taken) in &latest {
                if edge.escape != Some(*escape) {
                    stopped = stopped.or(taken)?;
                }
            }
            let looked_at = stopped.not()?;
            let evaluator = Evaluator::new(self.vars, code, self.pid);
            let (ready, fault) = evaluator.ready(&now, &edge.command, &nothing_earlier)?;
            evaluator.rewind();
            let wrong = looked_at.and(&fault)?;
            let taken = looked_at.and(&ready)?.minus(&fault)?;
            let at = (code, location, index as u32);
            let translated = Translated { at, edge, now: &now, evaluator, taken };
            let bad = self.edge(&mut node, &translated, numbering)?;
            let assumption = translated.evaluator.assumption();
            let enabled = translated.taken.or(&wrong)?.and(&assumption)?.exists(&self.vars.all_choices)?;
            let bad = bad.or(&wrong)?.and(&assumption)?.exists(&self.vars.all_choices)?;
            if !bad.is_false() {
                node.bad.push((index as u32, Condition::new(bad)));
            }
            nothing_earlier = nothing_earlier.minus(&enabled)?;
            for taken in latest.values_mut() {
                *taken = taken.minus(&enabled)?;
            }
            if let Some(escape) = edge.escape {
                let taken = latest.entry(escape).or_insert_with(|| space.no());
                *taken = taken.or(&enabled)?;
            }
        }
        node.blocked = Condition::new(nothing_earlier);
        Ok(node)
    }

    /// Adds an edge to its node; the result is where it goes wrong when executed.
    fn edge(
        &mut self,
        node: &mut Node,
        translated: &Translated<'_, '_>,
        numbering: &mut Numbering,
    ) -> Result<Bdd> {
        let space = &self.vars.space;
        let Translated { at: (_, _, index), edge, now, ref taken, .. } = *translated;
        Ok(match &edge.command {
            Command::End => space.no(),
            Command::Call { code: callee, args, results } => {
                let mut arguments = Vec::new();
                let mut fault = space.no();
                let types = &self.model.code(*callee).parameters;
                for (slot, (arg, ty)) in args.iter().zip(types).enumerate() {
                    let value = translated.evaluator.value(now, arg)?;
                    fault = fault.or(&value.fault)?;
                    let bits = value.word.low(usize::from(ty.bits));
                    arguments.extend(self.bits_equal(self.vars.param_handed(slot), &bits)?);
                }
                let bad = taken.and(&fault)?;
                arguments.push(taken.minus(&fault)?.and(&translated.evaluator.assumption())?);
                let arguments = Product::new(self.vars, arguments)?;
                let callee = self.callee(*callee, edge.atomic);
                let targets = [numbering.number(edge.target, false), numbering.number(edge.target, true)];
                let results = self.store_results(translated, results)?;
                node.calls.push(Call { edge: index, callee, arguments, targets, results });
                bad
            }
            Command::Return(values) => {
                let mut relation = Vec::new();
                let mut fault = space.no();
                for (result, value) in values.iter().enumerate().take(self.vars.results().len()) {
                    let value = translated.evaluator.value(now, value)?;
                    fault = fault.or(&value.fault)?;
                    let variable = self.vars.result(result);
                    let bits = value.word.low(space.levels(variable).len());
                    relation.extend(self.bits_equal(variable, &bits)?);
                }
                let bad = taken.and(&fault)?;
                relation.push(taken.minus(&fault)?.and(&translated.evaluator.assumption())?);
                let values = Product::new(self.vars, relation)?;
                node.returns.push(Return { edge: index, exclusive: edge.atomic, values });
                bad
            }
            Command::Run { code, args, result, .. } => {
                let (effect, room) = self.start(translated, *code, args, result.as_ref())?;
                let taken = taken.and(&room)?;
                let bad = taken.and(&effect.fault)?;
                node.steps.push(self.step(translated, &taken, effect, numbering)?);
                bad
            }
            command => {
                let effect = translated.evaluator.apply(now, command)?;
                let bad = taken.and(&effect.fault.or(&effect.failed)?)?;
                node.steps.push(self.step(translated, taken, effect, numbering)?);
                bad
            }
        })
    }

    fn step(
        &self,
        translated: &Translated<'_, '_>,
        taken: &Bdd,
        mut effect: Effect,
        numbering: &mut Numbering,
    ) -> Result<Step> {
        let Translated { at: (_, _, index), edge, now, ref evaluator, .. } = *translated;
        let taken = taken.minus(&effect.fault)?.and(&evaluator.assumption())?;
        self.bury(&mut effect.after, translated);
        let relation = self.relation(now, &taken, &effect.after)?;
        Ok(Step { edge: index, target: numbering.number(edge.target, edge.atomic), relation })
    }

    /// Locals that are of no use any more become 0.
    fn bury(&self, after: &mut Valuation, translated: &Translated<'_, '_>) {
        let (code, location, _) = translated.at;
        for slot in self.liveness.dying(self.model, code, location, translated.edge) {
            after.locals[slot].fill(self.vars.space.no());
        }
    }

    /// From a state before and the values after it.
    pub fn relation(&self, now: &Valuation, taken: &Bdd, after: &Valuation) -> Result<Relation> {
        let changed = |before: &[Vec<Bdd>], after: &[Vec<Bdd>]| {
            (0..before.len()).filter(|&slot| before[slot] != after[slot]).collect::<Vec<_>>()
        };
        let shared = changed(&now.shared, &after.shared);
        let locals = changed(&now.locals, &after.locals);
        let mut parts = vec![taken.clone()];
        let (mut written, mut outside) = (shared, None);
        match &self.vars.numbered {
            Some(numbered) if !written.is_empty() => {
                parts.extend(numbered.step(&self.vars.space, after, &written)?);
                outside = numbered.outside(self.vars, &parts, after)?;
                written = vec![0];
            }
            _ => {
                for &slot in &written {
                    self.vars.space.go_on()?;
                    parts.extend(self.bits_equal(self.vars.shared(slot, Copy::Next), &after.shared[slot])?);
                }
            }
        }
        for &slot in &locals {
            parts.extend(self.bits_equal(self.vars.local_next(slot), &after.locals[slot])?);
        }
        Ok(Relation::new(Product::new(self.vars, parts)?, written, locals).leaving(outside))
    }

    /// The variable has these bits, and zeros above them: for each bit a condition.
    pub fn bits_equal(&self, variable: Variable, bits: &[Bdd]) -> Result<Vec<Bdd>> {
        let mut conditions = Vec::new();
        for (index, own) in self.vars.space.bits(variable).iter().enumerate() {
            conditions.push(match bits.get(index) {
                Some(bit) => own.iff(bit)?,
                None => own.not()?,
            });
        }
        Ok(conditions)
    }

    fn callee(&mut self, code: CodeId, exclusive: bool) -> usize {
        let queue = &mut self.queue;
        *self.keys.entry((code, exclusive)).or_insert_with(|| {
            queue.push((code, exclusive));
            queue.len()
        })
    }

    fn store_results(&self, translated: &Translated<'_, '_>, places: &[Place]) -> Result<Option<Relation>> {
        let space = &self.vars.space;
        let now = translated.now;
        let evaluator = Evaluator::new(self.vars, translated.at.0, self.pid);
        let mut after = now.clone();
        let mut stores = Vec::new();
        for (index, place) in places.iter().enumerate() {
            let (slots, fault) = evaluator.slots(now, place)?;
            if !fault.is_false() {
                return unsupported("a result that is stored in an array at an index");
            }
            stores.push((place, slots, Word::from_bits(space, space.bits(self.vars.result(index)), false)));
        }
        for (place, slots, word) in stores {
            evaluator.store(&mut after, place, &slots, &word)?;
        }
        self.bury(&mut after, translated);
        let relation = self.relation(now, &space.yes(), &after)?;
        Ok((!relation.writes_nothing()).then_some(relation))
    }
}
