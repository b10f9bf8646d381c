//! The tables of the grammar: operators and builtin types by their letters, spelled as libiberty does.

/// An operator.
#[derive(Debug, PartialEq, Eq)]
pub struct Operator {
    /// Its two letters in a mangled name.
    pub code: &'static str,
    pub spelling: &'static str,
    /// How many operands it has in an expression.
    pub operands: u8,
}

/// A builtin type.
#[derive(Debug, PartialEq, Eq)]
pub struct Builtin {
    pub name: &'static str,
    pub literal: LiteralStyle,
}

/// How a literal of a type is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralStyle {
    /// With its type before it: `(char)97`.
    Cast,
    /// With its type before it, and in brackets: the digits are those of its bytes.
    Bytes,
    /// `true` and `false`.
    Boolean,
    /// As a number, and what stands behind it.
    Number(&'static str),
}

const fn op(code: &'static str, spelling: &'static str, operands: u8) -> Operator {
    Operator { code, spelling, operands }
}

/// Sorted by code.
static OPERATORS: [Operator; 72] = [
    op("aN", "&=", 2),
    op("aS", "=", 2),
    op("aa", "&&", 2),
    op("ad", "&", 1),
    op("an", "&", 2),
    op("at", "alignof ", 1),
    op("aw", "co_await ", 1),
    op("az", "alignof ", 1),
    op("cc", "const_cast", 2),
    op("cl", "()", 2),
    op("cm", ",", 2),
    op("co", "~", 1),
    op("dV", "/=", 2),
    op("dX", "[...]=", 3),
    op("da", "delete[] ", 1),
    op("dc", "dynamic_cast", 2),
    op("de", "*", 1),
    op("di", "=", 2),
    op("dl", "delete ", 1),
    op("ds", ".*", 2),
    op("dt", ".", 2),
    op("dv", "/", 2),
    op("dx", "]=", 2),
    op("eO", "^=", 2),
    op("eo", "^", 2),
    op("eq", "==", 2),
    op("fL", "...", 3),
    op("fR", "...", 3),
    op("fl", "...", 2),
    op("fr", "...", 2),
    op("ge", ">=", 2),
    op("gs", "::", 1),
    op("gt", ">", 2),
    op("ix", "[]", 2),
    op("lS", "<<=", 2),
    op("le", "<=", 2),
    op("li", "operator\"\" ", 1),
    op("ls", "<<", 2),
    op("lt", "<", 2),
    op("mI", "-=", 2),
    op("mL", "*=", 2),
    op("mi", "-", 2),
    op("ml", "*", 2),
    op("mm", "--", 1),
    op("na", "new[]", 3),
    op("ne", "!=", 2),
    op("ng", "-", 1),
    op("nt", "!", 1),
    op("nw", "new", 3),
    op("oR", "|=", 2),
    op("oo", "||", 2),
    op("or", "|", 2),
    op("pL", "+=", 2),
    op("pl", "+", 2),
    op("pm", "->*", 2),
    op("pp", "++", 1),
    op("ps", "+", 1),
    op("pt", "->", 2),
    op("qu", "?", 3),
    op("rM", "%=", 2),
    op("rS", ">>=", 2),
    op("rc", "reinterpret_cast", 2),
    op("rm", "%", 2),
    op("rs", ">>", 2),
    op("sP", "sizeof...", 1),
    op("sZ", "sizeof...", 1),
    op("sc", "static_cast", 2),
    op("ss", "<=>", 2),
    op("st", "sizeof ", 1),
    op("sz", "sizeof ", 1),
    op("tr", "throw", 0),
    op("tw", "throw ", 1),
];

/// The operator of two letters.
pub fn operator(code: &[u8]) -> Option<&'static Operator> {
    let at = OPERATORS.binary_search_by(|one| one.code.as_bytes().cmp(code)).ok()?;
    OPERATORS.get(at)
}

const fn builtin(name: &'static str, literal: LiteralStyle) -> Builtin {
    Builtin { name, literal }
}

/// `decltype(nullptr)`, of which a literal has no digits.
pub static NULLPTR: Builtin = builtin("decltype(nullptr)", LiteralStyle::Cast);

/// The builtin type of one letter.
pub fn builtin_type(letter: u8) -> Option<&'static Builtin> {
    use LiteralStyle::{Boolean, Bytes, Cast, Number};
    static LETTERS: [(u8, Builtin); 21] = [
        (b'a', builtin("signed char", Cast)),
        (b'b', builtin("bool", Boolean)),
        (b'c', builtin("char", Cast)),
        (b'd', builtin("double", Bytes)),
        (b'e', builtin("long double", Bytes)),
        (b'f', builtin("float", Bytes)),
        (b'g', builtin("__float128", Bytes)),
        (b'h', builtin("unsigned char", Cast)),
        (b'i', builtin("int", Number(""))),
        (b'j', builtin("unsigned int", Number("u"))),
        (b'l', builtin("long", Number("l"))),
        (b'm', builtin("unsigned long", Number("ul"))),
        (b'n', builtin("__int128", Cast)),
        (b'o', builtin("unsigned __int128", Cast)),
        (b's', builtin("short", Cast)),
        (b't', builtin("unsigned short", Cast)),
        (b'v', builtin("void", Cast)),
        (b'w', builtin("wchar_t", Cast)),
        (b'x', builtin("long long", Number("ll"))),
        (b'y', builtin("unsigned long long", Number("ull"))),
        (b'z', builtin("...", Cast)),
    ];
    LETTERS.iter().find(|(one, _)| *one == letter).map(|(_, builtin)| builtin)
}

/// The builtin type of a letter that follows `D`.
pub fn builtin_type_of_d(letter: u8) -> Option<&'static Builtin> {
    use LiteralStyle::{Bytes, Cast};
    static LETTERS: [(u8, Builtin); 7] = [
        (b'd', builtin("decimal64", Cast)),
        (b'e', builtin("decimal128", Cast)),
        (b'f', builtin("decimal32", Cast)),
        (b'h', builtin("half", Bytes)),
        (b'i', builtin("char32_t", Cast)),
        (b's', builtin("char16_t", Cast)),
        (b'u', builtin("char8_t", Cast)),
    ];
    match letter {
        b'n' => Some(&NULLPTR),
        _ => LETTERS.iter().find(|(one, _)| *one == letter).map(|(_, builtin)| builtin),
    }
}
