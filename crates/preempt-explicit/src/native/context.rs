//! What machine code and the Rust code around it tell each other.

use super::layout::{LAYOUT_BYTES, Layout, MAX_FIELDS};
use super::moves::{LOOK_EVERY, StepList};
use super::program::Program;
use crate::budget::Every;

/// The command cannot be executed, or the offer is not taken.
pub const NO: i32 = 0;
pub const YES: i32 = 1;
/// A rendezvous: the message waits in the context for somebody who takes it.
pub const OFFERS: i32 = 2;
/// Of a step function: the process goes on alone, at [`Context::at`].
pub const GOES_ON: i32 = 3;
/// Of a step function: the process would end.
pub const ENDS: i32 = 4;
/// What was asked has no meaning; the interpreter knows the words for it.
pub const FAULT: i32 = -1;
/// The budget has run out before the step was made.
pub const UNDONE: i32 = -2;

/// Machine code is entered with the context, the state's bytes and the acting process's segment.
pub type Function = unsafe extern "C" fn(*mut Context, *mut u8, *mut u8) -> i32;
/// With three things more: where to begin, is no edge before that ready, and is it only asked whether that one is?
/// See [`super::step_function`].
pub type StepFunction = unsafe extern "C" fn(*mut Context, *mut u8, *mut u8, i32, i32, i32) -> i32;

/// The first part is read and written by machine code, by offset.
#[repr(C)]
pub struct Context {
    pub channel_offsets: *const u32,
    pub channel_count: i32,
    pub process_count: i32,
    pub process: i32,
    pub new_pid: i32,
    pub failed: i32,
    pub offer_channel: i32,
    pub message_length: i32,
    /// A message, or the arguments of a new process.
    pub message: [i32; MAX_FIELDS],
    /// Of a step function: where it writes the state that a step leads to; null if the state that it is given is to be changed.
    pub out: *mut u8,
    /// The edge that it has taken, or that has no meaning.
    pub taken: i32,
    /// How many steps that were, if others followed in an atomic sequence, and where the process stands.
    pub steps: i32,
    pub at: i32,
    pub asks_timeout: bool,
    // The rest is Rust's.
    pub state: *mut u8,
    pub layout: *const Layout,
    pub program: *const Program,
    pub chooses: bool,
    pub picks: Picks,
    /// Sends and receives, only if the model makes promises about them.
    pub events: Vec<Event>,
    /// After how many steps of an atomic sequence an assertion failed, and the process went on.
    pub failures: Vec<u32>,
    /// A set of living processes was met that has no number any more.
    pub out_of_layouts: bool,
    /// The edges that are ready in the states of an atomic sequence that is being followed, state after state, with the answer.
    pub ready: Vec<(u32, i32)>,
    pub look: Every,
    /// A message that is offered, while taking it sends others through the context; and steps by those who take it.
    pub offered: Vec<i32>,
    pub offers: StepList,
}

// SAFETY: where it points to is set by whoever uses it, before machine code is entered; between two uses nobody looks there.
#[allow(unsafe_code)]
unsafe impl Send for Context {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub process: i32,
    pub send: bool,
    pub channel: i32,
}

/// The values that `Expr::Any` takes, exactly as the interpreter counts through them.
#[derive(Debug, Default, Clone)]
pub struct Picks {
    made: Vec<(i32, i32)>,
    next: usize,
}

impl Picks {
    pub fn pick(&mut self, low: i32, high: i32) -> i32 {
        if self.next == self.made.len() {
            self.made.push((low, high));
        }
        self.next += 1;
        self.made[self.next - 1].0
    }

    pub fn clear(&mut self) {
        self.made.clear();
        self.next = 0;
    }

    pub fn rewind(&mut self) {
        self.next = 0;
    }

    pub fn advance(&mut self) -> bool {
        self.rewind();
        while let Some((value, high)) = self.made.pop() {
            if value < high {
                self.made.push((value + 1, high));
                return true;
            }
        }
        false
    }

    pub fn values(&self) -> Vec<i32> {
        self.made.iter().map(|(value, _)| *value).collect()
    }
}

impl Context {
    pub fn new(program: &Program) -> Context {
        Context {
            channel_offsets: std::ptr::null(),
            channel_count: 0,
            process_count: 0,
            process: 0,
            new_pid: 0,
            failed: 0,
            offer_channel: -1,
            message_length: 0,
            message: [0; MAX_FIELDS],
            out: std::ptr::null_mut(),
            taken: 0,
            steps: 0,
            at: 0,
            asks_timeout: false,
            state: std::ptr::null_mut(),
            layout: std::ptr::null(),
            program,
            chooses: false,
            picks: Picks::default(),
            events: Vec::new(),
            failures: Vec::new(),
            out_of_layouts: false,
            ready: Vec::new(),
            look: Every::new(LOOK_EVERY),
            offered: Vec::new(),
            offers: StepList::default(),
        }
    }

    /// From here on it is about this state.
    #[inline]
    pub fn point_at(&mut self, state: *mut u8, layout: &Layout) {
        self.state = state;
        self.layout = layout;
        self.channel_offsets = layout.channel_offsets.as_ptr();
        self.channel_count = layout.channel_offsets.len() as i32;
        self.process_count = layout.bases.len() as i32;
    }

    /// The state now has another set of processes.
    pub fn relayout(&mut self, layout: &Layout) {
        let state = self.state;
        self.point_at(state, layout);
        // SAFETY: every state begins with its layout's number.
        #[allow(unsafe_code)]
        unsafe {
            std::ptr::copy_nonoverlapping(layout.number.to_le_bytes().as_ptr(), state, LAYOUT_BYTES);
        }
    }
}
