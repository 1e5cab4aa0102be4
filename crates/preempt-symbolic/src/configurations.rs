//! Whole configurations, round by round: the shared state with the position and the locals of every thread.
//!
//! It decides whether more contexts can bring anything new. The rules of Lal and Reps 2009 (paper 002) do not look for
//! repetition of states, and name it as a thing to explore (section 7). Where every procedure can be in progress only
//! once, a configuration is finite and it can be done: a thread goes on only from configurations from which it has not
//! gone on before, and when a whole round adds none, all rounds to come add none. That is reachability with one BDD for
//! all threads together: more expensive than the threads apart, but it ends, and every configuration is expanded once by every
//! thread. The shared states alone would not do: they may pause for a round and then grow again.

use crate::error::Result;
use crate::graph::Graph;
use crate::places::MOST_PLACES;
use crate::relation::Relation;
use crate::vars::{Copy, Vars};
use preempt_bdd::{Bdd, Cube, Partition, Renaming, Variable};
use std::collections::BTreeMap;

/// The calls in progress (procedure, node and number of the call), then procedure and node.
type StackPosition = (Vec<(usize, usize, usize)>, usize, usize);

/// A step of one thread from place to place.
struct Move {
    from: usize,
    to: usize,
    relation: Partition,
    /// From what is next to what is now.
    settle: Renaming,
    /// Locals that begin with 0 again: those of a procedure that is left.
    cleared: Option<(Cube, Bdd)>,
}

struct ThreadMoves {
    forget_place: Cube,
    here: Vec<Bdd>,
    moves: Vec<Move>,
    /// Where something goes wrong.
    bad: Vec<(usize, Bdd)>,
    /// Inside atomic sequences: where the thread is blocked, and the place where it goes on.
    exclusive: Vec<(usize, usize, Bdd)>,
}

/// What a round has brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    New,
    /// No configuration that was not there before: nor will any later round bring one.
    Nothing,
    Failure,
}

pub(crate) struct Configurations<'a> {
    vars: &'a Vars,
    threads: Vec<ThreadMoves>,
    /// Everything reached so far.
    pub reached: Bdd,
    /// For each thread, from where it has gone on already.
    done: Vec<Bdd>,
}

impl<'a> Configurations<'a> {
    /// `None` if a thread has too many places.
    pub fn new(vars: &'a Vars, graphs: &[&Graph], initial: &Bdd) -> Result<Option<Configurations<'a>>> {
        let to_now = vars.shared_renaming([(Copy::Start(0), Copy::Now(0))]);
        let mut reached = initial.rename(&to_now)?;
        let mut threads = Vec::new();
        for (number, graph) in graphs.iter().enumerate() {
            let Some((moves, start)) = Flattening::new(vars, number, graph)?.run()? else { return Ok(None) };
            reached = reached.and(&start)?;
            threads.push(moves);
        }
        let done = vec![vars.space.no(); threads.len()];
        Ok(Some(Configurations { vars, threads, reached, done }))
    }

    /// One context of every thread.
    pub fn round(&mut self) -> Result<Round> {
        let before = self.reached.clone();
        for (number, thread) in self.threads.iter().enumerate() {
            let todo = self.reached.minus(&self.done[number])?;
            let closed = closure(self.vars, thread, todo, &self.done[number])?;
            for (place, bad) in &thread.bad {
                if !closed.and(&thread.here[*place])?.disjoint(bad)? {
                    return Ok(Round::Failure);
                }
            }
            self.done[number] = self.done[number].or(&closed)?;
            let mut ends = closed;
            for (place, resume, blocked) in &thread.exclusive {
                let inside = ends.and(&thread.here[*place])?;
                let resumed = inside.and_exists(blocked, &thread.forget_place)?.and(&thread.here[*resume])?;
                ends = ends.minus(&inside)?.or(&resumed)?;
            }
            self.reached = self.reached.or(&ends)?;
        }
        Ok(if self.reached == before { Round::Nothing } else { Round::New })
    }

    /// The variables of a configuration.
    #[cfg(test)]
    pub fn variables(&self) -> Vec<Variable> {
        let shared = self.vars.all_shared(Copy::Now(0));
        let own = (0..self.threads.len()).filter_map(|thread| self.vars.own(thread));
        let own = own.flat_map(|(place, locals)| {
            std::iter::once(*place).chain(locals.values().flatten().copied()).collect::<Vec<_>>()
        });
        shared.chain(own).collect()
    }
}

/// Everything that a thread can do alone from these configurations, as far as it has not done it before.
fn closure(vars: &Vars, thread: &ThreadMoves, todo: Bdd, done: &Bdd) -> Result<Bdd> {
    let mut closed = todo.clone();
    let mut waiting: BTreeMap<usize, Bdd> = BTreeMap::new();
    for (place, here) in thread.here.iter().enumerate() {
        let states = todo.and(here)?;
        if !states.is_false() {
            waiting.insert(place, states);
        }
    }
    while let Some((place, states)) = waiting.pop_first() {
        vars.poll()?;
        for step in thread.moves.iter().filter(|step| step.from == place) {
            let after = states.through(&step.relation)?.rename(&step.settle)?;
            let mut after = after.exists(&thread.forget_place)?.and(&thread.here[step.to])?;
            if let Some((cube, zero)) = &step.cleared {
                after = after.exists(cube)?.and(zero)?;
            }
            let new = after.minus(&closed)?.minus(done)?;
            if !new.is_false() {
                closed = closed.or(&new)?;
                let more = waiting.remove(&step.to).unwrap_or_else(|| vars.space.no());
                waiting.insert(step.to, more.or(&new)?);
            }
        }
    }
    Ok(closed)
}

/// A thread without calls: a place for every node under every stack of calls.
struct Flattening<'a> {
    vars: &'a Vars,
    graph: &'a Graph,
    thread: usize,
    numbers: BTreeMap<StackPosition, usize>,
    order: Vec<StackPosition>,
    moves: Vec<Move>,
}

impl<'a> Flattening<'a> {
    fn new(vars: &'a Vars, thread: usize, graph: &'a Graph) -> Result<Flattening<'a>> {
        let start: StackPosition = (Vec::new(), 0, graph.procedures[0].entry);
        let numbers = BTreeMap::from([(start.clone(), 0)]);
        Ok(Flattening { vars, graph, thread, numbers, order: vec![start], moves: Vec::new() })
    }

    fn number(&mut self, place: StackPosition) -> usize {
        let next = self.order.len();
        *self.numbers.entry(place.clone()).or_insert_with(|| {
            self.order.push(place);
            next
        })
    }

    /// The moves, and the start of the thread.
    fn run(mut self) -> Result<Option<(ThreadMoves, Bdd)>> {
        let vars = self.vars;
        let Some((place, locals)) = vars.own(self.thread) else { return Ok(None) };
        let (mut exclusive, mut failing) = (Vec::new(), Vec::new());
        let mut next = 0;
        while next < self.order.len() {
            self.vars.space.go_on()?;
            if self.order.len() > MOST_PLACES {
                return Ok(None);
            }
            let here = self.order[next].clone();
            self.leave(next, &here)?;
            let (stack, procedure, node) = here;
            let content = &self.graph.procedures[procedure].nodes[node];
            for (_, bad) in &content.bad {
                failing.push((next, bad.at(vars, 0)?.rename(&self.to_own(procedure))?));
            }
            if content.exclusive {
                let blocked = content.blocked.at(vars, 0)?.rename(&self.to_own(procedure))?;
                let resume = self.number((stack, procedure, content.resume));
                exclusive.push((next, resume, blocked));
            }
            next += 1;
        }
        let here = (0..self.order.len())
            .map(|number| vars.space.equals(*place, number as u64))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let mut start = here[0].and(&self.graph.start.rename(&self.to_own(0))?)?;
        for (code, variables) in locals {
            if *code != self.graph.procedures[0].code {
                let zeros: Vec<_> = variables.iter().map(|&variable| (variable, 0)).collect();
                start = start.and(&vars.space.point(&zeros)?)?;
            }
        }
        let forget_place = vars.space.cube([*place])?;
        let moves = ThreadMoves { forget_place, here, moves: self.moves, bad: failing, exclusive };
        Ok(Some((moves, start)))
    }

    fn own_locals(&self, procedure: usize) -> &'a [Variable] {
        let code = self.graph.procedures[procedure].code;
        self.vars.own(self.thread).and_then(|(_, locals)| locals.get(&code)).map_or(&[], Vec::as_slice)
    }

    /// From the locals of whatever code to the thread's own variables.
    fn to_own(&self, procedure: usize) -> Renaming {
        let vars = self.vars;
        let pairs = self.own_locals(procedure).iter().enumerate();
        // An own variable may be narrower than the local that all codes share; the bits above are 0.
        let bits = pairs.flat_map(|(slot, &own)| {
            let low = vars.space.bits(own);
            let levels = vars.space.levels(vars.local(slot)).to_vec();
            let zero = vars.space.no();
            levels
                .into_iter()
                .enumerate()
                .map(move |(bit, level)| (level, low.get(bit).cloned().unwrap_or_else(|| zero.clone())))
        });
        vars.space.substitution(bits.collect::<Vec<_>>())
    }

    /// All moves away from a place.
    fn leave(&mut self, from: usize, (stack, procedure, node): &StackPosition) -> Result<()> {
        let (graph, vars) = (self.graph, self.vars);
        let content = &graph.procedures[*procedure].nodes[*node];
        for step in &content.steps {
            let to = self.number((stack.clone(), *procedure, step.target));
            let step = self.step((from, to), *procedure, &step.relation, &[])?;
            self.moves.push(step);
        }
        for (index, call) in content.calls.iter().enumerate() {
            let mut stack = stack.clone();
            stack.push((*procedure, *node, index));
            let to = self.number((stack, call.callee, graph.procedures[call.callee].entry));
            // arguments from the caller's locals, then the callee's locals from them
            let own = self.own_locals(call.callee);
            let mut parts = Vec::new();
            for argument in call.arguments.at(vars, 0)?.iter() {
                parts.push(argument.rename(&self.to_own(*procedure))?.rename(&vars.params_become_own)?);
            }
            parts.push(graph.procedures[call.callee].init.at(vars, 0)?);
            let params = (0..vars.param_count()).map(|slot| vars.param(slot));
            let relation = vars.space.partition(&parts, params.chain(own.iter().copied()))?;
            let settle = self.to_own(call.callee);
            self.moves.push(Move { from, to, relation, settle, cleared: None });
        }
        let Some((&(caller, node, index), below)) = stack.split_last() else { return Ok(()) };
        let call = &graph.procedures[caller].nodes[node].calls[index];
        for exit in &content.returns {
            let target = call.targets[usize::from(exit.exclusive)];
            let to = self.number((below.to_vec(), caller, target));
            let own = self.own_locals(*procedure);
            let zeros: Vec<_> = own.iter().map(|&variable| (variable, 0)).collect();
            let cleared = (vars.space.cube(own.iter().copied())?, vars.space.point(&zeros)?);
            let to_own = self.to_own(*procedure);
            let values = exit.values.at(vars, 0)?;
            let values = values.iter().map(|part| part.rename(&to_own));
            let values = values.collect::<std::result::Result<Vec<_>, _>>()?;
            let step = match &call.results {
                Some(results) => {
                    let mut step = self.step((from, to), caller, results, &values)?;
                    step.cleared = Some(cleared);
                    step
                }
                None => Move {
                    from,
                    to,
                    relation: vars.space.partition(&values, vars.results().iter().copied())?,
                    settle: vars.space.renaming([]),
                    cleared: Some(cleared),
                },
            };
            self.moves.push(step);
        }
        Ok(())
    }

    /// A relation of a procedure in the thread's own variables, together with the results that it reads.
    fn step(
        &self,
        (from, to): (usize, usize),
        procedure: usize,
        relation: &Relation,
        results: &[Bdd],
    ) -> Result<Move> {
        let vars = self.vars;
        let own = self.own_locals(procedure);
        let (parts, shared, locals) = relation.parts();
        let to_own = self.to_own(procedure);
        let mut conditions = results.to_vec();
        for part in parts {
            conditions.push(part.rename(&to_own)?);
        }
        let now = shared.iter().map(|&slot| vars.shared(slot, Copy::Now(0)));
        let written = now.chain(locals.iter().filter_map(|&slot| own.get(slot).copied()));
        let forgotten = written.chain(vars.results().iter().copied());
        let relation = vars.space.partition(&conditions, forgotten)?;
        let mut pairs = Vec::new();
        for &slot in shared {
            let (next, now) = (vars.shared(slot, Copy::Next), vars.shared(slot, Copy::Now(0)));
            pairs.extend(vars.space.levels(next).iter().copied().zip(vars.space.bits(now)));
        }
        for &slot in locals {
            let Some(&own) = own.get(slot) else { continue };
            let low = vars.space.bits(own);
            for (bit, &level) in vars.space.levels(vars.local_next(slot)).iter().enumerate() {
                pairs.push((level, low.get(bit).cloned().unwrap_or_else(|| vars.space.no())));
            }
        }
        let settle = vars.space.substitution(pairs);
        Ok(Move { from, to, relation, settle, cleared: None })
    }
}
