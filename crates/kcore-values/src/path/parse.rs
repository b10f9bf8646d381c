//! The steps of a path, in the order in which they are taken.

use std::ops::Range;

use super::PathError;

/// Bytes of a path, at most.
const MAX_LENGTH: usize = 4096;
/// Steps of a path, at most.
const MAX_STEPS: usize = 256;
/// Parentheses, asterisks and casts within one another.
const MAX_DEPTH: usize = 32;

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member by its name at the beginning: behind `->` of a pointer, of anything else behind `.`.
    First(String),
    /// `.name`
    Member(String),
    /// `->name`
    Arrow(String),
    /// `[text]`
    Index(String),
    /// `[first..last]`, both included.
    Range {
        /// The first index.
        first: String,
        /// The last.
        last: String,
        /// Where it is written, with its brackets.
        at: Range<usize>,
    },
    /// `*`
    Target,
    /// `(type)`
    Cast(String),
}

/// Reads a path.
///
/// # Errors
/// When it is none.
pub fn parse(text: &str) -> Result<Vec<Step>, PathError> {
    if text.len() > MAX_LENGTH {
        return Err(PathError::Limit("4096 characters"));
    }
    let mut parser = Parser { text, at: 0, steps: Vec::new(), depth: 0 };
    parser.unary()?;
    match parser.rest().chars().next() {
        Some(rest) => Err(PathError::Delimiter(rest)),
        None => Ok(parser.steps),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    steps: Vec<Step>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.skip(rest.len().saturating_sub(rest.trim_start().len()));
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.skip(sign.len());
        }
        found
    }

    fn push(&mut self, step: Step) -> Result<(), PathError> {
        if self.steps.len() >= MAX_STEPS {
            return Err(PathError::Limit("256 steps"));
        }
        self.steps.push(step);
        Ok(())
    }

    /// `*path`, `(type)path`, or a path of members alone.
    fn unary(&mut self) -> Result<(), PathError> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_DEPTH {
            return Err(PathError::Limit("32 parentheses"));
        }
        self.blanks();
        if self.takes("*") {
            self.unary()?;
            self.push(Step::Target)?;
        } else if let Some(ty) = self.cast() {
            self.unary()?;
            self.push(Step::Cast(ty))?;
        } else {
            self.postfix()?;
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    /// The type in parentheses, if a path follows them: else they only group.
    fn cast(&mut self) -> Option<String> {
        let rest = self.rest();
        let inner = rest.strip_prefix('(')?;
        let len = closing(inner, '(', ')')?;
        let behind = inner.get(len.saturating_add(1)..)?.trim_start();
        let goes_on = behind.starts_with(|c: char| is_name(c) || matches!(c, '(' | '*'));
        let ty = inner.get(..len).filter(|_| goes_on)?;
        self.skip(rest.len().saturating_sub(behind.len()));
        Some(ty.trim().to_owned())
    }

    fn postfix(&mut self) -> Result<(), PathError> {
        if self.takes("(") {
            self.unary()?;
            self.blanks();
            if !self.takes(")") {
                return Err(PathError::OpenParenthesis);
            }
        } else if self.rest().starts_with(is_name) {
            let name = self.name();
            self.push(Step::First(name))?;
        }
        while self.delimited()? {}
        Ok(())
    }

    /// A delimiter with what follows it; whether there was one.
    fn delimited(&mut self) -> Result<bool, PathError> {
        self.blanks();
        let start = self.at;
        if self.takes("->") {
            let name = self.named("->")?;
            self.push(Step::Arrow(name))?;
        } else if self.takes(".") {
            let name = self.named(".")?;
            self.push(Step::Member(name))?;
        } else if self.takes("[") {
            let step = self.index(start)?;
            self.push(step)?;
        } else {
            return match self.rest().chars().next() {
                None | Some(')') => Ok(false),
                Some(other) => Err(PathError::Delimiter(other)),
            };
        }
        Ok(true)
    }

    /// The name behind a delimiter.
    fn named(&mut self, delimiter: &'static str) -> Result<String, PathError> {
        self.blanks();
        match self.rest().starts_with(|c: char| is_name(c) || c == '<') {
            true => Ok(self.name()),
            false => Err(PathError::NoName(delimiter)),
        }
    }

    /// A name, perhaps in the angle brackets in which base classes are shown; without one the character
    /// that stands there.
    fn name(&mut self) -> String {
        let rest = self.rest();
        if let Some(inner) = rest.strip_prefix('<')
            && let Some(len) = closing(inner, '<', '>')
        {
            self.skip(len.saturating_add(2));
            return inner.get(..len).unwrap_or_default().to_owned();
        }
        let mut len = name_length(rest);
        // Base classes are named with their scopes.
        while let Some(more) = rest.get(len..).and_then(|rest| rest.strip_prefix("::")) {
            len = len.saturating_add(2).saturating_add(name_length(more));
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let len = len.max(first);
        self.skip(len);
        rest.get(..len).unwrap_or_default().to_owned()
    }

    fn index(&mut self, start: usize) -> Result<Step, PathError> {
        let rest = self.rest();
        let len = closing(rest, '[', ']').ok_or(PathError::OpenBracket)?;
        self.skip(len.saturating_add(1));
        let text = rest.get(..len).unwrap_or_default().trim();
        let is_key = text.starts_with('"');
        Ok(match text.split_once("..").filter(|_| !is_key) {
            Some((first, last)) => Step::Range {
                first: first.trim().to_owned(),
                last: last.trim().to_owned(),
                at: start..self.at,
            },
            None => Step::Index(text.to_owned()),
        })
    }
}

fn name_length(text: &str) -> usize {
    text.find(|c| !is_name(c)).unwrap_or(text.len())
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// How many bytes stand before the bracket that closes what is open; quoted text counts for nothing.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let (mut depth, mut is_quoted) = (0_usize, false);
    for (at, c) in text.char_indices() {
        if c == '"' {
            is_quoted = !is_quoted;
        } else if is_quoted {
            continue;
        } else if c == open {
            depth = depth.saturating_add(1);
        } else if c == close {
            match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return Some(at),
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(name: &str) -> Step {
        Step::First(name.into())
    }

    fn member(name: &str) -> Step {
        Step::Member(name.into())
    }

    fn arrow(name: &str) -> Step {
        Step::Arrow(name.into())
    }

    fn index(text: &str) -> Step {
        Step::Index(text.into())
    }

    #[test]
    fn delimiters_and_names_alternate() {
        assert_eq!(parse("a.b->c").unwrap(), [first("a"), member("b"), arrow("c")]);
        assert_eq!(parse("->a[2].b").unwrap(), [arrow("a"), index("2"), member("b")]);
        assert_eq!(parse("[0t10]").unwrap(), [index("0t10")]);
        assert_eq!(parse(".0").unwrap(), [member("0")]);
        assert_eq!(
            parse("a.<Base<int>>.x").unwrap(),
            [first("a"), member("Base<int>"), member("x")]
        );
        assert_eq!(parse("a.ns::Base.x").unwrap(), [first("a"), member("ns::Base"), member("x")]);
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn precedence_is_that_of_c() {
        assert_eq!(parse("*a.b").unwrap(), [first("a"), member("b"), Step::Target]);
        assert_eq!(parse("(*a).b").unwrap(), [first("a"), Step::Target, member("b")]);
        let cast = || Step::Cast("struct foo *".into());
        assert_eq!(parse("((struct foo *)p)->x").unwrap(), [first("p"), cast(), arrow("x")]);
        assert_eq!(parse("(struct foo *)p->x").unwrap(), [first("p"), arrow("x"), cast()]);
        assert_eq!(parse("(p)->x").unwrap(), [first("p"), arrow("x")]);
        assert_eq!(parse("*").unwrap(), [Step::Target]);
    }

    #[test]
    fn brackets_hold_numbers_ranges_and_keys() {
        let range = Step::Range { first: "1".into(), last: "3".into(), at: 1..7 };
        assert_eq!(parse("a[1..3].b").unwrap(), [first("a"), range, member("b")]);
        assert_eq!(parse("m[\"a]..b\"]").unwrap(), [first("m"), index("\"a]..b\"")]);
        assert_eq!(parse("a[b[1]]").unwrap(), [first("a"), index("b[1]")]);
    }

    #[test]
    fn what_is_no_path_is_named() {
        assert_eq!(parse("a[1"), Err(PathError::OpenBracket));
        assert_eq!(parse("a-b"), Err(PathError::Delimiter('-')));
        assert_eq!(parse("a,b"), Err(PathError::Delimiter(',')));
        assert_eq!(parse("(a"), Err(PathError::OpenParenthesis));
        assert_eq!(parse("a->"), Err(PathError::NoName("->")));
        assert_eq!(parse("."), Err(PathError::NoName(".")));
        assert_eq!(parse("a)"), Err(PathError::Delimiter(')')));
        assert_eq!(parse("a..b"), Err(PathError::NoName(".")));
    }

    #[test]
    fn paths_are_bounded() {
        assert!(matches!(parse(&"*".repeat(40)), Err(PathError::Limit(_))));
        assert!(matches!(parse(&"[0]".repeat(300)), Err(PathError::Limit(_))));
        assert!(matches!(parse(&"a".repeat(5000)), Err(PathError::Limit(_))));
    }
}
