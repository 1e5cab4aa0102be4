//! Which edges of a model were taken while it was searched, and which were refused.
//!
//! Whoever executes a model that has [`Marks`] sets them: the interpreter, and machine code. A mark is set once and then only
//! looked at, so that a search pays for a byte that is in its cache anyway. Only states that can be reached are ever asked
//! for their steps, so a mark is a fact; that a mark is *missing* means something only if the search has left nothing
//! out, which is for whoever asked for the search to know.

use crate::command::Command;
use crate::program::Model;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// A mark: the edge was taken.
pub const TAKEN: u8 = 1;
/// A mark: a process stood before the edge and could not take it.
pub const REFUSED: u8 = 2;

/// The marks of a model's edges; shared by everybody who executes it.
#[derive(Clone)]
pub struct Marks(Arc<Vec<Vec<Vec<EdgeMarks>>>>);

/// The marks of one edge.
#[derive(Debug, Default)]
pub struct EdgeMarks {
    seen: AtomicU8,
    /// Of the edges inside a deterministic block, node by node.
    inner: Box<[AtomicU8]>,
}

impl Marks {
    /// For the edges of this model; changed copies of it that keep the numbers of its edges can have them, too.
    pub fn of(model: &Model) -> Marks {
        let edge = |command: &Command| {
            let inner = match command {
                Command::Deterministic(block) => block.nodes.iter().map(Vec::len).sum(),
                _ => 0,
            };
            EdgeMarks { seen: AtomicU8::new(0), inner: (0..inner).map(|_| AtomicU8::new(0)).collect() }
        };
        let edges = |location: &crate::program::Location| {
            location.edges.iter().map(|it| edge(&it.command)).collect::<Vec<_>>()
        };
        Marks(Arc::new(model.codes.iter().map(|code| code.locations.iter().map(edges).collect()).collect()))
    }

    /// Of an edge, by code, location and number; `None` if the model has no such edge.
    pub fn edge(&self, code: usize, location: usize, edge: usize) -> Option<&EdgeMarks> {
        self.0.get(code)?.get(location)?.get(edge)
    }
}

impl EdgeMarks {
    /// Sets a mark.
    #[inline]
    pub fn set(&self, mark: u8) {
        note(&self.seen, mark);
    }

    /// For whoever sets marks where they lie.
    pub fn mark(&self) -> &AtomicU8 {
        &self.seen
    }

    /// All marks that were set.
    pub fn seen(&self) -> u8 {
        self.seen.load(Relaxed)
    }

    /// Of the edges inside a deterministic block, node by node.
    pub fn inner(&self) -> &[AtomicU8] {
        &self.inner
    }
}

/// Sets a mark that may be set already, and writes only if it is not: others read the same line of the cache.
#[inline]
pub fn note(seen: &AtomicU8, mark: u8) {
    if seen.load(Relaxed) & mark != mark {
        seen.fetch_or(mark, Relaxed);
    }
}

/// The same for every model: what was executed is no part of what a model is.
impl fmt::Debug for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Marks")
    }
}
