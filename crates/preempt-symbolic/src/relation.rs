//! Conditions and relations of one thread, given for the first context and carried to others when needed.
//!
//! A relation is a conjunction that is kept in parts (Burch, Clarke and Long 1991): images conjoin part by part and forget
//! variables as early as possible. As one diagram, a write to a heap of which any cell may be meant had hundreds of
//! thousands of nodes.

use crate::error::Result;
use crate::numbers::Outside;
use crate::vars::{Copy, Vars};
use preempt_bdd::{Bdd, Cube, Partition, Renaming};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A set of states of one thread: over `Now` and the locals.
pub(crate) struct Condition {
    base: Bdd,
    lifted: RefCell<BTreeMap<usize, Bdd>>,
}

impl Condition {
    pub fn new(base: Bdd) -> Condition {
        Condition { base, lifted: RefCell::default() }
    }

    pub fn never(&self) -> bool {
        self.base.is_false()
    }

    pub fn at(&self, vars: &Vars, k: usize) -> Result<Bdd> {
        if k == 0 {
            return Ok(self.base.clone());
        }
        if let Some(known) = self.lifted.borrow().get(&k) {
            return Ok(known.clone());
        }
        let lifted = self.base.rename(vars.lift(k))?;
        self.lifted.borrow_mut().insert(k, lifted.clone());
        Ok(lifted)
    }
}

/// A conjunction that is not built as a whole: many values at once, as in a write to a heap of which every cell may be
/// meant, are a huge relation even if each of them is simple.
pub(crate) struct Product {
    parts: Rc<Vec<Bdd>>,
    lifted: RefCell<BTreeMap<usize, Rc<Vec<Bdd>>>>,
}

/// Parts are joined as long as they are not larger than this.
const MOST_NODES: usize = 300;

impl Product {
    /// Nondeterministic values are forgotten here, which makes one part of all in which the same one occurs.
    pub fn new(vars: &Vars, parts: Vec<Bdd>) -> Result<Product> {
        let mut free = Vec::new();
        let mut bound: Vec<(BTreeSet<u32>, Bdd)> = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_true()) {
            vars.space.go_on()?;
            let mut choices = vars.space.support(&part);
            choices.retain(|level| vars.is_choice(*level));
            if choices.is_empty() {
                free.push(part);
                continue;
            }
            let mut joined = part;
            for (others, other) in std::mem::take(&mut bound) {
                if others.is_disjoint(&choices) {
                    bound.push((others, other));
                } else {
                    joined = joined.and(&other)?;
                    choices.extend(others);
                }
            }
            bound.push((choices, joined));
        }
        for (_, part) in bound {
            free.push(part.exists(&vars.all_choices)?);
        }
        let parts = Rc::new(vars.space.clusters(&free, MOST_NODES)?);
        Ok(Product { parts, lifted: RefCell::default() })
    }

    pub fn at(&self, vars: &Vars, k: usize) -> Result<Rc<Vec<Bdd>>> {
        if k == 0 {
            return Ok(self.parts.clone());
        }
        if let Some(known) = self.lifted.borrow().get(&k) {
            return Ok(known.clone());
        }
        let lift = vars.lift(k);
        let parts = self.parts.iter().map(|part| part.rename(lift));
        let lifted = Rc::new(parts.collect::<std::result::Result<Vec<_>, _>>()?);
        self.lifted.borrow_mut().insert(k, lifted.clone());
        Ok(lifted)
    }

    pub fn and(&self, vars: &Vars, set: &Bdd, k: usize) -> Result<Bdd> {
        let mut result = set.clone();
        for part in self.at(vars, k)?.iter() {
            result = result.and(part)?;
        }
        Ok(result)
    }

    pub fn and_exists(&self, vars: &Vars, set: &Bdd, k: usize, cube: &Cube) -> Result<Bdd> {
        let parts = self.at(vars, k)?;
        let Some((last, parts)) = parts.split_last() else { return Ok(set.exists(cube)?) };
        let mut result = set.clone();
        for part in parts {
            result = result.and(part)?;
        }
        Ok(result.and_exists(last, cube)?)
    }
}

/// A step: over `Now`, and `Next` of what it writes. Whatever is not written stays.
pub(crate) struct Relation {
    product: Product,
    shared: Vec<usize>,
    locals: Vec<usize>,
    /// Where it leads to a shared state without a number.
    outside: Option<Outside>,
    images: RefCell<BTreeMap<usize, Rc<(Partition, Renaming)>>>,
}

impl Relation {
    /// `shared`, `locals`: the variables that it writes.
    pub fn new(product: Product, shared: Vec<usize>, locals: Vec<usize>) -> Relation {
        Relation { product, shared, locals, outside: None, images: RefCell::default() }
    }

    pub fn leaving(self, outside: Option<Outside>) -> Relation {
        Relation { outside, ..self }
    }

    pub fn writes_nothing(&self) -> bool {
        self.shared.is_empty() && self.locals.is_empty()
    }

    pub fn image(&self, vars: &Vars, set: &Bdd, k: usize) -> Result<Bdd> {
        if !self.images.borrow().contains_key(&k) {
            let now = self.shared.iter().map(|&slot| vars.shared(slot, Copy::Now(k)));
            let written = now.chain(self.locals.iter().map(|&slot| vars.local(slot)));
            let partition = vars.space.partition(&self.product.at(vars, k)?, written)?;
            let shared = self
                .shared
                .iter()
                .map(|&slot| (vars.shared(slot, Copy::Next), vars.shared(slot, Copy::Now(k))));
            let locals = self.locals.iter().map(|&slot| (vars.local_next(slot), vars.local(slot)));
            // Only what is written: below the last of it the diagram stays as it is.
            let settle = vars.space.renaming(shared.chain(locals));
            self.images.borrow_mut().insert(k, Rc::new((partition, settle)));
        }
        if let Some(outside) = &self.outside {
            outside.note(vars, set, k)?;
        }
        let image = self.images.borrow()[&k].clone();
        let after = set.through(&image.0)?;
        Ok(if self.writes_nothing() { after } else { after.rename(&image.1)? })
    }

    /// The relation in the first context, and the shared slots and locals that it writes.
    pub fn parts(&self) -> (&[Bdd], &[usize], &[usize]) {
        (&self.product.parts, &self.shared, &self.locals)
    }

    /// The states from which the step leads to this one: over `Now`.
    pub fn before(&self, vars: &Vars, k: usize, after: (&[u64], &[u64])) -> Result<Bdd> {
        let mut point = Vec::new();
        let (shared, locals) = after;
        for (slot, &value) in shared.iter().enumerate() {
            let which = if self.shared.contains(&slot) { Copy::Next } else { Copy::Now(k) };
            point.push((vars.shared(slot, which), value));
        }
        for (slot, &value) in locals.iter().enumerate() {
            let variable = if self.locals.contains(&slot) { vars.local_next(slot) } else { vars.local(slot) };
            point.push((variable, value));
        }
        let written = self.shared.iter().map(|&slot| vars.shared(slot, Copy::Next));
        let next = written.chain(self.locals.iter().map(|&slot| vars.local_next(slot)));
        self.product.and_exists(vars, &vars.space.point(&point)?, k, &vars.space.cube(next)?)
    }
}
