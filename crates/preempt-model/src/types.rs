//! Finite domains: how many bits a value keeps, and how it is shown.

/// The domain of a variable or of a message field. Assigning a value keeps its low bits, as C does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type {
    /// 1 to 32.
    pub bits: u8,
    /// Is the highest of them the sign?
    pub signed: bool,
    /// What the number stands for.
    pub kind: ValueKind,
}

/// What the number stands for; it decides only how a value is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// A number.
    Number,
    /// Truth: 0 or 1.
    Boolean,
    /// A symbolic constant of this set (an index into the model's symbol sets).
    Symbol(u16),
    /// A channel's number; 0 is no channel.
    Channel,
    /// A process by its number.
    Process,
}

impl Type {
    /// `bit`.
    pub const BIT: Type = Type::unsigned(1);
    /// `bool`.
    pub const BOOL: Type = Type { bits: 1, signed: false, kind: ValueKind::Boolean };
    /// `byte`.
    pub const BYTE: Type = Type::unsigned(8);
    /// `pid`.
    pub const PID: Type = Type { bits: 8, signed: false, kind: ValueKind::Process };
    /// `chan`.
    pub const CHANNEL: Type = Type { bits: 8, signed: false, kind: ValueKind::Channel };
    /// `short`.
    pub const SHORT: Type = Type { bits: 16, signed: true, kind: ValueKind::Number };
    /// `int`.
    pub const INT: Type = Type { bits: 32, signed: true, kind: ValueKind::Number };

    /// So many bits without a sign.
    pub const fn unsigned(bits: u8) -> Type {
        Type { bits, signed: false, kind: ValueKind::Number }
    }

    /// A constant of this set of symbols.
    pub const fn symbol(set: u16) -> Type {
        Type { bits: 8, signed: false, kind: ValueKind::Symbol(set) }
    }

    /// The value that a variable of this type holds after `value` was assigned to it.
    pub fn wrap(self, value: i32) -> i32 {
        let shift = 32 - u32::from(self.bits.clamp(1, 32));
        let raised = value.wrapping_shl(shift);
        if self.signed { raised.wrapping_shr(shift) } else { ((raised as u32) >> shift) as i32 }
    }
}

#[cfg(test)]
mod tests {
    use super::Type;

    #[test]
    fn assignment_keeps_the_low_bits() {
        assert_eq!(Type::BYTE.wrap(256), 0);
        assert_eq!(Type::BYTE.wrap(-1), 255);
        assert_eq!(Type::BIT.wrap(2), 0);
        assert_eq!(Type::SHORT.wrap(32768), -32768);
        assert_eq!(Type::INT.wrap(i32::MIN), i32::MIN);
        assert_eq!(Type::unsigned(5).wrap(33), 1);
        assert_eq!(Type::unsigned(32).wrap(-1), -1);
    }
}
