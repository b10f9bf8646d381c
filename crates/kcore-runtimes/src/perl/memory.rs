//! The memory of a process, read as Perl lays it out: heads and bodies of values (`sv.h`), names (`hv.h`, `gv.h`).

use kcore_mem::{Addr, AddressSpace};

use super::layout::Layout;

/// `svtype`.
pub const CODE: u8 = 13;
pub const FORMAT: u8 = 14;
pub const GLOB: u8 = 9;
pub const ARRAY: u8 = 11;
pub const HASH: u8 = 12;
const TYPE_MASK: u64 = 0xff;
/// `sv_flags` and `sv_u` of a head.
const FLAGS: u64 = 12;
const UNION: u64 = 16;
/// `SVs_OBJECT`, and `SVf_OOK`, which says of a hash that it has more than entries.
const IS_OBJECT: u64 = 0x0010_0000;
const HAS_MORE: u64 = 0x0200_0000;
/// `xmg_stash` of a body, and of a glob what holds its name and its package.
const STASH: u64 = 0;
const GLOB_NAME: u64 = 32;
const GLOB_STASH: u64 = 40;
/// `gp_egv` and `gp_sv` of `GP`.
const GLOB_FIRST: u64 = 56;
const GLOB_SCALAR: u64 = 0;
/// `hek_len` and `hek_key` of `HEK`.
const KEY_LENGTH: u64 = 4;
const KEY_TEXT: u64 = 8;
/// `xhv_max` of `XPVHV`, and its size.
const MOST: u64 = 24;
const HASH_BODY: u64 = 32;
/// `xhv_name_count` of `xpvhv_aux`.
const NAME_COUNT: u64 = 28;
/// Bytes of a name, at most.
const MAX_NAME: u64 = 4096;
/// Places of a hash, at most.
pub const MAX_PLACES: u64 = 1 << 28;

/// The memory of a process, and how Perl lays it out.
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

    /// A signed number of 4 bytes at an offset.
    pub fn int(&self, at: Addr, offset: u64) -> Option<i32> {
        let bits = u32::try_from(self.uint(at, offset, 4)?).ok()?;
        Some(bits.cast_signed())
    }

    /// The pointer at an offset, if it is one to a structure.
    pub fn pointer(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.word(at, offset).and_then(pointer)
    }

    /// What type a value has.
    pub fn kind(&self, value: Addr) -> Option<u8> {
        u8::try_from(self.flags(value)? & TYPE_MASK).ok()
    }

    /// The flags of a value.
    pub fn flags(&self, value: Addr) -> Option<u64> {
        self.uint(value, FLAGS, 4)
    }

    /// A value, if it is of a type.
    pub fn of_kind(&self, value: Addr, kind: u8) -> Option<Addr> {
        (self.kind(value)? == kind).then_some(value)
    }

    /// The body of a value. Of a plain number it may begin before the value, in which all of it lies that is read.
    pub fn body(&self, value: Addr) -> Option<Addr> {
        self.pointer(value, 0)
    }

    /// The word in the head of a value: its text, its array or what it refers to.
    pub fn held(&self, value: Addr) -> Option<Addr> {
        self.word(value, UNION).map(Addr::new).filter(|at| at.get() >= 0x1000)
    }

    /// The elements of an array: where they lie, and how many there are.
    pub fn elements(&self, array: Addr) -> Option<(Addr, u64)> {
        const FILL: u64 = 16;
        self.of_kind(array, ARRAY)?;
        let count = self.word(self.body(array)?, FILL)?.cast_signed().checked_add(1)?;
        let count = u64::try_from(count).ok()?;
        match count {
            0 => Some((Addr::new(0), 0)),
            _ => Some((self.held(array)?, count)),
        }
    }

    /// Where a hash has its entries, and for how many there is place: none where it is empty.
    pub fn places(&self, hash: Addr) -> Option<(Addr, u64)> {
        self.of_kind(hash, HASH)?;
        let most = self.word(self.body(hash)?, MOST)?.checked_add(1)?;
        (most <= MAX_PLACES).then_some(())?;
        Some(self.held(hash).map_or((Addr::new(0), 0), |at| (at, most)))
    }

    /// The name of a package: `HvENAME_HEK`.
    pub fn package(&self, stash: Addr) -> Option<String> {
        self.of_kind(stash, HASH)?;
        (self.flags(stash)? & HAS_MORE != 0).then_some(())?;
        let aux = match self.layout.has_aux_in_body {
            true => self.body(stash)?.checked_add(HASH_BODY)?,
            false => {
                let (places, count) = self.places(stash).filter(|(_, count)| *count > 0)?;
                places.checked_add(count.checked_mul(8)?)?
            }
        };
        let names = self.pointer(aux, 0)?;
        match self.int(aux, NAME_COUNT)? {
            0 => self.key(names),
            // The first of several is the one that it was given; that may be gone.
            count if count > 0 => self.key(self.pointer(names, 0)?),
            _ => self.key(self.pointer(names, 8)?),
        }
    }

    /// The package that an object is blessed into.
    pub fn class(&self, value: Addr) -> Option<String> {
        (self.flags(value)? & IS_OBJECT != 0).then_some(())?;
        self.package(self.pointer(self.body(value)?, STASH)?)
    }

    /// The package and the name of a glob, of the one that it was first where it is a copy: `GvEGV`.
    pub fn glob_name(&self, glob: Addr) -> Option<(Option<String>, String)> {
        self.of_kind(glob, GLOB)?;
        let first = self.held(glob).and_then(|own| self.pointer(own, GLOB_FIRST));
        let glob = first.and_then(|first| self.of_kind(first, GLOB)).unwrap_or(glob);
        let body = self.body(glob)?;
        let name = self.key(self.pointer(body, GLOB_NAME)?)?;
        Some((self.pointer(body, GLOB_STASH).and_then(|stash| self.package(stash)), name))
    }

    /// The scalar of a glob.
    pub fn glob_scalar(&self, glob: Addr) -> Option<Addr> {
        self.pointer(self.held(self.of_kind(glob, GLOB)?)?, GLOB_SCALAR)
    }

    /// A name that is shared: `HEK`.
    pub fn key(&self, key: Addr) -> Option<String> {
        let length = self.uint(key, KEY_LENGTH, 4).filter(|length| *length <= MAX_NAME)?;
        let held = self.space.read_held(key.checked_add(KEY_TEXT)?, length);
        (held.len() as u64 == length).then(|| text_of(&held, self.is_utf8_key(key, length)))
    }

    fn is_utf8_key(&self, key: Addr, length: u64) -> bool {
        // A byte with flags stands behind a zero.
        const UTF8: u64 = 1;
        let flags = KEY_TEXT.checked_add(length).and_then(|end| end.checked_add(1));
        flags.and_then(|at| self.uint(key, at, 1)).is_some_and(|flags| flags & UTF8 != 0)
    }

    /// Text that ends with a zero: the whole of it, or none.
    pub fn c_text(&self, at: Addr) -> Option<String> {
        let held = self.space.read_cstr(at, usize::try_from(MAX_NAME).unwrap_or_default()).ok()?;
        Some(String::from_utf8_lossy(&held).into_owned())
    }
}

/// Bytes as characters: each is one, or several are one in UTF-8.
pub fn text_of(bytes: &[u8], is_utf8: bool) -> String {
    match is_utf8 || bytes.is_ascii() {
        true => String::from_utf8_lossy(bytes).into_owned(),
        false => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// A word as the address of a structure.
pub fn pointer(word: u64) -> Option<Addr> {
    (word >= 0x1000 && word.is_multiple_of(8)).then_some(Addr::new(word))
}
