//! aarch64 (ELF for the Arm 64-bit Architecture, appendix "PLT"): an entry loads the slot by
//! `adrp x16, page; ldr x17, [x16, #offset]`, after a landing pad where branches are protected.

use kcore_mem::Svma;

use crate::plt::{Linkage, Relocation, Stub};

/// What linkers make for this machine.
pub const LINKAGE: Linkage = Linkage { glob_dat: 1025, jump_slot: 1026, irelative: 1032, stubs };

const WORD: u64 = 4;
/// `bti c`.
const LANDING_PAD: u32 = 0xd503_245f;
/// `stp x16, x30, [sp, #-16]!`: only the header of the table, which binds lazily, begins with it.
const HEADER: u32 = 0xa9bf_7bf0;
/// Bytes of an entry without and with a landing pad.
const ENTRY_SIZE: u64 = 16;
const PADDED_ENTRY_SIZE: u64 = 24;

/// The entries in a table that begins at `start`.
fn stubs(start: Svma, table: &[u8], _lazy: &[Relocation]) -> Vec<Stub> {
    let words: Vec<u32> = table
        .chunks_exact(4)
        .filter_map(|word| Some(u32::from_le_bytes(word.try_into().ok()?)))
        .collect();
    (0..words.len()).filter_map(|index| stub(start, &words, index)).collect()
}

/// The entry whose `adrp` is word number `index`.
fn stub(start: Svma, words: &[u32], index: usize) -> Option<Stub> {
    let before = index.checked_sub(1).and_then(|before| words.get(before)).copied();
    if before == Some(HEADER) {
        return None;
    }
    let at = start.checked_add((index as u64).checked_mul(WORD)?)?;
    let page = page_of(at, *words.get(index)?)?;
    let slot = page.wrapping_add(loaded_offset(*words.get(index.checked_add(1)?)?)?);
    match before {
        Some(LANDING_PAD) => {
            let svma = at.wrapping_offset(-4);
            Some(Stub { svma, size: PADDED_ENTRY_SIZE, slot })
        }
        _ => Some(Stub { svma: at, size: ENTRY_SIZE, slot }),
    }
}

/// What `adrp x16` at `at` makes of it.
fn page_of(at: Svma, word: u32) -> Option<u64> {
    if word & 0x9f00_001f != 0x9000_0010 {
        return None;
    }
    let pages = (((word >> 5) & 0x7_ffff) << 2) | ((word >> 29) & 3);
    let pages = pages.wrapping_shl(11).cast_signed() >> 11;
    Some((at.get() & !0xfff).wrapping_add_signed(i64::from(pages) << 12))
}

/// The offset in `ldr x17, [x16, #offset]`.
fn loaded_offset(word: u32) -> Option<u64> {
    (word & 0xffc0_03ff == 0xf940_0211).then(|| u64::from((word >> 10) & 0xfff) << 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header and two entries at 0x580, the second one with a landing pad.
    #[test]
    fn entries_lie_behind_the_header_and_know_their_slots() {
        let words: [u32; 18] = [
            HEADER,
            0x9000_0090,
            0xf947_fe11,
            0x913f_e210,
            0xd61f_0220,
            0xd503_201f,
            0xd503_201f,
            0xd503_201f,
            0xb000_0090,
            0xf940_0211,
            0x9100_0210,
            0xd61f_0220,
            LANDING_PAD,
            0xb000_0090,
            0xf940_0611,
            0x9100_2210,
            0xd61f_0220,
            0xd503_201f,
        ];
        let table: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let found = stubs(Svma::new(0x580), &table, &[]);
        let found: Vec<_> =
            found.iter().map(|stub| (stub.svma.get(), stub.size, stub.slot)).collect();
        assert_eq!(found, [(0x5a0, 16, 0x1_1000), (0x5b0, 24, 0x1_1008)]);
    }

    #[test]
    fn a_page_before_the_entry_is_reached_as_well() {
        assert_eq!(page_of(Svma::new(0x5000), 0xf0ff_fff0), Some(0x4000));
    }
}
