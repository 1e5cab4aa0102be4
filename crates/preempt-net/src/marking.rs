//! Markings: how many tokens lie on each place. Sparse, because nets are wide and markings of interest are small.

/// A place by its position in [`Net::places`](crate::Net).
pub type Place = u32;

/// Tokens by place: sorted by place, and no entry is zero. Also used for arc weights.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marking(Vec<(Place, u64)>);

impl Marking {
    /// Without tokens.
    pub fn new() -> Marking {
        Marking::default()
    }

    /// From pairs in any order; several entries for one place add up.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (Place, u64)>) -> Marking {
        let mut pairs: Vec<(Place, u64)> = pairs.into_iter().filter(|(_, n)| *n > 0).collect();
        pairs.sort_unstable_by_key(|(place, _)| *place);
        pairs.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        Marking(pairs)
    }

    /// The tokens on a place.
    pub fn get(&self, place: Place) -> u64 {
        match self.0.binary_search_by_key(&place, |(p, _)| *p) {
            Ok(at) => self.0[at].1,
            Err(_) => 0,
        }
    }

    /// So many tokens on a place, whatever was there.
    pub fn set(&mut self, place: Place, tokens: u64) {
        match self.0.binary_search_by_key(&place, |(p, _)| *p) {
            Ok(at) if tokens == 0 => {
                self.0.remove(at);
            }
            Ok(at) => self.0[at].1 = tokens,
            Err(_) if tokens == 0 => {}
            Err(at) => self.0.insert(at, (place, tokens)),
        }
    }

    /// The places with tokens, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Place, u64)> + Clone + '_ {
        self.0.iter().copied()
    }

    /// The same as a slice.
    pub fn as_slice(&self) -> &[(Place, u64)] {
        &self.0
    }

    /// On how many places tokens lie.
    pub fn support_len(&self) -> usize {
        self.0.len()
    }

    /// Is there no token anywhere?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of tokens: the weight of Bingham and Hu 2005 (paper 004), Example 1.
    pub fn weight(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    /// Is there at least as much on every place?
    pub fn covers(&self, other: &Marking) -> bool {
        let mut mine = self.0.iter();
        'wanted: for (place, tokens) in &other.0 {
            for (p, n) in mine.by_ref() {
                if p == place {
                    if n < tokens {
                        return false;
                    }
                    continue 'wanted;
                }
                if p > place {
                    return false;
                }
            }
            return false;
        }
        true
    }

    fn merge(&self, other: &Marking, combine: impl Fn(u64, u64) -> u64) -> Marking {
        let (a, b) = (&self.0, &other.0);
        let mut merged = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let take_a = j == b.len() || (i < a.len() && a[i].0 <= b[j].0);
            let take_b = i == a.len() || (j < b.len() && b[j].0 <= a[i].0);
            let place = if take_a { a[i].0 } else { b[j].0 };
            let left = if take_a { a[i].1 } else { 0 };
            let right = if take_b { b[j].1 } else { 0 };
            i += usize::from(take_a);
            j += usize::from(take_b);
            let value = combine(left, right);
            if value > 0 {
                merged.push((place, value));
            }
        }
        Marking(merged)
    }

    /// The tokens of both.
    #[must_use]
    pub fn plus(&self, other: &Marking) -> Marking {
        self.merge(other, u64::saturating_add)
    }

    /// What is left when the other is taken away; where it has more, nothing is left.
    #[must_use]
    pub fn minus(&self, other: &Marking) -> Marking {
        self.merge(other, u64::saturating_sub)
    }

    /// The smallest marking that covers both.
    #[must_use]
    pub fn join(&self, other: &Marking) -> Marking {
        self.merge(other, u64::max)
    }
}

impl FromIterator<(Place, u64)> for Marking {
    fn from_iter<I: IntoIterator<Item = (Place, u64)>>(pairs: I) -> Marking {
        Marking::from_pairs(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_keeps_entries_sorted_and_positive() {
        let a = Marking::from_pairs([(3, 1), (1, 2), (3, 1), (7, 0)]);
        let b = Marking::from_pairs([(1, 2), (2, 5)]);
        assert_eq!(a.as_slice(), [(1, 2), (3, 2)]);
        assert_eq!(a.plus(&b).as_slice(), [(1, 4), (2, 5), (3, 2)]);
        assert_eq!(a.minus(&b).as_slice(), [(3, 2)]);
        assert_eq!(a.join(&b).as_slice(), [(1, 2), (2, 5), (3, 2)]);
        assert_eq!(a.weight(), 4);
        let mut c = a.clone();
        c.set(1, 0);
        c.set(2, 9);
        assert_eq!(c.as_slice(), [(2, 9), (3, 2)]);
    }

    #[test]
    fn covering_is_pointwise() {
        let a = Marking::from_pairs([(1, 2), (3, 2)]);
        assert!(a.covers(&Marking::new()));
        assert!(a.covers(&Marking::from_pairs([(3, 2)])));
        assert!(!a.covers(&Marking::from_pairs([(3, 3)])));
        assert!(!a.covers(&Marking::from_pairs([(2, 1)])));
        assert!(!a.covers(&Marking::from_pairs([(4, 1)])));
        assert!(a.covers(&a));
    }
}
