//! The words that demanglers write of their own: no mangled name spells them out.

/// Words of types, of operators, of what compilers make, and of what is abbreviated.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    // Types.
    "auto", "bool", "char", "char8_t", "char16_t", "char32_t", "const", "decimal32", "decimal64",
    "decimal128", "decltype", "double", "float", "half", "int", "long", "nullptr", "restrict",
    "short", "signed", "unsigned", "void", "volatile", "wchar_t", "__float128", "__int128",
    "__vector", "_Complex", "_Imaginary", "_Float16", "_Float32", "_Float64", "_Float128",
    "_Float32x", "_Float64x", "bfloat16_t", "noexcept", "throw", "transaction_safe",
    // Operators.
    "alignof", "co_await", "const_cast", "delete", "dynamic_cast", "new", "operator",
    "reinterpret_cast", "sizeof", "static_cast", "this",
    // The standard library.
    "std", "allocator", "basic_string", "basic_istream", "basic_ostream", "basic_iostream",
    // What compilers make.
    "alias", "anonymous", "arg", "clone", "construction", "covariant", "default", "for",
    "function", "guard", "hidden", "init", "initializer", "lambda", "literal", "module", "namespace", "name",
    "non", "object", "parameter", "parm", "reference", "return", "string", "template",
    "temporary", "thunk", "TLS", "transaction", "type", "typeinfo", "unnamed", "variable",
    "virtual", "vtable", "VTT", "wrapper", "java", "Class", "resource",
    // D.
    "byte", "cdouble", "cent", "cfloat", "ClassInfo", "creal", "dchar", "delegate", "false", "idouble", "ifloat",
    "immutable", "in", "initializer", "inout", "ireal", "lazy", "null", "out", "real", "ref", "return", "scope",
    "shared", "true", "Tuple", "typeof", "ubyte", "ucent", "uint", "ulong", "ushort", "vtable", "wchar",
    // Rust.
    "closure", "dyn", "extern", "fn", "impl", "mut", "shim", "str", "unsafe", "usize", "isize",
    "u16", "u32", "u64", "u128", "i16", "i32", "i64", "i128", "f32", "f64", "as",
];

/// Whether demanglers write a word without a mangled name having it.
pub(crate) fn is_of_demanglers(word: &str) -> bool {
    WORDS.contains(&word)
}
