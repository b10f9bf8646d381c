//! Commands of translations by version of V8, `src/deoptimizer/translation-opcode.h`.

use super::Column;

/// What a command of a translation says, and how many operands it has where that differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// A translation begins.
    Begin,
    /// The frame of a function follows: where in its bytecode, which literal it is, and more.
    Function(u8),
    /// That of a builtin that is JavaScript to others.
    Builtin,
    /// The next function is called by `new`.
    Construct(u8),
    /// A frame that stack traces do not show.
    Frame(u8),
    /// A literal.
    Literal,
    /// A slot of the frame that holds a tagged value.
    Slot,
    /// A number, in a register or a slot.
    Number,
    /// A boolean, likewise.
    Boolean,
    /// An integer of any length, likewise.
    BigInt,
    /// An object that was never made: so many values follow, its map first.
    Captured,
    /// A string that was never put together: two values follow.
    Concatenated,
    /// An object that came before.
    Duplicated,
    /// The elements of `arguments`, an object.
    Elements,
    /// A value that nothing is told of, with so many operands.
    Unknown(u8),
    /// Where feedback goes.
    Feedback,
    /// So many commands are those of another translation.
    MatchPrevious,
}

use Command::{
    Begin, BigInt, Boolean, Builtin, Captured, Concatenated, Construct, Duplicated, Elements,
    Feedback, Frame, Function, Literal, MatchPrevious, Number, Slot, Unknown,
};

impl Command {
    /// How many operands it has.
    pub const fn operands(self) -> u8 {
        match self {
            Begin | Builtin => 3,
            Feedback => 2,
            Function(count) | Construct(count) | Frame(count) | Unknown(count) => count,
            Concatenated => 0,
            Literal | Slot | Number | Boolean | BigInt | Captured | Duplicated | Elements
            | MatchPrevious => 1,
        }
    }
}

/// The commands of a version, by number.
pub fn commands(column: Column) -> &'static [Command] {
    match column {
        _ if column.is_since(13, 6) => SINCE_13,
        _ if column.is_since(12, 4) => OF_12,
        _ if column.is_since(11, 3) => OF_11,
        _ => BEFORE_11,
    }
}

#[rustfmt::skip]
const BEFORE_11: &[Command] = &[
    Frame(2), Elements, Unknown(0), Begin, Boolean, Boolean, Frame(3), Captured, Construct(3),
    // Doubles, floats, and integers of 32 and 64 bits.
    Number, Number, Duplicated, Number, Number, Number, Number, Number, Number,
    Function(5), Builtin, Builtin, Frame(4), Literal, Unknown(1), Slot, Number, Number, Feedback,
];

#[rustfmt::skip]
const OF_11: &[Command] = &[
    Elements, Unknown(0), Begin, Begin, Boolean, Boolean, Frame(3), Captured, Construct(3),
    Number, Number, Duplicated, Number, Number, Frame(2), Number, Number, Number, Number,
    BigInt, BigInt, BigInt, BigInt, Function(5), Function(3), Builtin, Builtin, Frame(4),
    Unknown(0), Literal, Unknown(1), Slot, Number, Number, Feedback, MatchPrevious,
];

#[rustfmt::skip]
const OF_12: &[Command] = &[
    Function(5), Function(3), Builtin, Builtin, Construct(2), Construct(1), Frame(3), Frame(4),
    Frame(3), Frame(2), Elements, Unknown(0), Begin, Begin, Boolean, Boolean, Captured,
    Number, Number, Number, Number, Duplicated, Number, Number, Number, Number, Number, Number,
    BigInt, BigInt, BigInt, BigInt, Unknown(0), Literal, Unknown(1), Slot, Number, Number, Feedback,
    MatchPrevious,
];

#[rustfmt::skip]
const SINCE_13: &[Command] = &[
    Function(6), Function(4), Builtin, Builtin, Construct(2), Construct(1), Frame(3), Frame(4),
    Frame(3), Frame(3), Frame(3), Elements, Unknown(0), Unknown(0), Begin, Begin, Boolean, Boolean,
    Captured, Concatenated, Number, Number, Unknown(1), Number, Number, Unknown(1), Duplicated,
    Number, Number, Number, Number, Number, Number, BigInt, BigInt, BigInt, BigInt, Unknown(0),
    Literal, Unknown(1), Slot, Number, Number, Feedback, MatchPrevious,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_commands_as_v8_counts() {
        let counts = Column::all().map(|column| commands(column).len()).collect::<Vec<_>>();
        let (before_13, since_13) = counts.split_at(4);
        assert_eq!(before_13, [28, 28, 36, 40]);
        assert!(since_13.iter().all(|count| *count == 45));
    }

    #[test]
    fn operands_are_as_many_as_v8_counts() {
        // `TranslationOpcodeOperandCount` of the programs of Node.js 16, 20, 22 and 24.
        let sums = [BEFORE_11, OF_11, OF_12, SINCE_13]
            .map(|table| table.iter().map(|command| u64::from(command.operands())).sum::<u64>());
        assert_eq!(sums, [46, 57, 62, 70]);
    }
}
