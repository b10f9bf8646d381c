//! Names of functions without what debuggers and compilers hang on them.

/// The name without return type, parameters, clone suffixes and hash; without template arguments too
/// unless `templates`.
pub fn bare_name(shown: &str, templates: bool) -> String {
    let name = shown.split(" [clone").next().unwrap_or(shown);
    let name = without_hash(without_suffixes(name));
    let name = without_return_type(without_parameters(name)).replace("::<", "<");
    match templates {
        true => name,
        false => without_templates(&name),
    }
}

/// Takes off `.cold`, `.part.0`, `.constprop.0` and the like, wherever the first begins.
fn without_suffixes(name: &str) -> &str {
    const SUFFIXES: [&str; 5] = [".cold", ".part.", ".isra.", ".constprop.", ".lto_priv."];
    let first = SUFFIXES.iter().filter_map(|suffix| name.find(suffix)).min();
    first.and_then(|at| name.get(..at)).unwrap_or(name)
}

/// Takes off the hash of Rust's older mangling, `::h` and 16 digits.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((bare, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            bare
        }
        _ => name,
    }
}

/// Takes off the last parameter list and what stands behind it (`const`, `&&`).
fn without_parameters(name: &str) -> &str {
    let trimmed = name.trim_end_matches(" const").trim_end_matches(" &&").trim_end_matches(" &");
    let trimmed = trimmed.trim_end_matches(" const");
    if !trimmed.ends_with(')') {
        return trimmed;
    }
    let mut depth = 0_usize;
    for (at, byte) in trimmed.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth = depth.saturating_sub(1),
            _ => (),
        }
        if depth == 0 {
            let head = trimmed.get(..at).unwrap_or(trimmed);
            // `operator()` without parameters, or nothing but a parenthesis.
            return if head.ends_with("operator") || head.is_empty() { trimmed } else { head };
        }
    }
    trimmed
}

/// Takes off all up to the last space that stands in no bracket; names of operators keep theirs.
fn without_return_type(name: &str) -> &str {
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'{' | b'[' => depth += 1,
            b'>' | b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && !name.get(..at).unwrap_or("").ends_with("operator") => {
                start = at + 1;
            }
            _ => (),
        }
    }
    name.get(start..).unwrap_or(name)
}

fn without_templates(name: &str) -> String {
    let mut depth = 0_usize;
    let mut bare = String::new();
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => bare.push(letter),
            _ => (),
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::bare_name;

    #[test]
    fn names_lose_what_hangs_on_them() {
        let cases = [
            ("leaf", "leaf"),
            ("process.part.0.cold", "process"),
            ("scale [clone .constprop.0]", "scale"),
            ("int shop::fold<int>(int, int (*)(int))", "shop::fold"),
            ("shop::Till::total(void) const", "shop::Till::total"),
            ("(anonymous namespace)::hidden(char const*)", "(anonymous namespace)::hidden"),
            ("app::run::h0123456789abcdef", "app::run"),
            ("app::fold::<i32>", "app::fold"),
            ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
        ];
        for (shown, bare) in cases {
            assert_eq!(bare_name(shown, false), bare, "{shown}");
        }
    }

    #[test]
    fn template_arguments_stay_on_request() {
        assert_eq!(bare_name("void ns::Box<int>::get(int)", true), "ns::Box<int>::get");
        assert_eq!(bare_name("app::fold::<i32>", true), "app::fold<i32>");
    }
}
