//! Spin's numbers of statements.
//!
//! Spin numbers the elements of control flow when it makes them, all bodies of a model together in the order of the
//! text, from 0. A trail names statements by these numbers. The lowering makes its elements in the same order, so
//! counting them is enough; where the orders differ in a way that is not worth imitating, the number is not known,
//! and neither are those behind it.

use preempt_model::{CodeId, LocationId};

/// How the elements of one body are numbered, from 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyNumbers {
    pub count: u32,
    /// Nothing in the body is counted in another order than here.
    pub known: bool,
    /// Nothing of it is counted behind the body, where a label is referred to.
    pub whole: bool,
    /// For each location and each edge there: its statement, and the jumps that are taken with it. 0 for one that is not
    /// counted here.
    pub edges: Vec<Vec<Vec<u32>>>,
}

/// For each statement of a model the number by which Spin's trails name it.
#[derive(Debug, Clone, Default)]
pub struct StatementNumbers {
    bodies: Vec<Placed>,
}

#[derive(Debug, Clone, Default)]
struct Placed {
    body: BodyNumbers,
    /// The number of its first element; `None` if something before it is not known.
    base: Option<u32>,
    /// Spin's number of the proctype or claim itself.
    position: usize,
}

impl StatementNumbers {
    /// `text_order` names the bodies in the order of the text.
    pub(crate) fn new(bodies: Vec<BodyNumbers>, text_order: &[usize]) -> StatementNumbers {
        let mut placed: Vec<Placed> =
            bodies.into_iter().map(|body| Placed { body, ..Placed::default() }).collect();
        let mut base = Some(0);
        for (position, number) in text_order.iter().enumerate() {
            let Some(this) = placed.get_mut(*number) else { continue };
            this.base = base.filter(|_| this.body.known);
            this.position = position;
            base = this.base.filter(|_| this.body.whole).map(|base| base + this.body.count);
        }
        StatementNumbers { bodies: placed }
    }

    /// The statement of an edge, and the jumps that are taken with it. `None` if it is not sure how Spin counts.
    pub fn of(&self, code: CodeId, location: LocationId, edge: usize) -> Option<Vec<u32>> {
        let Placed { body, base, .. } = self.bodies.get(usize::from(code.0))?;
        let base = (*base)?;
        let numbers = body.edges.get(location.0 as usize)?.get(edge)?;
        numbers.iter().map(|number| Some(base + number.checked_sub(1)?)).collect()
    }

    /// Proctypes, claims and trace assertions are numbered in the order of the text.
    pub fn of_body(&self, code: CodeId) -> Option<usize> {
        self.bodies.get(usize::from(code.0)).map(|placed| placed.position)
    }
}
