//! Statements: `[address][,count] verb words | verb words … ! shell command | ::verb …`.
//!
//! One statement is read at a time, and run before the next is read: what runs may change the radix
//! in which the next is written.

use crate::error::SyntaxError;
use crate::expr::{self, Expr};
use crate::lexer::{self, Scanner};
use crate::limits;
use crate::reading::Reading;
use crate::statement::StatementParser;
use crate::words::Word;

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// As it was typed.
    pub(crate) text: String,
    /// What dot becomes.
    pub(crate) address: Option<Expr>,
    /// The name at the end of it and the `::` dcmd behind that, read as one name.
    pub(crate) other: Option<String>,
    /// What stands behind the comma.
    pub(crate) count: Option<Expr>,
    /// The stages of its pipeline; none in a bare expression.
    pub(crate) pipeline: Vec<Stage>,
}

/// One stage of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A verb with its words.
    Command(Command),
    /// A command of the system's shell, which takes what the stages before it show.
    Shell(String),
}

/// A verb and its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// What to do.
    pub(crate) verb: Verb,
    /// With what.
    pub(crate) words: Vec<Word>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// A dcmd, spelled as typed: `::stack`, `$C`, `:r`, `/`.
    Dcmd(String),
    /// `>name`, with the bytes to which `>/T/name` cuts the value.
    Assign {
        /// The variable.
        name: String,
        /// Bytes that are kept.
        size: Option<u8>,
    },
}

/// Reads statements from a text.
pub(crate) struct Parser<'t> {
    scanner: Scanner<'t>,
    text: &'t str,
    /// Where the line ends whose length was checked last.
    checked: usize,
    /// Where the statement begins that was read last.
    began: usize,
}

impl<'t> Parser<'t> {
    pub(crate) const fn new(text: &'t str) -> Self {
        Self { scanner: Scanner::new(text), text, checked: 0, began: 0 }
    }

    /// The next statement, `None` at the end of the text.
    pub(crate) fn statement(
        &mut self,
        reading: Reading<'_>,
    ) -> Result<Option<Statement>, SyntaxError> {
        self.scanner.skip_to_statement();
        if self.scanner.peek().is_none() {
            return Ok(None);
        }
        self.began = self.scanner.position();
        self.check_line()?;
        StatementParser { scanner: &mut self.scanner, reading }.statement().map(Some)
    }

    /// Refuses a line that is longer than anybody types, and drops it.
    fn check_line(&mut self) -> Result<(), SyntaxError> {
        let at = self.scanner.position();
        if at < self.checked {
            return Ok(());
        }
        let rest = self.scanner.rest();
        let length = rest.find('\n').unwrap_or(rest.len());
        self.checked = at + length;
        if length <= limits::LINE {
            return Ok(());
        }
        self.skip_line();
        let most = limits::LINE;
        Err(SyntaxError::Wrong(format!("line of {length} bytes exceeds the limit of {most}")))
    }

    /// Drops what is left of the line that holds an error.
    pub(crate) fn skip_line(&mut self) {
        self.scanner.skip_line();
    }

    /// Drops what is left of the statement that holds an error.
    pub(crate) fn skip_statement(&mut self) {
        self.scanner.skip_statement();
    }

    /// The statement in which an error was just met, up to its end as far as that can be told.
    pub(crate) fn failed_text(&self) -> &'t str {
        plain(self.text.get(self.began..).unwrap_or_default())
    }

    /// Goes on behind the statement in which an error was just met.
    pub(crate) fn skip_failed(&mut self) {
        let end = self.began + self.failed_text().len();
        self.scanner.advance(end.saturating_sub(self.scanner.position()));
    }

    /// The line that holds `error`, which was just met, and the columns before the place of it.
    pub(crate) fn place_of(&self, error: &SyntaxError) -> (&'t str, usize) {
        let at = self.byte_of(error);
        let before = self.text.get(..at).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = self.text.get(start..).unwrap_or_default();
        let columns = self.text.get(start..at).unwrap_or_default().chars().count();
        (rest.lines().next().unwrap_or_default(), columns)
    }

    fn byte_of(&self, error: &SyntaxError) -> usize {
        match error {
            SyntaxError::Near(None) => self.scanner.position(),
            SyntaxError::Near(Some(token)) if self.scanner.rest().starts_with(token) => {
                self.scanner.position()
            }
            _ => self.scanner.word_start(),
        }
    }

    /// Newlines before the place of `error`, which was just met.
    pub(crate) fn lines_before(&self, error: &SyntaxError) -> usize {
        let read = self.text.get(..self.byte_of(error)).unwrap_or_default();
        read.matches('\n').count()
    }
}

/// The first statement of `text`, of which nothing else is known: up to a comment, the end of the line, or a
/// semicolon that no quotes protect.
pub(crate) fn plain(text: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    let ends = |(at, c): (usize, char)| {
        let is_comment =
            lexer::is_blank(before) && text.get(at..).is_some_and(|rest| rest.starts_with("//"));
        let is_protected = quote.is_some();
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            _ => {}
        }
        before = c;
        (c == '\n' || !is_protected && (c == ';' || is_comment)).then_some(at)
    };
    let end = text.char_indices().find_map(ends).unwrap_or(text.len());
    text.get(..end).unwrap_or_default().trim_end()
}

/// The whole of `text` as one expression.
pub(crate) fn expression(text: &str, reading: Reading<'_>) -> Result<Expr, SyntaxError> {
    let mut scanner = Scanner::new(text);
    let expr = expr::parse(&mut scanner, reading.within())?;
    scanner.skip_blanks();
    if scanner.peek().is_none() { Ok(expr) } else { Err(scanner.unexpected()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn one(text: &str) -> Result<Statement, String> {
        let mut parser = Parser::new(text);
        let statement =
            parser.statement(testing::PLAIN).map_err(|error| error.to_string())?.unwrap();
        Ok(statement)
    }

    fn verbs(text: &str) -> Vec<String> {
        let spelled = |stage| match stage {
            Stage::Shell(text) => format!("!{text}"),
            Stage::Command(Command { verb: Verb::Dcmd(spelling), .. }) => spelling,
            Stage::Command(Command { verb: Verb::Assign { name, size }, .. }) => {
                format!(">{name} {size:?}")
            }
        };
        one(text).unwrap().pipeline.into_iter().map(spelled).collect()
    }

    fn words(text: &str) -> Vec<Word> {
        match one(text).unwrap().pipeline.remove(0) {
            Stage::Command(command) => command.words,
            Stage::Shell(text) => panic!("a shell command: {text}"),
        }
    }

    #[test]
    fn verbs_are_spelled_as_typed() {
        for (text, expected) in [
            ("::stack", "::stack"),
            ("1,2::stack -v", "::stack"),
            ("$C", "$C"),
            ("$c 5", "$c"),
            ("$", "$?"),
            ("$<<file", "$<<"),
            ("$<file", "$<"),
            (":r", ":r"),
            ("main/X", "/"),
            ("main?i", "?"),
            ("0\\x", "\\"),
            ("1=X", "="),
            ("=X", "="),
            ("5>x", ">x None"),
            (">x", ">x None"),
            ("5>/s/x", ">x Some(2)"),
            ("::mod`name", "::mod`name"),
        ] {
            assert_eq!(verbs(text), [expected], "{text}");
        }
    }

    #[test]
    fn a_pipe_joins_stages_and_is_an_operator_in_an_address() {
        assert_eq!(verbs("::walk thread | ::stack|::x"), ["::walk", "::stack", "::x"]);
        let statement = one("1|2::x").unwrap();
        assert!(matches!(statement.address, Some(Expr::Binary(..))));
        assert_eq!(statement.pipeline.len(), 1);
    }

    #[test]
    fn address_and_count_are_optional() {
        let parts = |text: &str| {
            let statement = one(text).unwrap();
            (statement.address.is_some(), statement.count.is_some(), statement.pipeline.len())
        };
        assert_eq!(parts("1,2::x"), (true, true, 1));
        assert_eq!(parts(",2::x"), (false, true, 1));
        assert_eq!(parts("1"), (true, false, 0));
        assert_eq!(parts("1,2"), (true, true, 0));
        assert_eq!(parts(",2"), (false, true, 0));
        assert_eq!(parts(". , 2 /X"), (true, true, 1));
    }

    #[test]
    fn format_words_keep_their_quotes() {
        assert_eq!(
            words("main/4X \"a;b\" n ; ::x"),
            ["4X", "\"a;b\"", "n"].map(|word| Word::Text(word.into()))
        );
        assert_eq!(words("main/"), []);
    }

    #[test]
    fn shell_commands_take_the_rest() {
        assert_eq!(verbs("! ls -l | wc"), ["!ls -l | wc"]);
        assert_eq!(verbs("::x a ! grep b"), ["::x", "!grep b"]);
        assert_eq!(verbs("::x ! awk '{a; b}' ; ::y"), ["::x", "!awk '{a; b}'"]);
        assert_eq!(verbs("5::x | ::y!wc"), ["::x", "::y", "!wc"]);
        assert_eq!(one("5 ! ls"), Err("syntax error near \"!\"".into()));
    }

    #[test]
    fn a_pipe_into_a_dcmd_ends_a_shell_command() {
        assert_eq!(verbs("! sort f | uniq | ::x | ::y"), ["!sort f | uniq", "::x", "::y"]);
        assert_eq!(
            verbs("::x ! awk '{print $1}' |::y ! wc"),
            ["::x", "!awk '{print $1}'", "::y", "!wc"]
        );
        assert_eq!(verbs("! echo '| ::x'"), ["!echo '| ::x'"]);
    }

    #[test]
    fn errors_have_a_place() {
        let place = |text: &'static str| {
            let mut parser = Parser::new(text);
            loop {
                if let Err(error) = parser.statement(testing::PLAIN) {
                    return parser.place_of(&error);
                }
            }
        };
        assert_eq!(place("5 + )"), ("5 + )", 4));
        assert_eq!(place("1=X\n ::x | 5::y"), (" ::x | 5::y", 7));
        assert_eq!(place("::x a 'b c"), ("::x a 'b c", 6));
        assert_eq!(place("12g + 1"), ("12g + 1", 0));
        assert_eq!(place("1 + 0x"), ("1 + 0x", 4));
        assert_eq!(place("1,"), ("1,", 2));
    }

    #[test]
    fn statements_follow_each_other() {
        let mut parser = Parser::new("::a ; // c\n\n ::b\n1=X;;$q");
        let mut texts = Vec::new();
        while let Some(statement) = parser.statement(testing::PLAIN).unwrap() {
            texts.push(statement.text);
        }
        assert_eq!(texts, ["::a", "::b", "1=X", "$q"]);
    }

    #[test]
    fn what_cannot_stand_is_named() {
        for (text, token) in
            [("5 5", "5"), ("::x | 5::y", "5"), ("1 )", ")"), ("5 <x", "<"), ("]", "]")]
        {
            assert_eq!(one(text), Err(format!("syntax error near \"{token}\"")), "{text}");
        }
        for text in ["::", ":", "::x |", "1,", "(", ">"] {
            assert_eq!(one(text), Err("syntax error near end of line".into()), "{text}");
        }
        assert_eq!(one("5>/q/x"), Err("invalid cast -- >/q/".into()));
    }

    #[test]
    fn no_line_is_too_strange() {
        let characters =
            ["$", ":", "/", "\"", "'", "[", "]", "1", "a", "é", "|", "!", ";", "\n", " "];
        for first in characters {
            for second in characters {
                for third in characters {
                    let text = format!("{first}{second}{third}");
                    let mut parser = Parser::new(&text);
                    for _ in 0..10 {
                        match parser.statement(testing::PLAIN) {
                            Ok(None) => break,
                            Ok(Some(_)) => {}
                            Err(_) => parser.skip_line(),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn an_expression_alone_is_whole() {
        assert!(expression(" 1 + 2 ", testing::PLAIN).is_ok());
        assert_eq!(
            expression("1 2", testing::PLAIN).unwrap_err().to_string(),
            "syntax error near \"2\""
        );
    }
}
