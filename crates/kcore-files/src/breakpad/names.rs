//! Names of functions as kcore shows them: without parameters and without what they return.

/// A name without its parameters and its return type. Breakpad writes both where the mangled name has them.
pub fn plain(name: &[u8]) -> &[u8] {
    let without = without_parameters(name);
    if without.len() == name.len() { name } else { without_return_type(without) }
}

/// The part before the last pair of parentheses, where that ends the name but for qualifiers.
fn without_parameters(name: &[u8]) -> &[u8] {
    let mut end = name;
    for qualifier in [&b" const"[..], b" volatile", b" &", b" &&"] {
        end = end.strip_suffix(qualifier).unwrap_or(end);
    }
    if end.last() != Some(&b')') {
        return name;
    }
    let mut depth = 0_usize;
    for (at, byte) in end.iter().enumerate().rev() {
        match byte {
            b')' => depth = depth.saturating_add(1),
            b'(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let before = end.get(..at).unwrap_or_default();
            let is_name = !before.is_empty() && !before.ends_with(b"operator");
            return if is_name { before } else { name };
        }
    }
    name
}

/// What follows the last blank that is in no brackets, where no operator makes blanks and brackets part of the name.
fn without_return_type(name: &[u8]) -> &[u8] {
    const OPERATOR: &[u8] = b"operator";
    if name.windows(OPERATOR.len()).any(|window| window == OPERATOR) {
        return name;
    }
    let (mut depth, mut start) = (0_usize, 0);
    for (at, byte) in name.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 => start = at.saturating_add(1),
            _ => {}
        }
    }
    name.get(start..).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_return_types_are_left_out() {
        let shown = |name: &str| String::from_utf8(plain(name.as_bytes()).to_vec()).unwrap();
        assert_eq!(shown("main"), "main");
        assert_eq!(shown("a::f(int, void (*)(char)) const"), "a::f");
        assert_eq!(shown("void std::sort<int*, b>(int*, b)"), "std::sort<int*, b>");
        assert_eq!(
            shown("f(int)::{lambda()#1}::operator()() const"),
            "f(int)::{lambda()#1}::operator()"
        );
        assert_eq!(shown("a::operator()"), "a::operator()");
        assert_eq!(shown("(anonymous namespace)::run(int)"), "(anonymous namespace)::run");
        assert_eq!(shown("a::operator new(unsigned long)"), "a::operator new");
        assert_eq!(shown("()"), "()");
        assert_eq!(shown("<T as core::fmt::Debug>::fmt"), "<T as core::fmt::Debug>::fmt");
    }
}
