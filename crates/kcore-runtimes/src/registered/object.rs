//! libgcc's objects: what one call of `__register_frame` registered (`struct object` of gcc's
//! `libgcc/unwind-dw2-fde.h`, versions 4 to 15).

use std::collections::HashSet;

use kcore_mem::{Addr, AddressSpace};

use super::{MAX_SECTIONS, record_len};

/// Words of `struct object`: `pc_begin`, `tbase`, `dbase`, `u`, `s`, `next`.
const U: u64 = 3;
const S: u64 = 4;
const NEXT: u64 = 5;
/// Bits of `s`: what `u` is.
const SORTED: u64 = 1;
const FROM_ARRAY: u64 = 2;
/// Bits of `s` that have a meaning: `sorted`, `from_array`, `mixed_encoding`, 8 of `encoding` and 21 of `count`.
const KNOWN: u64 = 0xffff_ffff;

/// Adds where the sections of a list of objects begin; nothing where there is no such list at `first`.
pub fn sections(first: Addr, space: &dyn AddressSpace, found: &mut Vec<Addr>) {
    let (mut at, mut seen) = (first, HashSet::new());
    while at.get() != 0 && found.len() < MAX_SECTIONS && seen.insert(at) {
        if one(at, space, found).is_none() {
            return;
        }
        let Some(next) = word(at, NEXT, space) else { return };
        at = Addr::new(next);
    }
}

/// Adds where the sections of one object begin; `None` where there is no object.
pub fn one(at: Addr, space: &dyn AddressSpace, found: &mut Vec<Addr>) -> Option<()> {
    let kind = word(at, S, space).filter(|kind| kind & !KNOWN == 0)?;
    let own = Addr::new(word(at, U, space)?);
    // Once the descriptions were sorted, they hang on a vector that begins with what was registered.
    let data = if kind & SORTED == 0 { own } else { space.read_addr(own).ok()? };
    if kind & FROM_ARRAY == 0 {
        return begins_section(data, space).then(|| found.push(data));
    }
    let first = space.read_addr(data).ok().filter(|first| begins_section(*first, space))?;
    found.push(first);
    for index in 1.. {
        let more = word(data, index, space).filter(|more| *more != 0).map(Addr::new);
        match more.filter(|_| found.len() < MAX_SECTIONS) {
            Some(more) => found.push(more),
            None => break,
        }
    }
    Some(())
}

/// Whether a section of frame descriptions begins at `at`: with what some of them have in common, of a known version
/// (LSB 5, «Exception Frames»).
fn begins_section(at: Addr, space: &dyn AddressSpace) -> bool {
    const VERSIONS: [u64; 3] = [1, 3, 4];
    const LONGEST: u64 = 1 << 12;
    let field = |offset, size| space.read_uint(at.checked_add(offset)?, size).ok();
    record_len(at, space).is_some_and(|len| len <= LONGEST)
        && field(4, 4) == Some(0)
        && field(8, 1).is_some_and(|version| VERSIONS.contains(&version))
}

/// The word number `index` at `at`.
pub fn word(at: Addr, index: u64, space: &dyn AddressSpace) -> Option<u64> {
    let offset = index.checked_mul(space.target().word.into())?;
    space.read_word(at.checked_add(offset)?).ok()
}
