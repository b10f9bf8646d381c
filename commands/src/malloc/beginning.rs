//! What a block is, by how it begins.

use std::{collections::HashMap, sync::Arc};

use kcore::{Addr, Core, demangle};

/// Texts of fewer characters may be anything.
const MIN_TEXT: usize = 4;
/// Words whose meaning is remembered, at most.
const MAX_KNOWN: usize = 1 << 16;
/// Longest name of a class that is read.
const MAX_NAME: usize = 4096;

/// What the first bytes of a block say of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Beginning {
    /// It is an object of this class: it begins with a pointer to the class's table of virtual functions.
    Class(Arc<str>),
    /// It begins with a pointer to this symbol.
    Symbol(Arc<str>),
    /// It begins with text.
    Text,
    /// It begins with a pointer into a heap.
    Pointer,
    /// It begins with a pointer to other memory, of which no symbol is known.
    Memory,
    /// It begins with zeros.
    Zeros,
    /// With anything else.
    Other,
}

impl Beginning {
    /// The word for its kind, for machines.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Class(_) => "class",
            Self::Symbol(_) => "symbol",
            Self::Text => "text",
            Self::Pointer => "pointer",
            Self::Memory => "memory",
            Self::Zeros => "zeros",
            Self::Other => "other",
        }
    }

    /// The class or the symbol.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Class(name) | Self::Symbol(name) => Some(name),
            _ => None,
        }
    }
}

/// Tells how blocks begin, and remembers what words mean.
pub struct Beginnings<'c> {
    core: &'c Core,
    known: HashMap<u64, Option<Beginning>>,
}

impl<'c> Beginnings<'c> {
    /// Of a process.
    pub fn new(core: &'c Core) -> Self {
        Self { core, known: HashMap::new() }
    }

    /// How the block at an address begins.
    pub fn of(&mut self, at: Addr) -> Beginning {
        let space = self.core.space();
        let Ok(word) = space.read_word(at) else { return Beginning::Other };
        if word == 0 {
            return Beginning::Zeros;
        }
        if let Some(known) = self.of_word(word) {
            return known;
        }
        // The bytes of a pointer may be printable.
        let heaps = self.core.heaps().found();
        if heaps.owners(Addr::new(word)).next().is_some() {
            return Beginning::Pointer;
        }
        if self.core.mapping_at(Addr::new(word)).is_some() {
            return Beginning::Memory;
        }
        let bytes = word.to_le_bytes();
        let text = bytes.iter().take_while(|byte| matches!(**byte, b' '..=b'~' | b'\n' | b'\t'));
        let text = text.count();
        let ends = bytes.get(text).is_none_or(|byte| *byte == 0);
        if text >= MIN_TEXT && ends { Beginning::Text } else { Beginning::Other }
    }

    /// What a word means that points into a module.
    fn of_word(&mut self, word: u64) -> Option<Beginning> {
        if let Some(known) = self.known.get(&word) {
            return known.clone();
        }
        let found = self.look_up(Addr::new(word));
        if self.known.len() < MAX_KNOWN {
            self.known.insert(word, found.clone());
        }
        found
    }

    fn look_up(&self, word: Addr) -> Option<Beginning> {
        self.core.modules().at(word)?;
        let symbol = self.core.symbols().at(word).map(|symbol| symbol.name);
        let class = symbol.as_deref().and_then(|name| name.strip_prefix("vtable for "));
        match class.map(Arc::from).or_else(|| self.class_of(word)) {
            Some(class) => Some(Beginning::Class(class)),
            None => symbol.map(Beginning::Symbol),
        }
    }

    /// The class whose table of virtual functions lies at an address, by the type information that lies before it (Itanium
    /// C++ ABI, 2.5.2 and 2.9.5): that needs no symbols.
    fn class_of(&self, table: Addr) -> Option<Arc<str>> {
        let space = self.core.space();
        let info = space.read_addr(table.wrapping_offset(-8)).ok()?;
        self.core.modules().at(info)?;
        let name = space.read_addr(info.checked_add(8)?).ok()?;
        self.core.modules().at(name)?;
        let name = space.read_cstr(name, MAX_NAME).ok()?;
        let first = name.strip_prefix(b"*").unwrap_or(&name);
        let is_type =
            first.first().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'N' | b'S'));
        let mangled = [b"_ZTS".as_slice(), first].concat();
        let shown = demangle(&mangled).function;
        let class = shown.strip_prefix("typeinfo name for ")?;
        is_type.then(|| class.into())
    }
}
