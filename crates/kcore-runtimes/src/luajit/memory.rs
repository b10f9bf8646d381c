//! The memory of a process, read as LuaJIT lays it out with pointers of 64 bits (`LJ_GC64`): `lj_obj.h` of 2.1.
//!
//! The layouts of releases of 2022 and of OpenResty's of 2025 are the same but for the size of a state, which its own shape
//! tells. They were had by compiling the headers.

use kcore_mem::{Addr, AddressSpace};

/// `~LJ_TSTR` and so on: tags of objects.
pub const STRING: u8 = 4;
pub const THREAD: u8 = 6;
pub const FUNCTION: u8 = 8;
pub const TABLE: u8 = 11;
pub const USERDATA: u8 = 12;
/// `gct` of objects.
pub const TAG: u64 = 9;
/// Bits of a value that are a pointer, and how many they are.
const POINTER: u64 = (1 << 47) - 1;
const POINTER_BITS: u32 = 47;
/// Bytes of a value.
pub const VALUE: u64 = 8;
/// `len` of `GCstr`, and its bytes.
const LENGTH: u64 = 20;
const TEXT: u64 = 24;
/// `ffid`, `pc` and `f` of functions.
const KIND: u64 = 10;
const CODE: u64 = 32;
const C_CODE: u64 = 40;
/// `FF_LUA` and `FF_C`.
const OF_LUA: u8 = 0;
const OF_C: u8 = 1;
/// Bytes of `GCproto`: instructions lie behind it.
pub const PROTO: u64 = 104;
/// Bytes of a name or path, at most.
const MAX_NAME: u64 = 4096;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nil,
    False,
    True,
    /// A pointer of the program's.
    Light,
    /// A number.
    Number,
    /// An object, with its tag.
    Object(u8),
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(pub u64);

impl Value {
    /// What it is: all numbers are below all tags.
    pub fn kind(self) -> Kind {
        let tag = !(self.0.cast_signed() >> POINTER_BITS);
        match u8::try_from(tag) {
            Ok(0) => Kind::Nil,
            Ok(1) => Kind::False,
            Ok(2) => Kind::True,
            Ok(3) => Kind::Light,
            Ok(tag @ 4..=12) => Kind::Object(tag),
            _ => Kind::Number,
        }
    }

    /// One that refers to an object with a tag.
    pub const fn of_object(at: Addr, tag: u8) -> Self {
        Self(!(tag as u64) << POINTER_BITS | at.get() & POINTER)
    }

    /// Where what it points to lies.
    pub const fn address(self) -> Addr {
        Addr::new(self.0 & POINTER)
    }

    /// The object that it is, if it is one of a kind.
    pub fn object(self, tag: u8) -> Option<Addr> {
        (self.kind() == Kind::Object(tag)).then(|| self.address())
    }
}

/// A function that was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Of Lua: `GCproto`.
    Lua(Addr),
    /// Of C: its code.
    C(Addr),
    /// One that LuaJIT has in itself: its number.
    Builtin(u8),
}

/// The memory of a process.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    /// It.
    pub space: &'a dyn AddressSpace,
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

    /// The pointer at an offset, if it is one.
    pub fn pointer(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.word(at, offset).and_then(pointer)
    }

    /// The value at an address.
    pub fn value(&self, at: Addr) -> Option<Value> {
        self.word(at, 0).map(Value)
    }

    /// The function at an address.
    pub fn function(&self, at: Addr) -> Option<Function> {
        (self.byte(at, TAG)? == FUNCTION).then_some(())?;
        Some(match self.byte(at, KIND)? {
            OF_LUA => Function::Lua(Addr::new(self.word(at, CODE)?.checked_sub(PROTO)?)),
            OF_C => Function::C(Addr::new(self.word(at, C_CODE)?)),
            number => Function::Builtin(number),
        })
    }

    /// Where text has its bytes, and how many.
    pub fn text_bytes(&self, string: Addr) -> Option<(Addr, u64)> {
        (self.byte(string, TAG)? == STRING).then_some(())?;
        Some((string.checked_add(TEXT)?, self.uint(string, LENGTH, 4)?))
    }

    /// A short text, such as a name: all of it.
    pub fn text(&self, string: Addr) -> Option<String> {
        let (at, length) = self.text_bytes(string)?;
        let held = self.space.read_held(at, length.min(MAX_NAME));
        (length <= MAX_NAME && held.len() as u64 == length).then_some(())?;
        Some(String::from_utf8_lossy(&held).into_owned())
    }

    /// The beginning of a text.
    pub fn text_start(&self, string: Addr) -> Option<String> {
        let (at, length) = self.text_bytes(string)?;
        let held = self.space.read_held(at, length.min(MAX_NAME));
        Some(String::from_utf8_lossy(&held).into_owned())
    }
}

/// A word as the address of a structure.
pub fn pointer(word: u64) -> Option<Addr> {
    (word >= 0x1000 && word.is_multiple_of(8) && word <= POINTER).then_some(Addr::new(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_told_from_numbers() {
        assert_eq!(Value(u64::MAX).kind(), Kind::Nil);
        let table = Value::of_object(Addr::new(0x1238), TABLE);
        assert_eq!((table.kind(), table.address()), (Kind::Object(TABLE), Addr::new(0x1238)));
        assert_eq!(Value(!(2_u64 << 47)).kind(), Kind::True);
        let string = Value((!4_u64) << 47 | 0x1238);
        assert_eq!((string.kind(), string.address()), (Kind::Object(STRING), Addr::new(0x1238)));
        for number in [0.0, 1.5, -1.5, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MAX, f64::MIN] {
            assert_eq!(Value(number.to_bits()).kind(), Kind::Number);
        }
        // The only number that is none has this sign.
        assert_eq!(Value(0xfff8 << 48).kind(), Kind::Number);
    }
}
