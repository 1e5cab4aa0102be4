//! Formulas as Spin writes them.

use crate::expr::Expr;
use crate::property::Ltl;
use std::fmt;

/// A formula in Spin's syntax, its atoms shown by a function. See [`Ltl::display`].
pub struct Shown<'f, A> {
    formula: &'f Ltl,
    atom: A,
}

impl<A> fmt::Debug for Shown<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.formula.fmt(f)
    }
}

impl Ltl {
    /// Shows the formula in Spin's syntax. What `atom` writes stands as it is, except that it is put in parentheses
    /// unless it is a single word.
    pub fn display<A>(&self, atom: A) -> Shown<'_, A>
    where
        A: Fn(&Expr) -> String,
    {
        Shown { formula: self, atom }
    }
}

impl<A: Fn(&Expr) -> String> fmt::Display for Shown<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.formula, &self.atom, false)
    }
}

/// Binary operators inside others are always in parentheses: Spin's own precedences have changed over time.
fn write(
    f: &mut fmt::Formatter<'_>,
    formula: &Ltl,
    atom: &dyn Fn(&Expr) -> String,
    inner: bool,
) -> fmt::Result {
    let (op, left, right) = match formula {
        Ltl::Atom(expr) => {
            let text = atom(expr);
            let word = text.chars().all(|c| c.is_alphanumeric() || c == '_');
            return if word { f.write_str(&text) } else { write!(f, "({text})") };
        }
        Ltl::Not(part) => return prefix(f, "!", part, atom),
        Ltl::Next(part) => return prefix(f, "X ", part, atom),
        Ltl::Always(part) => return prefix(f, "[]", part, atom),
        Ltl::Eventually(part) => return prefix(f, "<>", part, atom),
        Ltl::And(left, right) => ("&&", left, right),
        Ltl::Or(left, right) => ("||", left, right),
        Ltl::Implies(left, right) => ("->", left, right),
        Ltl::Equivalent(left, right) => ("<->", left, right),
        Ltl::Until(left, right) => ("U", left, right),
        Ltl::Release(left, right) => ("V", left, right),
        Ltl::WeakUntil(left, right) => ("W", left, right),
    };
    if inner {
        f.write_str("(")?;
    }
    write(f, left, atom, true)?;
    write!(f, " {op} ")?;
    write(f, right, atom, true)?;
    if inner {
        f.write_str(")")?;
    }
    Ok(())
}

fn prefix(f: &mut fmt::Formatter<'_>, op: &str, part: &Ltl, atom: &dyn Fn(&Expr) -> String) -> fmt::Result {
    f.write_str(op)?;
    write(f, part, atom, true)
}
