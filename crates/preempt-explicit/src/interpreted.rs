//! The reference interpreter as a source of successors: slow, for comparison and for models that machine code does
//! not do yet. A state is the interpreter's own packed form.

use crate::Unsupported;
use crate::successors::{Event, Piece, Successors};
use preempt_core::SourceMap;
use preempt_model::interpreter::State;
use preempt_model::search::stable;
use preempt_model::{Interpreter, Model, System};

#[derive(Debug)]
pub struct Interpreted<'m> {
    interpreter: Interpreter<'m>,
    pieces: Vec<Vec<Piece>>,
}

const PIECE: usize = 8;

impl<'m> Interpreted<'m> {
    pub fn new(model: &'m Model, sources: &'m SourceMap) -> Result<Interpreted<'m>, Unsupported> {
        let interpreter = Interpreter::new(model, sources)
            .map_err(|fault| Unsupported(format!("initial values without meaning ({})", fault.0)))?;
        Ok(Interpreted { interpreter, pieces: Vec::new() })
    }
}

impl Successors for Interpreted<'_> {
    fn initial(&mut self) -> Vec<u8> {
        self.interpreter.initial_states()[0].as_bytes().to_vec()
    }

    fn process_count(&self, state: &[u8]) -> usize {
        usize::from(state[0])
    }

    fn expand(&mut self, state: &[u8], process: usize, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        stable::expand(&self.interpreter, &State::from_bytes(state), process, |event| match event {
            stable::Event::Arrival { path, state, runs } => {
                visit(Event::Arrival { state: state.as_bytes(), runs: runs as u8, steps: path.len() as u32 });
            }
            stable::Event::Violation { path, violation } => {
                visit(Event::Violation { kind: violation.kind, steps: path.len() as u32 });
            }
        })
    }

    fn can_move(&mut self, state: &[u8], process: usize) -> bool {
        !self.interpreter.successors(&State::from_bytes(state), process).is_empty()
    }

    fn may_end(&self, state: &[u8]) -> bool {
        self.interpreter.may_end(&State::from_bytes(state))
    }

    fn interpreted(&self, state: &[u8]) -> State {
        State::from_bytes(state)
    }

    fn class_of(&self, state: &[u8]) -> u32 {
        state.len() as u32
    }

    fn pieces(&mut self, class: u32) -> &[Piece] {
        let length = class as usize;
        if self.pieces.len() <= length {
            self.pieces.resize(length + 1, Vec::new());
        }
        if self.pieces[length].is_empty() {
            // A table for each place and each length.
            let piece = |start: usize| {
                let end = (start + PIECE).min(length);
                let table = start / PIECE * PIECE + (end - start - 1);
                Piece { start: start as u32, end: end as u32, table: table as u32 }
            };
            self.pieces[length] = (0..length).step_by(PIECE).map(piece).collect();
        }
        &self.pieces[length]
    }

    fn write_class(&self, _: u32, _: &mut [u8]) {}
}
