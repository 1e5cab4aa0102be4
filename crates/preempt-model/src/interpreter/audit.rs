//! The audit of footprints: changes everything that the footprint of a command does not name, executes the command
//! again, and looks whether anything else came out.
//!
//! It stands here because it must change states in ways that no step can.

use super::eval::{Picks, Timeout};
use super::moves::{Attempt, Move};
use super::state::{Machine, Process};
use super::{Interpreter, State};
use crate::command::Command;
use crate::expr::Scope;
use crate::footprint::{Channels, Footprint};
use crate::generator::{Program, faulty_program_from_seed, program_from_seed};
use crate::program::{CodeId, LocationId, Model};
use crate::system::System;
use preempt_core::SourceMap;
use std::collections::{HashSet, VecDeque};

mod by_hand;

const STATES_OF_A_PROGRAM: usize = 40;

#[test]
fn what_a_footprint_does_not_name_does_not_matter() {
    let cases = std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(150);
    for seed in 0..cases {
        audit_program(&program_from_seed(seed), seed);
        audit_program(&faulty_program_from_seed(seed), seed);
    }
}

fn audit_program(program: &Program, seed: u64) {
    let (model, sources) = program.to_model();
    let random = &mut Random(seed.wrapping_mul(2) + 1);
    if let Err(complaint) = audit(&model, &sources, random) {
        panic!("seed {seed}: {complaint}\n{}", program.to_promela());
    }
}

fn audit(model: &Model, sources: &SourceMap, random: &mut Random) -> Result<(), String> {
    let interpreter = Interpreter::new(model, sources).map_err(|fault| fault.0)?;
    for state in some_states(&interpreter, random) {
        let machine = interpreter.thaw(&state);
        for process in 0..machine.processes.len() {
            let frame = machine.processes[process].frame();
            let (code, location) = (frame.code, frame.location);
            for edge in 0..model.code(code).location(location).edges.len() {
                let command = &model.code(code).location(location).edges[edge].command;
                // What `else` looks at is named by the footprint of the location.
                if *command != Command::Else {
                    let step = Step { interpreter: &interpreter, process, edge: Some(edge) };
                    let footprint = Footprint::of(model, command);
                    step.audit(&machine, &footprint, random)
                        .map_err(|what| format!("{what} by {command:?}"))?;
                }
            }
            let step = Step { interpreter: &interpreter, process, edge: None };
            let footprint = Footprint::of_location(model, code, location);
            step.audit(&machine, &footprint, random)
                .map_err(|what| format!("{what} by process {process}"))?;
        }
    }
    Ok(())
}

/// Some of the states that can be reached, by a walk that prefers what is new.
fn some_states(interpreter: &Interpreter<'_>, random: &mut Random) -> Vec<State> {
    let mut met: HashSet<State> = HashSet::new();
    let mut states = interpreter.initial_states();
    let mut next = 0;
    while next < states.len() && states.len() < STATES_OF_A_PROGRAM {
        let state = states[next].clone();
        next += 1;
        let mut found: Vec<State> = (0..interpreter.process_count(&state))
            .flat_map(|process| interpreter.successors(&state, process))
            .filter_map(|successor| successor.state)
            .collect();
        while !found.is_empty() {
            let state = found.swap_remove(random.below(found.len()));
            if met.insert(state.clone()) {
                states.push(state);
            }
        }
    }
    states
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

/// One edge of a process, or all of them together.
struct Step<'a> {
    interpreter: &'a Interpreter<'a>,
    process: usize,
    edge: Option<usize>,
}

/// Something that a footprint may leave out.
#[derive(Debug, Clone, Copy)]
enum Thing {
    Global(usize),
    Own(usize),
    /// A local variable of another process, or of a procedure's caller.
    Other {
        process: usize,
        frame: usize,
        slot: usize,
    },
    /// Where another process stands.
    Place(usize),
    NewProcess,
    Contents(usize),
    /// One message less at the receiving end, for a command that only sends.
    Oldest(usize),
    /// One more at the sending end, for a command that only receives.
    Newest(usize),
}

impl Step<'_> {
    fn outcomes(&self, machine: &Machine) -> Vec<Move> {
        let Some(number) = self.edge else { return self.interpreter.moves(machine, self.process) };
        let frame = machine.processes[self.process].frame();
        let edge = &self.interpreter.model.code(frame.code).location(frame.location).edges[number];
        let mut found = Vec::new();
        let picks = Picks::default();
        loop {
            let attempt = Attempt {
                machine,
                process: self.process,
                timeout: Timeout::Ask,
                number: number as u32,
                edge,
                picks: &picks,
            };
            self.interpreter.take(attempt, true, &mut found);
            if !picks.advance() {
                return found;
            }
        }
    }

    fn audit(&self, machine: &Machine, footprint: &Footprint, random: &mut Random) -> Result<(), String> {
        let expected = self.outcomes(machine);
        for outcome in expected.iter().filter_map(|outcome| outcome.machine.as_ref()) {
            self.changes_are_named(machine, outcome, footprint)?;
        }
        // What holds only if nobody else can move depends on everything.
        if footprint.processes.timeout {
            return Ok(());
        }
        // Other edges of the location may wait for what the other end of a channel does.
        let enabled = self.edge.is_some() && !expected.is_empty();
        let mut things = self.unnamed(machine, footprint, enabled);
        for thing in &things {
            self.does_not_matter(machine, &expected, footprint, &[*thing], random)?;
        }
        // All together, but processes only at their old places: a new one changes what is where.
        things.retain(|thing| !matches!(thing, Thing::NewProcess));
        self.does_not_matter(machine, &expected, footprint, &things, random)
    }

    fn unnamed(&self, machine: &Machine, footprint: &Footprint, enabled: bool) -> Vec<Thing> {
        let mut things = Vec::new();
        let reads = |scope, slot: usize| footprint.may_read.0.contains(&(scope, slot as u32));
        let globals = 0..machine.globals.len();
        things.extend(globals.filter(|slot| !reads(Scope::Global, *slot)).map(Thing::Global));
        let own = 0..machine.processes[self.process].frame().locals.len();
        things.extend(own.filter(|slot| !reads(Scope::Local, *slot)).map(Thing::Own));
        if !footprint.processes.reads {
            for (process, it) in machine.processes.iter().enumerate() {
                for (number, frame) in it.frames.iter().enumerate() {
                    if process != self.process || number + 1 < it.frames.len() {
                        // On the way back, the indices of the results are read in the caller's frame.
                        let slots = (0..frame.locals.len())
                            .filter(|slot| process != self.process || !reads(Scope::Local, *slot));
                        things.extend(slots.map(|slot| Thing::Other { process, frame: number, slot }));
                    }
                }
                if process != self.process {
                    things.push(Thing::Place(process));
                }
            }
            things.push(Thing::NewProcess);
        }
        for channel in 0..machine.channels.len() {
            let uses = |channels: &Channels| channels.contains(channel as u32 + 1);
            match (uses(&footprint.sends), uses(&footprint.receives), uses(&footprint.polls)) {
                (false, false, false) => things.push(Thing::Contents(channel)),
                (true, false, false) if enabled => things.push(Thing::Oldest(channel)),
                (false, true, false) if enabled => things.push(Thing::Newest(channel)),
                _ => {}
            }
        }
        things
    }

    fn change(&self, machine: &mut Machine, thing: Thing, random: &mut Random) {
        let model = self.interpreter.model;
        let value = [0, 1, 2, 3, 255][random.below(5)];
        match thing {
            Thing::Global(slot) => machine.globals[slot] = value,
            Thing::Own(slot) => machine.processes[self.process].frame_mut().locals[slot] = value,
            Thing::Other { process, frame, slot } => {
                machine.processes[process].frames[frame].locals[slot] = value;
            }
            Thing::Place(process) => {
                let frame = machine.processes[process].frame_mut();
                let count = model.code(frame.code).locations.len();
                frame.location = LocationId(random.below(count) as u32);
            }
            Thing::NewProcess => {
                let code = CodeId(random.below(model.codes.len()) as u16);
                let arguments = vec![value; model.code(code).parameters.len()];
                // Without room for one more there is nothing to change.
                _ = self.interpreter.start_process(machine, code, &arguments, 1);
            }
            Thing::Contents(channel) => {
                let template = model.template(machine.channels[channel].template);
                let count = random.below(template.capacity as usize + 1);
                let width = template.fields.len();
                let message = |_| (0..width).map(|_| random.below(4) as i32).collect();
                machine.channels[channel].messages = (0..count).map(message).collect();
            }
            Thing::Oldest(channel) => _ = machine.channels[channel].messages.pop_front(),
            Thing::Newest(channel) => {
                let template = model.template(machine.channels[channel].template);
                let messages = &mut machine.channels[channel].messages;
                if messages.len() < template.capacity as usize {
                    messages.push_back(template.fields.iter().map(|_| value).collect());
                }
            }
        }
    }

    fn does_not_matter(
        &self,
        machine: &Machine,
        expected: &[Move],
        footprint: &Footprint,
        things: &[Thing],
        random: &mut Random,
    ) -> Result<(), String> {
        let mut changed = machine.clone();
        for thing in things {
            self.change(&mut changed, *thing, random);
        }
        let outcomes = self.outcomes(&changed);
        let same = |a: &Move, b: &Move| {
            (&a.action, a.runs, &a.violation) == (&b.action, b.runs, &b.violation)
                && a.machine.is_some() == b.machine.is_some()
        };
        if outcomes.len() != expected.len() || !outcomes.iter().zip(expected).all(|(a, b)| same(a, b)) {
            return Err(format!("{things:?} decides what can be done"));
        }
        for (expected, outcome) in expected.iter().zip(&outcomes) {
            if let (Some(expected), Some(outcome)) = (&expected.machine, &outcome.machine) {
                self.changes_are_named(&changed, outcome, footprint)?;
                let run = [machine, expected, &changed, outcome];
                self.same_effect(run, footprint).map_err(|what| format!("{things:?} decides {what}"))?;
            }
        }
        Ok(())
    }

    /// From the two states before to the two after: what is written is the same, what is not stays different.
    fn same_effect(&self, run: [&Machine; 4], footprint: &Footprint) -> Result<(), String> {
        let [before, after, changed, outcome] = run;
        slots_agree(run.map(|machine| &machine.globals), Scope::Global, Some(footprint))?;
        let depths = run.map(|machine| machine.processes.get(self.process).map_or(0, |it| it.frames.len()));
        for frame in 0..depths.into_iter().min().unwrap_or(0) {
            // What must be written is meant of the frame that executes.
            let top = depths == [frame + 1; 4];
            let locals = run.map(|machine| &machine.processes[self.process].frames[frame].locals);
            slots_agree(locals, Scope::Local, top.then_some(footprint))?;
        }
        let new = |before: &Machine, after: &Machine| {
            let depth = before.processes[self.process].frames.len();
            let frames =
                after.processes.get(self.process).map(|it| it.frames[depth.min(it.frames.len())..].to_vec());
            (frames, after.processes.iter().skip(before.processes.len()).cloned().collect::<Vec<_>>())
        };
        if new(before, after) != new(changed, outcome) {
            return Err("how what is called or started begins".into());
        }
        for channel in 0..before.channels.len().min(after.channels.len()) {
            let [before, after, changed, outcome] = run.map(|machine| &machine.channels[channel].messages);
            let added = |before: &VecDeque<Vec<i32>>, after: &VecDeque<Vec<i32>>| {
                after.iter().skip(before.len()).cloned().collect::<Vec<_>>()
            };
            let taken = |before: &VecDeque<Vec<i32>>, after: &VecDeque<Vec<i32>>| {
                before.len() as isize - after.len() as isize
            };
            if before != changed
                && (added(before, after) != added(changed, outcome)
                    || taken(before, after) != taken(changed, outcome))
            {
                return Err(format!("what happens to channel {}", channel + 1));
            }
        }
        Ok(())
    }

    /// Nothing but what the footprint names is different afterwards.
    fn changes_are_named(
        &self,
        before: &Machine,
        after: &Machine,
        footprint: &Footprint,
    ) -> Result<(), String> {
        let writes = |scope, slot: usize| footprint.may_write.0.contains(&(scope, slot as u32));
        for (slot, (old, new)) in before.globals.iter().zip(&after.globals).enumerate() {
            if old != new && !writes(Scope::Global, slot) {
                return Err(format!("global slot {slot} is changed"));
            }
        }
        for channel in 0..before.channels.len().max(after.channels.len()) {
            let number = channel as u32 + 1;
            let named = footprint.sends.contains(number) || footprint.receives.contains(number);
            if !named && before.channels.get(channel) != after.channels.get(channel) {
                return Err(format!("channel {number} is changed"));
            }
        }
        let places = |machine: &Machine| -> Vec<Process> {
            let others = machine.processes.iter().enumerate().filter(|(process, _)| *process != self.process);
            others.map(|(_, process)| process.clone()).collect()
        };
        if !footprint.processes.writes && places(before) != places(after) {
            return Err("another process is changed".into());
        }
        let frames = |machine: &Machine| machine.processes.get(self.process).map(|it| it.frames.clone());
        let (Some(old), Some(new)) = (frames(before), frames(after)) else { return Ok(()) };
        // A call or a return: the frames below are as they were, or get results in named slots.
        for (old, new) in old.iter().zip(&new) {
            for (slot, (old, new)) in old.locals.iter().zip(&new.locals).enumerate() {
                if old != new && !writes(Scope::Local, slot) {
                    return Err(format!("local slot {slot} is changed"));
                }
            }
        }
        Ok(())
    }
}

/// With a footprint, also that what must be written is.
fn slots_agree(run: [&Vec<i32>; 4], scope: Scope, footprint: Option<&Footprint>) -> Result<(), String> {
    let [before, after, changed, outcome] = run;
    for slot in 0..before.len() {
        let written = outcome[slot] == after[slot];
        let kept = after[slot] == before[slot] && outcome[slot] == changed[slot];
        let must = footprint.is_some_and(|footprint| footprint.must_write.0.contains(&(scope, slot as u32)));
        if !written && (must || !kept) {
            return Err(format!("{scope:?} slot {slot}"));
        }
    }
    Ok(())
}
