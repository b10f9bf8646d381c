//! Operators between two operands.

/// Operators between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `||`
    OrElse,
    /// `&&`
    AndAlso,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `@`
    Repeat,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulus,
}

/// Every operator as it is written, with its level: higher binds tighter. Of two that begin alike the longer is first.
const OPERATORS: &[(&str, Binary, u8)] = &[
    ("||", Binary::OrElse, 1),
    ("&&", Binary::AndAlso, 2),
    ("==", Binary::Equal, 6),
    ("!=", Binary::NotEqual, 6),
    ("<<", Binary::ShiftLeft, 8),
    (">>", Binary::ShiftRight, 8),
    ("<=", Binary::LessOrEqual, 7),
    (">=", Binary::GreaterOrEqual, 7),
    ("|", Binary::Or, 3),
    ("^", Binary::Xor, 4),
    ("&", Binary::And, 5),
    ("<", Binary::Less, 7),
    (">", Binary::Greater, 7),
    ("@", Binary::Repeat, 9),
    ("+", Binary::Add, 10),
    ("-", Binary::Subtract, 10),
    ("*", Binary::Multiply, 11),
    ("/", Binary::Divide, 11),
    ("%", Binary::Modulus, 11),
];

/// The tightest level of an operator between operands.
pub const LEVELS: u8 = 11;

impl Binary {
    /// The operator that a text begins with: how it is written, and its level.
    pub fn first(text: &str) -> Option<(&'static str, Self, u8)> {
        OPERATORS.iter().copied().find(|(sign, ..)| text.starts_with(sign))
    }

    /// How it is written.
    pub fn sign(self) -> &'static str {
        let found = OPERATORS.iter().find(|(_, operator, _)| *operator == self);
        found.map_or("", |(sign, ..)| sign)
    }

    /// Whether it compares.
    pub const fn is_comparison(self) -> bool {
        use Binary::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
    }
}
