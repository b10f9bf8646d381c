//! What the answer to a question is, and whether what a user typed says the same.

use std::fmt;

/// A fact about the core.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// A name, or other text.
    Text(String),
    /// An address or the value of a register, which kcore shows in hexadecimal.
    Hex(u64),
    /// How many there are, in decimal.
    Count(usize),
}

impl Fact {
    /// Whether an answer says the same, in any of the ways in which kcore or a person writes it.
    pub(super) fn fits(&self, answer: &str) -> bool {
        let answer = bare(answer);
        match self {
            Self::Text(text) => bare(text).eq_ignore_ascii_case(answer),
            Self::Hex(value) => number(answer) == Some(*value),
            Self::Count(count) => answer.trim_start_matches("0t").parse() == Ok(*count),
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Hex(value) => write!(f, "{value:#x}"),
            Self::Count(count) => write!(f, "{count}"),
        }
    }
}

/// Text without quotes, and without the signs of commands, registers and functions.
fn bare(text: &str) -> &str {
    let text = text.trim().trim_matches(['"', '\'', '`']);
    let text = text.trim_start_matches("::").trim_start_matches(['%', '<']);
    text.strip_suffix("()").unwrap_or(text)
}

fn number(text: &str) -> Option<u64> {
    if text.eq_ignore_ascii_case("null") {
        return Some(0);
    }
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_with_their_signs() {
        let fact = |text: &str| Fact::Text(text.to_owned());
        for answer in ["parse_header", " parse_header() ", "`parse_header`"] {
            assert!(fact("parse_header").fits(answer), "{answer}");
        }
        assert!(fact("rbx").fits("%RBX") && fact("siginfo").fits("::siginfo"));
        assert!(fact("/status").fits("\"/status\""));
        assert!(!fact("parse_header").fits("parse") && !fact("rbx").fits(""));
    }

    #[test]
    fn numbers_are_the_same_in_their_radix() {
        assert!(Fact::Hex(0x7f10).fits("7f10") && Fact::Hex(0x7f10).fits("0x7F10"));
        assert!(Fact::Hex(0).fits("NULL") && Fact::Hex(0).fits("0"));
        assert!(Fact::Count(12).fits("12") && Fact::Count(12).fits("0t12"));
        assert!(!Fact::Count(12).fits("c") && !Fact::Hex(0x12).fits("12 threads"));
    }

    #[test]
    fn facts_are_shown_as_kcore_shows_them() {
        assert_eq!(Fact::Hex(0x7f10).to_string(), "0x7f10");
        assert_eq!(Fact::Count(5).to_string(), "5");
    }
}
