//! The memory of a process, read as PHP lays it out: `zend_types.h`, `zend_string.h`.

use kcore_mem::{Addr, AddressSpace};

use super::layout::Layout;

/// The types of values that are asked for by name.
pub const UNDEFINED: u8 = 0;
pub const STRING: u8 = 6;
pub const ARRAY: u8 = 7;
pub const OBJECT: u8 = 8;
pub const REFERENCE: u8 = 10;
/// Bytes of a value, and where its type lies.
pub const VALUE: u64 = 16;
const TYPE: u64 = 8;
/// `len` and `val` of `zend_string`.
const LENGTH: u64 = 16;
const TEXT: u64 = 24;
/// `ce` of `zend_object`, and `name` of `zend_class_entry`.
const CLASS: u64 = 16;
const CLASS_NAME: u64 = 8;
/// Bytes of a name or path, at most.
const MAX_NAME: u64 = 4096;
/// References that lead to each other, at most: there is one.
const MAX_REFERENCES: usize = 4;

/// `zval`: its type and its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// `u1.v.type`.
    pub kind: u8,
    /// `value`.
    pub word: u64,
}

impl Value {
    /// What it points to, if it is of a type.
    pub fn object(self, kind: u8) -> Option<Addr> {
        pointer(self.word).filter(|_| self.kind == kind)
    }
}

/// The memory of a process, and how PHP lays it out.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    /// Its memory.
    pub space: &'a dyn AddressSpace,
    /// The layout.
    pub layout: &'static Layout,
}

impl Memory<'_> {
    /// A word at an offset.
    pub fn word(&self, at: Addr, offset: u64) -> Option<u64> {
        self.space.read_word(at.checked_add(offset)?).ok()
    }

    /// A number of `size` bytes at an offset.
    pub fn uint(&self, at: Addr, offset: u64, size: usize) -> Option<u64> {
        self.space.read_uint(at.checked_add(offset)?, size).ok()
    }

    /// A byte at an offset.
    pub fn byte(&self, at: Addr, offset: u64) -> Option<u8> {
        self.uint(at, offset, 1).and_then(|byte| u8::try_from(byte).ok())
    }

    /// The pointer at an offset, if it is one to a structure.
    pub fn pointer(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.word(at, offset).and_then(pointer)
    }

    /// The value at an address.
    pub fn value(&self, at: Addr) -> Option<Value> {
        Some(Value { kind: self.byte(at, TYPE)?, word: self.word(at, 0)? })
    }

    /// The same, or the value that it is a reference to or that has it in its place.
    pub fn plain_value(&self, at: Addr) -> Option<Value> {
        let mut value = self.value(at)?;
        for _ in 0..MAX_REFERENCES {
            let place = match value.kind {
                REFERENCE => pointer(value.word)?.checked_add(8)?,
                kind if kind == self.layout.indirect => pointer(value.word)?,
                _ => return Some(value),
            };
            value = self.value(place)?;
        }
        None
    }

    /// Where a string has its bytes, and how many.
    pub fn text_bytes(&self, string: Addr) -> Option<(Addr, u64)> {
        Some((string.checked_add(TEXT)?, self.word(string, LENGTH)?))
    }

    /// A short string, such as a name: all of it.
    pub fn text(&self, string: Addr) -> Option<String> {
        let (at, length) = self.text_bytes(string)?;
        let held = (length <= MAX_NAME).then(|| self.space.read_held(at, length))?;
        (held.len() as u64 == length).then(|| String::from_utf8_lossy(&held).into_owned())
    }

    /// A text of C, where a pointer to it lies.
    pub fn c_text(&self, at: Addr, offset: u64) -> Option<String> {
        let text = Addr::new(self.word(at, offset).filter(|text| *text != 0)?);
        let text = self.space.read_cstr(text, usize::try_from(MAX_NAME).ok()?).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// The class of an object.
    pub fn class_of(&self, object: Addr) -> Option<Addr> {
        self.pointer(object, CLASS)
    }

    /// The name of a class, as a program would write it: that of one without a name ends before the file it is of.
    pub fn class_name(&self, class: Addr) -> Option<String> {
        let name = self.text(self.pointer(class, CLASS_NAME)?)?;
        let end = name.find('\0').unwrap_or(name.len());
        name.get(..end).filter(|name| !name.is_empty()).map(str::to_owned)
    }
}

/// A word as the address of a structure.
pub fn pointer(word: u64) -> Option<Addr> {
    (word >= 0x1000 && word.is_multiple_of(8)).then_some(Addr::new(word))
}
