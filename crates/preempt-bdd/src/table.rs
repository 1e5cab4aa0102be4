//! Diagrams in a table of bounded size. Every operation can find the table full: then garbage is collected and the
//! operation is tried once more; if that does not help either, [`Full`] is the result.
//!
//! The diagrams are reduced and ordered (Bryant 1986), so that equal functions are the same node and comparing is one
//! comparison; a binary operation costs at most the product of the sizes of its operands, by the cache of results. oxidd does
//! the work; `tests/independent.rs` compares it with another package.

use oxidd::bdd::{BDDFunction, BDDManagerRef};
use oxidd::util::AllocResult;
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager, ManagerRef,
};
use std::fmt;

/// How large the table may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableOptions {
    /// Nodes at most, 16 bytes each and about 8 more to find them; memory is used as they come into being.
    pub nodes: usize,
    /// Entries of the cache of results, about 24 bytes each, reserved at once. A cache much smaller than the diagrams
    /// costs a factor of twenty and more.
    pub cache: usize,
}

/// What a node takes, with its place in the table that finds it; and an entry of the cache.
const NODE_BYTES: u64 = 24;
const ENTRY_BYTES: u64 = 32;
/// A node is named by 32 bits, and two names are taken.
const MOST_NODES: u64 = (1 << 32) - 2;

impl Default for TableOptions {
    /// What most programs need; less on a machine that has less.
    fn default() -> TableOptions {
        TableOptions { nodes: 1 << 25, cache: 1 << 22 }.within(memory().unwrap_or(u64::MAX) / 2)
    }
}

impl TableOptions {
    /// A table that takes no more than so many bytes, most of them for nodes.
    #[must_use]
    pub fn within(self, bytes: u64) -> TableOptions {
        let most = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        // The number of entries is rounded up to a power of two.
        let entries = most(bytes / 4 / ENTRY_BYTES).max(2);
        let entries = 1usize << entries.ilog2();
        TableOptions {
            nodes: self.nodes.min(most(bytes / 4 * 3 / NODE_BYTES)),
            cache: self.cache.min(entries),
        }
    }

    /// Why there cannot be such a table, if there cannot.
    pub fn refused(self) -> Option<TooLarge> {
        let too_large = |what: String| Some(TooLarge(what));
        let (nodes, entries) = (self.nodes as u64, self.cache as u64);
        if nodes > MOST_NODES {
            return too_large(format!("a table of {nodes} BDD nodes; {MOST_NODES} is the most"));
        }
        let rounded =
            entries.checked_next_power_of_two().and_then(|entries| entries.checked_mul(ENTRY_BYTES));
        let bytes = rounded.and_then(|cache| cache.checked_add(nodes * NODE_BYTES)).unwrap_or(u64::MAX);
        let there = memory().unwrap_or(MEMORY_IF_UNKNOWN);
        if bytes <= there {
            return None;
        }
        let gigabytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        too_large(format!(
            "a table of {nodes} BDD nodes with a cache of {entries} entries takes {:.1} GiB, and there are {:.1}",
            gigabytes(bytes),
            gigabytes(there)
        ))
    }
}

/// A table that this machine cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLarge(String);

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TooLarge {}

/// Where nobody says how much memory there is, a table of this size is not refused.
const MEMORY_IF_UNKNOWN: u64 = 1 << 36;

/// All memory of this machine, in bytes.
#[cfg(target_os = "linux")]
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(not(target_os = "linux"))]
fn memory() -> Option<u64> {
    None
}

/// The table of nodes is full, and there is no garbage in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the table of BDD nodes is full")
    }
}

impl std::error::Error for Full {}

pub(crate) fn manager(options: TableOptions) -> BDDManagerRef {
    // Whoever did not ask whether it is refused gets as much as there can be.
    let nodes = options.nodes.clamp(1, usize::try_from(MOST_NODES).unwrap_or(usize::MAX));
    oxidd::bdd::new_manager(nodes, options.cache.clamp(1, 1 << 40), 1)
}

/// A Boolean function of the bits of a [`Space`](crate::Space). Equal functions are equal diagrams: comparing is cheap.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bdd(pub(crate) BDDFunction);

impl fmt::Debug for Bdd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_false() {
            f.write_str("Bdd(false)")
        } else if self.is_true() {
            f.write_str("Bdd(true)")
        } else {
            write!(f, "Bdd({} nodes)", self.nodes())
        }
    }
}

/// Runs an operation; if the table is full, collects the garbage and runs it again.
pub(crate) fn patiently(
    manager: &BDDManagerRef,
    operation: impl Fn() -> AllocResult<BDDFunction>,
) -> Result<Bdd, Full> {
    if let Ok(function) = operation() {
        return Ok(Bdd(function));
    }
    // A collection that frees something helps at once or not at all, as the operation begins again from the start, and
    // fills a large table once more before it says so. One that frees nothing may only mean that another thread is
    // collecting: then we wait for it.
    let mut waits = 0u32;
    while waits < 20 && manager.with_manager_shared(|manager| manager.gc()) == 0 {
        waits += 1;
        std::thread::sleep(std::time::Duration::from_millis(5));
        if waits.is_multiple_of(4)
            && let Ok(function) = operation()
        {
            return Ok(Bdd(function));
        }
    }
    operation().map(Bdd).map_err(|_| Full)
}

impl Bdd {
    fn apply(&self, operation: impl Fn() -> AllocResult<BDDFunction>) -> Result<Bdd, Full> {
        patiently(&self.0.manager_ref(), operation)
    }

    /// The intersection.
    pub fn and(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.and(&other.0))
    }

    /// The union.
    pub fn or(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.or(&other.0))
    }

    /// What is in one of the two and not in both.
    pub fn xor(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.xor(&other.0))
    }

    /// What is in both or in none.
    pub fn iff(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.equiv(&other.0))
    }

    /// What is in the other or not in this one.
    pub fn implies(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.imp(&other.0))
    }

    /// What is in this set and not in the other.
    pub fn minus(&self, other: &Bdd) -> Result<Bdd, Full> {
        // `imp_strict` is "not a, and b"
        self.apply(|| other.0.imp_strict(&self.0))
    }

    /// The complement.
    pub fn not(&self) -> Result<Bdd, Full> {
        self.apply(|| self.0.not())
    }

    /// `then` where this holds, and `otherwise` where it does not.
    pub fn ite(&self, then: &Bdd, otherwise: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.ite(&then.0, &otherwise.0))
    }

    pub(crate) fn exists_function(&self, cube: &BDDFunction) -> Result<Bdd, Full> {
        self.apply(|| self.0.exists(cube))
    }

    pub(crate) fn forall_function(&self, cube: &BDDFunction) -> Result<Bdd, Full> {
        self.apply(|| self.0.forall(cube))
    }

    pub(crate) fn and_exists_function(&self, other: &Bdd, cube: &BDDFunction) -> Result<Bdd, Full> {
        self.apply(|| self.0.apply_exists(BooleanOperator::And, &other.0, cube))
    }

    pub(crate) fn substitute(&self, subst: &oxidd::Subst<BDDFunction>) -> Result<Bdd, Full> {
        self.apply(|| self.0.substitute(subst))
    }

    /// The empty set.
    pub fn is_false(&self) -> bool {
        !self.0.satisfiable()
    }

    /// The set of everything.
    pub fn is_true(&self) -> bool {
        self.0.valid()
    }

    /// Is everything in the other set, too?
    pub fn subset_of(&self, other: &Bdd) -> Result<bool, Full> {
        Ok(self.minus(other)?.is_false())
    }

    /// Have the two nothing in common?
    pub fn disjoint(&self, other: &Bdd) -> Result<bool, Full> {
        Ok(self.and(other)?.is_false())
    }

    /// How many nodes this diagram has, shared ones counted once.
    pub fn nodes(&self) -> usize {
        self.0.node_count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_beyond_memory_is_refused_before_it_is_made() {
        let usual = TableOptions { nodes: 1 << 20, cache: 1 << 16 };
        assert_eq!(usual.refused(), None);
        assert_eq!(TableOptions::default().refused(), None);
        for nodes in [1 << 32, usize::MAX] {
            assert!(TableOptions { nodes, ..usual }.refused().is_some());
        }
        for cache in [1 << 50, usize::MAX] {
            let why =
                TableOptions { cache, ..usual }.refused().expect("more than any machine has").to_string();
            assert!(why.contains("entries takes"), "{why}");
        }
    }

    #[test]
    fn a_table_within_a_limit_takes_no_more() {
        let small = TableOptions::default().within(100_000_000);
        assert!(small.nodes as u64 * NODE_BYTES + small.cache as u64 * ENTRY_BYTES <= 100_000_000);
        assert!(small.nodes > 1_000_000 && small.cache.is_power_of_two());
    }
}
