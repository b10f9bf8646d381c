//! The words after a verb.

use crate::error::SyntaxError;
use crate::expr::{self, Expr};
use crate::lexer::{self, Scanner};
use crate::quote;
use crate::reading::Reading;

/// One word, as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Text, quotes removed.
    Text(String),
    /// `$[expression]`.
    Immediate(Expr),
}

/// Reads the words of a `::`, `$` or `:` dcmd, up to a pipe, a shell command or the statement's end.
pub(crate) fn arguments(
    scanner: &mut Scanner<'_>,
    reading: Reading<'_>,
) -> Result<Vec<Word>, SyntaxError> {
    words(scanner, reading, argument)
}

/// Reads the words of a format list, in which quoted text stays in its quotes: it is to be told
/// from format characters.
pub(crate) fn formats(
    scanner: &mut Scanner<'_>,
    reading: Reading<'_>,
) -> Result<Vec<Word>, SyntaxError> {
    words(scanner, reading, format)
}

fn words(
    scanner: &mut Scanner<'_>,
    reading: Reading<'_>,
    word: impl Fn(&mut Scanner<'_>) -> Result<String, SyntaxError>,
) -> Result<Vec<Word>, SyntaxError> {
    let mut words = Vec::new();
    loop {
        scanner.skip_blanks();
        scanner.begin_word();
        if scanner.eat("$[") {
            words.push(Word::Immediate(immediate(scanner, reading)?));
        } else if ends_words(scanner) {
            return Ok(words);
        } else {
            words.push(Word::Text(word(scanner)?));
        }
    }
}

fn immediate(scanner: &mut Scanner<'_>, reading: Reading<'_>) -> Result<Expr, SyntaxError> {
    let expr = expr::parse(scanner, reading.within())?;
    scanner.skip_blanks();
    match scanner.peek() {
        Some(']') => {
            scanner.bump();
            Ok(expr)
        }
        None | Some('\n' | ';') => Err(SyntaxError::Unmatched("$[")),
        Some(_) => Err(scanner.unexpected()),
    }
}

fn ends_words(scanner: &Scanner<'_>) -> bool {
    matches!(scanner.peek(), None | Some('\n' | ';' | '|' | '!'))
}

fn ends_word(scanner: &Scanner<'_>) -> bool {
    let rest = scanner.rest();
    ends_words(scanner)
        || rest.starts_with(lexer::is_blank)
        || rest.starts_with("//")
        || rest.starts_with("$[")
}

/// A word in which quotes may abut other text.
fn argument(scanner: &mut Scanner<'_>) -> Result<String, SyntaxError> {
    let mut word = String::new();
    while !ends_word(scanner) {
        match scanner.bump() {
            Some('\'') => word.push_str(quote::literal(scanner)?),
            Some('"') => word.push_str(&quote::escaped(scanner)?),
            other => word.extend(other),
        }
    }
    Ok(word)
}

/// A word that keeps its quotes, and the escapes in them.
fn format(scanner: &mut Scanner<'_>) -> Result<String, SyntaxError> {
    let start = scanner.position();
    while !ends_word(scanner) {
        match scanner.bump() {
            Some('\'') => {
                drop(quote::bytes_until(scanner, '\'').ok_or(SyntaxError::Unmatched("'"))?)
            }
            Some('"') => drop(quote::escaped(scanner)?),
            _ => {}
        }
    }
    Ok(scanner.since(start).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    type Read = fn(&mut Scanner<'_>, Reading<'_>) -> Result<Vec<Word>, SyntaxError>;

    fn read(read: Read, text: &str) -> Result<(Vec<String>, String), String> {
        let mut scanner = Scanner::new(text);
        let words = read(&mut scanner, testing::PLAIN).map_err(|error| error.to_string())?;
        let texts = words.into_iter().map(|word| match word {
            Word::Text(text) => text,
            Word::Immediate(expr) => format!("{expr:?}"),
        });
        Ok((texts.collect(), scanner.rest().to_owned()))
    }

    fn texts(words: &[&str], rest: &str) -> Result<(Vec<String>, String), String> {
        Ok((words.iter().map(|word| (*word).to_owned()).collect(), rest.to_owned()))
    }

    #[test]
    fn quotes_abut_and_protect() {
        assert_eq!(read(arguments, " a'b c'd \"x\\ty\" "), texts(&["ab cd", "x\ty"], ""));
        assert_eq!(read(arguments, "'a;|!' b"), texts(&["a;|!", "b"], ""));
        assert_eq!(read(arguments, "''"), texts(&[""], ""));
    }

    #[test]
    fn what_ends_the_words() {
        assert_eq!(read(arguments, "a|b"), texts(&["a"], "|b"));
        assert_eq!(read(arguments, "a !b"), texts(&["a"], "!b"));
        assert_eq!(read(arguments, "a;b"), texts(&["a"], ";b"));
        assert_eq!(read(arguments, "a\nb"), texts(&["a"], "\nb"));
        assert_eq!(read(arguments, "a // b ; c\nd"), texts(&["a"], "\nd"));
        assert_eq!(read(arguments, "a//b"), texts(&["a"], ""));
    }

    #[test]
    fn immediates_are_expressions() {
        assert_eq!(read(arguments, "a $[10] b$[.]"), texts(&["a", "Number(16)", "b", "Dot"], ""));
    }

    #[test]
    fn what_is_open_is_named() {
        assert_eq!(read(arguments, "'a"), Err("syntax error: ' unmatched".into()));
        assert_eq!(read(arguments, "\"a"), Err("syntax error: \" unmatched".into()));
        assert_eq!(read(arguments, "$[1"), Err("syntax error: $[ unmatched".into()));
        assert_eq!(read(arguments, "$[1 2]"), Err("syntax error near \"2\"".into()));
        assert_eq!(read(formats, "4X\"a"), Err("syntax error: \" unmatched".into()));
    }

    #[test]
    fn format_lists_keep_quotes() {
        assert_eq!(
            read(formats, "4X \"a | b\\n\"nap | c"),
            texts(&["4X", "\"a | b\\n\"nap"], "| c")
        );
        assert_eq!(read(formats, "$[2]X // c"), texts(&["Number(2)", "X"], ""));
    }
}
