//! An index as bytes: what is searched is what is written to a file, so that no answer depends on
//! where the index came from.
//!
//! All numbers are little-endian: magic, version, checksum of all that follows, the key with its
//! length, the numbers of units, records and scopes, then these.

use kcore_elf::Section;

use super::records::{Record, ScopeRecord};
use crate::dwarf::Which;

const MAGIC: &[u8; 8] = b"kcoreidx";
/// To be raised whenever names are hashed, records laid out or entries chosen in another way.
const VERSION: u32 = 5;
/// Magic, version and checksum.
const HEAD: usize = 20;
/// Bytes of a unit: which section, of which split unit, and where.
const UNIT: usize = 13;
/// Bytes of a record.
pub const RECORD: usize = 20;
/// Bytes of a scope.
const SCOPE: usize = 12;

/// The bytes of an index.
pub struct Stored {
    units: Section,
    records: Section,
    scopes: Section,
}

impl Stored {
    /// The bytes that say all of an index of the debug information with that key. The records are in
    /// order, and may be in several parts.
    pub fn write(
        key: &[u8],
        units: &[(Which, usize)],
        records: &[Vec<Record>],
        scopes: &[ScopeRecord],
    ) -> Vec<u8> {
        let count = records.iter().fold(0_usize, |sum, part| sum.saturating_add(part.len()));
        let size = HEAD
            .saturating_add(key.len())
            .saturating_add(units.len().saturating_mul(UNIT))
            .saturating_add(count.saturating_mul(RECORD))
            .saturating_add(scopes.len().saturating_mul(SCOPE));
        let mut bytes = Vec::with_capacity(size.saturating_add(64));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 8]);
        add_count(&mut bytes, key.len());
        bytes.extend_from_slice(key);
        for count in [units.len(), count, scopes.len()] {
            add_count(&mut bytes, count);
        }
        for (which, start) in units {
            let (kind, number) = numbers_of(*which);
            bytes.push(kind);
            bytes.extend_from_slice(&number.to_le_bytes());
            bytes.extend_from_slice(&(*start as u64).to_le_bytes());
        }
        let records = records.iter().flatten();
        records.for_each(|record| bytes.extend_from_slice(&record.to_bytes()));
        for scope in scopes {
            for part in [scope.around, scope.unit, scope.offset] {
                bytes.extend_from_slice(&part.to_le_bytes());
            }
        }
        let sum = checksum(bytes.get(HEAD..).unwrap_or_default());
        if let Some(place) = bytes.get_mut(12..HEAD) {
            place.copy_from_slice(&sum.to_le_bytes());
        }
        bytes
    }

    /// Reads the bytes of an index of the debug information with that key; `None` where they are of
    /// another one, of another version, or damaged.
    pub fn read(bytes: &Section, key: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEAD)?;
        let (magic, head) = head.split_first_chunk::<8>()?;
        let (version, sum) = head.split_first_chunk::<4>()?;
        let is_ours = magic == MAGIC && u32::from_le_bytes(*version) == VERSION;
        if !is_ours || sum != checksum(rest).to_le_bytes() {
            return None;
        }
        let mut at = HEAD;
        let mut part = |len: usize| {
            let start = at;
            at = at.checked_add(len)?;
            bytes.slice(start..at)
        };
        let key_len = count(&part(8)?)?;
        if *part(key_len)? != *key {
            return None;
        }
        let [units, records, scopes] = [part(8)?, part(8)?, part(8)?];
        Some(Self {
            units: part(count(&units)?.checked_mul(UNIT)?)?,
            records: part(count(&records)?.checked_mul(RECORD)?)?,
            scopes: part(count(&scopes)?.checked_mul(SCOPE)?)?,
        })
    }

    /// How many records there are.
    pub fn records(&self) -> usize {
        self.records.len() / RECORD
    }

    /// A record, in the order of stems.
    pub fn record(&self, number: usize) -> Option<Record> {
        Some(Record::from_bytes(item(&self.records, number)?))
    }

    /// A scope.
    pub fn scope(&self, number: u32) -> Option<ScopeRecord> {
        let bytes: &[u8; SCOPE] = item(&self.scopes, usize::try_from(number).ok()?)?;
        let mut parts = bytes.as_chunks::<4>().0.iter().copied().map(u32::from_le_bytes);
        Some(ScopeRecord { around: parts.next()?, unit: parts.next()?, offset: parts.next()? })
    }

    /// Where a unit begins.
    pub fn unit(&self, number: u32) -> Option<(Which, usize)> {
        let bytes: &[u8; UNIT] = item(&self.units, usize::try_from(number).ok()?)?;
        let (kind, rest) = bytes.split_first()?;
        let (number, start) = rest.split_first_chunk::<4>()?;
        let start = u64::from_le_bytes(start.try_into().ok()?);
        let which = which_of(*kind, u32::from_le_bytes(*number))?;
        Some((which, usize::try_from(start).ok()?))
    }
}

fn item<const SIZE: usize>(items: &Section, number: usize) -> Option<&[u8; SIZE]> {
    items.get(number.checked_mul(SIZE)?..)?.first_chunk()
}

fn add_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend_from_slice(&(count as u64).to_le_bytes());
}

fn count(bytes: &[u8]) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
}

/// A sum that tells damaged bytes, not forged ones: each word is mixed in by the multiplication of
/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    let sum =
        words.iter().fold(bytes.len() as u64, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)))
}

const fn numbers_of(which: Which) -> (u8, u32) {
    match which {
        Which::Main => (0, 0),
        Which::Types => (1, 0),
        Which::Supplementary => (2, 0),
        Which::Split(number) => (3, number),
        Which::SplitTypes(number) => (4, number),
        Which::PackageTypes(number) => (5, number),
    }
}

const fn which_of(kind: u8, number: u32) -> Option<Which> {
    Some(match kind {
        0 => Which::Main,
        1 => Which::Types,
        2 => Which::Supplementary,
        3 => Which::Split(number),
        4 => Which::SplitTypes(number),
        5 => Which::PackageTypes(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::records::{NO_SCOPE, What},
        super::spelled::NameHash,
        *,
    };

    fn bytes(key: &[u8]) -> Vec<u8> {
        let name = |stem| NameHash { stem, full: stem };
        let records: Vec<Record> =
            (0..9).map(|n| Record::new(name(n), What::Type, n % 2, n, NO_SCOPE)).collect();
        let scopes = [ScopeRecord { around: NO_SCOPE, unit: 1, offset: 7 }];
        Stored::write(key, &[(Which::Main, 0), (Which::Split(6), 40)], &[records], &scopes)
    }

    #[test]
    fn what_was_written_is_read() {
        let stored = Stored::read(&Section::from(bytes(b"key")), b"key").unwrap();
        assert_eq!(stored.records(), 9);
        assert_eq!(stored.record(8).unwrap().offset, 8);
        assert_eq!(stored.record(9), None);
        assert_eq!(stored.unit(1), Some((Which::Split(6), 40)));
        assert_eq!(stored.unit(2), None);
        assert_eq!(stored.scope(0).map(|scope| scope.offset), Some(7));
    }

    #[test]
    fn an_index_of_something_else_is_none() {
        assert!(Stored::read(&Section::from(bytes(b"other")), b"key").is_none());
        assert!(Stored::read(&Section::empty(), b"key").is_none());
    }

    #[test]
    fn damage_at_any_byte_is_seen() {
        let good = bytes(b"key");
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            assert!(Stored::read(&Section::from(bad), b"key").is_none(), "byte {at}");
            let cut = good[..at].to_vec();
            assert!(Stored::read(&Section::from(cut), b"key").is_none(), "cut at {at}");
        }
    }
}
