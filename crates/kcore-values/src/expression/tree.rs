//! The tree of an expression.

use std::{ops::Range, sync::Arc};

use kcore_symbols::Type;

use super::{literal::Literal, operator::Binary};
use crate::Object;

/// A part of an expression, and where it is written.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub tree: Tree,
    /// Its bytes in the text.
    pub at: Range<usize>,
}

/// What a part of an expression is.
#[derive(Clone, Debug)]
pub enum Tree {
    /// A number or a character.
    Literal(Literal),
    /// A text, as something else may be compared with.
    Text(Arc<str>),
    /// A variable, a function or a register.
    Object(Box<Object>),
    /// A name of nothing that lies anywhere: an enumerator, of what it is compared with if that has one of this name.
    Word(Arc<str>),
    /// `.`
    Dot,
    /// A member, or elements by a key or a range: a step of a path as it is written.
    Step(Box<Node>, Range<usize>),
    /// `a[i]`
    Index(Box<Node>, Box<Node>),
    /// `a(i, j)` and `a(i:j)`, as Fortran has them.
    Elements(Box<Node>, Vec<SubscriptNode>),
    /// `*a`
    Target(Box<Node>),
    /// `&a`
    Address(Box<Node>),
    /// `-a`, `~a`, `!a`, `+a`
    Unary(Unary, Box<Node>),
    /// `(type)a`
    Cast(Type, Box<Node>),
    /// `sizeof a`
    SizeOf(Box<Node>),
    /// `sizeof (type)`
    SizeOfType(Type),
    /// Two operands with an operator between them.
    Binary(Binary, Box<Node>, Box<Node>),
    /// `a ? b : c`
    Choice(Box<Node>, Box<Node>, Box<Node>),
    /// `(a)`
    Group(Box<Node>),
}

/// A subscript of an array of Fortran: an index, or a section of one dimension.
#[derive(Clone, Debug)]
pub enum SubscriptNode {
    /// `i`
    Index(Node),
    /// `first:last:step`, of which each may be missing.
    Section([Option<Node>; 3]),
}

/// Operators of one number before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `~`
    Complement,
    /// `!`
    Not,
}

impl Unary {
    /// How it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Minus => "-",
            Self::Plus => "+",
            Self::Complement => "~",
            Self::Not => "!",
        }
    }
}
