//! Words of a type as C and C++ write it.

use std::fmt;

use super::TypeLookupError;

/// Bytes of a text, at most.
const MAX_TEXT: usize = 1 << 16;

/// A word of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name, with its scopes and template arguments: `std::vector<int>::iterator`.
    Word(String),
    /// A number.
    Number(i128),
    /// Anything else: one character, or `&&` or `...`.
    Sign(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Number(number) => write!(f, "{number}"),
            Self::Sign(sign) => f.write_str(sign),
        }
    }
}

const SIGNS: &[&str] =
    &["...", "&&", "*", "&", "(", ")", "[", "]", "{", "}", ";", ",", ":", "=", "-"];

/// Splits a text into words. A name takes in what its template arguments hold.
///
/// # Errors
/// A character that no type has, a number that is none, or a text that is too long.
pub fn tokens(text: &str) -> Result<Vec<Token>, TypeLookupError> {
    if text.len() > MAX_TEXT {
        return Err(TypeLookupError::Limit("65536 characters"));
    }
    let mut rest = text.trim_start();
    let mut tokens = Vec::new();
    while !rest.is_empty() {
        let (token, len) = token(rest)?;
        tokens.push(token);
        rest = rest.get(len..).unwrap_or_default().trim_start();
    }
    Ok(tokens)
}

/// Words as one would write them, in one line.
pub fn written(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        let follows = matches!(token, Token::Sign(";" | "," | ")" | "[" | "]" | ":"))
            || text.ends_with(')') && *token == Token::Sign("(");
        if !follows && !text.is_empty() && !text.ends_with(['*', '&', '(', '[', '-']) {
            text.push(' ');
        }
        text.push_str(&token.to_string());
    }
    text
}

/// The first word of a text, and how many bytes it takes.
fn token(text: &str) -> Result<(Token, usize), TypeLookupError> {
    let name = name_length(text);
    if name > 0 {
        return Ok((Token::Word(text.get(..name).unwrap_or_default().trim_end().to_owned()), name));
    }
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return number(text);
    }
    let sign = SIGNS.iter().find(|sign| text.starts_with(**sign));
    sign.map(|sign| (Token::Sign(sign), sign.len())).ok_or_else(|| near(text))
}

fn number(text: &str) -> Result<(Token, usize), TypeLookupError> {
    let len = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let word = text.get(..len).unwrap_or_default();
    let hex = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    let value = match hex {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => word.parse(),
    };
    value.map(|value| (Token::Number(value), len)).map_err(|_| near(text))
}

/// What is said of a place where nothing can be read.
fn near(text: &str) -> TypeLookupError {
    TypeLookupError::Syntax(text.chars().take(16).collect())
}

/// How many bytes the name takes that a text begins with; 0 without one.
fn name_length(text: &str) -> usize {
    let mut len = 0;
    loop {
        let rest = text.get(len..).unwrap_or_default();
        let part = part_length(rest);
        if part == 0 {
            return len;
        }
        len = len.saturating_add(part);
        let rest = text.get(len..).unwrap_or_default();
        len = len.saturating_add(arguments_length(rest));
        match text.get(len..).is_some_and(|rest| rest.starts_with("::")) {
            true => len = len.saturating_add(2),
            false => return len,
        }
    }
}

/// One part of a name, between `::`: an identifier, or what compilers write for what has none.
fn part_length(text: &str) -> usize {
    for (open, close) in [("(anonymous", ")"), ("{", "}")] {
        // A brace begins the body of a structure unless a name of Rust goes on with it.
        let is_made = text.starts_with(open)
            && (open != "{" || text.find('}').is_some_and(|end| is_made_name(text.get(1..end))));
        if is_made {
            return text.find(close).map_or(0, |end| end.saturating_add(1));
        }
    }
    let is_first = |c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '~');
    let is_other = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    match text.chars().next() {
        Some(first) if is_first(first) => {
            let rest = text.get(first.len_utf8()..).unwrap_or_default();
            let end = rest.find(|c| !is_other(c)).unwrap_or(rest.len());
            end.saturating_add(first.len_utf8())
        }
        _ => 0,
    }
}

/// Whether it is what rustc writes in braces: `closure_env#0`, `impl#1`, `async_fn_env#0`.
fn is_made_name(text: Option<&str>) -> bool {
    text.is_some_and(|text| {
        text.contains('#') && !text.contains([';', ' ']) || text == "vtable_type"
    })
}

/// The template arguments behind a name, with the angle brackets; 0 without them.
fn arguments_length(text: &str) -> usize {
    if !text.starts_with('<') {
        return 0;
    }
    let mut depth = 0_usize;
    let mut previous = ' ';
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '[' => depth = depth.saturating_add(1),
            // The arrow of a function's type closes nothing.
            '>' if previous == '-' => {}
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at.saturating_add(1);
        }
        previous = character;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).unwrap().iter().map(Token::to_string).collect()
    }

    #[test]
    fn names_take_in_scopes_and_arguments() {
        assert_eq!(
            words("std::vector<std::pair<int, char *> >::iterator *"),
            ["std::vector<std::pair<int, char *> >::iterator", "*"]
        );
        assert_eq!(
            words("(anonymous namespace)::Hidden&&"),
            ["(anonymous namespace)::Hidden", "&&"]
        );
        assert_eq!(words("main::{closure_env#0}<i32>*"), ["main::{closure_env#0}<i32>", "*"]);
        assert_eq!(words("F<fn(u8) -> u16>"), ["F<fn(u8) -> u16>"]);
    }

    #[test]
    fn words_are_written_as_they_were() {
        for text in
            ["struct own { char *name[16]; int (*f)(int, ...); unsigned a: 3; } x;", "int &r"]
        {
            assert_eq!(written(&tokens(text).unwrap()), text);
        }
    }

    #[test]
    fn a_body_is_none_of_a_name() {
        assert_eq!(words("struct { int a:3; }"), ["struct", "{", "int", "a", ":", "3", ";", "}"]);
    }

    #[test]
    fn numbers_are_decimal_or_say_so() {
        assert_eq!(words("char [0x10][16]"), ["char", "[", "16", "]", "[", "16", "]"]);
        assert!(matches!(tokens("char [1x]"), Err(TypeLookupError::Syntax(_))));
        assert!(matches!(tokens("int #"), Err(TypeLookupError::Syntax(near)) if near == "#"));
    }

    #[test]
    fn what_is_not_closed_is_no_name() {
        assert!(matches!(tokens("A<B"), Err(TypeLookupError::Syntax(near)) if near == "<B"));
    }
}
