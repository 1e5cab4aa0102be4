//! A thread as paper 002's Fig. 2 draws it: nodes, and edges that are relations, calls or returns.
//!
//! A node is a location together with whether the thread alone may run there (it is inside an atomic sequence). A
//! procedure is looked at twice if it is called from inside and from outside of atomic sequences.

use crate::effect::Effect;
use crate::liveness::Liveness;
use crate::relation::{Condition, Product, Relation};
use crate::stop::{Result, unsupported};
use crate::threads::{Thread, Threads};
use crate::value::{Evaluator, Valuation};
use crate::vars::{Copy, Vars};
use crate::word::Word;
use preempt_bdd::Bdd;
use preempt_model::{CodeId, Command, Edge, Expr, Init, LocationId, Model, Place};
use std::collections::BTreeMap;

/// A thread's program. Procedure 0 is the thread's own code.
pub(crate) struct Graph {
    pub procedures: Vec<Procedure>,
    /// What the locals are at the entry of procedure 0.
    pub start: Bdd,
    /// Can a procedure be in progress twice?
    pub recursive: bool,
}

pub(crate) struct Procedure {
    pub code: CodeId,
    pub nodes: Vec<Node>,
    pub entry: usize,
    /// For each node its place in an order in which a node comes after those that lead to it, loops aside.
    pub ranks: Vec<usize>,
    /// Parameters and shared state at the entry to locals; for procedure 0 it is not used.
    pub init: Condition,
}

pub(crate) struct Node {
    /// `None`: the thread waits to be started.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare states by it"))]
    pub location: Option<LocationId>,
    /// Nobody else may run here unless the thread is blocked.
    pub exclusive: bool,
    /// Where the thread goes on if it was blocked here and others have run.
    pub resume: usize,
    pub blocked: Condition,
    pub steps: Vec<Step>,
    pub calls: Vec<Call>,
    pub returns: Vec<Return>,
    /// States in which an edge fails an assertion or has no meaning.
    pub bad: Vec<(u32, Condition)>,
}

pub(crate) struct Step {
    pub edge: u32,
    pub target: usize,
    pub relation: Relation,
}

pub(crate) struct Call {
    pub edge: u32,
    pub callee: usize,
    /// From the caller's state to the parameters handed over.
    pub arguments: Product,
    /// Where the caller goes on: after a return inside an atomic sequence, and outside.
    pub targets: [usize; 2],
    /// What is done with the results.
    pub results: Option<Relation>,
}

pub(crate) struct Return {
    pub edge: u32,
    pub exclusive: bool,
    /// From the state to the results.
    pub values: Product,
}

/// What building a graph needs to know.
struct Builder<'a> {
    vars: &'a Vars,
    model: &'a Model,
    threads: &'a Threads,
    liveness: &'a Liveness,
    pid: Option<i32>,
    keys: BTreeMap<(CodeId, bool), usize>,
    queue: Vec<(CodeId, bool)>,
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
        let mut graph = Graph { procedures: vec![root], start, recursive: false };
        while graph.procedures.len() <= builder.queue.len() {
            let (code, exclusive) = builder.queue[graph.procedures.len() - 1];
            let entry = model.code(code).entry;
            let procedure = builder.procedure(code, entry, exclusive, false)?;
            graph.procedures.push(procedure);
        }
        graph.recursive = graph.is_recursive();
        Ok(graph)
    }

    fn is_recursive(&self) -> bool {
        let callees = |procedure: usize| {
            let nodes = self.procedures[procedure].nodes.iter();
            nodes.flat_map(|node| node.calls.iter().map(|call| call.callee)).collect::<Vec<_>>()
        };
        (0..self.procedures.len()).any(|first| {
            let mut seen = vec![false; self.procedures.len()];
            let mut waiting = callees(first);
            while let Some(procedure) = waiting.pop() {
                if procedure == first {
                    return true;
                }
                if !std::mem::replace(&mut seen[procedure], true) {
                    waiting.extend(callees(procedure));
                }
            }
            false
        })
    }

    /// Can anything go wrong in this thread at all, whatever the values are?
    pub fn can_fail(&self) -> bool {
        let nodes = self.procedures.iter().flat_map(|procedure| &procedure.nodes);
        nodes.flat_map(|node| &node.bad).any(|(_, bad)| !bad.never())
    }
}

/// Reverse postorder: the order in which a depth-first search leaves the nodes, turned round.
fn ranks(nodes: &[Node], entry: usize) -> Vec<usize> {
    let successors = |node: &Node| -> Vec<usize> {
        let calls = node.calls.iter().flat_map(|call| call.targets);
        node.steps.iter().map(|step| step.target).chain(calls).chain([node.resume]).collect()
    };
    let mut ranks = vec![0; nodes.len()];
    let mut seen = vec![false; nodes.len()];
    let mut next_rank = nodes.len();
    for start in std::iter::once(entry).chain(0..nodes.len()) {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut stack = vec![(start, successors(&nodes[start]))];
        while let Some((node, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) if !std::mem::replace(&mut seen[next], true) => {
                    stack.push((next, successors(&nodes[next])));
                }
                Some(_) => {}
                None => {
                    next_rank -= 1;
                    ranks[*node] = next_rank;
                    stack.pop();
                }
            }
        }
    }
    ranks
}

/// The bits of a value as a number.
pub(crate) fn raw(value: i32, ty: preempt_model::Type) -> u64 {
    u64::from(value as u32) & ((1u64 << ty.bits.clamp(1, 32)) - 1)
}

impl Builder<'_> {
    fn procedure(
        &mut self,
        code: CodeId,
        entry: LocationId,
        exclusive: bool,
        root: bool,
    ) -> Result<Procedure> {
        let mut numbers = BTreeMap::from([((entry, exclusive), 0)]);
        let mut order = vec![(entry, exclusive)];
        let mut nodes = Vec::new();
        while nodes.len() < order.len() {
            let (location, exclusive) = order[nodes.len()];
            let mut number = |location: LocationId, exclusive: bool| {
                *numbers.entry((location, exclusive)).or_insert_with(|| {
                    order.push((location, exclusive));
                    order.len() - 1
                })
            };
            nodes.push(self.node(code, location, exclusive, root, &mut number)?);
        }
        let init = if root { self.vars.space.yes() } else { self.entry_locals(code)? };
        let ranks = ranks(&nodes, 0);
        Ok(Procedure { code, nodes, entry: 0, ranks, init: Condition::new(init) })
    }

    fn node(
        &mut self,
        code: CodeId,
        location: LocationId,
        exclusive: bool,
        root: bool,
        number: &mut dyn FnMut(LocationId, bool) -> usize,
    ) -> Result<Node> {
        let space = &self.vars.space;
        let now = Valuation::now(self.vars, code, 0);
        let definition = self.model.code(code);
        let mut node = Node {
            location: Some(location),
            exclusive,
            resume: number(location, false),
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
            let bad =
                self.edge(&mut node, (code, location, index as u32), edge, evaluator, &now, &taken, number)?;
            // `edge` has already added what goes wrong when the command is executed
            let (bad, assumption) = bad;
            let enabled = taken.or(&wrong)?.and(&assumption)?.exists(&self.vars.all_choices)?;
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

    /// Adds an edge to its node; the result is where it goes wrong when executed, and which choices are values.
    #[expect(clippy::too_many_arguments, reason = "all of it says which edge is meant")]
    fn edge(
        &mut self,
        node: &mut Node,
        at: (CodeId, LocationId, u32),
        edge: &Edge,
        mut evaluator: Evaluator<'_>,
        now: &Valuation,
        taken: &Bdd,
        number: &mut dyn FnMut(LocationId, bool) -> usize,
    ) -> Result<(Bdd, Bdd)> {
        let space = &self.vars.space;
        let index = at.2;
        let bad;
        match &edge.command {
            Command::End => bad = space.no(),
            Command::Call { code: callee, args, results } => {
                let mut arguments = Vec::new();
                let mut fault = space.no();
                let types = &self.model.code(*callee).parameters;
                for (slot, (arg, ty)) in args.iter().zip(types).enumerate() {
                    let value = evaluator.value(now, arg)?;
                    fault = fault.or(&value.fault)?;
                    let bits = value.word.low(usize::from(ty.bits));
                    arguments.extend(self.bits_equal(self.vars.param_handed(slot), &bits)?);
                }
                bad = taken.and(&fault)?;
                arguments.push(taken.minus(&fault)?.and(&evaluator.assumption())?);
                let arguments = Product::new(self.vars, arguments)?;
                let callee = self.callee(*callee, edge.atomic);
                let targets = [number(edge.target, false), number(edge.target, true)];
                let results = self.store_results((at.0, at.1), edge, now, results)?;
                node.calls.push(Call { edge: index, callee, arguments, targets, results });
            }
            Command::Return(values) => {
                let mut relation = Vec::new();
                let mut fault = space.no();
                for (result, value) in values.iter().enumerate().take(self.vars.results().len()) {
                    let value = evaluator.value(now, value)?;
                    fault = fault.or(&value.fault)?;
                    let variable = self.vars.result(result);
                    let bits = value.word.low(space.levels(variable).len());
                    relation.extend(self.bits_equal(variable, &bits)?);
                }
                bad = taken.and(&fault)?;
                relation.push(taken.minus(&fault)?.and(&evaluator.assumption())?);
                let values = Product::new(self.vars, relation)?;
                node.returns.push(Return { edge: index, exclusive: edge.atomic, values });
            }
            Command::Run { code, args, result, .. } => {
                let (effect, room) = self.start(at, *code, args, result.as_ref(), &mut evaluator, now)?;
                bad = taken.and(&room)?.and(&effect.fault)?;
                let taken = taken.and(&room)?;
                node.steps.push(self.step(edge, at, &evaluator, now, &taken, effect, number)?);
            }
            command => {
                let effect = evaluator.apply(now, command)?;
                bad = taken.and(&effect.fault.or(&effect.failed)?)?;
                node.steps.push(self.step(edge, at, &evaluator, now, taken, effect, number)?);
            }
        }
        Ok((bad, evaluator.assumption()))
    }

    #[expect(clippy::too_many_arguments, reason = "all of it says which edge is meant")]
    fn step(
        &self,
        edge: &Edge,
        (code, location, index): (CodeId, LocationId, u32),
        evaluator: &Evaluator<'_>,
        now: &Valuation,
        taken: &Bdd,
        mut effect: Effect,
        number: &mut dyn FnMut(LocationId, bool) -> usize,
    ) -> Result<Step> {
        let taken = taken.minus(&effect.fault)?.and(&evaluator.assumption())?;
        self.bury(&mut effect.after, (code, location), edge);
        let relation = self.relation(now, &taken, &effect.after)?;
        Ok(Step { edge: index, target: number(edge.target, edge.atomic), relation })
    }

    /// Locals that are of no use any more become 0.
    fn bury(&self, after: &mut Valuation, (code, location): (CodeId, LocationId), edge: &Edge) {
        for slot in self.liveness.dying(self.model, code, location, edge) {
            after.locals[slot].fill(self.vars.space.no());
        }
    }

    /// From a state before and the values after it.
    fn relation(&self, now: &Valuation, taken: &Bdd, after: &Valuation) -> Result<Relation> {
        let changed = |before: &[Vec<Bdd>], after: &[Vec<Bdd>]| {
            (0..before.len()).filter(|&slot| before[slot] != after[slot]).collect::<Vec<_>>()
        };
        let shared = changed(&now.shared, &after.shared);
        let locals = changed(&now.locals, &after.locals);
        let mut parts = vec![taken.clone()];
        for &slot in &shared {
            self.vars.space.go_on()?;
            parts.extend(self.bits_equal(self.vars.shared(slot, Copy::Next), &after.shared[slot])?);
        }
        for &slot in &locals {
            parts.extend(self.bits_equal(self.vars.local_next(slot), &after.locals[slot])?);
        }
        Ok(Relation::new(Product::new(self.vars, parts)?, shared, locals))
    }

    /// The variable has these bits, and zeros above them: for each bit a condition.
    fn bits_equal(&self, variable: preempt_bdd::Variable, bits: &[Bdd]) -> Result<Vec<Bdd>> {
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

    fn store_results(
        &self,
        at: (CodeId, LocationId),
        edge: &Edge,
        now: &Valuation,
        places: &[Place],
    ) -> Result<Option<Relation>> {
        let space = &self.vars.space;
        let evaluator = Evaluator::new(self.vars, at.0, self.pid);
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
        self.bury(&mut after, at, edge);
        let relation = self.relation(now, &space.yes(), &after)?;
        Ok((!relation.writes_nothing()).then_some(relation))
    }

    /// The locals of a procedure at its entry, as functions of parameters and shared state.
    fn entry_locals(&self, code: CodeId) -> Result<Bdd> {
        let space = &self.vars.space;
        let types = &self.vars.shape.locals[usize::from(code.0)];
        let handed = |slot: usize| space.bits(self.vars.param(slot));
        let locals = self.first_valuation(code, &handed)?;
        let mut result = space.yes();
        let live = self.liveness.at(code, self.model.code(code).entry);
        for (slot, bits) in locals.iter().enumerate().take(types.len()) {
            space.go_on()?;
            let bits = if live[slot] { bits.as_slice() } else { &[] };
            for condition in self.bits_equal(self.vars.local(slot), bits)? {
                result = result.and(&condition)?;
            }
        }
        Ok(result)
    }

    /// Parameters as handed over, everything else 0, then the initial values one after the other.
    fn first_valuation(&self, code: CodeId, handed: &dyn Fn(usize) -> Vec<Bdd>) -> Result<Vec<Vec<Bdd>>> {
        let space = &self.vars.space;
        let definition = self.model.code(code);
        let types = &self.vars.shape.locals[usize::from(code.0)];
        let mut state = Valuation::now(self.vars, code, 0);
        for (slot, ty) in types.iter().enumerate() {
            let width = usize::from(ty.bits);
            state.locals[slot] = match slot < definition.parameters.len() {
                true => handed(slot).into_iter().chain(std::iter::repeat(space.no())).take(width).collect(),
                false => vec![space.no(); width],
            };
        }
        for init in &definition.init {
            let Init::Set { slot, value, .. } = init else { return unsupported("channels") };
            let mut chosen = false;
            value.visit(&mut |expr| chosen |= matches!(expr, Expr::Any { .. }));
            if chosen {
                return unsupported("a nondeterministic initial value");
            }
            let value = Evaluator::new(self.vars, code, self.pid).value(&state, value)?;
            if !value.fault.is_false() {
                return unsupported("an initial value of a local that may have no meaning");
            }
            let width = state.locals[*slot as usize].len();
            state.locals[*slot as usize] = value.word.low(width);
        }
        Ok(state.locals)
    }

    /// Starting a thread: one more is counted, and its first locals are put where it finds them. The second result
    /// says where there is room for another one.
    fn start(
        &self,
        at: (CodeId, LocationId, u32),
        started: CodeId,
        args: &[Expr],
        result: Option<&(Place, Expr)>,
        evaluator: &mut Evaluator<'_>,
        now: &Valuation,
    ) -> Result<(Effect, Bdd)> {
        let space = &self.vars.space;
        let Some((_, site)) = self.threads.site(at) else {
            return unsupported("a start of a process that was not expected");
        };
        let mut effect = Effect { after: now.clone(), fault: space.no(), failed: space.no() };
        let mut handed = Vec::new();
        for arg in args {
            let value = evaluator.value(now, arg)?;
            effect.fault = effect.fault.or(&value.fault)?;
            handed.push(value.word.low(32));
        }
        let locals = self.first_valuation(started, &|slot| handed.get(slot).cloned().unwrap_or_default())?;
        let counter = Word::from_bits(space, now.shared[site.counter].clone(), false);
        for (instance, mail) in site.mail.iter().enumerate() {
            let turn = counter.equal(space, &Word::constant(space, instance as i32))?;
            for &(local, slot) in mail {
                let bits = now.shared[slot].iter().zip(&locals[local]);
                effect.after.shared[slot] =
                    bits.map(|(old, new)| turn.ite(new, old)).collect::<std::result::Result<_, _>>()?;
            }
        }
        let width = now.shared[site.counter].len();
        effect.after.shared[site.counter] = counter.plus(space, &Word::constant(space, 1))?.low(width);
        if let Some((place, value)) = result {
            evaluator.new_pid = None;
            let (slots, fault) = evaluator.slots(now, place)?;
            let value = evaluator.value(&effect.after.clone(), value)?;
            effect.fault = effect.fault.or(&fault)?.or(&value.fault)?;
            evaluator.store(&mut effect.after, place, &slots, &value.word)?;
        }
        let room = counter.below(space, &Word::constant(space, site.instances as i32))?;
        Ok((effect, room))
    }

    /// Puts a node in front of a thread that is started later: it goes on when it has been started.
    fn waiting(&mut self, root: &mut Procedure, thread: &Thread, site: usize, instance: u32) -> Result<()> {
        let space = &self.vars.space;
        let site = &self.threads.sites[site];
        let now = Valuation::now(self.vars, thread.code, 0);
        let counter = Word::from_bits(space, now.shared[site.counter].clone(), false);
        let started = counter.below(space, &Word::constant(space, instance as i32))?.not()?;
        let mut after = now.clone();
        for &(local, slot) in &site.mail[instance as usize - 1] {
            after.locals[local] = now.shared[slot].clone();
        }
        let relation = self.relation(&now, &started, &after)?;
        let node = root.nodes.len();
        root.nodes.push(Node {
            location: None,
            exclusive: false,
            resume: node,
            blocked: Condition::new(started.not()?),
            steps: vec![Step { edge: u32::MAX, target: root.entry, relation }],
            calls: Vec::new(),
            returns: Vec::new(),
            bad: Vec::new(),
        });
        root.entry = node;
        Ok(())
    }
}
