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
//! * [`assignment`]: counting and picking; [`listing`]: a diagram as a list of nodes.
//!
//! ```
//! use preempt_bdd::{Full, Layout, TableOptions};
//!
//! // Numbers below 100, before and after a step that adds one: which are reached from 97?
//! let mut layout = Layout::new();
//! let (now, next) = { let x = layout.add(100, 2); (x, x.copy(1)) };
//! let space = layout.build(TableOptions { nodes: 1 << 12, cache: 1 << 10 })?;
//! let step = space.sum(next, now, 1)?.and(&space.domain(next)?)?;
//! let (forget, back) = (space.cube([now])?, space.renaming([(next, now)]));
//! let mut reached = space.equals(now, 97)?;
//! loop {
//!     let more = reached.or(&reached.and_exists(&step, &forget)?.rename(&back)?)?;
//!     if more == reached {
//!         break;
//!     }
//!     reached = more;
//! }
//! assert_eq!(space.count(&reached, &[now]), Some(3u32.into()), "97, 98 and 99");
//! # Ok::<(), Full>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod assignment;
pub mod listing;
pub mod order;
pub mod partition;
pub mod relation;
pub mod space;
pub mod table;

pub use listing::Listing;
pub use partition::Partition;
pub use relation::{Cube, Renaming};
pub use space::{Layout, Space, Variable};
pub use table::{Bdd, Full, TableOptions, TooLarge};
