//! What is being typed at the end of a line.
//!
//! The line is not finished, so the parser cannot be asked: this reads it as the parser would, and says
//! where it ended.

use crate::lexer::{self, Scanner};

/// Quotes in quotes that are looked into.
const DEPTH: usize = 2;

/// What is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CursorWord<'l> {
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

impl<'l> CursorWord<'l> {
    /// The place at the end of `before`.
    pub(crate) fn at_end_of(before: &'l str) -> Self {
        place(before, DEPTH)
    }
}

/// The place, or that the statement ended before the text did.
type CursorFound<'l> = Option<CursorWord<'l>>;

fn place(text: &str, depth: usize) -> CursorWord<'_> {
    let mut reader = Reader { scanner: Scanner::new(text), depth };
    loop {
        reader.scanner.skip_to_statement();
        if let Some(place) = reader.statement() {
            return place;
        }
    }
}

/// A piece of an expression.
#[derive(PartialEq, Eq)]
enum Token<'l> {
    Operand,
    Operator,
    /// An operand that the end of the line cuts off.
    Open(CursorWord<'l>),
}

impl<'l> From<CursorWord<'l>> for Token<'l> {
    fn from(place: CursorWord<'l>) -> Self {
        Self::Open(place)
    }
}

struct Reader<'l> {
    scanner: Scanner<'l>,
    depth: usize,
}

impl<'l> Reader<'l> {
    fn statement(&mut self) -> CursorFound<'l> {
        if let Some(place) = self.expression() {
            return Some(place);
        }
        while !self.scanner.at_end() {
            let found = if self.scanner.at_shell() { self.shell() } else { self.stage() };
            if found.is_some() {
                return found;
            }
            self.scanner.eat("|");
            self.scanner.skip_blanks();
        }
        self.at_text_end(CursorWord::Nothing)
    }

    fn is_done(&self) -> bool {
        self.scanner.rest().is_empty()
    }

    fn at_text_end(&self, place: CursorWord<'l>) -> CursorFound<'l> {
        self.is_done().then_some(place)
    }

    /// Address and count, up to a verb.
    fn expression(&mut self) -> CursorFound<'l> {
        let mut after_operand = false;
        loop {
            self.scanner.skip_blanks();
            if self.is_done() {
                return Some(CursorWord::Nothing);
            }
            if self.ends_expression(after_operand) {
                return None;
            }
            match self.token() {
                Token::Open(place) => return Some(place),
                token => after_operand = token == Token::Operand,
            }
        }
    }

    /// Whether a verb, a shell command, or the end of the statement comes next.
    fn ends_expression(&self, after_operand: bool) -> bool {
        let rest = self.scanner.rest();
        match self.scanner.peek() {
            Some('\n' | ';' | ':' | '$') => true,
            Some('!') => self.scanner.at_shell(),
            Some('/' | '\\' | '?' | '@') => after_operand,
            Some('=') => !rest.starts_with("=="),
            Some('>') => !rest.starts_with(">>"),
            _ => false,
        }
    }

    fn token(&mut self) -> Token<'l> {
        if ["==", "!=", "<<", ">>"].into_iter().any(|operator| self.scanner.eat(operator)) {
            return Token::Operator;
        }
        match self.scanner.peek() {
            Some('<') => self.variable(),
            Some('"') => self
                .quoted()
                .map_or_else(|open| CursorWord::Quoted(open).into(), |_| Token::Operand),
            Some('\'') => self.quoted().map_or(CursorWord::Nothing.into(), |_| Token::Operand),
            Some(c) if lexer::is_name(c) => self.name(),
            _ => self.operator(),
        }
    }

    fn variable(&mut self) -> Token<'l> {
        self.scanner.bump();
        let name = self.scanner.take_while(lexer::is_name);
        if self.is_done() { CursorWord::Variable(name).into() } else { Token::Operand }
    }

    /// A symbol, a number, or dot.
    fn name(&mut self) -> Token<'l> {
        let name = self.scanner.take_while(lexer::is_name);
        let is_symbol = name.starts_with(lexer::begins_name) && name != ".";
        match (self.is_done(), is_symbol) {
            (true, true) => CursorWord::Name(name).into(),
            (true, false) => CursorWord::Nothing.into(),
            (false, _) => Token::Operand,
        }
    }

    /// One character; a closing parenthesis ends an operand.
    fn operator(&mut self) -> Token<'l> {
        let operator = self.scanner.bump();
        if matches!(operator, Some('*' | '%')) {
            self.cast();
        }
        if operator == Some(')') { Token::Operand } else { Token::Operator }
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
    fn stage(&mut self) -> CursorFound<'l> {
        let start = self.scanner.position();
        match self.scanner.bump() {
            Some(':') if self.scanner.eat(":") => {
                self.scanner.take_while(lexer::is_name);
                self.operands(start)
            }
            Some('$') if self.scanner.eat("<<") => self.operands(start),
            Some(':' | '$') => {
                self.scanner.bump();
                self.operands(start)
            }
            Some('>') => self.assignment(),
            _ => self.formats(),
        }
    }

    /// The words behind the dcmd that begins at `start`.
    fn operands(&mut self, start: usize) -> CursorFound<'l> {
        let dcmd = self.scanner.since(start);
        if self.is_done() && !matches!(dcmd, "$<" | "$<<") {
            return Some(CursorWord::Spelling(dcmd));
        }
        let mut words = Vec::new();
        loop {
            self.scanner.skip_blanks();
            if self.is_done() {
                return Some(CursorWord::Operand { dcmd, words, word: "" });
            }
            if matches!(self.scanner.peek(), Some('\n' | ';' | '|' | '!')) {
                return None;
            }
            match self.word() {
                Ok(word) if self.is_done() => {
                    return Some(CursorWord::Operand { dcmd, words, word });
                }
                Ok(word) => words.push(word),
                Err(inner) => return Some(inner),
            }
        }
    }

    /// One word, quotes included; or the place in a quote or an immediate that is open.
    fn word(&mut self) -> Result<&'l str, CursorWord<'l>> {
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

    fn immediate(&mut self) -> Result<(), CursorWord<'l>> {
        let start = self.scanner.position();
        self.scanner.take_while(|c| c != ']' && c != '\n');
        let text = self.scanner.since(start);
        if self.scanner.eat("]") { Ok(()) } else { Err(self.inside(text)) }
    }

    /// The place in a text of the language that stands within another.
    fn inside(&self, text: &'l str) -> CursorWord<'l> {
        match self.depth.checked_sub(1) {
            Some(depth) => place(text, depth),
            None => CursorWord::Nothing,
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
    fn assignment(&mut self) -> CursorFound<'l> {
        self.cast();
        self.scanner.skip_blanks();
        let name = self.scanner.take_while(lexer::is_name);
        if self.is_done() {
            return Some(CursorWord::Variable(name));
        }
        self.scanner.take_while(|c| !matches!(c, '\n' | ';' | '|' | '!'));
        self.at_text_end(CursorWord::Nothing)
    }

    /// What stands behind `/`, `=` and their like.
    fn formats(&mut self) -> CursorFound<'l> {
        while let Some(c) = self.scanner.peek() {
            match c {
                '\n' | ';' | '|' | '!' => return None,
                '\'' | '"' => drop(self.quoted()),
                _ => drop(self.scanner.bump()),
            }
        }
        Some(CursorWord::Nothing)
    }

    /// What a shell reads.
    fn shell(&mut self) -> CursorFound<'l> {
        let text = self.scanner.take_shell();
        let word = text.rsplit(lexer::is_blank).next().unwrap_or_default();
        self.at_text_end(CursorWord::Shell(word))
    }
}

#[cfg(test)]
mod tests;
