//! Random formulas about a model's global variables.

use crate::program::{Model, Variable};
use crate::property::Ltl;
use crate::{BinaryOp, Expr, Place, Scope};

/// The same formula for the same seed; `None` if there are no variables to speak about.
pub fn formula_from_seed(model: &Model, seed: u64) -> Option<Ltl> {
    (!model.globals.is_empty()).then(|| random_formula(&mut Random(seed), &model.globals, 3))
}

fn random_formula(random: &mut Random, globals: &[Variable], depth: usize) -> Ltl {
    if depth == 0 || random.below(5) == 0 {
        let variable = &globals[random.below(globals.len())];
        let place = Place::scalar(Scope::Global, variable.slot, variable.ty);
        let op = [BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Le][random.below(3)];
        let value = Expr::Const(random.below(3) as i32);
        return Ltl::Atom(Expr::binary(op, Expr::load(place), value));
    }
    let choice = random.below(11);
    let mut part = || Box::new(random_formula(random, globals, depth - 1));
    match choice {
        0 => Ltl::Not(part()),
        1 => Ltl::And(part(), part()),
        2 => Ltl::Or(part(), part()),
        3 => Ltl::Implies(part(), part()),
        4 => Ltl::Next(part()),
        5 | 6 => Ltl::Always(part()),
        7 | 8 => Ltl::Eventually(part()),
        9 => Ltl::Until(part(), part()),
        _ => Ltl::Release(part(), part()),
    }
}

/// splitmix64
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % count as u64) as usize
    }
}
