//! Names of types of the standard library as people type them.

/// Inline namespaces.
const INLINE: &[&str] = &["__cxx11::", "__1::", "__debug::"];

/// Names that stand for others, in spellings of both gcc and clang.
const SHORT: &[(&str, &str)] = &[
    ("std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"),
    ("std::basic_string<char, std::char_traits<char>, std::allocator<char>>", "std::string"),
    ("std::basic_string<char>", "std::string"),
    ("std::basic_string_view<char, std::char_traits<char> >", "std::string_view"),
    ("std::basic_string_view<char, std::char_traits<char>>", "std::string_view"),
];

/// A name without inline namespaces, with `std::string` for what it stands for.
pub fn typed_name(name: &str) -> String {
    let plain = INLINE.iter().fold(name.to_owned(), |name, inline| name.replace(inline, ""));
    SHORT.iter().fold(plain, |name, (long, short)| name.replace(long, short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_called_strings() {
        let long =
            "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
        assert_eq!(typed_name(&format!("{long} const")), "std::string const");
        assert_eq!(typed_name("int"), "int");
    }
}
