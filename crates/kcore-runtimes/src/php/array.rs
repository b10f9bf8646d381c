//! Arrays: `zend_array` of `zend_types.h`.

use kcore_mem::Addr;

use super::memory::{Memory, UNDEFINED, VALUE, Value};

/// `u.flags`, `arData`, `nNumUsed` and `nNumOfElements`.
const FLAGS: u64 = 8;
const DATA: u64 = 16;
const USED: u64 = 24;
const COUNT: u64 = 28;
/// `HASH_FLAG_PACKED`.
const PACKED: u64 = 4;
/// Bytes of a `Bucket`, and its `h` and `key`.
const BUCKET: u64 = 32;
const HASH: u64 = 16;
const KEY: u64 = 24;
/// Elements that are looked at, at most: those that were removed count too.
const MAX_USED: u64 = 1 << 24;
/// Places without an element in a row, at most.
const MAX_EMPTY: u64 = 1 << 16;

/// A key of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A number.
    Index(i64),
    /// A string.
    Name(Addr),
}

/// The elements of an array, in order.
pub struct Elements<'a> {
    memory: &'a Memory<'a>,
    data: Addr,
    is_list: bool,
    next: u64,
    end: u64,
    /// How many there are.
    pub count: u64,
}

impl<'a> Elements<'a> {
    /// Those of an array.
    pub fn of(memory: &'a Memory<'a>, array: Addr) -> Option<Self> {
        let used = memory.uint(array, USED, 4)?;
        let count = memory.uint(array, COUNT, 4)?;
        (count <= used && used <= MAX_USED).then_some(())?;
        let is_packed = memory.uint(array, FLAGS, 4)? & PACKED != 0;
        let data = match used {
            0 => array,
            _ => memory.pointer(array, DATA)?,
        };
        let is_list = is_packed && memory.layout.lists_are_values;
        Some(Self { memory, data, is_list, next: 0, end: used, count })
    }

    fn element(&self, index: u64) -> Option<(Key, Addr)> {
        if self.is_list {
            let at = self.data.checked_add(index.checked_mul(VALUE)?)?;
            return Some((Key::Index(index.cast_signed()), at));
        }
        let at = self.data.checked_add(index.checked_mul(BUCKET)?)?;
        let key = match self.memory.pointer(at, KEY) {
            Some(name) => Key::Name(name),
            None => Key::Index(self.memory.word(at, HASH)?.cast_signed()),
        };
        Some((key, at))
    }

    /// Where the value lies that has a name.
    pub fn named(self, wanted: &str) -> Option<Addr> {
        let memory = self.memory;
        let is_it = |key: &Key| match key {
            Key::Name(name) => {
                memory.text_bytes(*name).is_some_and(|(_, length)| length == wanted.len() as u64)
                    && memory.text(*name).as_deref() == Some(wanted)
            }
            Key::Index(_) => false,
        };
        { self }.find(|(key, ..)| is_it(key)).map(|(_, _, at)| at)
    }
}

impl Iterator for Elements<'_> {
    /// A key, its value, and where that lies.
    type Item = (Key, Value, Addr);

    fn next(&mut self) -> Option<Self::Item> {
        let mut empty = 0_u64;
        while self.next < self.end && empty < MAX_EMPTY {
            let index = self.next;
            self.next = self.next.checked_add(1)?;
            let (key, at) = self.element(index)?;
            let value = self.memory.plain_value(at)?;
            if value.kind != UNDEFINED {
                return Some((key, value, at));
            }
            empty = empty.saturating_add(1);
        }
        None
    }
}
