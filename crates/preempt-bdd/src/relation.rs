//! Quantification, renaming, image and composition. What is used again and again (the variables to quantify, the
//! renaming) is built once: the cache of results knows a renaming by its identity.

use crate::space::{Space, Variable};
use crate::table::{Bdd, Full};
use oxidd::Subst;
use oxidd::bdd::BDDFunction;

/// A set of variables, ready for quantification.
#[derive(Clone)]
pub struct Cube(BDDFunction);

/// Variables to put in the place of others, all at once.
#[derive(Clone)]
pub struct Renaming(Subst<BDDFunction>);

impl std::fmt::Debug for Cube {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cube")
    }
}

impl std::fmt::Debug for Renaming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Renaming")
    }
}

impl Space {
    /// These variables, to be quantified.
    pub fn cube(&self, variables: impl IntoIterator<Item = Variable>) -> Result<Cube, Full> {
        self.cube_of(variables.into_iter().flat_map(|variable| self.levels(variable).to_vec()).collect())
    }

    pub(crate) fn cube_of(&self, mut levels: Vec<u32>) -> Result<Cube, Full> {
        // from the bottom up, so that no step has to rebuild what is there
        levels.sort_unstable_by(|a, b| b.cmp(a));
        let mut cube = self.yes();
        for level in levels {
            self.go_on()?;
            cube = Bdd(self.literal(level).clone()).and(&cube)?;
        }
        Ok(Cube(cube.0))
    }

    /// Puts the second variable of each pair in the place of the first. The two must have the same number of bits;
    /// bits without a counterpart keep their place.
    pub fn renaming(&self, pairs: impl IntoIterator<Item = (Variable, Variable)>) -> Renaming {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (old, new) in pairs {
            debug_assert_eq!(self.levels(old).len(), self.levels(new).len());
            for (&old, &new) in self.levels(old).iter().zip(self.levels(new)) {
                if old != new {
                    from.push(old);
                    to.push(self.literal(new).clone());
                }
            }
        }
        Renaming(Subst::new(from, to))
    }

    /// Puts functions in the place of bits, all at once; each bit at most once.
    pub fn substitution(&self, pairs: impl IntoIterator<Item = (u32, Bdd)>) -> Renaming {
        let (from, to) = pairs.into_iter().map(|(level, function)| (level, function.0)).unzip();
        Renaming(Subst::new(from, to))
    }
}

impl Bdd {
    /// Forgets variables.
    pub fn exists(&self, cube: &Cube) -> Result<Bdd, Full> {
        self.exists_function(&cube.0)
    }

    /// What is in the set whatever these variables are.
    pub fn forall(&self, cube: &Cube) -> Result<Bdd, Full> {
        self.forall_function(&cube.0)
    }

    /// The relational product: the conjunction, and then the variables forgotten, in one go. The image of a set
    /// `s(x)` under a relation `r(x, y)` is `s.and_exists(r, x)`, a set of `y`.
    pub fn and_exists(&self, other: &Bdd, cube: &Cube) -> Result<Bdd, Full> {
        self.and_exists_function(other, &cube.0)
    }

    /// The same set over other variables.
    pub fn rename(&self, renaming: &Renaming) -> Result<Bdd, Full> {
        self.substitute(&renaming.0)
    }
}
