//! One symbol of many: where a file exports a name, found as the dynamic linker finds it.
//!
//! `.gnu.hash` is laid out as glibc's `elf/dl-lookup.c` reads it: four words of 32 bits (`nbuckets`,
//! `symoffset`, `bloom_size`, `bloom_shift`), a bloom filter of `bloom_size` words, the buckets with
//! the index of their first symbol, and for each symbol from `symoffset` on its hash, whose lowest
//! bit says that the chain ends there.

use kcore_mem::{Cursor, Target};

use crate::{Image, ImageSymbol, image_symbol::SymbolTableKind};

/// Symbols of one chain that are looked at: good tables have a handful.
const MAX_CHAIN: u64 = 1 << 12;

impl Image {
    /// The symbol that the file exports under `name`. Without a hash table that the GNU linker
    /// writes by default, the dynamic symbols are looked at one by one.
    pub fn exported(&self, name: &str) -> Option<ImageSymbol<'_>> {
        let name = name.as_bytes();
        let is_it = |symbol: &ImageSymbol<'_>| symbol.name() == name && symbol.is_defined();
        let Some(table) = self.section_data(".gnu.hash") else {
            return self.symbols(SymbolTableKind::Dynamic).find(is_it);
        };
        let hash = GnuHash::new(&table, self.target())?;
        hash.candidates(gnu_hash(name)).find_map(|index| {
            let symbol = self.symbol(SymbolTableKind::Dynamic, usize::try_from(index).ok()?)?;
            is_it(&symbol).then_some(symbol)
        })
    }
}

/// The hash of a name.
fn gnu_hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)))
}

/// A `.gnu.hash` section.
struct GnuHash<'a> {
    bytes: &'a [u8],
    target: Target,
    buckets: u64,
    first_symbol: u64,
    /// Where the buckets begin, in bytes.
    bucket_table: u64,
}

impl<'a> GnuHash<'a> {
    fn new(bytes: &'a [u8], target: Target) -> Option<Self> {
        let mut cursor = Cursor::new(bytes, target);
        let buckets = u64::from(cursor.u32().ok()?);
        let first_symbol = u64::from(cursor.u32().ok()?);
        let bloom = u64::from(cursor.u32().ok()?).checked_mul(u64::from(target.word))?;
        let bucket_table = bloom.checked_add(16)?;
        Some(Self { bytes, target, buckets, first_symbol, bucket_table })
    }

    fn word(&self, table: u64, index: u64) -> Option<u32> {
        let at = usize::try_from(table.checked_add(index.checked_mul(4)?)?).ok()?;
        Cursor::new(self.bytes.get(at..)?, self.target).u32().ok()
    }

    /// Indices of the symbols whose names may have this hash.
    fn candidates(&self, hash: u32) -> impl Iterator<Item = u64> {
        let first = self.first_in_bucket(hash).unwrap_or(0);
        let mut ended = first < self.first_symbol;
        (first..first.saturating_add(MAX_CHAIN))
            .map_while(move |index| {
                let stored = (!ended).then(|| self.chain_hash(index))??;
                ended = stored & 1 != 0;
                Some((index, stored))
            })
            .filter(move |(_, stored)| stored | 1 == hash | 1)
            .map(|(index, _)| index)
    }

    fn first_in_bucket(&self, hash: u32) -> Option<u64> {
        let bucket = u64::from(hash).checked_rem(self.buckets)?;
        self.word(self.bucket_table, bucket).map(u64::from)
    }

    fn chain_hash(&self, index: u64) -> Option<u32> {
        let chains = self.bucket_table.checked_add(self.buckets.checked_mul(4)?)?;
        self.word(chains, index.checked_sub(self.first_symbol)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that glibc's documentation of the hash gives.
    #[test]
    fn names_have_the_hashes_of_the_linker() {
        assert_eq!(gnu_hash(b""), 0x1505);
        assert_eq!(gnu_hash(b"printf"), 0x156b_2bb8);
        assert_eq!(gnu_hash(b"exit"), 0x7c96_7e3f);
        assert_eq!(gnu_hash(b"syscall"), 0xbac2_12a0);
    }

    fn table(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_chain_ends_where_its_lowest_bit_is_set() {
        // One bucket, symbols from index 1, one bloom word; two symbols of one hash, then another's.
        let bytes = table(&[1, 1, 1, 0, !0, !0, 1, 0x10, 0x11, 0x10]);
        let hash = GnuHash::new(&bytes, Target::X86_64).unwrap();
        assert_eq!(hash.candidates(0x10).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(hash.candidates(0x12).count(), 0);
    }

    #[test]
    fn a_table_without_buckets_or_end_has_no_candidates_beyond_it() {
        let none = table(&[0, 1, 1, 0, !0, !0]);
        assert_eq!(GnuHash::new(&none, Target::X86_64).unwrap().candidates(7).count(), 0);
        let cut = table(&[1, 1, 1, 0, !0, !0, 1, 0x10]);
        assert_eq!(GnuHash::new(&cut, Target::X86_64).unwrap().candidates(0x10).count(), 1);
        assert!(GnuHash::new(&cut[..8], Target::X86_64).is_none());
        let empty_bucket = table(&[1, 1, 1, 0, !0, !0, 0, 0x10]);
        assert_eq!(
            GnuHash::new(&empty_bucket, Target::X86_64).unwrap().candidates(0x10).count(),
            0
        );
    }
}
