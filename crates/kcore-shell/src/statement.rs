//! The parser of one statement: its address and count, its verbs with their words, its shell commands.

use crate::error::SyntaxError;
use crate::expr::{self, Expr};
use crate::lexer::{self, Scanner};
use crate::parse::{Command, Stage, Statement, Verb};
use crate::reading::{self, Reading};
use crate::words;

/// Reads one statement.
pub(crate) struct StatementParser<'s, 't, 'n> {
    pub(crate) scanner: &'s mut Scanner<'t>,
    pub(crate) reading: Reading<'n>,
}

impl StatementParser<'_, '_, '_> {
    pub(crate) fn statement(&mut self) -> Result<Statement, SyntaxError> {
        let start = self.scanner.position();
        let address = self.address()?;
        let other = self.other_name();
        let count = self.count()?;
        // A bare expression shows nothing that a shell command could take.
        let is_bare = address.is_some() && !self.at_verb();
        let pipeline = if is_bare { Vec::new() } else { self.pipeline()? };
        if !self.scanner.at_end() {
            return Err(self.scanner.unexpected());
        }
        let text = self.scanner.since(start).trim_end().to_owned();
        Ok(Statement { text, address, other, count, pipeline })
    }

    fn address(&mut self) -> Result<Option<Expr>, SyntaxError> {
        let none = self.at_verb() || self.scanner.at_shell() || self.scanner.peek() == Some(',');
        Ok(if none { None } else { Some(expr::parse(self.scanner, self.reading)?) })
    }

    /// The name at the end of the address and the dcmd that is joined to it, which may be one name.
    fn other_name(&mut self) -> Option<String> {
        let name = self.scanner.since(self.scanner.word_start());
        let dcmd = reading::spelling(self.scanner.rest());
        self.scanner.skip_blanks();
        let is_joined = name.starts_with(lexer::begins_name) && !name.ends_with(lexer::is_blank);
        dcmd.filter(|_| is_joined).map(|dcmd| format!("{name}{dcmd}"))
    }

    fn count(&mut self) -> Result<Option<Expr>, SyntaxError> {
        let count = match self.scanner.eat(",") {
            true => Some(expr::parse(self.scanner, self.reading)?),
            false => None,
        };
        self.scanner.skip_blanks();
        Ok(count)
    }

    fn at_verb(&self) -> bool {
        let rest = self.scanner.rest();
        rest.starts_with(['/', '\\', '?', '@', '=', '>', ':', '$']) && !rest.starts_with("//")
    }

    /// Stages up to the statement's end; none where only a count stands.
    fn pipeline(&mut self) -> Result<Vec<Stage>, SyntaxError> {
        let mut stages = Vec::new();
        if self.at_verb() {
            stages.push(self.stage()?);
        }
        loop {
            if self.scanner.at_shell() {
                stages.push(Stage::Shell(self.scanner.take_shell().trim().to_owned()));
            } else if self.scanner.eat("|") {
                self.scanner.skip_blanks();
                stages.push(self.stage()?);
            } else {
                return Ok(stages);
            }
        }
    }

    fn stage(&mut self) -> Result<Stage, SyntaxError> {
        self.scanner.begin_word();
        if !self.at_verb() {
            return Err(self.scanner.unexpected());
        }
        self.command().map(Stage::Command)
    }

    fn command(&mut self) -> Result<Command, SyntaxError> {
        match self.scanner.bump() {
            Some(':') => self.colon(),
            Some('$') => self.dollar(),
            Some('>') => self.assignment(),
            Some(verb) => {
                let words = words::formats(self.scanner, self.reading)?;
                Ok(Command { verb: Verb::Dcmd(verb.to_string()), words })
            }
            None => Err(self.scanner.unexpected()),
        }
    }

    /// `::name`, or `:` and one character.
    fn colon(&mut self) -> Result<Command, SyntaxError> {
        let name = match self.scanner.eat(":") {
            true => format!(":{}", self.scanner.take_while(lexer::is_name)),
            false => self.letter().map(String::from).unwrap_or_default(),
        };
        if name.is_empty() || name == ":" {
            return Err(self.scanner.unexpected());
        }
        self.dcmd(format!(":{name}"))
    }

    /// `$` and one character; `$<<` is three, and `$` alone is `$?`.
    fn dollar(&mut self) -> Result<Command, SyntaxError> {
        let spelling = ["<<", "<", ">"].into_iter().find(|text| self.scanner.eat(text));
        let spelling = match spelling {
            Some(text) => text.to_owned(),
            None => self.letter().unwrap_or('?').to_string(),
        };
        self.dcmd(format!("${spelling}"))
    }

    fn letter(&mut self) -> Option<char> {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '?' | '%' | '@' | '^' | '_' | '`');
        if self.scanner.peek().is_some_and(fits) { self.scanner.bump() } else { None }
    }

    fn dcmd(&mut self, spelling: String) -> Result<Command, SyntaxError> {
        let words = words::arguments(self.scanner, self.reading)?;
        Ok(Command { verb: Verb::Dcmd(spelling), words })
    }

    fn assignment(&mut self) -> Result<Command, SyntaxError> {
        let size = if self.scanner.eat("/") { Some(self.cast()?) } else { None };
        self.scanner.take_while(lexer::is_blank);
        let ends = |c: char| lexer::is_blank(c) || matches!(c, '\n' | ';' | '|' | '!');
        let name = self.scanner.take_while(|c| !ends(c)).to_owned();
        if name.is_empty() {
            return Err(self.scanner.unexpected());
        }
        self.scanner.skip_blanks();
        Ok(Command { verb: Verb::Assign { name, size }, words: Vec::new() })
    }

    fn cast(&mut self) -> Result<u8, SyntaxError> {
        let letter = self.scanner.take_while(char::is_alphanumeric);
        if !self.scanner.eat("/") {
            return Err(self.scanner.unexpected());
        }
        expr::cast_size(letter)
            .ok_or_else(|| SyntaxError::Wrong(format!("invalid cast -- >/{letter}/")))
    }
}
