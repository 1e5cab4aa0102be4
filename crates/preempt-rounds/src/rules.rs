//! A thread as a pushdown system that is built as it is walked (Lal and Reps 2009, paper 002, section 4): its P are the
//! shared states that were met, its Gamma the frames, and its Delta a memo of what the reference interpreter said.
//!
//! A rule takes the top frame, in a shared state, to others; where a procedure may be left, the frame below takes part,
//! since results are written there. So a step costs the interpreter once for each shared state and frame, however many
//! stacks and configurations it is taken in. Locals that are not read again are set to 0 before a frame gets its number
//! (see `liveness`): what cannot change what a thread does must not make two frames of one.

use crate::codes::reads_pid;
use crate::error::{Ended, Result, unsupported};
use crate::intern::{FxMap, Interner};
use crate::search::Setting;
use crate::stops::{PlaceKind, Places, stores_shared};
use preempt_core::Budget;
use preempt_model::interpreter::{Frame, Machine, Process};
use preempt_model::{CodeId, Command, LocationId, Scope, System};
use std::collections::HashSet;

/// One way to go on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Outcome {
    pub shared: u32,
    /// What stands on the stack in the place of the frames that took part, the top last.
    pub frames: Vec<u32>,
    /// Nobody else may run afterwards.
    pub exclusive: bool,
    /// A thread was started: the number of the site, and the frame that it begins with.
    pub started: Option<(u32, u32)>,
}

/// Everything that can happen with these frames on top, in this shared state.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    pub outcomes: Vec<Outcome>,
    /// A step violates something.
    pub fails: bool,
}

/// So many are looked through one after the other.
const FEW_OUTCOMES: usize = 16;

/// The frame below takes no part.
pub(crate) const NO_FRAME: u32 = u32::MAX;

pub(crate) struct Rules<'a> {
    pub setting: &'a Setting<'a>,
    budget: &'a Budget,
    places: Places,
    pub shared: Interner,
    pub frames: Interner,
    numbers: FxMap<(u32, u64, u32), u32>,
    rules: Vec<Rule>,
    /// The number of the process that executes a thread, where that can matter, and 0 otherwise.
    pids: Vec<u32>,
    /// About how much memory it takes.
    pub bytes: u64,
}

impl<'a> Rules<'a> {
    pub fn new(setting: &'a Setting<'a>, budget: &'a Budget) -> Rules<'a> {
        let reads = |code| reads_pid(setting.model, code);
        let pid = |thread: &crate::threads::Thread| match thread.pid {
            Some(pid) if reads(thread.code) => pid as u32,
            _ => 0,
        };
        Rules {
            setting,
            budget,
            places: Places::of(setting.model),
            shared: Interner::default(),
            frames: Interner::default(),
            numbers: FxMap::default(),
            rules: Vec::new(),
            pids: setting.threads.all.iter().map(pid).collect(),
            bytes: 0,
        }
    }

    /// Threads of one kind have the same rules.
    pub fn kind(&self, thread: usize) -> u32 {
        self.pids[thread]
    }

    /// What can happen at the place where a frame stands.
    pub fn place(&self, frame: u32) -> PlaceKind {
        let word = self.frames.word(frame);
        self.places.at(word[0] as usize, word[1] as usize)
    }

    /// Must a thread stop here before it goes on?
    pub fn stops(&self, top: u32, below: u32) -> bool {
        let place = self.place(top);
        place.shared
            || place.last
            || place.returns && below != NO_FRAME && self.results_are_shared(top, below)
    }

    fn results_are_shared(&self, top: u32, below: u32) -> bool {
        let (code, called_from) = (self.frames.word(below)[0], &self.frames.word(top)[2..4]);
        let location =
            self.setting.model.code(CodeId(code as u16)).location(LocationId(called_from[0] as u32));
        match location.edges.get(called_from[1] as usize).map(|edge| &edge.command) {
            Some(Command::Call { results, .. }) => stores_shared(results),
            _ => true,
        }
    }

    /// The rule for these frames. `below` is `NO_FRAME` but where the procedure may be left and there is a caller.
    pub fn rule(&mut self, kind: u32, shared: u32, top: u32, below: u32) -> Result<u32> {
        let key = (kind, u64::from(shared) << 32 | u64::from(top), below);
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        let rule = self.step(kind, shared, top, below)?;
        let number = self.rules.len() as u32;
        self.bytes += 72 + 72 * rule.outcomes.len() as u64;
        self.rules.push(rule);
        self.numbers.insert(key, number);
        Ok(number)
    }

    pub fn content(&self, rule: u32) -> &Rule {
        &self.rules[rule as usize]
    }

    /// Asks the interpreter.
    fn step(&mut self, kind: u32, shared: u32, top: u32, below: u32) -> Result<Rule> {
        let (setting, pid) = (self.setting, kind as usize);
        let initial = &setting.threads.initial;
        let place = (CodeId(self.frames.word(top)[0] as u16), LocationId(self.frames.word(top)[1] as u32));
        let frames = [below, top].into_iter().filter(|frame| *frame != NO_FRAME);
        let frames = frames.map(|frame| self.frame(frame)).collect();
        // The other processes stand still; who asks for its number must have the right one.
        let mut processes = initial.processes[..pid].to_vec();
        processes.push(Process { priority: 1, frames });
        let globals = self.shared.word(shared).to_vec();
        let machine = Machine {
            globals,
            hidden: Vec::new(),
            channels: Vec::new(),
            processes,
            exclusive: None,
            last: 0,
        };
        let successors = setting.interpreter.successors(&setting.interpreter.close(&machine), pid);
        // An interpreter whose budget has ended leaves steps out.
        if let Some(reason) = self.budget.stopped() {
            return Err(Ended::Stopped(reason));
        }
        let mut rule = Rule::default();
        // A step has few outcomes, but for one that gives any value to many bits: it has as many as there are values.
        let many = successors.len() > FEW_OUTCOMES;
        let mut met = HashSet::new();
        for successor in successors {
            let edge = &setting.model.code(place.0).location(place.1).edges[successor.action.edge as usize];
            if matches!(edge.command, Command::End) {
                continue;
            }
            rule.fails |= successor.violation.is_some();
            let Some(state) = successor.state else { continue };
            let mut machine = setting.interpreter.open(&state);
            let started = match machine.processes.get(pid + 1) {
                None => None,
                Some(process) => {
                    let Some((site, _)) = setting.threads.site((place.0, place.1, successor.action.edge))
                    else {
                        return unsupported("a start of a process that was not expected");
                    };
                    Some((site as u32, self.intern(process)[0]))
                }
            };
            let shared = self.shared.number(&machine.globals);
            let exclusive = machine.exclusive.is_some();
            let frames = self.intern(&machine.processes.swap_remove(pid));
            let outcome = Outcome { shared, frames, exclusive, started };
            let is_new = match many {
                true => met.insert(outcome.clone()),
                false => !rule.outcomes.contains(&outcome),
            };
            if is_new {
                rule.outcomes.push(outcome);
            }
        }
        Ok(rule)
    }

    fn frame(&self, number: u32) -> Frame {
        let word = self.frames.word(number);
        Frame {
            code: CodeId(word[0] as u16),
            location: LocationId(word[1] as u32),
            called_from: (LocationId(word[2] as u32), word[3] as u32),
            locals: word[4..].to_vec(),
        }
    }

    /// The frames of a process, without what nobody will read.
    pub fn intern(&mut self, process: &Process) -> Vec<u32> {
        let number = |depth: usize| {
            let frame = &process.frames[depth];
            let live = self.setting.liveness.at(frame.code, frame.location);
            let mut word = vec![
                i32::from(frame.code.0),
                frame.location.0 as i32,
                frame.called_from.0.0 as i32,
                frame.called_from.1 as i32,
            ];
            word.extend(frame.locals.iter().zip(live).map(|(value, live)| if *live { *value } else { 0 }));
            // A caller stands where the call comes back to, and the results will be written over what is there.
            if let Some(callee) = process.frames.get(depth + 1) {
                let (location, edge) = callee.called_from;
                let edges = &self.setting.model.code(frame.code).location(location).edges;
                if let Some(Command::Call { results, .. }) =
                    edges.get(edge as usize).map(|edge| &edge.command)
                {
                    for place in results.iter().filter(|place| place.scope == Scope::Local) {
                        // an index may be read from what is written
                        if results.iter().all(|place| place.indices.is_empty()) {
                            word[4 + place.slot as usize] = 0;
                        }
                    }
                }
            }
            self.frames.number(&word)
        };
        (0..process.frames.len()).map(number).collect()
    }
}
