//! Sets and relations over finite domains, as binary decision diagrams.
//!
//! A [`Layout`] says which variables there are, how many values each has, how many interleaved copies, and in which
//! order they stand; [`Space`] is what it becomes: a table of nodes in which sets of assignments live as [`Bdd`]s.
//! A set of vectors of small integers is a [`Bdd`] over one copy of its variables, a relation a [`Bdd`] over two.
//!
//! * [`table`]: diagrams and their operations; a table that is full is a result, not a crash.
//! * [`space`]: variables with values, encoded in bits.
//! * [`relation`]: quantification, renaming, image and composition.
//! * [`partition`]: relations that are too large for one diagram.
//! * [`order`]: a variable order from what depends on what, and a way to compare orders.
//! * [`assignment`]: counting and picking.
#![forbid(unsafe_code)]

pub mod assignment;
pub mod order;
pub mod partition;
pub mod relation;
pub mod space;
pub mod table;

pub use partition::Partition;
pub use relation::{Cube, Renaming};
pub use space::{Layout, Space, Variable};
pub use table::{Bdd, Full, TableOptions, TooLarge};
