//! Arithmetic on integers whose bits are functions of the state: C's 32-bit arithmetic, in no more bits than needed.

use preempt_bdd::{Bdd, Full, Space};

/// The width of C's `int`; sums and products wrap here.
const INT: usize = 32;

/// An integer in two's complement, the least significant bit first; the last bit is the sign. Never empty.
#[derive(Debug, Clone)]
pub(crate) struct Word(Vec<Bdd>);

impl Word {
    /// Raw bits of a variable; without a sign, a zero is put in front.
    pub fn from_bits(space: &Space, mut bits: Vec<Bdd>, signed: bool) -> Word {
        if !signed && bits.len() < INT || bits.is_empty() {
            bits.push(space.no());
        }
        Word(bits).trimmed()
    }

    pub fn constant(space: &Space, value: i32) -> Word {
        Word((0..INT).map(|bit| space.constant(value >> bit & 1 == 1)).collect()).trimmed()
    }

    pub fn truth(space: &Space, holds: Bdd) -> Word {
        Word(vec![holds, space.no()]).trimmed()
    }

    /// Any bit, also beyond those that are kept.
    fn bit(&self, index: usize) -> &Bdd {
        &self.0[index.min(self.0.len() - 1)]
    }

    fn sign(&self) -> &Bdd {
        self.bit(INT)
    }

    /// The low bits: what a variable of this width keeps.
    pub fn low(&self, width: usize) -> Vec<Bdd> {
        (0..width).map(|bit| self.bit(bit).clone()).collect()
    }

    /// Without bits that only repeat the sign.
    fn trimmed(mut self) -> Word {
        self.0.truncate(INT);
        while self.0.len() > 1 && self.0[self.0.len() - 1] == self.0[self.0.len() - 2] {
            self.0.pop();
        }
        self
    }

    /// Is it different from zero?
    pub fn truthy(&self, space: &Space) -> Result<Bdd, Full> {
        self.0.iter().try_fold(space.no(), |any, bit| any.or(bit))
    }

    pub fn choose(condition: &Bdd, then: &Word, otherwise: &Word) -> Result<Word, Full> {
        let width = then.0.len().max(otherwise.0.len());
        let bits = (0..width).map(|bit| condition.ite(then.bit(bit), otherwise.bit(bit)));
        Ok(Word(bits.collect::<Result<_, _>>()?).trimmed())
    }

    pub fn complement(&self) -> Result<Word, Full> {
        Ok(Word(self.0.iter().map(Bdd::not).collect::<Result<_, _>>()?))
    }

    pub fn negate(&self, space: &Space) -> Result<Word, Full> {
        Word::constant(space, 0).minus(space, self)
    }

    pub fn plus(&self, space: &Space, other: &Word) -> Result<Word, Full> {
        self.add(space, other, space.no(), false)
    }

    pub fn minus(&self, space: &Space, other: &Word) -> Result<Word, Full> {
        self.add(space, other, space.yes(), true)
    }

    fn add(&self, space: &Space, other: &Word, mut carry: Bdd, inverted: bool) -> Result<Word, Full> {
        let width = (self.0.len().max(other.0.len()) + 1).min(INT);
        let mut sum = Vec::with_capacity(width);
        for bit in 0..width {
            space.go_on()?;
            let (a, b) = (self.bit(bit), other.bit(bit));
            let b = if inverted { b.not()? } else { b.clone() };
            let half = a.xor(&b)?;
            sum.push(half.xor(&carry)?);
            carry = half.ite(&carry, a)?;
        }
        Ok(Word(sum).trimmed())
    }

    pub fn times(&self, space: &Space, other: &Word) -> Result<Word, Full> {
        let width = (self.0.len() + other.0.len()).min(INT);
        let mut product = Word::constant(space, 0);
        for shift in 0..width {
            let factor = other.bit(shift);
            if factor.is_false() {
                continue;
            }
            let mut row = vec![space.no(); shift];
            for bit in 0..width - shift {
                space.go_on()?;
                row.push(self.bit(bit).and(factor)?);
            }
            // modulo 2^width
            product = Word(product.plus(space, &Word(row))?.low(width));
        }
        Ok(product.trimmed())
    }

    /// Quotient and remainder, rounded towards zero; meaningless where the divisor is zero.
    pub fn divide(&self, space: &Space, other: &Word) -> Result<(Word, Word), Full> {
        let (a, b) = (self.magnitude(space)?, other.magnitude(space)?);
        let width = a.0.len();
        let mut rest = Word::constant(space, 0);
        let mut quotient = vec![space.no(); width];
        for bit in (0..width).rev() {
            // 33 bits at most matter here, and the top one is 0: the magnitude of the least integer is 2^31
            let mut shifted = vec![a.bit(bit).clone()];
            shifted.extend(rest.0);
            let shifted = Word(shifted);
            let less = shifted.below_wide(space, &b)?;
            let difference = shifted.minus_wide(&b, space)?;
            quotient[bit] = less.not()?;
            let width = shifted.0.len().max(difference.0.len());
            let bits = (0..width).map(|bit| less.ite(shifted.bit(bit), difference.bit(bit)));
            rest = Word(bits.collect::<Result<_, _>>()?).shortened();
        }
        let negative = self.sign().xor(other.sign())?;
        quotient.push(space.no());
        let (quotient, rest) = (Word(quotient), rest.trimmed());
        let quotient = Word::choose(&negative, &quotient.negate(space)?, &quotient.trimmed())?;
        let rest = Word::choose(self.sign(), &rest.negate(space)?, &rest)?;
        Ok((quotient, rest))
    }

    /// Drops repeated signs, however many bits remain.
    fn shortened(mut self) -> Word {
        while self.0.len() > 1 && self.0[self.0.len() - 1] == self.0[self.0.len() - 2] {
            self.0.pop();
        }
        self
    }

    /// The absolute value, with a bit more than an `int` if it must be.
    fn magnitude(&self, space: &Space) -> Result<Word, Full> {
        let mut carry = self.sign().clone();
        let mut bits = Vec::new();
        for bit in 0..self.0.len() {
            let flipped = self.bit(bit).xor(self.sign())?;
            bits.push(flipped.xor(&carry)?);
            carry = flipped.and(&carry)?;
        }
        bits.push(space.no());
        Ok(Word(bits).shortened())
    }

    /// Comparison and difference that never wrap.
    fn minus_wide(&self, other: &Word, space: &Space) -> Result<Word, Full> {
        let width = self.0.len().max(other.0.len()) + 1;
        let mut carry = space.yes();
        let mut bits = Vec::with_capacity(width);
        for bit in 0..width {
            space.go_on()?;
            let (a, b) = (self.bit(bit), other.bit(bit).not()?);
            let half = a.xor(&b)?;
            bits.push(half.xor(&carry)?);
            carry = half.ite(&carry, a)?;
        }
        Ok(Word(bits))
    }

    fn below_wide(&self, space: &Space, other: &Word) -> Result<Bdd, Full> {
        let difference = self.minus_wide(other, space)?;
        Ok(difference.0[difference.0.len() - 1].clone())
    }

    pub fn below(&self, space: &Space, other: &Word) -> Result<Bdd, Full> {
        self.below_wide(space, other)
    }

    pub fn equal(&self, space: &Space, other: &Word) -> Result<Bdd, Full> {
        let width = self.0.len().max(other.0.len());
        (0..width).try_fold(space.yes(), |same, bit| same.and(&self.bit(bit).iff(other.bit(bit))?))
    }

    pub fn bitwise(&self, other: &Word, op: impl Fn(&Bdd, &Bdd) -> Result<Bdd, Full>) -> Result<Word, Full> {
        let width = self.0.len().max(other.0.len());
        let bits = (0..width).map(|bit| op(self.bit(bit), other.bit(bit)));
        Ok(Word(bits.collect::<Result<_, _>>()?).trimmed())
    }

    /// The distance counts modulo 32.
    pub fn shift_left(&self, space: &Space, distance: &Word) -> Result<Word, Full> {
        let mut result = Word(self.low(INT));
        for power in 0..5 {
            space.go_on()?;
            let by = 1 << power;
            let moved = (0..INT).map(|bit| match bit < by {
                true => space.no(),
                false => result.bit(bit - by).clone(),
            });
            let moved = Word(moved.collect());
            let bits = (0..INT).map(|bit| distance.bit(power).ite(moved.bit(bit), result.bit(bit)));
            result = Word(bits.collect::<Result<_, _>>()?);
        }
        Ok(result.trimmed())
    }

    pub fn shift_right(&self, distance: &Word) -> Result<Word, Full> {
        let mut result = self.clone();
        for power in 0..5 {
            let bits = (0..result.0.len())
                .map(|bit| distance.bit(power).ite(result.bit(bit + (1 << power)), result.bit(bit)));
            result = Word(bits.collect::<Result<_, _>>()?);
        }
        Ok(result.trimmed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use preempt_bdd::{Layout, TableOptions};

    const VALUES: [i32; 17] =
        [0, 1, -1, 2, 3, -3, 5, 7, 31, 32, 100, -128, 255, 65_535, i32::MAX, i32::MIN, i32::MIN + 1];

    /// The value of a word that is the same everywhere.
    fn constant(word: &Word) -> i32 {
        (0..INT).map(|bit| i32::from(word.bit(bit).is_true()) << bit).fold(0, |value, bit| value | bit)
    }

    #[test]
    fn arithmetic_is_that_of_32_bit_integers() {
        let space = &Layout::new().build(TableOptions { nodes: 1 << 10, cache: 1 << 8 }).unwrap();
        let word = |value: i32| Word::constant(space, value);
        for left in VALUES {
            let a = word(left);
            assert_eq!(constant(&a), left);
            assert_eq!(constant(&a.negate(space).unwrap()), left.wrapping_neg());
            assert_eq!(constant(&a.complement().unwrap()), !left);
            for right in VALUES {
                let b = word(right);
                let at = || format!("{left} and {right}");
                assert_eq!(constant(&a.plus(space, &b).unwrap()), left.wrapping_add(right), "{}", at());
                assert_eq!(constant(&a.minus(space, &b).unwrap()), left.wrapping_sub(right), "{}", at());
                assert_eq!(constant(&a.times(space, &b).unwrap()), left.wrapping_mul(right), "{}", at());
                if right != 0 {
                    let (quotient, rest) = a.divide(space, &b).unwrap();
                    assert_eq!(constant(&quotient), left.wrapping_div(right), "{}", at());
                    assert_eq!(constant(&rest), left.wrapping_rem(right), "{}", at());
                }
                let shifted = a.shift_left(space, &b).unwrap();
                assert_eq!(constant(&shifted), left.wrapping_shl(right as u32), "{}", at());
                let shifted = a.shift_right(&b).unwrap();
                assert_eq!(constant(&shifted), left.wrapping_shr(right as u32), "{}", at());
                assert_eq!(constant(&a.bitwise(&b, Bdd::xor).unwrap()), left ^ right, "{}", at());
                assert_eq!(a.below(space, &b).unwrap().is_true(), left < right, "{}", at());
                assert_eq!(a.equal(space, &b).unwrap().is_true(), left == right, "{}", at());
            }
        }
    }
}
