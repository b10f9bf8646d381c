//! Strings, and the names of identifiers: `include/ruby/internal/core/rstring.h`, `symbol.c`, `symbol.h`.

use kcore_mem::Addr;

use super::heap::{ARRAY, Heap, Object, STRING, SYMBOL};

/// Bytes of a name or path, at most.
const MAX_NAME: u64 = 4096;
/// Bytes of a string, at most: memory that lies.
const MAX_LENGTH: u64 = 1 << 40;
/// Identifiers in a page of names, and words for each.
const UNIT: u64 = 512;
const WORDS: u64 = 2;
/// The flag of strings whose bytes lie elsewhere.
const NO_EMBED: u32 = 1;
/// The bits of a static symbol that say it is one.
const STATIC: u64 = 0xc;

/// Where a string has its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringBytes {
    /// The first of them.
    pub at: Addr,
    /// How many.
    pub length: u64,
}

impl Heap<'_> {
    /// Where a string's bytes lie.
    pub fn bytes_of(&self, string: Object) -> Option<StringBytes> {
        let at = string.at;
        let embedded = if self.layout.strings_have_length { 24 } else { 16 };
        let length = match string.has(NO_EMBED) || self.layout.strings_have_length {
            true => self.word(at, 16)?,
            false => string.flags >> 14 & 31,
        };
        let at = match string.has(NO_EMBED) {
            true => Addr::new(self.word(at, 24)?),
            false => at.checked_add(embedded)?,
        };
        (length <= MAX_LENGTH).then_some(StringBytes { at, length })
    }

    /// A short text, such as a name: all of it.
    pub fn text(&self, value: u64) -> Option<String> {
        let string = self.object(value).filter(|object| object.kind() == STRING)?;
        let bytes = self.bytes_of(string).filter(|bytes| bytes.length <= MAX_NAME)?;
        let held = self.space.read_held(bytes.at, bytes.length);
        (held.len() as u64 == bytes.length).then_some(())?;
        String::from_utf8(held).ok()
    }

    /// What an identifier is called.
    pub fn identifier(&self, id: u64) -> Option<String> {
        let last = self.layout.last_op_id;
        let serial = if id <= last { id } else { id >> 4 };
        if let Some(name) = self.name_of_serial(self.names?, serial) {
            return Some(name);
        }
        // A symbol that the program made: the identifier is its address.
        let symbol = self.object(id).filter(|object| object.kind() == SYMBOL)?;
        self.text(self.word(symbol.at, 24)?)
    }

    /// What the array of pages says about a serial number.
    pub fn name_of_serial(&self, pages: Addr, serial: u64) -> Option<String> {
        let page = self.element(pages, serial.checked_div(UNIT)?)?;
        let page = self.object(page).filter(|object| object.kind() == ARRAY)?;
        let index = serial.checked_rem(UNIT)?.checked_mul(WORDS)?;
        self.text(self.element(page.at, index)?)
    }

    /// The name of a symbol.
    pub fn symbol(&self, value: u64) -> Option<String> {
        match value & 0xff == STATIC {
            true => self.identifier(value >> 8),
            false => {
                let symbol = self.object(value).filter(|object| object.kind() == SYMBOL)?;
                self.text(self.word(symbol.at, 24)?)
            }
        }
    }

    fn element(&self, array: Addr, index: u64) -> Option<u64> {
        let array = self.object(array.get()).filter(|object| object.kind() == ARRAY)?;
        let (first, length) = self.elements(array)?;
        (index < length).then_some(())?;
        self.word(first, index.checked_mul(8)?)
    }
}

/// Whether a value is a symbol of the program's text.
pub const fn is_static_symbol(value: u64) -> bool {
    value & 0xff == STATIC
}
