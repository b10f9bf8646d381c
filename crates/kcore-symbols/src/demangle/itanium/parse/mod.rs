//! From letters to a tree, by recursive descent along the grammar of the Itanium C++ ABI, section 5.1.
//!
//! Each function reads what its name says and answers `None` where the name is not of the grammar. What
//! is read is bounded: each step takes fuel, of which there is an amount for each letter, and rules may
//! stand within one another only so deep.

mod encoding;
mod expression;
mod function;
mod name;
mod special;
mod template;
mod types;
mod unqualified;

use super::{
    MAX_DEPTH,
    node::{Id, List, Node, Tree},
};

/// Steps for each letter of a name. A conversion function may read template arguments twice, where names
/// of such functions stand within one another more often.
const STEPS_PER_LETTER: usize = 32;

/// A name that was read.
#[derive(Debug)]
pub struct Parsed<'n> {
    pub tree: Tree<'n>,
    /// All of it: with the return type and the parameters of a function.
    pub whole: Id,
    /// What is named, without those.
    pub name: Id,
    /// What stands behind the mangled name: a version, or the mark of a copy.
    pub rest: &'n str,
}

/// Reads the mangled name at the beginning of `text`. What follows it begins with a dot or an `@`.
pub fn parse(text: &str) -> Option<Parsed<'_>> {
    read(text.strip_prefix("_Z")?, Parser::encoding_and_name)
}

/// Reads a type.
pub fn parse_type(text: &str) -> Option<Parsed<'_>> {
    read(text, |parser| parser.a_type().map(|whole| (whole, whole)))
}

/// Reads by a rule; again, as older compilers wrote, where that may be what is meant.
fn read<'n>(
    text: &'n str,
    rule: impl Fn(&mut Parser<'n>) -> Option<(Id, Id)>,
) -> Option<Parsed<'n>> {
    for levels in [Levels::WithEnd, Levels::WithoutEnd] {
        let mut parser = Parser::new(text, levels);
        let found = rule(&mut parser);
        let rest = parser.rest();
        if let Some((whole, name)) = found
            && (rest.is_empty() || rest.starts_with(['.', '@']))
        {
            return Some(Parsed { tree: parser.tree, whole, name, rest });
        }
        if !parser.has_levels {
            return None;
        }
    }
    None
}

/// How the scopes of a name are written that is not known before a template is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Levels {
    /// With an `E` behind them, as the ABI says.
    WithEnd,
    /// As one type, as it was before.
    WithoutEnd,
}

struct Parser<'n> {
    text: &'n str,
    at: usize,
    tree: Tree<'n>,
    substitutions: Vec<Id>,
    /// The identifier that was read last: what a constructor is called.
    last_name: Option<Id>,
    /// Whether the type of a conversion function is being read.
    is_conversion: bool,
    is_expression: bool,
    levels: Levels,
    /// Whether `levels` made a difference.
    has_levels: bool,
    fuel: usize,
    depth: u32,
}

/// Where to read on from when another reading failed.
struct Mark {
    at: usize,
    substitutions: usize,
    last_name: Option<Id>,
}

impl<'n> Parser<'n> {
    fn new(text: &'n str, levels: Levels) -> Self {
        Self {
            text,
            at: 0,
            tree: Tree::default(),
            substitutions: Vec::new(),
            last_name: None,
            is_conversion: false,
            is_expression: false,
            levels,
            has_levels: false,
            fuel: text.len().saturating_add(8).saturating_mul(STEPS_PER_LETTER),
            depth: 0,
        }
    }

    /// Does what may lead to itself.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.fuel = self.fuel.checked_sub(1)?;
        self.depth = self.depth.checked_add(1).filter(|depth| *depth <= MAX_DEPTH)?;
        let found = read(self);
        self.depth = self.depth.saturating_sub(1);
        found
    }

    /// Does `read` with `is_expression` set.
    fn within_expression<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let outer = std::mem::replace(&mut self.is_expression, true);
        let found = read(self);
        self.is_expression = outer;
        found
    }

    fn add(&mut self, node: Node<'n>) -> Option<Id> {
        self.fuel = self.fuel.checked_sub(1)?;
        self.tree.add(node)
    }

    fn add_list(&mut self, items: &[Id]) -> Option<List> {
        self.fuel = self.fuel.checked_sub(items.len())?;
        self.tree.add_list(items)
    }

    fn substitutable(&mut self, id: Id) -> Id {
        self.substitutions.push(id);
        id
    }

    fn mark(&self) -> Mark {
        Mark { at: self.at, substitutions: self.substitutions.len(), last_name: self.last_name }
    }

    fn go_back(&mut self, to: &Mark) {
        self.at = to.at;
        self.substitutions.truncate(to.substitutions);
        self.last_name = to.last_name;
    }

    fn rest(&self) -> &'n str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The letter so many places ahead; 0 behind the end.
    fn ahead(&self, places: usize) -> u8 {
        let at = self.at.saturating_add(places);
        self.text.as_bytes().get(at).copied().unwrap_or_default()
    }

    fn peek(&self) -> u8 {
        self.ahead(0)
    }

    fn is_next(&self, word: &str) -> bool {
        self.rest().as_bytes().starts_with(word.as_bytes())
    }

    fn skip(&mut self, letters: usize) {
        self.at = self.at.saturating_add(letters).min(self.text.len());
    }

    fn eat(&mut self, word: &str) -> bool {
        let is_next = self.is_next(word);
        if is_next {
            self.skip(word.len());
        }
        is_next
    }

    fn expect(&mut self, word: &str) -> Option<()> {
        self.eat(word).then_some(())
    }

    /// The next `len` bytes.
    fn take(&mut self, len: usize) -> Option<&'n str> {
        let text = self.rest().get(..len)?;
        self.skip(len);
        Some(text)
    }

    /// The letters up to the next `end`, which stays. Looking for it is paid by the letter.
    fn take_until(&mut self, end: char) -> Option<&'n str> {
        let rest = self.rest();
        let found = rest.find(end);
        self.fuel = self.fuel.checked_sub(found.unwrap_or(rest.len()))?;
        self.take(found?)
    }

    /// Digits; none are 0.
    fn digits(&mut self) -> Option<usize> {
        let len = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let digits = self.take(len)?;
        if digits.is_empty() { Some(0) } else { digits.parse().ok().filter(|n| *n <= MAX_NUMBER) }
    }

    /// A number that may be negative, and does not matter.
    fn skip_number(&mut self) -> Option<()> {
        self.eat("n");
        self.digits().map(drop)
    }

    /// `_` for 0, `0_` for 1, and so on.
    fn compact_number(&mut self) -> Option<usize> {
        let number = match self.peek() {
            b'_' => 0,
            b'n' => return None,
            _ => self.digits()?.checked_add(1)?,
        };
        self.expect("_")?;
        Some(number)
    }
}

/// Numbers beyond this are none that a compiler wrote.
const MAX_NUMBER: usize = i32::MAX as usize;
