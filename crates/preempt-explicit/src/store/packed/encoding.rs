//! States as keys: the numbers of all pieces of a state, bit by bit one after the other. The key is exact and can be taken
//! apart again; a step changes only the numbers of the pieces that it has written.
//!
//! Each piece has as many bits as its numbers need, and one to spare while they are still becoming more. When a number no
//! longer fits, a new encoding is made and the table is packed anew. Where all numbers together need more than [`WIDE`] bits,
//! neighbours are paired: the pair's number stands for both, as in the tree of Laarman, van de Pol and Weber ("Parallel
//! recursive state compression for free", 2011), and pairs of pairs if need be.

use super::pieces::{ClassPieces, Leaf, Pieces};
use super::table::FLAGS;
use std::ops::Range;

/// At most [`WIDE`] bits: the last two bytes are free for whoever keeps it.
pub type Key = [u64; 2];

/// Keys with more bits than this have pairs.
const WIDE: u32 = 112;

/// Bits of a key in each of its words.
const LANES: [u8; 2] = [64, 48];

/// What of a key's second word is the key's.
pub const UPPER: u64 = (1 << LANES[1]) - 1;

/// The hash of a key. Its upper half says where the key belongs, and its uppermost bits are the best of that; its lower half is
/// the key's word ([`word_of`]).
#[inline]
pub fn hash_of(key: &Key) -> u64 {
    let mixed = mixed(key[0] >> 32 | key[1] << 32, key[1] >> 32);
    hash_with(key[0] as u32 ^ (mixed >> 32) as u32, mixed)
}

/// Of the key with this word and this rest, as for [`key_of`].
#[inline]
pub fn hash_of_parts(word: u32, rest: u128) -> u64 {
    hash_with(word, mixed(rest as u64, (rest >> 64) as u64))
}

#[inline]
fn hash_with(word: u32, mixed: u64) -> u64 {
    let all = (u64::from(word) << 32 | mixed & 0xFFFF_FFFF).wrapping_mul(0x9FB2_1C65_1E98_DF25);
    all & !0xFFFF_FFFF | u64::from(word)
}

/// Four bytes that depend on all others, and from which, with the key but for its first four, those can be told.
#[inline]
pub fn word_of(hash: u64) -> u32 {
    hash as u32
}

/// The key with this word and what follows its first four bytes.
#[inline]
pub fn key_of(word: u32, rest: u128) -> Key {
    let first = word ^ (mixed(rest as u64, (rest >> 64) as u64) >> 32) as u32;
    [u64::from(first) | (rest as u64) << 32, (rest >> 32) as u64]
}

/// What follows the first four bytes of a key, mixed.
#[inline]
fn mixed(rest: u64, end: u64) -> u64 {
    (rest ^ end.rotate_left(41)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Where a number lies in the key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Field {
    lane: u8,
    shift: u8,
    bits: u8,
}

impl Field {
    #[inline]
    pub fn get(self, key: &Key) -> u64 {
        key[usize::from(self.lane & 1)] >> self.shift & ((1 << self.bits) - 1)
    }

    /// The word of the key, by how much that is shifted, and which bits are left then.
    pub fn place(self) -> (u8, u8, u64) {
        (self.lane, self.shift, (1 << self.bits) - 1)
    }

    /// All its bits.
    fn mask(self) -> Key {
        let mut mask = [0, 0];
        mask[usize::from(self.lane & 1)] = ((1 << self.bits) - 1) << self.shift;
        mask
    }

    /// Instead of what is there. False if it does not fit.
    #[inline]
    fn set(self, key: &mut Key, number: u64) -> bool {
        let was = self.get(key);
        key[usize::from(self.lane & 1)] ^= (was ^ number) << self.shift;
        number >> self.bits == 0
    }
}

/// Two numbers that are kept as one.
#[derive(Debug, Clone, Copy)]
struct Pair {
    left: u32,
    right: u32,
    kind: u32,
}

/// A leaf that has not the same number in all states, and where that lies.
#[derive(Debug, Clone)]
struct Changing {
    field: Field,
    mask: Key,
    leaf: Leaf,
}

impl Changing {
    #[inline]
    fn write(&self, pieces: &Pieces, key: &Key, state: &mut [u8]) {
        self.leaf.write(state, pieces.words(self.leaf.kind).word(self.field.get(key) as u32));
    }
}

/// How the states of one class are packed. Its numbers are those of the leaves, then of the pairs, children first.
#[derive(Debug, Clone, Default)]
struct ClassCode {
    /// How many there are.
    leaves: u32,
    /// Of the leaves, where there are no pairs.
    fields: Vec<Field>,
    pairs: Vec<Pair>,
    /// Where there are: the numbers that are in no pair.
    roots: Vec<(u32, Field)>,
    /// Where there are none: a state in which everything is written that never changes, and the leaves that do.
    template: Vec<u8>,
    changing: Vec<Changing>,
}

impl ClassCode {
    /// What never changes is written once. (If the number has no bits, there is one at the most.)
    fn prepare(&mut self, pieces: &Pieces, class: &ClassPieces) {
        self.changing.clear();
        self.template.clear();
        if self.pairs.is_empty() {
            self.template.extend_from_slice(class.blank());
            for (leaf, field) in class.leaves.iter().zip(&self.fields) {
                match field.bits {
                    0 => leaf.write(&mut self.template, pieces.words(leaf.kind).word(0)),
                    _ => self.changing.push(Changing { field: *field, mask: field.mask(), leaf: *leaf }),
                }
            }
        }
    }
}

/// How often the numbers of each class are paired; it never becomes less.
#[derive(Debug, Default)]
pub struct Folding(Vec<u32>);

#[derive(Debug)]
pub struct Encoding {
    classes: Vec<ClassCode>,
    /// The lowest bits of a key.
    class_field: Field,
    class_mask: u32,
    /// Bytes of a key, and of what is known of a state.
    pub key_bytes: usize,
    pub known_bytes: usize,
}

/// A state that successors are compared with.
#[derive(Debug, Default)]
pub struct Source {
    /// Among those that were met.
    pub class: u32,
    pub key: Key,
    /// All of them where there are pairs, else none.
    numbers: Vec<u32>,
}

/// How many numbers more than there are have room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spare {
    /// If it costs no byte more than much.
    Ample,
    Much,
    Some,
    Nothing,
}

fn bits_for(count: u64) -> u8 {
    if count <= 1 { 0 } else { (64 - (count - 1).leading_zeros()) as u8 }
}

impl Encoding {
    /// For everything that was met. `before` are how many numbers there were of each kind the last time: those that become
    /// more have a bit to spare. If `most_processes` is given, there is room for what is known of so many; if `is_large`, no bit
    /// of a key's last byte is left unused, since another encoding would take long.
    pub fn new(
        pieces: &mut Pieces,
        folding: &mut Folding,
        before: &mut Vec<u32>,
        (most_processes, is_large): (Option<usize>, bool),
        each_key: &mut dyn FnMut(&Encoding, &Pieces),
    ) -> Encoding {
        let known_bytes = most_processes.map_or(0, |most| (most + FLAGS).div_ceil(8));
        let count = pieces.classes().len();
        folding.0.resize(count, 0);
        loop {
            let mut classes = Vec::with_capacity(count);
            for class in 0..count {
                classes.push(class_code(pieces, class, folding.0[class]));
            }
            let mut made = Encoding {
                classes,
                class_field: Field::default(),
                class_mask: 0,
                key_bytes: 16,
                known_bytes,
            };
            if folding.0.iter().any(|times| *times > 0) {
                // Pairs are numbered before their numbers are given bits.
                each_key(&made, pieces);
            }
            before.resize(pieces.kinds(), 0);
            let bits = |spare: Spare| -> Vec<u8> {
                let of_kind = |kind: usize| {
                    let (now, then) = (u64::from(pieces.words(kind as u32).len()), u64::from(before[kind]));
                    let room = match spare {
                        // What has never changed has no bits: that is known of every state as long as this encoding is used.
                        _ if now <= 1 => now,
                        Spare::Ample if now > then => 4 * now,
                        Spare::Much if now > then => 2 * now,
                        Spare::Some if now > then + then / 10 => 2 * now,
                        Spare::Some if now > then => now + now / 8 + 1,
                        _ => now,
                    };
                    bits_for(room)
                };
                (0..pieces.kinds()).map(of_kind).collect()
            };
            // Rather less to spare than pairs.
            let (mut wide, mut given) = (None, Vec::new());
            for spare in [Spare::Much, Spare::Some, Spare::Nothing] {
                given = bits(spare);
                wide = made.lay_out(pieces, &given);
                if wide.is_none() || (spare == Spare::Some && folding.0.iter().any(|times| *times > 0)) {
                    break;
                }
            }
            if wide.is_none() {
                made.give_freely(pieces, &mut given, &bits(Spare::Ample));
                if is_large {
                    made.fill_up(pieces, &mut given);
                }
            }
            let Some(wide) = wide else {
                made.classes.iter_mut().zip(pieces.classes()).for_each(|(code, of)| code.prepare(pieces, of));
                for (kind, before) in before.iter_mut().enumerate() {
                    *before = pieces.words(kind as u32).len();
                }
                return made;
            };
            folding.0[wide] += 1;
        }
    }

    /// Lays out with more bits, if that costs no byte. Says whether it was so.
    fn give_freely(&mut self, pieces: &Pieces, bits: &mut Vec<u8>, more: &[u8]) -> bool {
        let bytes = self.key_bytes;
        let costs_nothing = self.lay_out(pieces, more).is_none() && self.key_bytes == bytes;
        if costs_nothing {
            bits.clear();
            bits.extend_from_slice(more);
        } else {
            self.lay_out(pieces, bits);
        }
        costs_nothing
    }

    /// Gives bits that would be unused to kinds that may become more, those first that have the least room.
    fn fill_up(&mut self, pieces: &Pieces, bits: &mut Vec<u8>) {
        let count = |kind: usize| u64::from(pieces.words(kind as u32).len());
        let mut kinds: Vec<usize> = (0..bits.len()).filter(|kind| bits[*kind] > 0).collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse((count(*kind) << 32) >> bits[*kind]));
        for kind in kinds {
            let mut more = bits.clone();
            more[kind] += 1;
            self.give_freely(pieces, bits, &more);
        }
    }

    /// Gives every number its place; which class needs too many bits, if one does.
    fn lay_out(&mut self, pieces: &Pieces, bits: &[u8]) -> Option<usize> {
        let class_count = self.classes.len() as u64;
        let class_bits = bits_for(if class_count > 1 { class_count + 2 } else { 1 });
        self.class_field = Field { lane: 0, shift: 0, bits: class_bits };
        self.class_mask = (1 << class_bits) - 1;
        self.key_bytes = 4;
        for (number, class) in self.classes.iter_mut().enumerate() {
            let leaves = &pieces.classes()[number].leaves;
            let kind = |node: usize| match node.checked_sub(leaves.len()) {
                None => leaves[node].kind,
                Some(pair) => class.pairs[pair].kind,
            };
            let nodes: Vec<usize> = match class.pairs.is_empty() {
                true => (0..leaves.len()).collect(),
                false => class.roots.iter().map(|(node, _)| *node as usize).collect(),
            };
            let mut order: Vec<(usize, u8)> =
                nodes.iter().map(|node| bits[kind(*node) as usize]).enumerate().collect();
            let total = u32::from(class_bits) + order.iter().map(|(_, bits)| u32::from(*bits)).sum::<u32>();
            if total > WIDE && nodes.len() > 2 {
                return Some(number);
            }
            order.sort_by_key(|(_, bits)| std::cmp::Reverse(*bits));
            let mut used = [class_bits, 0];
            let mut fields = vec![Field::default(); nodes.len()];
            for (at, bits) in order {
                let lane = usize::from(used[0] + bits > LANES[0]);
                if used[lane] + bits > LANES[lane] {
                    return Some(number);
                }
                let shift = if bits == 0 { 0 } else { used[lane] };
                fields[at] = Field { lane: lane as u8, shift, bits };
                used[lane] += bits;
            }
            let bytes = if used[1] > 0 { 8 + used[1].div_ceil(8) } else { used[0].div_ceil(8) };
            self.key_bytes = self.key_bytes.max(usize::from(bytes));
            match class.pairs.is_empty() {
                true => class.fields = fields,
                false => class.roots.iter_mut().zip(fields).for_each(|((_, place), field)| *place = field),
            }
        }
        None
    }

    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Where the class is, and then the number of each piece; `None` if some are paired.
    pub fn fields(&self, class: usize) -> Option<impl Iterator<Item = Field>> {
        let code = self.classes.get(class).filter(|code| code.pairs.is_empty())?;
        Some(std::iter::once(self.class_field).chain(code.fields.iter().copied()))
    }

    /// The class and the numbers of a key's pieces; those of pairs follow them.
    #[inline]
    pub fn take_apart(&self, pieces: &Pieces, key: &Key, numbers: &mut Vec<u32>) -> u32 {
        let class = self.class_of(key);
        let code = &self.classes[class as usize];
        numbers.clear();
        if code.pairs.is_empty() {
            numbers.extend(code.fields.iter().map(|field| field.get(key) as u32));
            return class;
        }
        let leaves = pieces.classes()[class as usize].leaves.len();
        numbers.resize(leaves + code.pairs.len(), 0);
        for (node, field) in &code.roots {
            numbers[*node as usize] = field.get(key) as u32;
        }
        for (at, pair) in code.pairs.iter().enumerate().rev() {
            let word = pieces.words(pair.kind).word(numbers[leaves + at]);
            numbers[pair.left as usize] = word as u32;
            numbers[pair.right as usize] = (word >> 32) as u32;
        }
        class
    }

    /// The state of a key, and the numbers of its pieces if there are pairs.
    #[inline]
    pub fn open(&self, pieces: &Pieces, key: &Key, numbers: &mut Vec<u32>, state: &mut Vec<u8>) {
        let class = self.class_of(key);
        let code = &self.classes[class as usize];
        if !code.pairs.is_empty() {
            self.take_apart(pieces, key, numbers);
            return pieces.open(class, numbers, state);
        }
        state.clear();
        state.extend_from_slice(&code.template);
        code.changing.iter().for_each(|leaf| leaf.write(pieces, key, state));
    }

    /// The class of a key's state, among those that were met.
    #[inline]
    pub fn class_of(&self, key: &Key) -> u32 {
        key[0] as u32 & self.class_mask
    }

    /// Where the number is that says, perhaps with others, what the piece at this place of the state holds.
    pub fn field_at(&self, pieces: &Pieces, class: u32, offset: usize) -> Option<Field> {
        let leaf = pieces.classes()[class as usize].leaf_at(offset)?;
        self.field_of(class, leaf)
    }

    fn field_of(&self, class: u32, leaf: usize) -> Option<Field> {
        let code = &self.classes[class as usize];
        if code.pairs.is_empty() {
            return code.fields.get(leaf).copied();
        }
        let (mut node, leaves) = (leaf as u32, code.leaves);
        for (at, pair) in code.pairs.iter().enumerate() {
            if pair.left == node || pair.right == node {
                node = leaves + at as u32;
            }
        }
        code.roots.iter().find(|(root, _)| *root == node).map(|(_, field)| *field)
    }

    /// Is there nothing but one content of this stretch, in all states of the class that have a key?
    pub fn is_constant(&self, pieces: &Pieces, class: u32, stretch: &Range<usize>) -> bool {
        let mut leaves = pieces.classes()[class as usize].leaves_in(std::slice::from_ref(stretch));
        leaves.all(|leaf| self.field_of(class, leaf).is_some_and(|field| field.bits == 0))
    }

    /// The bits of a key that say its class and everything that its state holds in these stretches.
    pub fn mask_of(&self, pieces: &Pieces, class: u32, stretches: &[Range<usize>]) -> Key {
        let mut mask = self.class_field.mask();
        for leaf in pieces.classes()[class as usize].leaves_in(stretches) {
            let bits = self.field_of(class, leaf).unwrap_or_default().mask();
            mask = [mask[0] | bits[0], mask[1] | bits[1]];
        }
        mask
    }

    /// The key of pieces with these numbers; numbers of pairs are found or given. `None` if one does not fit.
    pub fn put_together(&self, pieces: &Pieces, class: u32, numbers: &mut Vec<u32>) -> Option<Key> {
        let code = self.classes.get(class as usize)?;
        let mut key = [0, 0];
        let mut fits = self.class_field.set(&mut key, class.into());
        if code.pairs.is_empty() {
            for (field, number) in code.fields.iter().zip(numbers) {
                fits &= field.set(&mut key, u64::from(*number));
            }
            return fits.then_some(key);
        }
        numbers.truncate(pieces.classes()[class as usize].leaves.len());
        for pair in &code.pairs {
            numbers.push(pieces.words(pair.kind).number(pair_word(numbers, pair))?);
        }
        for (node, field) in &code.roots {
            fits &= field.set(&mut key, u64::from(numbers[*node as usize]));
        }
        fits.then_some(key)
    }

    /// The key of a state that was met in whatever way. `None` if it does not fit.
    pub fn encode(&self, pieces: &Pieces, class: u32, state: &[u8]) -> Option<Key> {
        let leaves = &pieces.classes()[class as usize].leaves;
        let mut numbers = Vec::with_capacity(2 * leaves.len());
        for leaf in leaves {
            numbers.push(pieces.words(leaf.kind).number(leaf.read(state))?);
        }
        self.put_together(pieces, class, &mut numbers)
    }

    /// Opens a state whose successors will be encoded, in the place of the state of another key (`before`), if there is one: what
    /// they have in common is not written again.
    #[inline]
    pub fn open_source(
        &self,
        pieces: &Pieces,
        source: &mut Source,
        before: Option<Key>,
        state: &mut Vec<u8>,
    ) {
        let Source { class, key, numbers } = source;
        let code = &self.classes[*class as usize];
        let before = before.filter(|before| code.pairs.is_empty() && self.class_of(before) == *class);
        let Some(before) = before else { return self.open(pieces, key, numbers, state) };
        let differs = [before[0] ^ key[0], before[1] ^ key[1]];
        for leaf in &code.changing {
            if differs[0] & leaf.mask[0] | differs[1] & leaf.mask[1] != 0 {
                leaf.write(pieces, key, state);
            }
        }
    }

    /// As [`Encoding::encode`], for a successor of the same class: only what has changed is looked up.
    #[inline]
    pub fn encode_successor(
        &self,
        pieces: &Pieces,
        source: &Source,
        before: &[u8],
        state: &[u8],
    ) -> Option<Key> {
        let code = &self.classes[source.class as usize];
        if !code.pairs.is_empty() {
            return self.encode_paired(pieces, source, before, state);
        }
        let mut key = source.key;
        let fits = pieces.classes()[source.class as usize].each_changed(before, state, |at, leaf, word| {
            let Some(number) = pieces.words(leaf.kind).number(word) else { return false };
            code.fields[at].set(&mut key, u64::from(number))
        });
        fits.then_some(key)
    }

    fn encode_paired(&self, pieces: &Pieces, source: &Source, before: &[u8], state: &[u8]) -> Option<Key> {
        let code = &self.classes[source.class as usize];
        let leaves = &pieces.classes()[source.class as usize].leaves;
        let mut numbers = source.numbers.clone();
        let is_numbered =
            pieces.classes()[source.class as usize].each_changed(before, state, |at, leaf, word| {
                let Some(number) = pieces.words(leaf.kind).number(word) else { return false };
                numbers[at] = number;
                true
            });
        if !is_numbered {
            return None;
        }
        for (at, pair) in code.pairs.iter().enumerate() {
            let is_other = |node: u32| numbers[node as usize] != source.numbers[node as usize];
            if is_other(pair.left) || is_other(pair.right) {
                numbers[leaves.len() + at] = pieces.words(pair.kind).number(pair_word(&numbers, pair))?;
            }
        }
        let mut key = source.key;
        let fits =
            code.roots.iter().all(|(node, field)| field.set(&mut key, u64::from(numbers[*node as usize])));
        fits.then_some(key)
    }

    /// Has it a place for the states of this class?
    #[inline]
    pub fn knows(&self, class: u32) -> bool {
        (class as usize) < self.classes.len()
    }

    pub fn bytes(&self) -> u64 {
        let of_class = |code: &ClassCode| {
            code.fields.capacity() * size_of::<Field>()
                + code.pairs.capacity() * size_of::<Pair>()
                + code.roots.capacity() * size_of::<(u32, Field)>()
                + code.template.capacity()
                + code.changing.capacity() * size_of::<Changing>()
        };
        self.classes.iter().map(of_class).sum::<usize>() as u64
    }
}

#[inline]
fn pair_word(numbers: &[u32], pair: &Pair) -> u64 {
    u64::from(numbers[pair.left as usize]) | u64::from(numbers[pair.right as usize]) << 32
}

/// The class's numbers, neighbours paired so many times.
fn class_code(pieces: &mut Pieces, class: usize, times: u32) -> ClassCode {
    let kinds: Vec<u32> = pieces.classes()[class].leaves.iter().map(|leaf| leaf.kind).collect();
    let mut code = ClassCode { leaves: kinds.len() as u32, ..ClassCode::default() };
    let nodes = kinds.iter().enumerate().map(|(at, kind)| (at as u32, *kind));
    // What has never changed stays apart.
    let (constant, mut nodes): (Vec<_>, Vec<_>) =
        nodes.partition(|(_, kind)| times > 0 && pieces.words(*kind).len() <= 1);
    for _ in 0..times {
        let mut folded = Vec::new();
        for two in nodes.chunks(2) {
            let [(left, left_kind), (right, right_kind)] = *two else {
                folded.extend_from_slice(two);
                continue;
            };
            let kind = pieces.pair(left_kind, right_kind);
            folded.push(((kinds.len() + code.pairs.len()) as u32, kind));
            code.pairs.push(Pair { left, right, kind });
        }
        nodes = folded;
    }
    if !code.pairs.is_empty() {
        let roots = nodes.into_iter().chain(constant);
        code.roots = roots.map(|(node, _)| (node, Field::default())).collect();
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::packed::pieces::sample::{parts, state_of};

    /// In the place of the state before it, a state is the same as alone.
    #[test]
    fn states_opened_over_others_are_whole() {
        let (mut pieces, mut folding, mut before) = (Pieces::default(), Folding::default(), Vec::new());
        let parts = parts();
        pieces.add(0, vec![0; parts.last().map_or(0, |part| part.end)], &parts);
        let states: Vec<_> = (0..100).map(state_of).collect();
        for state in &states {
            for leaf in &pieces.classes()[0].leaves {
                pieces.words(leaf.kind).number(leaf.read(state)).expect("there is room");
            }
        }
        let made = Encoding::new(&mut pieces, &mut folding, &mut before, (None, true), &mut |_, _| ());
        assert!(made.fields(0).is_some(), "no pairs");
        let (mut opened, mut source, mut last) = (Vec::new(), Source::default(), None);
        for round in 0..1000 {
            // The next one with some parts of the one before.
            let mut state = states[round * 37 % states.len()].clone();
            let other = &states[(round * 37 + 37 * (round % 2)) % states.len()];
            state[12..].copy_from_slice(&other[12..]);
            source.key = made.encode(&pieces, 0, &state).expect("all its words were met");
            let before = last.replace(source.key);
            made.open_source(&pieces, &mut source, before, &mut opened);
            assert_eq!(opened, state);
        }
    }
}
