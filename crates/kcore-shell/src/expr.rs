//! Expressions: their tree, and the parser that makes it.

use crate::error::SyntaxError;
use crate::lexer::{self, Scanner};
use crate::reading::Reading;
use crate::{limits, literal, quote, vars};

/// An expression, to be evaluated when its statement runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    /// A literal.
    Number(u64),
    /// A symbol with its scope, or, if there is none, a number that begins with a letter.
    Name(String),
    /// A symbol in quotes, which is never a number.
    Symbol(String),
    /// `.`.
    Dot,
    /// `+` alone: dot plus the increment.
    Next,
    /// `^` alone: dot minus the increment.
    Previous,
    /// `&` alone: dot as the last dcmd had it.
    Last,
    /// `<name`: a variable or register.
    Variable(String),
    /// `{…}`: an expression of C or C++.
    Typed(String),
    /// An operator before its operand.
    Unary(Unary, Box<Expr>),
    /// `*e`, `%e`: memory, with its size in bytes, or the size of a pointer.
    Read(Space, Option<u8>, Box<Expr>),
    /// An operator between two operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
}

/// Operators before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    /// `-`.
    Negate,
    /// `~`.
    Complement,
    /// `#`: 1 for 0, otherwise 0.
    Not,
}

/// What memory a read goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// `*`: the process.
    Process,
    /// `%`: the object file.
    Object,
}

/// Operators between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Or,
    Xor,
    And,
    Equal,
    NotEqual,
    ShiftLeft,
    ShiftRight,
    Subtract,
    Add,
    Multiply,
    Divide,
    RoundUp,
    Modulus,
}

/// Every operator with its level, higher binds tighter. Of two that begin alike the longer is first.
const BINARY: &[(&str, Binary, u8)] = &[
    ("|", Binary::Or, 1),
    ("^", Binary::Xor, 2),
    ("&", Binary::And, 3),
    ("==", Binary::Equal, 4),
    ("!=", Binary::NotEqual, 4),
    ("<<", Binary::ShiftLeft, 5),
    (">>", Binary::ShiftRight, 5),
    ("-", Binary::Subtract, 6),
    ("+", Binary::Add, 6),
    ("*", Binary::Multiply, 7),
    ("%%", Binary::Modulus, 8),
    ("%", Binary::Divide, 7),
    ("#", Binary::RoundUp, 7),
];

/// Reads one expression and stops behind it.
///
/// # Errors
/// When there is none, or more is nested in it than anybody types.
pub(crate) fn parse(scanner: &mut Scanner<'_>, reading: Reading<'_>) -> Result<Expr, SyntaxError> {
    ExprParser { scanner, reading, depth: 0, operators: 0 }.binary(1)
}

struct ExprParser<'s, 't, 'n> {
    scanner: &'s mut Scanner<'t>,
    reading: Reading<'n>,
    depth: usize,
    operators: usize,
}

impl ExprParser<'_, '_, '_> {
    fn binary(&mut self, least: u8) -> Result<Expr, SyntaxError> {
        self.descend()?;
        let mut left = self.unary()?;
        while let Some((text, operator, level)) = self.operator(least) {
            self.scanner.eat(text);
            self.count_operator()?;
            let right = self.binary(level + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operator(&mut self, least: u8) -> Option<(&'static str, Binary, u8)> {
        self.scanner.skip_blanks();
        let rest = self.scanner.rest();
        let found = BINARY.iter().copied().find(|(text, ..)| rest.starts_with(text));
        found.filter(|(.., level)| *level >= least)
    }

    fn unary(&mut self) -> Result<Expr, SyntaxError> {
        self.descend()?;
        self.scanner.skip_blanks();
        self.scanner.begin_word();
        let expr = match self.scanner.peek() {
            Some('-') => self.prefixed(Unary::Negate)?,
            Some('~') => self.prefixed(Unary::Complement)?,
            Some('#') => self.prefixed(Unary::Not)?,
            Some('*') => self.read(Space::Process)?,
            Some('%') => self.read(Space::Object)?,
            _ => self.operand()?,
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn prefixed(&mut self, operator: Unary) -> Result<Expr, SyntaxError> {
        self.scanner.bump();
        Ok(Expr::Unary(operator, Box::new(self.unary()?)))
    }

    fn read(&mut self, space: Space) -> Result<Expr, SyntaxError> {
        let operator = self.scanner.bump().unwrap_or_default();
        let size = if self.scanner.eat("/") { Some(self.cast(operator)?) } else { None };
        Ok(Expr::Read(space, size, Box::new(self.unary()?)))
    }

    /// `T/` of a read with an explicit size.
    fn cast(&mut self, operator: char) -> Result<u8, SyntaxError> {
        let letter = self.scanner.take_while(char::is_alphanumeric);
        if !self.scanner.eat("/") {
            return Err(self.scanner.unexpected());
        }
        cast_size(letter)
            .ok_or_else(|| SyntaxError::Wrong(format!("invalid cast -- {operator}/{letter}/")))
    }

    fn operand(&mut self) -> Result<Expr, SyntaxError> {
        match self.scanner.peek() {
            Some('0'..='9') => literal::number(self.scanner, self.reading.radix).map(Expr::Number),
            Some(c) if lexer::begins_name(c) => Ok(self.name()),
            Some('(') => self.group(),
            Some('<') => self.variable(),
            Some('{') => self.typed(),
            Some('\'') => self.after_quote(literal::characters).map(Expr::Number),
            Some('"') => self.after_quote(quote::escaped).map(Expr::Symbol),
            Some('+') => Ok(self.alone(Expr::Next)),
            Some('^') => Ok(self.alone(Expr::Previous)),
            Some('&') => Ok(self.alone(Expr::Last)),
            _ => Err(self.scanner.unexpected()),
        }
    }

    fn name(&mut self) -> Expr {
        let start = self.scanner.position();
        let text = self.scanner.rest();
        self.scanner.skip_object();
        self.scanner.take_while(lexer::is_name);
        let plain = self.scanner.since(start);
        if plain == "." {
            return Expr::Dot;
        }
        let length = self.reading.name_length(text, plain.len());
        self.scanner.advance(length.saturating_sub(plain.len()));
        Expr::Name(self.scanner.since(start).to_owned())
    }

    fn group(&mut self) -> Result<Expr, SyntaxError> {
        self.scanner.bump();
        let outside = self.reading;
        self.reading = outside.within();
        let inner = self.binary(1)?;
        self.reading = outside;
        if self.scanner.eat(")") { Ok(inner) } else { Err(self.scanner.unexpected()) }
    }

    fn variable(&mut self) -> Result<Expr, SyntaxError> {
        self.scanner.bump();
        let name = self.scanner.take_while(vars::is_in_name);
        if name.is_empty() {
            return Err(self.scanner.unexpected());
        }
        Ok(Expr::Variable(name.to_owned()))
    }

    /// The text up to the brace that closes it; braces in quotes count for nothing.
    fn typed(&mut self) -> Result<Expr, SyntaxError> {
        self.scanner.bump();
        let text = self.scanner.rest();
        let end = quote::closing_brace(text).ok_or(SyntaxError::Unmatched("{"))?;
        let inner = text.get(..end).unwrap_or_default().trim().to_owned();
        self.scanner.advance(end.saturating_add(1));
        Ok(Expr::Typed(inner))
    }

    fn after_quote<T>(
        &mut self,
        read: impl FnOnce(&mut Scanner<'_>) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        self.scanner.bump();
        read(self.scanner)
    }

    fn alone(&mut self, operand: Expr) -> Expr {
        self.scanner.bump();
        operand
    }

    fn descend(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > limits::DEPTH {
            let message = format!("expression is nested more than {} deep", limits::DEPTH / 2);
            return Err(SyntaxError::Wrong(message));
        }
        Ok(())
    }

    fn count_operator(&mut self) -> Result<(), SyntaxError> {
        self.operators += 1;
        if self.operators > limits::OPERATORS {
            let message = format!("expression has more than {} operators", limits::OPERATORS);
            return Err(SyntaxError::Wrong(message));
        }
        Ok(())
    }
}

/// Bytes of the type that a cast names.
pub(crate) fn cast_size(letter: &str) -> Option<u8> {
    match letter {
        "c" | "1" => Some(1),
        "s" | "2" => Some(2),
        "i" | "4" => Some(4),
        "l" | "8" => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn parsed(text: &str) -> (Result<Expr, String>, String) {
        let mut scanner = Scanner::new(text);
        let expr = parse(&mut scanner, testing::PLAIN).map_err(|error| error.to_string());
        (expr, scanner.rest().to_owned())
    }

    fn error(text: &str) -> String {
        parsed(text).0.unwrap_err()
    }

    #[test]
    fn an_expression_ends_where_a_verb_begins() {
        for (text, rest) in [
            ("main=K", "=K"),
            ("main+8/X", "/X"),
            ("<rsp,10/nap", ",10/nap"),
            ("2==2=X", "=X"),
            ("5>x", ">x"),
            ("5::dis", "::dis"),
            ("5 ! ls", "! ls"),
            (".+8\\x", "\\x"),
            ("libstdc++.so.6`x+1=X", "=X"),
            ("libc.so.6`stdout::print", "::print"),
        ] {
            let (expr, left) = parsed(text);
            assert!(expr.is_ok(), "{text}: {expr:?}");
            assert_eq!(left, rest, "{text}");
        }
    }

    #[test]
    fn plus_caret_and_ampersand_are_operands_where_one_is_expected() {
        assert_eq!(parsed("+").0, Ok(Expr::Next));
        assert_eq!(parsed("^/X").0, Ok(Expr::Previous));
        let sum = Expr::Binary(Binary::Add, Box::new(Expr::Last), Box::new(Expr::Number(1)));
        assert_eq!(parsed("& + 1").0, Ok(sum));
    }

    #[test]
    fn names_of_libraries_may_hold_operators() {
        let name = |text: &str| Expr::Name(text.to_owned());
        assert_eq!(parsed("libstdc++.so.6`x").0, Ok(name("libstdc++.so.6`x")));
        assert_eq!(parsed("libc-2.31.so`x").0, Ok(name("libc-2.31.so`x")));
        let sum = |a, b| Expr::Binary(Binary::Add, Box::new(name(a)), Box::new(name(b)));
        assert_eq!(parsed("x+libc.so.6`y").0, Ok(sum("x", "libc.so.6`y")));
        assert_eq!(parsed("libx+a`y").0, Ok(sum("libx", "a`y")));
    }

    #[test]
    fn reads_take_sizes() {
        let read = |space, size, at| Expr::Read(space, size, Box::new(at));
        assert_eq!(parsed("*/i/.").0, Ok(read(Space::Process, Some(4), Expr::Dot)));
        assert_eq!(parsed("%8").0, Ok(read(Space::Object, None, Expr::Number(8))));
        assert_eq!(error("*/x/8"), "invalid cast -- */x/");
        assert_eq!(error("%/9/8"), "invalid cast -- %/9/");
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(error("(1"), "syntax error near end of line");
        assert_eq!(error("1+)"), "syntax error near \")\"");
        assert_eq!(error("<+"), "syntax error near \"+\"");
        assert_eq!(error(""), "syntax error near end of line");
        assert_eq!(error("\"abc"), "syntax error: \" unmatched");
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(error(&deep), "expression is nested more than 128 deep");
        assert_eq!(error(&"-".repeat(60_000)), "expression is nested more than 128 deep");
        let long = "1+".repeat(30_000) + "1";
        assert_eq!(error(&long), "expression has more than 2048 operators");
        let fair = format!("{}1{}", "(".repeat(100), ")".repeat(100));
        assert_eq!(parsed(&fair).0, Ok(Expr::Number(1)));
    }
}
