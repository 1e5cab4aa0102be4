//! Diagrams in a table of bounded size. Every operation can find the table full: then garbage is collected and the
//! operation is tried once more; if that does not help either, [`Full`] is the result.

use oxidd::bdd::{BDDFunction, BDDManagerRef};
use oxidd::util::AllocResult;
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager, ManagerRef,
};
use std::fmt;

/// How large the table may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Nodes at most, 16 bytes each and about 8 more to find them; memory is used as they come into being.
    pub nodes: usize,
    /// Entries of the cache of results, about 24 bytes each, reserved at once. A cache much smaller than the diagrams
    /// costs a factor of twenty and more.
    pub cache: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { nodes: 1 << 25, cache: 1 << 22 }
    }
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

pub(crate) fn manager(options: Options) -> BDDManagerRef {
    oxidd::bdd::new_manager(options.nodes.max(1), options.cache.max(1), 1)
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
    // Another thread may be collecting already: then our collection is none, and we wait for the other.
    const PATIENCE: usize = 100;
    for attempt in 0..PATIENCE {
        if let Ok(function) = operation() {
            return Ok(Bdd(function));
        }
        let freed = manager.with_manager_shared(|manager| {
            let before = manager.gc_count();
            let freed = manager.gc();
            // `None`: no collection of ours
            (manager.gc_count() != before).then_some(freed)
        });
        match freed {
            Some(_) if attempt > 0 => break,
            Some(_) => {}
            None => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    }
    operation().map(Bdd).map_err(|_| Full)
}

impl Bdd {
    fn apply(&self, operation: impl Fn() -> AllocResult<BDDFunction>) -> Result<Bdd, Full> {
        match operation() {
            Ok(function) => Ok(Bdd(function)),
            Err(_) => patiently(&self.0.manager_ref(), operation),
        }
    }

    pub fn and(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.and(&other.0))
    }

    pub fn or(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.or(&other.0))
    }

    pub fn xor(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.xor(&other.0))
    }

    pub fn iff(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.equiv(&other.0))
    }

    pub fn implies(&self, other: &Bdd) -> Result<Bdd, Full> {
        self.apply(|| self.0.imp(&other.0))
    }

    /// What is in this set and not in the other.
    pub fn minus(&self, other: &Bdd) -> Result<Bdd, Full> {
        // `imp_strict` is "not a, and b"
        self.apply(|| other.0.imp_strict(&self.0))
    }

    pub fn not(&self) -> Result<Bdd, Full> {
        self.apply(|| self.0.not())
    }

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

    pub fn is_true(&self) -> bool {
        self.0.valid()
    }

    pub fn subset_of(&self, other: &Bdd) -> Result<bool, Full> {
        Ok(self.minus(other)?.is_false())
    }

    pub fn disjoint(&self, other: &Bdd) -> Result<bool, Full> {
        Ok(self.and(other)?.is_false())
    }

    /// How many nodes this diagram has, shared ones counted once.
    pub fn nodes(&self) -> usize {
        self.0.node_count()
    }
}
