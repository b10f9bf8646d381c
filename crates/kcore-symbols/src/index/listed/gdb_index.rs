//! `.gdb_index`, versions 7 to 9 («Index Section Format» in the manual of gdb 15). All its numbers are
//! little-endian.

use std::ffi::CStr;

use super::{ListedUnit, Listing};

/// Bytes of a row of the list of units, of that of type units, and of the symbol table.
const UNIT: usize = 16;
const TYPE_UNIT: usize = 24;
const SYMBOL: usize = 8;
/// The bits of a row of a symbol's units that number the unit.
const UNIT_NUMBER: u32 = 0x00ff_ffff;

/// Reads an index. `naming` picks, of all names with where their units stand, those that are asked for.
/// `None` of one that is damaged, or of a version that is not known.
pub fn read(bytes: &[u8], naming: impl FnOnce(&[(&[u8], u32)]) -> Vec<u32>) -> Option<Listing> {
    let version = word(bytes, 0)?;
    if !(7..=9).contains(&version) {
        return None;
    }
    let part = |number: usize| usize::try_from(word(bytes, number.checked_mul(4)?)?).ok();
    // Version 9 has a table of shortcuts between the symbols and what they refer to.
    let pool = if version == 9 { part(6)? } else { part(5)? };
    let (units, types, addresses) = (part(1)?, part(2)?, part(3)?);
    let symbols = bytes.get(part(4)?..part(5)?)?;
    let pool = bytes.get(pool..)?;
    let starts = |bytes: &[u8], size: usize| -> Option<Vec<usize>> {
        bytes.chunks_exact(size).map(start).collect()
    };
    let units = starts(bytes.get(units..types)?, UNIT)?.into_iter().map(ListedUnit::Unit);
    let types = starts(bytes.get(types..addresses)?, TYPE_UNIT)?.into_iter().map(ListedUnit::Types);
    let listed: Vec<ListedUnit> = units.chain(types).collect();
    let names: Option<Vec<_>> = symbols
        .chunks_exact(SYMBOL)
        .filter(|symbol| symbol.iter().any(|byte| *byte != 0))
        .map(|symbol| {
            let name = pool.get(usize::try_from(word(symbol, 0)?).ok()?..)?;
            Some((CStr::from_bytes_until_nul(name).ok()?.to_bytes(), word(symbol, 4)?))
        })
        .collect();
    let vectors = naming(&names?).into_iter().map(|at| places(pool, at, &listed));
    let naming: Option<Vec<Vec<ListedUnit>>> = vectors.collect();
    Some(Listing { naming: naming?.into_iter().flatten().collect(), listed })
}

/// The units of a symbol.
fn places(pool: &[u8], at: u32, listed: &[ListedUnit]) -> Option<Vec<ListedUnit>> {
    let rows = pool.get(usize::try_from(at).ok()?..)?;
    let count = usize::try_from(word(rows, 0)?).ok()?;
    let rows = rows.get(4..count.checked_add(1)?.checked_mul(4)?)?;
    let place = |row: &[u8; 4]| {
        let number = u32::from_le_bytes(*row) & UNIT_NUMBER;
        listed.get(usize::try_from(number).ok()?).copied()
    };
    rows.as_chunks::<4>().0.iter().map(place).collect()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn start(row: &[u8]) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*row.first_chunk()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two units, a type unit, and the names `a` in the first and the last and `b` in the second.
    fn index(version: u32) -> Vec<u8> {
        let head = if version == 9 { 7 } else { 6 };
        let units = head * 4;
        let (types, addresses) = (units + 32, units + 56);
        let (symbols, shortcuts) = (addresses, addresses + 24);
        let pool = if version == 9 { shortcuts + 8 } else { shortcuts };
        let mut words = vec![version, units, types, addresses, symbols, shortcuts];
        if version == 9 {
            words.push(pool);
        }
        for number in [0_u64, 0x40, 0x40, 0x30, 0x10, 0x20, 0x1234_5678_9abc_def0] {
            words.extend([number as u32, (number >> 32) as u32]);
        }
        words.extend([20, 0, 0, 0, 22, 12]);
        if version == 9 {
            words.extend([0, 0]);
        }
        words.extend([2, 0x9000_0000, 0x9000_0002, 1, 0x1000_0001]);
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend_from_slice(b"a\0b\0");
        bytes
    }

    fn named(bytes: &[u8], wanted: &[u8]) -> Option<Vec<ListedUnit>> {
        let naming = |names: &[(&[u8], u32)]| {
            names.iter().filter(|(name, _)| *name == wanted).map(|(_, at)| *at).collect()
        };
        read(bytes, naming).map(|listing| listing.naming)
    }

    #[test]
    fn all_versions_say_the_same() {
        for version in [7, 8, 9] {
            let bytes = index(version);
            assert_eq!(
                named(&bytes, b"a"),
                Some(vec![ListedUnit::Unit(0), ListedUnit::Types(0x10)])
            );
            assert_eq!(named(&bytes, b"b"), Some(vec![ListedUnit::Unit(0x40)]));
            assert_eq!(named(&bytes, b"c"), Some(vec![]));
            assert_eq!(read(&bytes, |_| vec![]).unwrap().listed.len(), 3);
        }
        assert_eq!([5, 6, 10].map(|version| named(&index(version), b"a")), [None, None, None]);
    }

    #[test]
    fn damage_ends_in_no_answer_or_another() {
        for version in [7, 9] {
            let good = index(version);
            for at in 0..good.len() {
                assert!(named(&good[..at], b"b").is_none_or(|found| found.len() < 2), "{at}");
                for value in [0, 1, 0x7f, 0xff] {
                    let mut bad = good.clone();
                    bad[at] = value;
                    let _ = named(&bad, b"a");
                }
            }
        }
        // A unit that is not listed, and a count that no section holds.
        let pool = good_pool();
        assert_eq!(places(&pool, 0, &[ListedUnit::Unit(0)]), None);
        assert_eq!(places(&u32::MAX.to_le_bytes(), 0, &[ListedUnit::Unit(0)]), None);
    }

    fn good_pool() -> Vec<u8> {
        [1_u32, 1].into_iter().flat_map(u32::to_le_bytes).collect()
    }
}
