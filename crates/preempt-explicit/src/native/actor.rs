//! A process in a state, as machine code is given it: a pointer, and the layout that says what lies where.
#![allow(unsafe_code, reason = "states are handed to machine code as pointers")]

use super::layout::Layout;

/// A process in a state.
///
/// **Invariant:** `state` points at a state of this layout, with the program's hidden variables before it. It stays where it
/// is, and nobody else writes to it, as long as the actor is used. So every number that the layout names can be read and
/// written; bytes need no alignment.
#[derive(Debug, Clone, Copy)]
pub struct Actor<'l> {
    state: *mut u8,
    layout: &'l Layout,
    process: usize,
}

impl<'l> Actor<'l> {
    /// # Safety
    /// The pointer is as the invariant says.
    #[inline]
    pub unsafe fn new(state: *mut u8, layout: &'l Layout, process: usize) -> Actor<'l> {
        Actor { state, layout, process }
    }

    /// Another process in the same state.
    #[inline]
    pub fn with_process(self, process: usize) -> Actor<'l> {
        Actor { process, ..self }
    }

    pub fn state(self) -> *mut u8 {
        self.state
    }

    pub fn layout(self) -> &'l Layout {
        self.layout
    }

    pub fn process(self) -> usize {
        self.process
    }

    /// Are there so many processes?
    pub fn process_count(self) -> usize {
        self.layout.bases.len()
    }

    /// Where the process's segment begins.
    #[inline]
    pub fn base(self) -> *mut u8 {
        // SAFETY: the invariant: the segment lies within the state.
        unsafe { self.state.add(self.layout.bases[self.process] as usize) }
    }
}
