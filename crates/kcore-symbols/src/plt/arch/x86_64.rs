//! x86-64 (psABI, 5.2): an entry jumps through the slot, `jmp *disp32(%rip)`.

use kcore_mem::Svma;

use crate::plt::{Linkage, Relocation, Stub};

/// What linkers make for this machine.
pub const LINKAGE: Linkage = Linkage { glob_dat: 6, jump_slot: 7, irelative: 37, stubs };

/// Bytes of an entry; those of `.plt.got` may have 8.
const ENTRY_SIZE: u64 = 16;
const SHORT_ENTRY_SIZE: u64 = 8;

/// The entries in a table that begins at `start`.
fn stubs(start: Svma, table: &[u8], lazy: &[Relocation]) -> Vec<Stub> {
    let size = if is_short(table) { SHORT_ENTRY_SIZE } else { ENTRY_SIZE };
    let chunks = table.chunks_exact(usize::try_from(size).unwrap_or(usize::MAX));
    let stub = |(index, code): (u64, &[u8])| {
        let svma = start.checked_add(index.checked_mul(size)?)?;
        let slot = jump_slot(svma, code).or_else(|| pushed_slot(code, lazy))?;
        Some(Stub { svma, size, slot })
    };
    (0..).zip(chunks).filter_map(stub).collect()
}

/// Whether the entries are a jump and two bytes of padding each, as in `.plt.got`, and in the `.plt`
/// of static programs.
fn is_short(table: &[u8]) -> bool {
    table.starts_with(&[0xff, 0x25]) && table.get(6..8) == Some(&[0x66, 0x90])
}

/// The slot of the first `jmp *disp32(%rip)` (`ff 25`) of an entry.
fn jump_slot(svma: Svma, code: &[u8]) -> Option<u64> {
    let at = code.windows(2).position(|bytes| bytes == [0xff, 0x25])?;
    let after = at.checked_add(6)?;
    let displacement = little_endian_32(code.get(at.checked_add(2)?..after)?)?;
    let next = svma.checked_add(after as u64)?;
    Some(next.wrapping_offset(i64::from(displacement)).get())
}

/// The slot of the relocation whose number a lazy entry pushes.
fn pushed_slot(code: &[u8], lazy: &[Relocation]) -> Option<u64> {
    let index = usize::try_from(pushed_index(code)?).ok()?;
    lazy.get(index).map(|relocation| relocation.slot)
}

/// The operand of `push imm32` (`68`) at the beginning of a lazy entry, after `endbr64` if that
/// is there.
fn pushed_index(code: &[u8]) -> Option<i32> {
    let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
    little_endian_32(code.strip_prefix(&[0x68])?.get(..4)?)
}

fn little_endian_32(bytes: &[u8]) -> Option<i32> {
    bytes.try_into().ok().map(i32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_is_that_of_the_jump_behind_a_landing_pad() {
        let mut code = vec![0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25];
        code.extend_from_slice(&0x2f75_i32.to_le_bytes());
        code.resize(16, 0x90);
        assert_eq!(jump_slot(Svma::new(0x1050), &code), Some(0x1050 + 11 + 0x2f75));
        assert_eq!(jump_slot(Svma::new(0x1050), &code[..8]), None);
    }

    #[test]
    fn a_lazy_entry_pushes_the_number_of_its_relocation() {
        assert_eq!(pushed_index(&[0xf3, 0x0f, 0x1e, 0xfa, 0x68, 3, 0, 0, 0, 0xf2]), Some(3));
        assert_eq!(pushed_index(&[0x68, 1, 0, 0, 0]), Some(1));
        assert_eq!(pushed_index(&[0xff, 0x35, 1, 0, 0, 0]), None);
    }
}
