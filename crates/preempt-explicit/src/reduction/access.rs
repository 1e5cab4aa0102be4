//! What steps touch, as sets of bits, and when two steps may not change places.

/// What a step, or everything that may happen from some place on, touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Access {
    /// Slots of globals.
    pub reads: Bits,
    pub writes: Bits,
    /// Codes: one of its processes moves, or somebody looks where it stands or what it keeps.
    pub moves: Bits,
    pub looks: Bits,
    /// Channels: a message is put in, taken out, or what is in them decides more than whether one has to wait.
    pub sends: Bits,
    pub receives: Bits,
    pub polls: Bits,
    /// Sends that have to wait until somebody receives, and receives that wait for a message.
    pub full: Bits,
    pub empty: Bits,
    pub flags: Flags,
}

/// What a step has to do with which processes there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// Depends on whether somebody else could move, that is, on anything.
    pub everything: bool,
    /// Asks how many processes there are, or for one of them.
    pub asks: bool,
    pub starts: bool,
    pub ends: bool,
    /// Gives somebody a priority other than the usual one.
    pub prioritises: bool,
    /// Asks who moved last.
    pub asks_last: bool,
}

impl Access {
    pub fn new(slots: usize, codes: usize, channels: usize) -> Access {
        let (slots, codes, channels) = (Bits::new(slots), Bits::new(codes), Bits::new(channels));
        Access {
            reads: slots.clone(),
            writes: slots,
            moves: codes.clone(),
            looks: codes,
            sends: channels.clone(),
            receives: channels.clone(),
            polls: channels.clone(),
            full: channels.clone(),
            empty: channels,
            flags: Flags::default(),
        }
    }

    /// Says whether that was more than before.
    pub fn absorb(&mut self, other: &Access) -> bool {
        let flags = self.flags.or(other.flags);
        let more = flags != self.flags;
        self.flags = flags;
        self.reads.absorb(&other.reads)
            | self.writes.absorb(&other.writes)
            | self.moves.absorb(&other.moves)
            | self.looks.absorb(&other.looks)
            | self.sends.absorb(&other.sends)
            | self.receives.absorb(&other.receives)
            | self.polls.absorb(&other.polls)
            | self.full.absorb(&other.full)
            | self.empty.absorb(&other.empty)
            | more
    }

    /// A full or an empty channel makes nobody wait here: it decides what is done.
    pub fn never_waits(&mut self) {
        self.polls.absorb(&self.sends.clone());
        self.polls.absorb(&self.receives.clone());
    }

    /// May a step that could be made now conflict with something that others do before it?
    ///
    /// A message that can be sent now can be sent before or after others receive from that channel, and one that can be
    /// received now before or after others send, to the same effect. What cannot be sent or received yet is in `full`
    /// and `empty`. The death of a process is left to the caller: only the newest can die.
    pub fn conflicts_with(&self, other: &Access) -> bool {
        let (own, others) = (self.flags, other.flags);
        own.everything
            || others.everything
            || self.writes.meets(&other.writes)
            || self.writes.meets(&other.reads)
            || self.reads.meets(&other.writes)
            || self.moves.meets(&other.looks)
            || self.looks.meets(&other.moves)
            || self.sends.meets(&other.sends)
            || self.sends.meets(&other.polls)
            || self.receives.meets(&other.receives)
            || self.receives.meets(&other.polls)
            || self.polls.meets(&other.sends)
            || self.polls.meets(&other.receives)
            || self.full.meets(&other.receives)
            || self.empty.meets(&other.sends)
            || own.starts && (others.starts || others.ends || others.asks)
            || own.ends && (others.starts || others.asks)
            || own.asks && (others.starts || others.ends)
    }

    /// Does it change what an observer that does `seen` reads?
    pub fn is_seen(&self, seen: &Access) -> bool {
        seen.flags.everything
            || seen.flags.asks_last
            || self.writes.meets(&seen.reads)
            || self.moves.meets(&seen.looks)
            || self.sends.meets(&seen.polls)
            || self.receives.meets(&seen.polls)
            || seen.flags.asks && (self.flags.starts || self.flags.ends)
    }
}

impl Flags {
    fn or(self, other: Flags) -> Flags {
        Flags {
            everything: self.everything || other.everything,
            asks: self.asks || other.asks,
            starts: self.starts || other.starts,
            ends: self.ends || other.ends,
            prioritises: self.prioritises || other.prioritises,
            asks_last: self.asks_last || other.asks_last,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    pub fn insert(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    pub fn contains(&self, bit: usize) -> bool {
        self.0[bit / 64] & 1 << (bit % 64) != 0
    }

    pub fn absorb(&mut self, other: &Bits) -> bool {
        let mut changed = false;
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            changed |= *more & !*own != 0;
            *own |= more;
        }
        changed
    }

    pub fn remove(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= !other);
    }

    pub fn keep(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    #[inline]
    pub fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(own, other)| own & other != 0)
    }
}
