//! What is being typed at the end of a line.
//!
//! The line is not finished, so the parser cannot be asked: this reads it as the parser would, and says
//! where it ended.

use crate::lexer::{self, Scanner};

/// Quotes in quotes that are looked into.
const DEPTH: usize = 2;

/// What is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place<'l> {
    /// A name in an expression.
    Name(&'l str),
    /// A name within double quotes in an expression.
    Quoted(&'l str),
    /// A variable or register, behind `<` or `>`.
    Variable(&'l str),
    /// A dcmd, with its `::`, `$` or `:`.
    Spelling(&'l str),
    /// A word behind a dcmd.
    Operand {
        /// The dcmd as it was typed.
        dcmd: &'l str,
        /// The words before it, quotes included.
        words: Vec<&'l str>,
        /// The word, as far as it is there.
        word: &'l str,
    },
    /// A word of a shell command.
    Shell(&'l str),
    /// Nothing that can be completed: a number, a format, a character constant.
    Nothing,
}

impl<'l> Place<'l> {
    /// The place at the end of `before`.
    pub(crate) fn at_end_of(before: &'l str) -> Self {
        place(before, DEPTH)
    }
}

/// The place, or that the statement ended before the text did.
type Found<'l> = Option<Place<'l>>;

fn place(text: &str, depth: usize) -> Place<'_> {
    let mut reader = Reader { scanner: Scanner::new(text), depth };
    loop {
        reader.scanner.skip_to_statement();
        if let Some(place) = reader.statement() {
            return place;
        }
    }
}

struct Reader<'l> {
    scanner: Scanner<'l>,
    depth: usize,
}

impl<'l> Reader<'l> {
    fn statement(&mut self) -> Found<'l> {
        if let Some(place) = self.expression() {
            return Some(place);
        }
        while !self.scanner.at_end() {
            if self.scanner.at_shell() {
                return self.shell();
            }
            if let Some(place) = self.stage() {
                return Some(place);
            }
            self.scanner.eat("|");
            self.scanner.skip_blanks();
        }
        self.at_text_end(Place::Nothing)
    }

    fn is_done(&self) -> bool {
        self.scanner.rest().is_empty()
    }

    fn at_text_end(&self, place: Place<'l>) -> Found<'l> {
        self.is_done().then_some(place)
    }

    /// Address and count, up to a verb.
    fn expression(&mut self) -> Found<'l> {
        let mut after_operand = false;
        loop {
            self.scanner.skip_blanks();
            match self.scanner.peek() {
                None => return Some(Place::Nothing),
                Some('\n' | ';' | ':' | '$') => return None,
                Some('!') if self.scanner.at_shell() => return None,
                Some('/' | '\\' | '?' | '@') if after_operand => return None,
                Some(_) => {}
            }
            if ["==", "!=", "<<", ">>"].into_iter().any(|operator| self.scanner.eat(operator)) {
                after_operand = false;
                continue;
            }
            match self.scanner.peek() {
                Some('=' | '>') => return None,
                Some('<') => {
                    self.scanner.bump();
                    let name = self.scanner.take_while(lexer::is_name);
                    if self.is_done() {
                        return Some(Place::Variable(name));
                    }
                    after_operand = true;
                }
                Some('"') => match self.quoted() {
                    Ok(_) => after_operand = true,
                    Err(open) => return Some(Place::Quoted(open)),
                },
                Some('\'') => match self.quoted() {
                    Ok(_) => after_operand = true,
                    Err(_) => return Some(Place::Nothing),
                },
                Some(c) if lexer::is_name(c) => {
                    let name = self.scanner.take_while(lexer::is_name);
                    if self.is_done() {
                        let is_name = lexer::begins_name(c) && name != ".";
                        return Some(if is_name { Place::Name(name) } else { Place::Nothing });
                    }
                    after_operand = true;
                }
                other => {
                    after_operand = other == Some(')');
                    self.scanner.bump();
                    if matches!(other, Some('*' | '%')) {
                        self.cast();
                    }
                }
            }
        }
    }

    /// A quoted text, or what follows its opening quote when there is no closing one.
    fn quoted(&mut self) -> Result<&'l str, &'l str> {
        let quote = self.scanner.bump();
        let start = self.scanner.position();
        while let Some(c) = self.scanner.peek() {
            if Some(c) == quote {
                let text = self.scanner.since(start);
                self.scanner.bump();
                return Ok(text);
            }
            self.scanner.bump();
            if c == '\\' && quote == Some('"') {
                self.scanner.bump();
            }
        }
        Err(self.scanner.since(start))
    }

    /// One verb and its words.
    fn stage(&mut self) -> Found<'l> {
        let start = self.scanner.position();
        match self.scanner.bump() {
            Some(':') => {
                if self.scanner.eat(":") {
                    self.scanner.take_while(lexer::is_name);
                } else {
                    self.scanner.bump();
                }
                self.operands(start)
            }
            Some('$') => {
                if !self.scanner.eat("<<") {
                    self.scanner.bump();
                }
                self.operands(start)
            }
            Some('>') => self.assignment(),
            _ => self.formats(),
        }
    }

    /// The words behind the dcmd that begins at `start`.
    fn operands(&mut self, start: usize) -> Found<'l> {
        let dcmd = self.scanner.since(start);
        if self.is_done() && !matches!(dcmd, "$<" | "$<<") {
            return Some(Place::Spelling(dcmd));
        }
        let mut words = Vec::new();
        loop {
            self.scanner.skip_blanks();
            if self.is_done() {
                return Some(Place::Operand { dcmd, words, word: "" });
            }
            if matches!(self.scanner.peek(), Some('\n' | ';' | '|' | '!')) {
                return None;
            }
            match self.word() {
                Ok(word) if self.is_done() => return Some(Place::Operand { dcmd, words, word }),
                Ok(word) => words.push(word),
                Err(inner) => return Some(inner),
            }
        }
    }

    /// One word, quotes included; or the place in a quote or an immediate that is open.
    fn word(&mut self) -> Result<&'l str, Place<'l>> {
        let start = self.scanner.position();
        while let Some(c) = self.scanner.peek() {
            match c {
                '\n' | ';' | '|' | '!' => break,
                c if lexer::is_blank(c) => break,
                '\'' | '"' => drop(self.quoted().map_err(|open| self.inside(open))?),
                '$' if self.scanner.eat("$[") => self.immediate()?,
                _ => drop(self.scanner.bump()),
            }
        }
        Ok(self.scanner.since(start))
    }

    fn immediate(&mut self) -> Result<(), Place<'l>> {
        let start = self.scanner.position();
        self.scanner.take_while(|c| c != ']' && c != '\n');
        let text = self.scanner.since(start);
        if self.scanner.eat("]") { Ok(()) } else { Err(self.inside(text)) }
    }

    /// The place in a text of the language that stands within another.
    fn inside(&self, text: &'l str) -> Place<'l> {
        match self.depth.checked_sub(1) {
            Some(depth) => place(text, depth),
            None => Place::Nothing,
        }
    }

    /// `/T/`, if it comes next.
    fn cast(&mut self) {
        if self.scanner.eat("/") {
            self.scanner.take_while(char::is_alphanumeric);
            self.scanner.eat("/");
        }
    }

    /// `>name`, with a cast between them.
    fn assignment(&mut self) -> Found<'l> {
        self.cast();
        self.scanner.skip_blanks();
        let name = self.scanner.take_while(lexer::is_name);
        if self.is_done() {
            return Some(Place::Variable(name));
        }
        self.scanner.take_while(|c| !matches!(c, '\n' | ';' | '|' | '!'));
        self.at_text_end(Place::Nothing)
    }

    /// What stands behind `/`, `=` and their like.
    fn formats(&mut self) -> Found<'l> {
        while let Some(c) = self.scanner.peek() {
            match c {
                '\n' | ';' | '|' | '!' => return None,
                '\'' | '"' => drop(self.quoted()),
                _ => drop(self.scanner.bump()),
            }
        }
        Some(Place::Nothing)
    }

    /// The rest of a statement, which a shell reads.
    fn shell(&mut self) -> Found<'l> {
        self.scanner.bump();
        let start = self.scanner.position();
        while let Some(c) = self.scanner.peek() {
            match c {
                '\n' | ';' => return None,
                '\'' | '"' => drop(self.quoted()),
                _ => drop(self.scanner.bump()),
            }
        }
        let words = self.scanner.since(start).rsplit(lexer::is_blank);
        Some(Place::Shell(words.into_iter().next().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operand<'l>(dcmd: &'l str, words: &[&'l str], word: &'l str) -> Place<'l> {
        Place::Operand { dcmd, words: words.to_vec(), word }
    }

    #[test]
    fn the_end_of_the_line_decides() {
        for (before, expected) in [
            ("", Place::Nothing),
            ("mai", Place::Name("mai")),
            ("*mai", Place::Name("mai")),
            ("12+libc.so.6`mai", Place::Name("libc.so.6`mai")),
            ("12", Place::Nothing),
            (".", Place::Nothing),
            ("é", Place::Name("é")),
            ("«é", Place::Name("é")),
            ("\"ld-linux`rt", Place::Quoted("ld-linux`rt")),
            ("'ab", Place::Nothing),
            ("<r", Place::Variable("r")),
            ("1+<", Place::Variable("")),
            ("1<<ma", Place::Name("ma")),
            ("1==ma", Place::Name("ma")),
            ("*/i/ma", Place::Name("ma")),
            ("5>x", Place::Variable("x")),
            ("5>/s/x", Place::Variable("x")),
            ("5,ma", Place::Name("ma")),
        ] {
            assert_eq!(Place::at_end_of(before), expected, "{before:?}");
        }
    }

    #[test]
    fn verbs_and_their_words() {
        for (before, expected) in [
            ("::sta", Place::Spelling("::sta")),
            ("main::sta", Place::Spelling("::sta")),
            ("::", Place::Spelling("::")),
            ("$", Place::Spelling("$")),
            ("$C", Place::Spelling("$C")),
            ("$<", operand("$<", &[], "")),
            ("$<<fi", operand("$<<", &[], "fi")),
            ("::stack ", operand("::stack", &[], "")),
            ("1::walk th", operand("::walk", &[], "th")),
            ("::nm -f a 'b c' li", operand("::nm", &["-f", "a", "'b c'"], "li")),
            ("main/X", Place::Nothing),
            ("main=ma", Place::Nothing),
            ("main/nap | ::di", Place::Spelling("::di")),
            ("! cat fi", Place::Shell("fi")),
            ("::nm ! grep 'a; b' /et", Place::Shell("/et")),
        ] {
            assert_eq!(Place::at_end_of(before), expected, "{before:?}");
        }
    }

    #[test]
    fn only_the_last_statement_and_stage_count() {
        for (before, expected) in [
            ("::nm ; ma", Place::Name("ma")),
            ("1=X\n::di", Place::Spelling("::di")),
            ("::walk thread | ::", Place::Spelling("::")),
            ("::walk thread|::stack -", operand("::stack", &[], "-")),
            ("1|ma", Place::Name("ma")),
            ("! a; ma", Place::Name("ma")),
            ("::echo 'a | b' x", operand("::echo", &["'a | b'"], "x")),
        ] {
            assert_eq!(Place::at_end_of(before), expected, "{before:?}");
        }
    }

    #[test]
    fn quotes_and_immediates_hold_the_language() {
        for (before, expected) in [
            ("::map '<r", Place::Variable("r")),
            ("::eval '::sta", Place::Spelling("::sta")),
            ("::dis $[ma", Place::Name("ma")),
            ("::dis $[1] ma", operand("::dis", &["$[1]"], "ma")),
            ("::eval \"::eval '::eval $[ma", Place::Nothing),
        ] {
            assert_eq!(Place::at_end_of(before), expected, "{before:?}");
        }
    }

    #[test]
    fn no_line_is_too_strange() {
        let letters =
            ["$", ":", "/", "\"", "'", "[", "a", "é", "|", "!", ";", "\n", " ", "<", "\\"];
        for first in letters {
            for second in letters {
                for third in letters {
                    Place::at_end_of(&format!("{first}{second}{third}"));
                    Place::at_end_of(&format!("::a {first}{second}{third}"));
                }
            }
        }
        Place::at_end_of(&"'\"".repeat(30_000));
    }
}
