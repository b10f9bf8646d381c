//! Terms (`erl_term.h`), and how Erlang prints them.

mod bignum;
mod binary;
mod map;
mod printer;

use std::sync::Arc;

use kcore_mem::Addr;

pub use printer::{PrintedTerm, TermLimits};

use super::{atoms, ids::Ids, memory::Memory};

/// What the lowest two bits say.
const PRIMARY: u64 = 3;
const LIST: u64 = 1;
const BOXED: u64 = 2;
/// Bits of a pointer that are not its address.
const POINTER_TAG: u64 = 7;
const SMALL: u64 = 15;
const SMALL_MASK: u64 = 15;
const NIL: u64 = 0x3b;
const CATCH: u64 = 0x1b;
const IMMEDIATE_MASK: u64 = 0x3f;

/// What a term is, as its tag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// An atom.
    Atom,
    /// An integer that fits.
    Small(i64),
    /// A process of this node, or a port.
    Identifier,
    /// The empty list.
    Nil,
    /// A cell of a list.
    List(Addr),
    /// An object of the heap, which begins with what it is.
    Boxed(Addr),
    /// Where an exception is caught: on stacks.
    Catch,
    /// None of these: a return address, or no term.
    Other,
}

impl TermKind {
    /// That of a term.
    pub const fn of(term: u64) -> Self {
        match term & PRIMARY {
            LIST => Self::List(Addr::new(term & !POINTER_TAG)),
            BOXED => Self::Boxed(Addr::new(term & !POINTER_TAG)),
            PRIMARY if term & SMALL_MASK == SMALL => Self::Small(term.cast_signed() >> 4),
            PRIMARY if atoms::is_atom(term) => Self::Atom,
            PRIMARY if term == NIL => Self::Nil,
            PRIMARY if term & IMMEDIATE_MASK == CATCH => Self::Catch,
            PRIMARY if matches!(term & SMALL_MASK, 3 | 7) => Self::Identifier,
            _ => Self::Other,
        }
    }
}

/// What reads terms.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// The memory that they lie in.
    pub memory: Memory<'a>,
    /// The table of atoms.
    pub atoms: Addr,
    /// How numbers of processes are ordered.
    pub ids: Ids,
    /// The same of ports.
    pub ports: Ids,
}

impl Terms<'_> {
    /// The text of an atom.
    pub fn atom(&self, term: u64) -> Option<Arc<str>> {
        atoms::text(&self.memory, self.atoms, term)
    }

    /// The text of a list of characters or of a binary, of which at most so many bytes are read.
    pub fn text(&self, term: u64, most: u64) -> Option<String> {
        match TermKind::of(term) {
            TermKind::List(_) => {
                let mut text = String::new();
                let mut rest = term;
                while let TermKind::List(cell) = TermKind::of(rest) {
                    let TermKind::Small(code) = TermKind::of(self.memory.word(cell, 0)?) else {
                        return None;
                    };
                    text.push(char::from_u32(u32::try_from(code).ok()?)?);
                    ((text.len() as u64) <= most).then_some(())?;
                    rest = self.memory.word(cell, 8)?;
                }
                Some(text)
            }
            TermKind::Boxed(at) => {
                let bits = binary::Bits::load(&self.memory, at)?;
                String::from_utf8(bits.bytes(&self.memory, most)).ok()
            }
            TermKind::Atom => self.atom(term).map(|text| text.to_string()),
            _ => None,
        }
    }
}
