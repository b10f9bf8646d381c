//! Objects of CPython, and words of them.

use kcore_mem::{Addr, AddressSpace};

use super::{Layout, dict::Entries};

/// `tp_flags` of a type that Python made, and of the builtin types and those derived from them:
/// `Include/object.h`.
pub const HEAP_TYPE: u64 = 1 << 9;
const READY: u64 = 1 << 12;
pub const INT: u64 = 1 << 24;
pub const LIST: u64 = 1 << 25;
pub const TUPLE: u64 = 1 << 26;
pub const BYTES: u64 = 1 << 27;
pub const STR: u64 = 1 << 28;
pub const DICT: u64 = 1 << 29;
pub const EXCEPTION: u64 = 1 << 30;
pub const TYPE: u64 = 1 << 31;

/// Lists and tuples are no longer.
const MAX_LENGTH: u64 = 1 << 32;

/// The heap of a process, and how it is laid out.
#[derive(Clone, Copy)]
pub struct Heap<'a> {
    /// Its memory.
    pub space: &'a dyn AddressSpace,
    /// Its layout.
    pub layout: &'a Layout,
}

/// An object whose type was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// Where it lies.
    pub at: Addr,
    /// Its type.
    pub class: Addr,
    /// `tp_flags` of that.
    pub flags: u64,
}

impl Object {
    /// Whether it is of the builtin type that `flag` stands for, or of one derived from it.
    pub const fn is(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }
}

/// Whether a word may be the flags of a type that has instances: it is complete, and of one builtin type at most.
const fn may_be_flags(flags: u64) -> bool {
    flags & READY != 0 && flags >> 32 == 0 && (flags >> 24).count_ones() <= 1
}

impl<'a> Heap<'a> {
    /// A word at an offset.
    pub fn word(&self, at: Addr, offset: u64) -> Option<u64> {
        self.space.read_word(at.checked_add(offset)?).ok()
    }

    /// A number of `size` bytes at an offset.
    pub fn uint(&self, at: Addr, offset: u64, size: usize) -> Option<u64> {
        self.space.read_uint(at.checked_add(offset)?, size).ok()
    }

    /// A C `int` at an offset.
    pub fn int(&self, at: Addr, offset: u64) -> Option<i32> {
        u32::try_from(self.uint(at, offset, 4)?).ok().map(u32::cast_signed)
    }

    /// The pointer at an offset, if it is one that an object may have.
    pub fn pointer(&self, at: Addr, offset: u64) -> Option<Addr> {
        let word = self.word(at, offset)?;
        (word != 0 && word.is_multiple_of(8)).then_some(Addr::new(word))
    }

    /// The object at an address, if one lies there: the type of its type must be one of types, and both have flags
    /// that types have.
    pub fn object(&self, at: Addr) -> Option<Object> {
        at.get().is_multiple_of(8).then_some(())?;
        let class = self.pointer(at, 8)?;
        let meta = self.pointer(class, 8)?;
        let flags = self.word(class, self.layout.types.flags)?;
        let meta = self.word(meta, self.layout.types.flags)?;
        let is_type = may_be_flags(flags) && may_be_flags(meta) && meta & TYPE != 0;
        is_type.then_some(Object { at, class, flags })
    }

    /// Why there is no object at an address: its memory, or that of its type, has no bytes; or it is none.
    pub fn why_no_object(&self, at: Addr) -> &'static str {
        self.missing(at).unwrap_or("no object lies there")
    }

    /// Whether memory of the object at an address, or of its type, has no bytes.
    pub fn lacks_memory(&self, at: Addr) -> bool {
        self.missing(at).is_some()
    }

    fn missing(&self, at: Addr) -> Option<&'static str> {
        let word = |at: Addr| self.space.read_word(at).map_err(|fault| fault.reason());
        let mut at = at;
        for _ in 0..2 {
            let class = match word(at.checked_add(8)?) {
                Ok(class) => Addr::new(class),
                Err(why) => return Some(why),
            };
            if let Err(why) = word(class.checked_add(self.layout.types.flags)?) {
                return Some(why);
            }
            at = class;
        }
        None
    }

    /// The object that a pointer at an offset refers to.
    pub fn field(&self, at: Addr, offset: u64) -> Option<Object> {
        self.object(self.pointer(at, offset)?)
    }

    /// The same, if it is of this builtin type.
    pub fn field_of(&self, at: Addr, offset: u64, flag: u64) -> Option<Object> {
        self.field(at, offset).filter(|object| object.is(flag))
    }

    /// `ob_size`: how many items an object has.
    pub fn size(&self, object: Object) -> Option<u64> {
        self.word(object.at, 16).filter(|size| *size <= MAX_LENGTH)
    }

    /// Where the items of a tuple or list lie.
    pub fn items(&self, object: Object) -> Option<Addr> {
        match object.is(TUPLE) {
            true => object.at.checked_add(self.layout.objects.tuple),
            false => object.is(LIST).then(|| self.pointer(object.at, 24))?,
        }
    }

    /// Item `index` of a tuple or list.
    pub fn item(&self, object: Object, index: u64) -> Option<Object> {
        (index < self.size(object)?).then_some(())?;
        self.object(self.pointer(self.items(object)?, index.checked_mul(8)?)?)
    }

    /// The bytes of a `bytes`, at most `most`.
    pub fn bytes(&self, object: Object, most: u64) -> Option<Vec<u8>> {
        object.is(BYTES).then_some(())?;
        let length = self.size(object)?.min(most);
        Some(self.space.read_held(object.at.checked_add(32)?, length))
    }

    /// A small `int`, of one or two digits of 30 bits: `Include/cpython/longintrepr.h`.
    pub fn small_int(&self, object: Object) -> Option<i64> {
        object.is(INT).then_some(())?;
        let word = self.word(object.at, 16)?;
        let (count, is_negative) = match self.layout.minor {
            ..=11 => (word.cast_signed().unsigned_abs(), word.cast_signed() < 0),
            _ => (word >> 3, word & 3 == 2),
        };
        let digit = |index: u64| self.uint(object.at, index.checked_mul(4)?.checked_add(24)?, 4);
        let value = match count {
            0 => 0,
            1 => digit(0)?,
            2 => digit(0)? | digit(1)? << 30,
            _ => return None,
        };
        let value = i64::try_from(value).ok()?;
        Some(if is_negative { value.saturating_neg() } else { value })
    }

    /// The name of a type: what its file is not at hand for says nothing.
    pub fn type_name(&self, class: Addr) -> Option<String> {
        let name = self.pointer_any(class, self.layout.types.name)?;
        let name = self.space.read_cstr(name, 256).ok()?;
        let name = String::from_utf8(name).ok().filter(|name| !name.is_empty())?;
        Some(name.rsplit('.').next().map(str::to_owned).unwrap_or(name))
    }

    fn pointer_any(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.word(at, offset).filter(|word| *word != 0).map(Addr::new)
    }

    /// The value of a key, a `str`, in a dict.
    pub fn lookup(&self, dict: Object, key: &str) -> Option<Object> {
        let mut entries = Entries::of(self, dict)?;
        let found = entries
            .find(|entry| self.object(entry.key).is_some_and(|name| self.is_text(name, key)))?;
        self.object(found.value)
    }
}
