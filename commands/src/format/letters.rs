//! The letters of format lists.

/// A format letter.
#[derive(Debug, PartialEq, Eq)]
pub struct Letter {
    /// The letter.
    pub letter: char,
    /// What it does.
    pub action: Action,
    /// How many bytes one item takes.
    pub size: Size,
    /// What `::formats` says of it.
    pub help: &'static str,
}

/// How many bytes one item takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A fixed number.
    Bytes(usize),
    /// As many as a pointer has.
    Pointer,
    /// It depends on the bytes.
    Variable,
    /// None, and `::formats` does not mention it.
    Nothing,
}

/// What a letter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An integer, padded to a number of columns.
    Integer(Style, usize),
    /// The same in hexadecimal, one column wider when all 16 digits are there.
    WideHex,
    /// The bits.
    Binary,
    /// The bits, with an arm for each that is set.
    Jazzed,
    /// A symbol with offset.
    Symbol,
    /// A floating-point number with this many digits behind the point.
    Float(usize),
    /// A time in seconds.
    Time,
    /// A character.
    Character(Text),
    /// A string up to its NUL.
    String(Text),
    /// An instruction.
    Instruction,
    /// An instruction with its address and first bytes.
    RawInstruction,
    /// Dot as a label.
    Label,
    /// Line ends.
    Newline,
    /// Blanks.
    Blank,
    /// Blanks up to a stop.
    Tab,
    /// Dot moves forward.
    Forward,
    /// Dot moves back.
    Backward,
    /// Dot moves back over the previous item.
    Back,
    /// A search for a value.
    Match,
    /// A write, which shows nothing.
    Write,
}

/// How an integer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Hexadecimal.
    Hex,
    /// Hexadecimal, the bytes in the other order.
    SwappedHex,
    /// Unsigned decimal.
    Unsigned,
    /// Signed decimal.
    Signed,
    /// Octal with a leading zero.
    ZeroOctal,
    /// Octal.
    Octal,
    /// Signed octal with a leading zero.
    SignedZeroOctal,
    /// Signed octal.
    SignedOctal,
    /// In the radix of the session.
    Radix,
}

/// How characters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// As they are.
    Raw,
    /// With the escapes of C.
    Escaped,
}

impl Letter {
    /// Whether it writes when it is the first of a list.
    pub const fn is_write(&self) -> bool {
        matches!(self.letter, 'v' | 'w' | 'W' | 'z' | 'Z')
    }

    /// What `::formats` says of its size.
    pub fn size_words(&self, pointer: usize) -> Option<String> {
        let bytes = match self.size {
            Size::Bytes(bytes) => bytes,
            Size::Pointer => pointer,
            Size::Variable => return Some("variable size".to_owned()),
            Size::Nothing => return None,
        };
        Some(if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") })
    }
}

/// The letter that `letter` is.
pub fn find(letter: char) -> Option<&'static Letter> {
    LETTERS.iter().find(|known| known.letter == letter)
}

const fn row(letter: char, action: Action, size: Size, help: &'static str) -> Letter {
    Letter { letter, action, size, help }
}

const fn integer(
    letter: char,
    style: Style,
    bytes: usize,
    width: usize,
    help: &'static str,
) -> Letter {
    row(letter, Action::Integer(style, width), Size::Bytes(bytes), help)
}

/// Every letter, in the order of `::formats`.
pub const LETTERS: &[Letter] = &[
    row('+', Action::Forward, Size::Variable, "increment dot by the count"),
    row('-', Action::Backward, Size::Variable, "decrement dot by the count"),
    integer('B', Style::Hex, 1, 8, "hexadecimal int"),
    row('C', Action::Character(Text::Escaped), Size::Bytes(1), "character using C notation"),
    integer('D', Style::Signed, 4, 16, "decimal signed int"),
    integer('E', Style::Unsigned, 8, 21, "decimal unsigned long long"),
    row('F', Action::Float(16), Size::Bytes(8), "double"),
    integer('G', Style::Octal, 8, 23, "octal unsigned long long"),
    integer('H', Style::SwappedHex, 4, 16, "swap bytes and shorts"),
    row('I', Action::RawInstruction, Size::Variable, "address and disassembled instruction"),
    row('J', Action::WideHex, Size::Bytes(8), "hexadecimal long long"),
    row('K', Action::WideHex, Size::Pointer, "hexadecimal pointer"),
    row('L', Action::Match, Size::Bytes(4), "match int"),
    row('M', Action::Match, Size::Bytes(8), "match long long"),
    row('N', Action::Newline, Size::Nothing, "newline"),
    integer('O', Style::ZeroOctal, 4, 16, "octal unsigned int"),
    row('P', Action::Symbol, Size::Pointer, "symbol"),
    integer('Q', Style::SignedZeroOctal, 4, 16, "octal signed int"),
    row('R', Action::Binary, Size::Bytes(8), "binary"),
    row('S', Action::String(Text::Escaped), Size::Variable, "string using C notation"),
    row('T', Action::Tab, Size::Nothing, "horizontal tab"),
    integer('U', Style::Unsigned, 4, 16, "decimal unsigned int"),
    integer('V', Style::Unsigned, 1, 8, "decimal unsigned int"),
    integer('W', Style::Radix, 4, 16, "write default radix unsigned int"),
    integer('X', Style::Hex, 4, 16, "hexadecimal int"),
    row('Y', Action::Time, Size::Bytes(4), "decoded 32-bit time, UTC"),
    row('Z', Action::WideHex, Size::Bytes(8), "write hexadecimal long long"),
    row('^', Action::Back, Size::Variable, "decrement dot by the size of the previous item"),
    row('a', Action::Label, Size::Nothing, "dot as symbol+offset"),
    integer('b', Style::ZeroOctal, 1, 8, "octal unsigned int"),
    row('c', Action::Character(Text::Raw), Size::Bytes(1), "character"),
    integer('d', Style::Signed, 2, 8, "decimal signed short"),
    integer('e', Style::Signed, 8, 21, "decimal signed long long"),
    row('f', Action::Float(7), Size::Bytes(4), "float"),
    integer('g', Style::SignedOctal, 8, 24, "octal signed long long"),
    integer('h', Style::SwappedHex, 2, 8, "swap bytes"),
    row('i', Action::Instruction, Size::Variable, "disassembled instruction"),
    row('j', Action::Jazzed, Size::Bytes(8), "jazzed up binary"),
    row('l', Action::Match, Size::Bytes(2), "match short"),
    row('n', Action::Newline, Size::Nothing, "newline"),
    integer('o', Style::ZeroOctal, 2, 8, "octal unsigned short"),
    row('p', Action::Symbol, Size::Pointer, "symbol"),
    integer('q', Style::SignedZeroOctal, 2, 8, "octal signed short"),
    row('r', Action::Blank, Size::Nothing, "whitespace"),
    row('s', Action::String(Text::Raw), Size::Variable, "raw string"),
    row('t', Action::Tab, Size::Nothing, "horizontal tab"),
    integer('u', Style::Unsigned, 2, 8, "decimal unsigned short"),
    integer('v', Style::Signed, 1, 8, "write decimal signed int"),
    integer('w', Style::Radix, 2, 8, "write default radix unsigned short"),
    integer('x', Style::Hex, 2, 8, "hexadecimal short"),
    row('y', Action::Time, Size::Bytes(8), "decoded 64-bit time, UTC"),
    row('z', Action::Write, Size::Variable, "write by the type at the address"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_sorted_and_unique() {
        assert!(LETTERS.windows(2).all(|pair| pair[0].letter < pair[1].letter));
    }

    #[test]
    fn the_letters_that_mdb_leaves_undefined_are_undefined() {
        for letter in ['A', 'k', 'm', '_', '0', '9', '.', '!', '"'] {
            assert_eq!(find(letter), None, "{letter}");
        }
        for letter in ('a'..='z').chain('A'..='Z').filter(|letter| !"Akm".contains(*letter)) {
            assert!(find(letter).is_some(), "{letter}");
        }
    }
}
