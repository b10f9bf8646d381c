//! The memory of a process, read as Lua lays it out, and values of Lua: `lobject.h`.

use kcore_mem::{Addr, AddressSpace};

use super::layout::{Layout, Series};

/// `LUA_TTHREAD`, which is the tag of a state too.
pub const THREAD: u8 = 8;
pub const TABLE: u8 = 5;
pub const FUNCTION: u8 = 6;
/// The bits of a tag that tell the type, and those that tell the variant too.
const TYPE_MASK: u8 = 15;
const VARIANT_MASK: u8 = 0x3f;
/// Functions of C without upvalues, and with them, since 5.2.
const LIGHT_C: u8 = 0x16;
const C_CLOSURE: u8 = 0x26;
/// `isC` of closures of 5.1.
const IS_C: u64 = 10;
/// Bytes of a value on a stack or in an array, and where its tag lies.
pub const VALUE: u64 = 16;
const TAG: u64 = 8;
/// Where text has its length since 5.3 where that is short, and otherwise; and its bytes.
const SHORT_LENGTH: u64 = 11;
const LENGTH: u64 = 16;
const TEXT: u64 = 24;
/// The tag of long text.
const LONG: u8 = 0x14;
pub const STRING: u8 = 4;
/// Bytes of a name or path, at most.
const MAX_NAME: u64 = 4096;

/// A value: its tag and its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// `tt_`, without the bit of what the collector frees.
    pub tag: u8,
    /// `value_`.
    pub word: u64,
}

impl Value {
    /// `LUA_TNIL` and so on.
    pub const fn kind(self) -> u8 {
        self.tag & TYPE_MASK
    }

    /// What it points to, if it is of a type.
    pub fn object(self, kind: u8) -> Option<Addr> {
        pointer(self.word).filter(|_| self.kind() == kind)
    }
}

/// A function that was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Of Lua.
    Lua {
        /// `LClosure`.
        closure: Addr,
        /// `Proto`.
        proto: Addr,
    },
    /// Of C.
    C {
        /// Its code.
        code: Addr,
    },
}

/// The memory of a process, and how Lua lays it out.
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
        let tag = self.byte(at, TAG)? & VARIANT_MASK;
        Some(Value { tag, word: self.word(at, 0)? })
    }

    /// An object as a value that refers to it.
    pub fn value_of_object(&self, at: Addr) -> Option<Value> {
        Some(Value { tag: self.byte(at, TAG)? & VARIANT_MASK, word: at.get() })
    }

    /// The function that a value is.
    pub fn function(&self, value: Value) -> Option<Function> {
        let at = pointer(value.word).filter(|_| value.kind() == FUNCTION);
        let is_c = match (self.layout.series, value.tag) {
            (Series::V51, _) => self.byte(at?, IS_C)? != 0,
            (_, LIGHT_C) => return Some(Function::C { code: Addr::new(value.word) }),
            (_, tag) => tag == C_CLOSURE,
        };
        let code = self.word(at?, self.layout.closure_code)?;
        match is_c {
            true => Some(Function::C { code: Addr::new(code) }),
            false => Some(Function::Lua { closure: at?, proto: pointer(code)? }),
        }
    }

    /// Where text has its bytes, and how many.
    pub fn text_bytes(&self, string: Addr) -> Option<(Addr, u64)> {
        let tag = self.byte(string, TAG)? & VARIANT_MASK;
        (tag & TYPE_MASK == STRING).then_some(())?;
        let is_short = self.layout.series >= Series::V53 && tag != LONG;
        let length = match is_short {
            true => self.uint(string, SHORT_LENGTH, 1)?,
            false => self.word(string, LENGTH)?,
        };
        Some((string.checked_add(TEXT)?, length))
    }

    /// A short text, such as a name: all of it.
    pub fn text(&self, string: Addr) -> Option<String> {
        let (at, length) = self.text_bytes(string)?;
        let held = self.space.read_held(at, length.min(MAX_NAME));
        (length <= MAX_NAME && held.len() as u64 == length).then_some(())?;
        Some(String::from_utf8_lossy(&held).into_owned())
    }
}

/// A word as the address of a structure.
pub fn pointer(word: u64) -> Option<Addr> {
    (word >= 0x1000 && word.is_multiple_of(8)).then_some(Addr::new(word))
}
