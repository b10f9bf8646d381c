//! The words and signs that a name consists of.

/// Part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// An identifier, a number, or a word of the language.
    Word(&'a str),
    /// `::` of C++ and Rust, `.` and `/` of Go.
    Separator,
    /// `<`, which opens arguments where a word stands before it.
    Open,
    /// `>`.
    Close,
    /// `,`.
    Comma,
    /// Anything else; `->` is one `-`.
    Sign(char),
}

/// The tokens of a name, without blanks.
pub fn tokens(mut rest: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    while let Some((token, after)) = next(rest) {
        tokens.extend(token);
        rest = after;
    }
    tokens
}

/// The first token and what stands behind it; no token for a blank.
fn next(text: &str) -> Option<(Option<Token<'_>>, &str)> {
    if let Some(found) = word(text) {
        return Some((Some(Token::Word(found.0)), found.1));
    }
    if let Some(rest) = text.strip_prefix("::") {
        return Some((Some(Token::Separator), rest));
    }
    if let Some(rest) = text.strip_prefix("->") {
        return Some((Some(Token::Sign('-')), rest));
    }
    if let Some(rest) = text.strip_prefix("...") {
        return Some((Some(Token::Sign('…')), rest));
    }
    let mut chars = text.chars();
    let token = match chars.next()? {
        blank if blank.is_whitespace() => None,
        '.' | '/' => Some(Token::Separator),
        '<' => Some(Token::Open),
        '>' => Some(Token::Close),
        ',' => Some(Token::Comma),
        sign => Some(Token::Sign(sign)),
    };
    Some((token, chars.as_str()))
}

/// The word at the beginning, if there is one.
fn word(text: &str) -> Option<(&str, &str)> {
    const ANONYMOUS: &str = "(anonymous namespace)";
    if let Some(rest) = text.strip_prefix(ANONYMOUS) {
        return Some((ANONYMOUS, rest));
    }
    let len = text.find(|letter: char| !is_of_word(letter)).unwrap_or(text.len());
    let (word, rest) = text.split_at_checked(len)?;
    match word {
        "" => None,
        // The name of an operator goes on to the end, and may hold any sign.
        "operator" if !rest.is_empty() && !rest.starts_with(':') => Some((text, "")),
        _ => Some((word, rest)),
    }
}

/// Braces and `#` are found in the names that Rust gives to what has none: `{closure_env#0}`.
const fn is_of_word(letter: char) -> bool {
    matches!(letter, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$' | '{' | '}' | '#' | '~' | '%')
        || !letter.is_ascii()
}
