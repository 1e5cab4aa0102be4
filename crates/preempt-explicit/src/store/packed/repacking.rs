//! Keys of one encoding as keys of a later one. Where no numbers are paired, each number is moved to its new place, and neighbours
//! that stay neighbours are moved together; the others are taken apart and put together again.

use super::encoding::{Encoding, Field, Key};
use super::pieces::Pieces;

pub struct Repacking<'e> {
    pieces: &'e Pieces,
    old: &'e Encoding,
    new: &'e Encoding,
    /// By class: what is moved; `None` where there are pairs.
    moves: Vec<Option<Vec<Move>>>,
}

/// Some bits of a word of a key, turned to where they belong in a word of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Move {
    from: u8,
    to: u8,
    turn: u32,
    mask: u64,
}

impl Move {
    fn of((old, new): (Field, Field)) -> Option<Move> {
        let ((from, was, bits), (to, is, _)) = (old.place(), new.place());
        let turn = (64 + u32::from(is) - u32::from(was)) % 64;
        (bits != 0).then_some(Move { from, to, turn, mask: bits << was })
    }

    fn goes_with(&self, other: &Move) -> bool {
        (self.from, self.to, self.turn) == (other.from, other.to, other.turn)
    }
}

impl<'e> Repacking<'e> {
    pub fn new(pieces: &'e Pieces, old: &'e Encoding, new: &'e Encoding) -> Repacking<'e> {
        let moves = (0..old.class_count()).map(|class| {
            let mut moves: Vec<Move> = Vec::new();
            for found in old.fields(class)?.zip(new.fields(class)?).filter_map(Move::of) {
                match moves.iter_mut().find(|known| known.goes_with(&found)) {
                    Some(known) => known.mask |= found.mask,
                    None => moves.push(found),
                }
            }
            Some(moves)
        });
        Repacking { pieces, old, new, moves: moves.collect() }
    }

    #[inline]
    pub fn key(&self, key: &Key, numbers: &mut Vec<u32>) -> Key {
        let Some(moves) = &self.moves[self.old.class_of(key) as usize] else {
            return self.by_numbers(key, numbers);
        };
        let mut made = [0, 0];
        for Move { from, to, turn, mask } in moves {
            made[usize::from(*to & 1)] |= (key[usize::from(*from & 1)] & mask).rotate_left(*turn);
        }
        debug_assert_eq!(made, self.by_numbers(key, numbers));
        made
    }

    fn by_numbers(&self, key: &Key, numbers: &mut Vec<u32>) -> Key {
        let class = self.old.take_apart(self.pieces, key, numbers);
        // The new encoding was made for all numbers that there are.
        let key = self.new.put_together(self.pieces, class, numbers);
        debug_assert!(key.is_some(), "a key that was not shown when the encoding was made");
        key.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::packed::encoding::Folding;
    use crate::store::packed::pieces::sample::{parts, state_of};

    /// Numbers become more, so that fields become wider, cross from word to word, and are paired in the end.
    #[test]
    fn moved_keys_are_those_of_their_numbers() {
        let (mut pieces, mut folding, mut before) = (Pieces::default(), Folding::default(), Vec::new());
        let parts = parts();
        pieces.add(0, vec![0; parts.last().map_or(0, |part| part.end)], &parts);
        let (mut known, mut old) = (Vec::new(), None);
        let (mut moved, mut paired) = (0, 0);
        for round in 0..40u64 {
            for number in 0..1 << (round / 4) {
                let state = state_of(round * 7919 + number);
                for leaf in &pieces.classes()[0].leaves {
                    pieces.words(leaf.kind).number(leaf.read(&state)).expect("there is room");
                }
                known.push(state);
            }
            let mut number_pairs = |made: &Encoding, pieces: &Pieces| {
                for state in &known {
                    made.encode(pieces, 0, state);
                }
            };
            let new = Encoding::new(&mut pieces, &mut folding, &mut before, (None, false), &mut number_pairs);
            if let Some(old) = &old {
                let repacking = Repacking::new(&pieces, old, &new);
                for state in &known {
                    let Some(key) = old.encode(&pieces, 0, state) else { continue };
                    assert_eq!(Some(repacking.key(&key, &mut Vec::new())), new.encode(&pieces, 0, state));
                    *(if repacking.moves[0].is_some() { &mut moved } else { &mut paired }) += 1;
                }
            }
            old = Some(new);
        }
        assert!(moved > 1000 && paired > 0, "{moved} {paired}");
    }
}
