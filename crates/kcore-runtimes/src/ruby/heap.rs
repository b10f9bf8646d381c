//! Values of MRI and words of its objects: `include/ruby/internal/{value_type,special_consts,fl_type}.h` of 3.3.

use kcore_mem::{Addr, AddressSpace};

use super::layout::Layout;

/// Types that an object's first five bits tell.
pub const OBJECT: u64 = 1;
pub const CLASS: u64 = 2;
pub const MODULE: u64 = 3;
pub const FLOAT: u64 = 4;
pub const STRING: u64 = 5;
pub const REGEXP: u64 = 6;
pub const ARRAY: u64 = 7;
pub const HASH: u64 = 8;
pub const STRUCT: u64 = 9;
pub const BIGNUM: u64 = 10;
pub const FILE: u64 = 11;
pub const DATA: u64 = 12;
pub const COMPLEX: u64 = 14;
pub const RATIONAL: u64 = 15;
pub const SYMBOL: u64 = 20;
pub const IMEMO: u64 = 26;
pub const NODE: u64 = 27;
pub const ICLASS: u64 = 28;
pub const ZOMBIE: u64 = 29;

const TYPE_MASK: u64 = 31;
/// `FL_USHIFT`: from here on a type's own flags lie.
pub const USER: u32 = 12;

/// An object, and its flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Where it lies.
    pub at: Addr,
    /// `RBasic.flags`.
    pub flags: u64,
}

impl Object {
    /// Its type.
    pub const fn kind(self) -> u64 {
        self.flags & TYPE_MASK
    }

    /// Whether it has the flag of this number among those of its type.
    pub const fn has(self, user_flag: u32) -> bool {
        self.flags >> USER.wrapping_add(user_flag) & 1 != 0
    }
}

/// The memory of a process, and how MRI lays it out.
#[derive(Clone, Copy)]
pub struct Heap<'a> {
    /// Its memory.
    pub space: &'a dyn AddressSpace,
    /// Its layout.
    pub layout: &'a Layout,
    /// The array that has the names of identifiers, by pages.
    pub names: Option<Addr>,
    /// The nodes of the tree of shapes.
    pub shapes: Option<Addr>,
}

impl Heap<'_> {
    /// A word at an offset.
    pub fn word(&self, at: Addr, offset: u64) -> Option<u64> {
        self.space.read_word(at.checked_add(offset)?).ok()
    }

    /// A number of `size` bytes at an offset.
    pub fn uint(&self, at: Addr, offset: u64, size: usize) -> Option<u64> {
        self.space.read_uint(at.checked_add(offset)?, size).ok()
    }

    /// The pointer at an offset, if it is one to a structure.
    pub fn pointer(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.word(at, offset).and_then(pointer)
    }

    /// The object that a word refers to: no special constant, and of a type that exists.
    pub fn object(&self, value: u64) -> Option<Object> {
        let at = pointer(value).filter(|_| !self.is_special(value))?;
        let flags = self.word(at, 0)?;
        let object = Object { at, flags };
        matches!(object.kind(), OBJECT..=RATIONAL | SYMBOL | IMEMO..=ZOMBIE).then_some(object)
    }

    /// The object of a type that the word at an offset refers to.
    pub fn field(&self, at: Addr, offset: u64, kind: u64) -> Option<Object> {
        self.object(self.word(at, offset)?).filter(|object| object.kind() == kind)
    }

    /// Whether a value is no object: a number, a symbol of the program's text, `nil`, `true`, `false`.
    pub const fn is_special(&self, value: u64) -> bool {
        value & 7 != 0 || value == 0 || value == self.layout.nil
    }

    /// `RBasic.klass`.
    pub fn class_of(&self, object: Object) -> Option<Addr> {
        self.pointer(object.at, 8)
    }
}

/// A word as the address of a structure.
pub fn pointer(word: u64) -> Option<Addr> {
    (word >= 0x1000 && word.is_multiple_of(8)).then_some(Addr::new(word))
}
