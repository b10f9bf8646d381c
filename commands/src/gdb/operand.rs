//! Translates C expressions into lines and addresses of kcore. Refuses those that would mean something else here.

use super::place::{GdbContext, is_name};
use super::shape::Bound;

/// The line that prints an expression: a value by its type, a number, a register, a size.
pub fn print(bound: &Bound<'_>, place: &GdbContext<'_>) -> Option<String> {
    let text = bound.word.trim();
    if text == "$_siginfo" {
        return Some("::siginfo".to_owned());
    }
    if let Some(of) = text.strip_prefix("sizeof") {
        let ty = in_brackets(of.trim());
        let line = ty.map_or_else(
            || expression(text, place).map(|words| format!("::print {words}")),
            |ty| Some(format!("::sizeof {ty}")),
        );
        return line;
    }
    if let Some(line) = by_pointer(text, place) {
        return Some(line);
    }
    match number(text, place) {
        Some(value) if value.contains('<') => Some(format!("{value}=J")),
        Some(value) => Some(format!("{value}=e")),
        None => expression(text, place).map(|words| format!("::print {words}")),
    }
}

/// The line of `print/FMT`.
pub fn print_as(bound: &Bound<'_>, place: &GdbContext<'_>) -> Option<String> {
    if let Some(value) = number(bound.word, place) {
        let letter = match bound.format {
            "x" | "z" => 'J',
            "d" => 'e',
            "u" => 'E',
            "o" => 'G',
            "t" => 'R',
            "a" => 'p',
            _ => return None,
        };
        return Some(format!("{value}={letter}"));
    }
    let flag = Some(bound.format).filter(|format| matches!(*format, "x" | "d"))?;
    expression(bound.word, place).map(|words| format!("::print -{flag} {words}"))
}

/// The line of `whatis`, of a variable.
pub fn type_of(bound: &Bound<'_>, place: &GdbContext<'_>) -> Option<String> {
    expression(bound.word, place).map(|words| format!("::print -t {words}"))
}

/// `*(TYPE *)ADDR`.
fn by_pointer(text: &str, place: &GdbContext<'_>) -> Option<String> {
    let (cast, at) = text.strip_prefix("*(")?.split_once(')')?;
    let of = cast.trim_end().strip_suffix('*')?.trim_end();
    let is_type =
        !of.is_empty() && of.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_'));
    let at = number(at, place).filter(|_| is_type)?;
    Some(format!("{at}::print {of}"))
}

fn in_brackets(text: &str) -> Option<&str> {
    let within = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | ':');
    (!within.is_empty() && within.chars().all(plain)).then_some(within)
}

/// A path as `::print` takes it, or an expression in quotes. None of them assigns, calls a function, or names a register
/// that the machine does not have, as gdb's own variables do.
fn expression(text: &str, place: &GdbContext<'_>) -> Option<String> {
    let text = text.trim();
    if let Some(path) = path(text) {
        return Some(path.to_owned());
    }
    let is_known = |name: &str| {
        let end = name.find(|c| !is_in_name(c)).unwrap_or(name.len());
        name.get(..end).is_some_and(|name| place.register(name).is_some())
    };
    let registers = text.split('$').skip(1).all(is_known);
    let is_line = !text.is_empty() && !text.contains([';', '#', '{', '\n', ',']);
    (is_line && registers && !calls(text) && !assigns(text)).then(|| quoted(text))
}

/// A word of a dcmd. A sign at its beginning would make it an option.
fn quoted(text: &str) -> String {
    let blank = if text.starts_with(['-', '+']) { " " } else { "" };
    match text.contains('\'') {
        false => format!("'{blank}{text}'"),
        true => {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{blank}{escaped}\"")
        }
    }
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a parenthesis stands directly behind a name.
fn calls(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        before.ends_with(is_in_name) && !before.ends_with("sizeof")
    })
}

/// Whether a sign of equality stands alone, or an operator changes its operand.
fn assigns(text: &str) -> bool {
    let compares =
        |text: &str| text.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "");
    compares(text).contains('=') || text.contains("++") || text.contains("--")
}

/// A path of members as `::print` takes it: `name.member->other[3]`, with `*` and casts before it.
fn path(text: &str) -> Option<&str> {
    let text = text.trim();
    let begins = text
        .trim_start_matches('*')
        .starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '('));
    let (mut depth, mut before) = (0_usize, ' ');
    for (at, c) in text.char_indices() {
        let arrow = || text.get(at..).is_some_and(|rest| rest.starts_with("->"));
        let fits = match c {
            '(' => !(before.is_alphanumeric() || before == '_'),
            '-' => arrow(),
            '>' => before == '-',
            ' ' => depth > 0,
            '*' => before != ']' && !before.is_alphanumeric(),
            _ => c.is_alphanumeric() || matches!(c, '_' | '.' | ')' | '[' | ']' | ':'),
        };
        if !fits {
            return None;
        }
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = c;
    }
    begins.then_some(text)
}

/// An address: a number, or the name of code.
pub fn address(text: &str, place: &GdbContext<'_>) -> Option<String> {
    let name = text.trim().trim_start_matches(['&', '*']);
    number(text, place).or_else(|| (is_name(name) && place.is_code(name)).then(|| name.to_owned()))
}

/// A sum of numbers and registers. Numbers of C are decimal unless they begin with `0x`.
pub fn number(text: &str, place: &GdbContext<'_>) -> Option<String> {
    let mut sum = String::new();
    let mut rest = text.trim();
    if let Some(negative) = rest.strip_prefix('-') {
        sum.push('-');
        rest = negative.trim_start();
    }
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let (term, more) = rest.split_at_checked(end)?;
        sum.push_str(&one_number(term.trim(), place)?);
        let Some(sign) = more.chars().next() else { return Some(sum) };
        sum.push(sign);
        rest = more.get(1..)?.trim_start();
    }
}

fn one_number(text: &str, place: &GdbContext<'_>) -> Option<String> {
    if let Some(name) = text.strip_prefix('$') {
        return place.register(name).map(|name| format!("<{name}"));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        let is_hex = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit());
        return is_hex.then(|| text.to_owned());
    }
    let is_decimal = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    // A zero before others would make it octal.
    let is_octal = text.len() > 1 && text.starts_with('0');
    (is_decimal && !is_octal)
        .then(|| if text.len() == 1 { text.to_owned() } else { format!("0t{text}") })
}

#[cfg(test)]
mod tests {
    use super::{assigns, calls, path, quoted};

    #[test]
    fn an_expression_is_one_word() {
        assert_eq!(quoted("a + 1"), "'a + 1'");
        assert_eq!(quoted("-a"), "' -a'");
        assert_eq!(quoted("'a' + \"\\n\""), "\"'a' + \\\"\\\\n\\\"\"");
    }

    #[test]
    fn what_would_change_the_process_is_no_expression() {
        assert!(calls("f (1) + 2") && calls("a.f(x)"));
        assert!(!calls("sizeof(int) + (a)") && !calls("(char)x"));
        assert!(assigns("a = 3") && assigns("a += 1") && assigns("a++"));
        assert!(!assigns("a == 3 && b <= 2 || c != d"));
    }

    #[test]
    fn paths_of_members_are_taken_and_nothing_else() {
        for text in ["a", "a.b->c[3]", "*a", "((struct foo *)p)->x", "ns::a", "**a.b", "_x"] {
            assert_eq!(path(text), Some(text));
        }
        for text in [
            "a+b",
            "f(1)",
            "a b",
            "&a",
            "a*b",
            "$rip",
            "a; ::quit",
            "a|b",
            "a!b",
            "'a'",
            "",
            "a-b",
            "5",
        ] {
            assert_eq!(path(text), None, "{text}");
        }
    }
}
