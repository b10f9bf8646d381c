//! Where in the words of a type its reader stands.

use std::sync::Arc;

use super::{
    super::{TypeLookupError, lexer::Token},
    Names, OpenType, Tag,
};

/// Brackets, bodies and parameter lists within one another.
const MAX_DEPTH: usize = 32;

/// Reads words one after the other.
pub struct Parser<'a> {
    pub tokens: &'a [Token],
    pub at: usize,
    pub names: &'a dyn Names,
    depth: usize,
    /// The structures whose bodies are being read, which may point to themselves.
    pub open: Vec<(Tag, Arc<str>, OpenType)>,
}

impl<'a> Parser<'a> {
    /// Begins at word `at`.
    pub const fn new(tokens: &'a [Token], at: usize, names: &'a dyn Names) -> Self {
        Self { tokens, at, names, depth: 0, open: Vec::new() }
    }

    /// The word here, if it is a name.
    pub fn word(&self) -> Option<&str> {
        match self.tokens.get(self.at) {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Whether here is a sign.
    pub fn is_sign(&self, wanted: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Sign(sign)) if *sign == wanted)
    }

    /// Goes on to the next word.
    pub fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// Goes past a sign, if it is here.
    pub fn takes(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.step();
        }
        found
    }

    /// Goes past a sign that must be here.
    pub fn expect(&mut self, sign: &str) -> Result<(), TypeLookupError> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// What is said of a word that cannot be here.
    pub fn unexpected(&self) -> TypeLookupError {
        match self.tokens.get(self.at) {
            Some(token) => TypeLookupError::Syntax(token.to_string()),
            None => TypeLookupError::Unfinished,
        }
    }

    /// Goes one level deeper, as far as that is allowed.
    pub fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, TypeLookupError>,
    ) -> Result<T, TypeLookupError> {
        if self.depth >= MAX_DEPTH {
            return Err(TypeLookupError::Limit("32 types within one another"));
        }
        self.depth = self.depth.saturating_add(1);
        let result = read(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }
}
