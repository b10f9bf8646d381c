//! `.debug_names` (DWARF 5, 6.1.1): one index, or one of each object that a linker put behind one another.

use gimli::{
    DebugStr, DebugStrOffset, DwForm, Error, Format, Reader as _, Section as _, constants,
};
use rustc_hash::FxHashMap;

use super::{ListedUnit, Listing};
use crate::dwarf::{Reader, Result};

/// Entries of one name that are looked at.
const MAX_ENTRIES: usize = 1 << 20;
/// What an attribute of an entry says (`DW_IDX_*`).
const COMPILE_UNIT: u64 = 1;
const TYPE_UNIT: u64 = 2;

/// Where the entries of a name are: in which of the indexes, and how far in its pool.
type At = (usize, usize);

/// One index.
struct Index {
    units: Vec<ListedUnit>,
    types: Vec<ListedUnit>,
    shapes: FxHashMap<u64, Vec<(u64, DwForm)>>,
    pool: Reader,
    format: Format,
}

/// Reads all indexes. `naming` picks, of all names with where their entries are, those that are asked
/// for. `None` where one is damaged, of another version, or tells of units in other files.
pub fn read(
    mut bytes: Reader,
    strings: &DebugStr<Reader>,
    naming: impl FnOnce(&[(&[u8], At)]) -> Vec<At>,
) -> Option<Listing> {
    let (mut indexes, mut places) = (Vec::new(), Vec::new());
    while !bytes.is_empty() {
        let (index, names) = one(&mut bytes).ok()?;
        places.extend(names.into_iter().map(|(text, entry)| (text, (indexes.len(), entry))));
        indexes.push(index);
    }
    let strings = strings.reader().bytes();
    let names: Option<Vec<_>> = places
        .into_iter()
        .map(|(text, at)| {
            let name = std::ffi::CStr::from_bytes_until_nul(strings.get(text.0..)?).ok()?;
            Some((name.to_bytes(), at))
        })
        .collect();
    let found = naming(&names?).into_iter().map(|(index, entry)| {
        let index: &Index = indexes.get(index)?;
        index.places(entry).ok()?
    });
    let naming: Option<Vec<Vec<ListedUnit>>> = found.collect();
    let listed = indexes.iter().flat_map(|index| index.units.iter().chain(&index.types)).copied();
    Some(Listing { listed: listed.collect(), naming: naming?.into_iter().flatten().collect() })
}

/// Reads one index, and its names with where their entries are.
fn one(bytes: &mut Reader) -> Result<(Index, Vec<(DebugStrOffset, usize)>)> {
    let (len, format) = bytes.read_initial_length()?;
    let mut own = bytes.split(len)?;
    let version = own.read_u16()?;
    if version != 5 {
        return Err(Error::UnknownVersion(version.into()));
    }
    own.skip(2)?;
    let mut counts = [0_usize; 7];
    for count in &mut counts {
        *count = own.read_u32()? as usize;
    }
    let [units, types, foreign, buckets, names, shapes, augmentation] = counts;
    if foreign > 0 {
        return Err(Error::UnsupportedOffset);
    }
    own.skip(augmentation.next_multiple_of(4))?;
    let units = starts(&mut own, format, units)?.into_iter().map(ListedUnit::Unit).collect();
    let types = starts(&mut own, format, types)?.into_iter().map(ListedUnit::Types).collect();
    own.skip(buckets.saturating_mul(4))?;
    if buckets > 0 {
        own.skip(names.saturating_mul(4))?;
    }
    let texts = starts(&mut own, format, names)?;
    let entries = starts(&mut own, format, names)?;
    let shapes = read_shapes(own.split(shapes)?)?;
    let names = texts.into_iter().map(gimli::DebugStrOffset).zip(entries).collect();
    Ok((Index { units, types, shapes, pool: own, format }, names))
}

/// So many offsets. What a count claims is not set aside before it is read.
fn starts(bytes: &mut Reader, format: Format, count: usize) -> Result<Vec<usize>> {
    let mut part = bytes.split(count.saturating_mul(format.word_size().into()))?;
    let mut all = Vec::with_capacity(count);
    while !part.is_empty() {
        all.push(part.read_offset(format)?);
    }
    Ok(all)
}

fn read_shapes(mut table: Reader) -> Result<FxHashMap<u64, Vec<(u64, DwForm)>>> {
    let mut shapes = FxHashMap::default();
    while !table.is_empty() {
        let code = table.read_uleb128()?;
        if code == 0 {
            break;
        }
        table.read_uleb128()?;
        let mut attributes = Vec::new();
        loop {
            let (what, form) = (table.read_uleb128()?, table.read_uleb128_u16()?);
            if (what, form) == (0, 0) {
                break;
            }
            if DwForm(form) == constants::DW_FORM_implicit_const {
                return Err(Error::UnknownForm(DwForm(form)));
            }
            attributes.push((what, DwForm(form)));
        }
        shapes.insert(code, attributes);
    }
    Ok(shapes)
}

impl Index {
    /// The units of the entries of a name; `None` of an entry that names none.
    fn places(&self, entry: usize) -> Result<Option<Vec<ListedUnit>>> {
        let mut pool = self.pool.clone();
        pool.skip(entry)?;
        let mut places = Vec::new();
        for _ in 0..MAX_ENTRIES {
            let code = pool.read_uleb128()?;
            if code == 0 {
                break;
            }
            let shape = self.shapes.get(&code).ok_or(Error::InvalidAbbreviationCode(code))?;
            let Some(place) = self.place(&mut pool, shape)? else { return Ok(None) };
            places.push(place);
        }
        Ok(Some(places))
    }

    /// The unit of one entry. Without a word it is the only one that there is.
    fn place(&self, pool: &mut Reader, shape: &[(u64, DwForm)]) -> Result<Option<ListedUnit>> {
        let mut place = self.units.first().filter(|_| self.units.len() == 1).copied();
        for (what, form) in shape {
            let number = self.value(pool, *form)?;
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            match *what {
                COMPILE_UNIT => place = self.units.get(number).copied(),
                TYPE_UNIT => place = self.types.get(number).copied(),
                _ => continue,
            }
        }
        Ok(place)
    }

    fn value(&self, pool: &mut Reader, form: DwForm) -> Result<u64> {
        Ok(match form {
            constants::DW_FORM_flag_present => 1,
            constants::DW_FORM_data1 | constants::DW_FORM_ref1 | constants::DW_FORM_flag => {
                pool.read_u8()?.into()
            }
            constants::DW_FORM_data2 | constants::DW_FORM_ref2 => pool.read_u16()?.into(),
            constants::DW_FORM_data4 | constants::DW_FORM_ref4 => pool.read_u32()?.into(),
            constants::DW_FORM_data8 | constants::DW_FORM_ref8 | constants::DW_FORM_ref_sig8 => {
                pool.read_u64()?
            }
            constants::DW_FORM_udata | constants::DW_FORM_ref_udata => pool.read_uleb128()?,
            constants::DW_FORM_sec_offset => pool.read_offset(self.format)? as u64,
            other => return Err(Error::UnknownForm(other)),
        })
    }
}

#[cfg(test)]
mod tests {
    use gimli::{EndianReader, RunTimeEndian};
    use kcore_elf::Section;

    use super::*;

    fn reader(bytes: Vec<u8>) -> Reader {
        EndianReader::new(Section::from(bytes), RunTimeEndian::Little)
    }

    /// Two units and a type unit; `a` stands in the second one, `b` in the type unit.
    fn index(version: u16, foreign: u32) -> Vec<u8> {
        let mut own = version.to_le_bytes().to_vec();
        own.extend([0, 0]);
        let shapes = [1, 0x13, 1, 0x0b, 3, 0x13, 0, 0, 2, 0x13, 2, 0x0f, 3, 0x13, 0, 0, 0];
        for count in [2, 1, foreign, 1, 2, shapes.len() as u32, 4] {
            own.extend(count.to_le_bytes());
        }
        own.extend(b"TEST");
        // Units, the type unit, the bucket, hashes, strings, entries.
        for word in [0_u32, 0x40, 0x80, 1, 7, 8, 0, 2, 0, 7] {
            own.extend(word.to_le_bytes());
        }
        own.extend(shapes);
        own.extend([1, 1, 9, 0, 0, 0, 0, 2, 0, 9, 0, 0, 0, 0]);
        let mut bytes = (own.len() as u32).to_le_bytes().to_vec();
        bytes.extend(own);
        bytes
    }

    fn named(bytes: Vec<u8>, wanted: &[u8]) -> Option<Listing> {
        let strings = DebugStr::from(reader(b"a\0b\0".to_vec()));
        let naming = |names: &[(&[u8], At)]| {
            names.iter().filter(|(name, _)| *name == wanted).map(|(_, at)| *at).collect()
        };
        read(reader(bytes), &strings, naming)
    }

    #[test]
    fn names_lead_to_their_units() {
        assert_eq!(named(index(5, 0), b"a").unwrap().naming, [ListedUnit::Unit(0x40)]);
        assert_eq!(named(index(5, 0), b"b").unwrap().naming, [ListedUnit::Types(0x80)]);
        assert_eq!(named(index(5, 0), b"c").unwrap().naming, []);
        let two = [index(5, 0), index(5, 0)].concat();
        assert_eq!(named(two, b"a").unwrap().listed.len(), 6);
    }

    #[test]
    fn what_is_not_known_is_no_answer() {
        assert_eq!(named(index(4, 0), b"a"), None);
        assert_eq!(named(index(5, 1), b"a"), None);
    }

    #[test]
    fn damage_does_no_harm() {
        let good = index(5, 0);
        for at in 0..good.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = (named(bad.clone(), b"a"), named(bad, b"b"));
            }
            assert!(at == 0 || named(good[..at].to_vec(), b"a").is_none(), "cut at {at}");
        }
    }
}
