//! Random expressions, built here and by biodivine-lib-bdd, must agree: in every point, in the number of points, after
//! quantification and after renaming.

use biodivine_lib_bdd::{Bdd as Other, BddValuation, BddVariable, BddVariableSet};
use preempt_bdd::{Bdd, Full, Layout, Space, TableOptions, Variable};
use proptest::prelude::*;

const BITS: usize = 8;

#[derive(Debug, Clone)]
enum Formula {
    Bit(usize),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Xor(Box<Formula>, Box<Formula>),
    Minus(Box<Formula>, Box<Formula>),
    Ite(Box<Formula>, Box<Formula>, Box<Formula>),
    Exists(usize, Box<Formula>),
    Forall(usize, Box<Formula>),
}

use Formula::*;

fn formula() -> impl Strategy<Value = Formula> {
    let leaf = (0..BITS).prop_map(Bit);
    leaf.prop_recursive(6, 40, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|f| Not(f.into())),
            pair.clone().prop_map(|(f, g)| And(f.into(), g.into())),
            pair.clone().prop_map(|(f, g)| Or(f.into(), g.into())),
            pair.clone().prop_map(|(f, g)| Xor(f.into(), g.into())),
            pair.prop_map(|(f, g)| Minus(f.into(), g.into())),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(f, g, h)| Ite(
                f.into(),
                g.into(),
                h.into()
            )),
            (0..BITS, inner.clone()).prop_map(|(bit, f)| Exists(bit, f.into())),
            (0..BITS, inner).prop_map(|(bit, f)| Forall(bit, f.into())),
        ]
    })
}

struct Ours {
    space: Space,
    bits: Vec<Variable>,
}

fn ours() -> Ours {
    let mut layout = Layout::new();
    let bits = (0..BITS).map(|_| layout.add(2, 2)).collect();
    Ours { space: layout.build(TableOptions { nodes: 1 << 14, cache: 1 << 12 }).unwrap(), bits }
}

impl Ours {
    fn build(&self, formula: &Formula) -> Result<Bdd, Full> {
        match formula {
            Bit(bit) => self.space.equals(self.bits[*bit], 1),
            Not(f) => self.build(f)?.not(),
            And(f, g) => self.build(f)?.and(&self.build(g)?),
            Or(f, g) => self.build(f)?.or(&self.build(g)?),
            Xor(f, g) => self.build(f)?.xor(&self.build(g)?),
            Minus(f, g) => self.build(f)?.minus(&self.build(g)?),
            Ite(f, g, h) => self.build(f)?.ite(&self.build(g)?, &self.build(h)?),
            Exists(bit, f) => self.build(f)?.exists(&self.space.cube([self.bits[*bit]])?),
            Forall(bit, f) => self.build(f)?.forall(&self.space.cube([self.bits[*bit]])?),
        }
    }

    fn contains(&self, set: &Bdd, point: u32, copy: u32) -> bool {
        let values: Vec<(Variable, u64)> = self
            .bits
            .iter()
            .enumerate()
            .map(|(bit, variable)| (variable.copy(copy), u64::from(point >> bit & 1)))
            .collect();
        !set.disjoint(&self.space.point(&values).unwrap()).unwrap()
    }
}

fn theirs(set: &BddVariableSet, bits: &[BddVariable], formula: &Formula) -> Other {
    let build = |f: &Formula| theirs(set, bits, f);
    match formula {
        Bit(bit) => set.mk_var(bits[*bit]),
        Not(f) => build(f).not(),
        And(f, g) => build(f).and(&build(g)),
        Or(f, g) => build(f).or(&build(g)),
        Xor(f, g) => build(f).xor(&build(g)),
        Minus(f, g) => build(f).and_not(&build(g)),
        Ite(f, g, h) => Other::if_then_else(&build(f), &build(g), &build(h)),
        Exists(bit, f) => build(f).exists(&[bits[*bit]]),
        Forall(bit, f) => build(f).for_all(&[bits[*bit]]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn agrees_in_every_point(formula in formula(), other in formula()) {
        let ours = ours();
        let set = BddVariableSet::new_anonymous(BITS as u16);
        let bits = set.variables();
        let (mine, yours) = (ours.build(&formula).unwrap(), theirs(&set, &bits, &formula));
        for point in 0..1 << BITS {
            let valuation = BddValuation::new((0..BITS).map(|bit| point >> bit & 1 == 1).collect());
            prop_assert_eq!(ours.contains(&mine, point, 0), yours.eval_in(&valuation));
        }
        let count = ours.space.count(&mine, &ours.bits).unwrap();
        prop_assert_eq!(count.to_string(), yours.exact_cardinality().to_string());

        // the relational product, bits 0 to 3 forgotten
        let (second, their_second) = (ours.build(&other).unwrap(), theirs(&set, &bits, &other));
        let product = mine.and_exists(&second, &ours.space.cube(ours.bits[..4].to_vec()).unwrap()).unwrap();
        let their_product = yours.and(&their_second).exists(&bits[..4]);
        let count = ours.space.count(&product, &ours.bits).unwrap();
        prop_assert_eq!(count.to_string(), their_product.exact_cardinality().to_string());

        // renamed to the other copies, it is the same set of points there, and comes back unchanged
        let there = ours.space.renaming(ours.bits.iter().map(|&bit| (bit, bit.copy(1))));
        let back = ours.space.renaming(ours.bits.iter().map(|&bit| (bit.copy(1), bit)));
        let moved = mine.rename(&there).unwrap();
        for point in (0..1 << BITS).step_by(7) {
            prop_assert_eq!(ours.contains(&moved, point, 1), ours.contains(&mine, point, 0));
        }
        prop_assert_eq!(moved.rename(&back).unwrap(), mine.clone());

        // whatever is picked is a member
        match ours.space.pick(&mine, &ours.bits) {
            None => prop_assert!(mine.is_false()),
            Some(values) => {
                let point = values.iter().enumerate().map(|(bit, &value)| (value as u32) << bit).sum();
                prop_assert!(ours.contains(&mine, point, 0));
            }
        }
    }
}
