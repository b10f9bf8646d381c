//! The characters of a line, with one place to stand.
//!
//! What a character means depends on what is being read (`/` is a dcmd after an expression and
//! part of a cast after `*`), so there is no stream of tokens: each parser takes what it knows.

use crate::error::SyntaxError;

/// A place in a text.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// Where the word began that is being read.
    word: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) const fn new(text: &'t str) -> Self {
        Self { text, at: 0, word: 0 }
    }

    /// Bytes before the place.
    pub(crate) const fn position(&self) -> usize {
        self.at
    }

    /// Says that a word begins here: what is wrong with it is wrong here.
    pub(crate) const fn begin_word(&mut self) {
        self.word = self.at;
    }

    /// Where the word began that was read last.
    pub(crate) const fn word_start(&self) -> usize {
        self.word
    }

    /// What was read since `start`.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// What is not read yet.
    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Takes so many bytes, which end between characters.
    pub(crate) const fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Takes `text` if it comes next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    pub(crate) fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> &'t str {
        let rest = self.rest();
        let len = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    /// Skips blanks, and a comment up to the end of its line. A carriage return is a blank: scripts
    /// come from everywhere.
    pub(crate) fn skip_blanks(&mut self) {
        self.take_while(is_blank);
        if self.rest().starts_with("//") {
            self.take_while(|c| c != '\n');
        }
    }

    /// Skips blanks, comments, and the ends of empty statements.
    pub(crate) fn skip_to_statement(&mut self) {
        loop {
            self.skip_blanks();
            if !matches!(self.peek(), Some('\n' | ';')) {
                return;
            }
            self.bump();
        }
    }

    /// Skips the name of a shared object before a backquote that holds operators, as in
    /// ``libstdc++.so.6`x``. No expression begins so.
    pub(crate) fn skip_object(&mut self) {
        let rest = self.rest();
        let fits = |c: char| is_name(c) || matches!(c, '+' | '-');
        let word = rest.get(..rest.find(|c| !fits(c)).unwrap_or(rest.len())).unwrap_or_default();
        let Some((object, _)) = word.split_once('`') else { return };
        let is_library = ["lib", "ld-", "linux-vdso"].iter().any(|start| object.starts_with(start));
        if is_library && object.contains(".so") {
            self.at += object.len();
        }
    }

    /// Skips what is left of the statement.
    pub(crate) fn skip_statement(&mut self) {
        self.take_while(|c| !matches!(c, '\n' | ';'));
    }

    /// Skips what is left of the line.
    pub(crate) fn skip_line(&mut self) {
        self.take_while(|c| c != '\n');
    }

    /// Whether a statement ends here.
    pub(crate) fn at_end(&self) -> bool {
        matches!(self.peek(), None | Some('\n' | ';'))
    }

    /// Whether a shell command begins here.
    pub(crate) fn at_shell(&self) -> bool {
        self.rest().starts_with('!') && !self.rest().starts_with("!=")
    }

    /// Takes a shell command, its `!` included, up to the end of the statement or a pipe into a `::`
    /// dcmd, which is no program of the system; answers its text. Quotes and backslashes protect both.
    pub(crate) fn take_shell(&mut self) -> &'t str {
        self.bump();
        let start = self.at;
        let mut quote = None;
        while let Some(next) = self.peek().filter(|c| *c != '\n') {
            match quote {
                Some(open) if open == next => quote = None,
                None if matches!(next, '\'' | '"') => quote = Some(next),
                None | Some('"') if next == '\\' => {
                    self.bump();
                }
                None if next == ';' || self.at_pipe_into_dcmd() => break,
                _ => {}
            }
            if self.peek() != Some('\n') {
                self.bump();
            }
        }
        self.since(start)
    }

    fn at_pipe_into_dcmd(&self) -> bool {
        let next = self.rest().strip_prefix('|');
        next.is_some_and(|next| next.trim_start_matches(is_blank).starts_with("::"))
    }

    /// The error that what comes next cannot stand here.
    pub(crate) fn unexpected(&self) -> SyntaxError {
        let rest = self.rest();
        let word = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let len = match rest.chars().next() {
            None | Some('\n') => return SyntaxError::Near(None),
            Some(_) if word > 0 => word,
            Some(_) if rest.starts_with("::") => 2,
            Some(first) => first.len_utf8(),
        };
        SyntaxError::Near(rest.get(..len).map(ToOwned::to_owned))
    }
}

pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}

/// A character of a symbol's name, its scope included.
pub(crate) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '`')
}

/// A character that can begin a symbol's name.
pub(crate) fn begins_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_comments_and_empty_statements_are_skipped() {
        let mut scanner = Scanner::new(" \t\r\n;; // no\n // no ; no\n  x");
        scanner.skip_to_statement();
        assert_eq!(scanner.rest(), "x");
    }

    #[test]
    fn the_unexpected_is_a_word_a_character_or_the_end() {
        assert_eq!(
            Scanner::new("libc.so`x+1").unexpected().to_string(),
            "syntax error near \"libc.so`x\""
        );
        assert_eq!(Scanner::new(") x").unexpected().to_string(), "syntax error near \")\"");
        assert_eq!(Scanner::new("\n").unexpected(), SyntaxError::Near(None));
    }

    #[test]
    fn characters_of_many_bytes_are_whole() {
        let mut scanner = Scanner::new("é1 x");
        assert_eq!(scanner.take_while(is_name), "é1");
        assert_eq!(scanner.bump(), Some(' '));
        assert_eq!(scanner.since(0), "é1 ");
    }
}
