//! Arrays, hashes and tables: `include/ruby/internal/core/rarray.h`, `internal/hash.h`, `hash.c`, `st.c`.

use kcore_mem::Addr;

use super::{
    heap::{Heap, Object, USER},
    version::Version,
};

/// Elements of an array, or entries of a table, at most.
const MAX_LENGTH: u64 = 1 << 32;
/// The flag of arrays whose elements lie in them.
const EMBED: u32 = 1;
/// The flag of hashes that have a table with bins.
const HAS_TABLE: u32 = 3;
/// Pairs of a small hash.
const MAX_SMALL: u64 = 8;
/// The word that marks a free place of a small hash since 3.0, and the hash of a deleted entry of a table.
const DELETED: u64 = u64::MAX;
/// Bytes of an entry of a table: hash, key, value.
const ENTRY: u64 = 24;

/// The entries of a hash or table.
pub struct Entries<'a> {
    heap: &'a Heap<'a>,
    at: Addr,
    left: u64,
    is_small: bool,
    /// How many the table says it has.
    pub count: u64,
}

impl Heap<'_> {
    /// Where the elements of an array lie, and how many there are.
    pub fn elements(&self, array: Object) -> Option<(Addr, u64)> {
        let is_wide = self.layout.version >= Version::new(3, 2);
        let (at, length) = match array.has(EMBED) {
            true => {
                let mask = if is_wide { 0x7f } else { 3 };
                (array.at.checked_add(16)?, array.flags >> USER.saturating_add(3) & mask)
            }
            false => (Addr::new(self.word(array.at, 32)?), self.word(array.at, 16)?),
        };
        (length <= MAX_LENGTH).then_some((at, length))
    }

    /// The entries of a hash.
    pub fn hash_entries(&self, hash: Object) -> Option<Entries<'_>> {
        let table = match self.layout.hash_holds_table {
            true => hash.at.checked_add(24),
            false => self.pointer(hash.at, 16),
        };
        if hash.has(HAS_TABLE) {
            return self.table(table?);
        }
        let (count, left) =
            (hash.flags >> USER.saturating_add(4) & 15, hash.flags >> USER.saturating_add(8) & 15);
        (left <= MAX_SMALL && count <= left).then_some(())?;
        let Some(table) = table else {
            return (left == 0).then_some(Entries {
                heap: self,
                at: hash.at,
                left,
                is_small: true,
                count,
            });
        };
        // Hints lie before the pairs where the table lies in the hash.
        let at = if self.layout.hash_holds_table { table.checked_add(8)? } else { table };
        Some(Entries { heap: self, at, left, is_small: true, count })
    }

    /// The entries of a `st_table`.
    pub fn table(&self, table: Addr) -> Option<Entries<'_>> {
        let (count, start, bound) =
            (self.word(table, 16)?, self.word(table, 32)?, self.word(table, 40)?);
        let left = bound.checked_sub(start).filter(|left| *left <= MAX_LENGTH && count <= *left)?;
        let at = Addr::new(self.word(table, 48)?).checked_add(start.checked_mul(ENTRY)?)?;
        Some(Entries { heap: self, at, left, is_small: false, count })
    }
}

impl Iterator for Entries<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        while let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            let (at, size) = (self.at, if self.is_small { 16 } else { ENTRY });
            self.at = at.checked_add(size)?;
            let first = self.heap.word(at, 0)?;
            let is_free = match self.is_small {
                true => first == self.heap.layout.undef,
                false => first == DELETED,
            };
            if is_free {
                continue;
            }
            return match self.is_small {
                true => Some((first, self.heap.word(at, 8)?)),
                false => Some((self.heap.word(at, 8)?, self.heap.word(at, 16)?)),
            };
        }
        None
    }
}
