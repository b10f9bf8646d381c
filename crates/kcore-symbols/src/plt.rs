//! Names for the entries of the procedure linkage table, which no symbol table lists (x86-64).
//!
//! An entry jumps through a slot of the global offset table, and a relocation names the symbol of
//! that slot. Following the jump instead of counting entries serves `.plt`, `.plt.sec` and
//! `.plt.got`, and the linkers that lay them out in another order (psABI x86-64, 5.2).

use kcore_elf::{Image, SymbolBinding, SymbolKind, SymbolTableKind};
use kcore_mem::{Arch, Cursor, OutOfBytes, Svma};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    names::Arena,
    symbol::{Entry, SymbolSource},
};

const R_X86_64_GLOB_DAT: u64 = 6;
const R_X86_64_JUMP_SLOT: u64 = 7;
const R_X86_64_IRELATIVE: u64 = 37;
/// Bytes of an entry; those of `.plt.got` may have 8.
const ENTRY_SIZE: u64 = 16;
const SHORT_ENTRY_SIZE: u64 = 8;
/// Bytes of an `Elf64_Rela`.
const RELOCATION_SIZE: usize = 24;

/// An entry of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkageEntry {
    /// Where it begins.
    pub svma: Svma,
    /// Its bytes.
    pub size: u64,
    /// Section that holds it.
    pub section: u16,
    /// The function that it calls, with `@plt`.
    pub name: Vec<u8>,
}

impl LinkageEntry {
    /// The symbol for it.
    pub fn into_entry(self, index: u32, arena: &mut Arena) -> Entry {
        Entry {
            value: self.svma,
            size: self.size,
            name: arena.keep(&self.name),
            index,
            section: self.section,
            other: 0,
            kind: SymbolKind::Function,
            binding: SymbolBinding::Local,
            source: SymbolSource::Plt,
            loaded: true,
        }
    }
}

/// The entries of an image whose function is known. `name_at` names the function at an address,
/// for slots that are filled by calling a resolver (`IRELATIVE`).
pub fn entries(image: &Image, name_at: impl Fn(Svma) -> Option<Vec<u8>>) -> Vec<LinkageEntry> {
    if image.target().arch != Arch::X86_64 || image.target().word != 8 {
        return Vec::new();
    }
    let lazy = relocations(image, ".rela.plt");
    // With `.plt.sec` the entries of `.plt` are only its lazy second halves: they come last.
    let tables = [".plt.sec", ".plt.got", ".plt"];
    let stubs = tables.into_iter().flat_map(|table| table_stubs(image, table, &lazy));
    let stubs: Vec<_> = stubs.collect();
    let names = slot_names(image, &stubs, &lazy, name_at);
    let entry = |stub: Stub| {
        let name = [names.get(&stub.slot)?.as_slice(), b"@plt"].concat();
        Some(LinkageEntry { svma: stub.svma, size: stub.size, section: stub.section, name })
    };
    stubs.into_iter().filter_map(entry).collect()
}

/// An entry, and the slot that it jumps through.
struct Stub {
    svma: Svma,
    size: u64,
    section: u16,
    slot: u64,
}

fn table_stubs(image: &Image, table: &str, lazy: &[Relocation]) -> Vec<Stub> {
    let index = image.sections().iter().position(|section| section.name == table);
    let section = index.and_then(|index| u16::try_from(index).ok());
    let header = index.and_then(|index| image.sections().get(index));
    let (Some(section), Some(header), Some(bytes)) = (section, header, image.section_data(table))
    else {
        return Vec::new();
    };
    let size = if is_short(&bytes) { SHORT_ENTRY_SIZE } else { ENTRY_SIZE };
    let chunks = bytes.chunks_exact(usize::try_from(size).unwrap_or(usize::MAX));
    let stub = |(index, code): (u64, &[u8])| {
        let svma = header.svma.checked_add(index.checked_mul(size)?)?;
        let slot = jump_slot(svma, code).or_else(|| pushed_slot(code, lazy))?;
        Some(Stub { svma, size, section, slot })
    };
    (0..).zip(chunks).filter_map(stub).collect()
}

/// Whether the entries are a jump and two bytes of padding each, as in `.plt.got`, and in the `.plt`
/// of static programs.
fn is_short(table: &[u8]) -> bool {
    table.starts_with(&[0xff, 0x25]) && table.get(6..8) == Some(&[0x66, 0x90])
}

/// The functions of the slots that the stubs jump through.
fn slot_names(
    image: &Image,
    stubs: &[Stub],
    lazy: &[Relocation],
    name_at: impl Fn(Svma) -> Option<Vec<u8>>,
) -> FxHashMap<u64, Vec<u8>> {
    let symbols: Vec<&[u8]> =
        image.symbols(SymbolTableKind::Dynamic).map(|symbol| symbol.name).collect();
    let mut missing: FxHashSet<u64> = stubs.iter().map(|stub| stub.slot).collect();
    let mut names = FxHashMap::default();
    let mut take = |relocation: &Relocation| {
        if missing.remove(&relocation.slot)
            && let Some(name) = relocation.name(&symbols, &name_at)
        {
            names.insert(relocation.slot, name);
        }
        missing.is_empty()
    };
    if !lazy.iter().any(&mut take) && !stubs.is_empty() {
        search_backwards(image, take);
    }
    names
}

/// A relocation that fills a slot.
struct Relocation {
    slot: u64,
    kind: u64,
    symbol: u64,
    addend: u64,
}

impl Relocation {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, OutOfBytes> {
        let slot = cursor.u64()?;
        let info = cursor.u64()?;
        let addend = cursor.u64()?;
        Ok(Self { slot, kind: info & 0xffff_ffff, symbol: info >> 32, addend })
    }

    fn fills_slot(&self) -> bool {
        matches!(self.kind, R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT | R_X86_64_IRELATIVE)
    }

    fn name(&self, names: &[&[u8]], name_at: &impl Fn(Svma) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
        if self.kind == R_X86_64_IRELATIVE {
            return name_at(Svma::new(self.addend));
        }
        // The null symbol, number 0, is not among the names.
        let index = usize::try_from(self.symbol.checked_sub(1)?).ok()?;
        names.get(index).filter(|name| !name.is_empty()).map(|name| name.to_vec())
    }
}

fn relocations(image: &Image, section: &str) -> Vec<Relocation> {
    let bytes = image.section_data(section).unwrap_or_default();
    let entries = bytes.chunks_exact(RELOCATION_SIZE);
    entries
        .filter_map(|raw| Relocation::parse(&mut Cursor::new(raw, image.target())).ok())
        .collect()
}

/// Gives relocations of `.rela.dyn` to `take` until that has enough. From the end on: linkers put
/// those without a symbol, of which there may be a million, first.
fn search_backwards(image: &Image, mut take: impl FnMut(&Relocation) -> bool) {
    let bytes = image.section_data(".rela.dyn").unwrap_or_default();
    let entries = bytes.chunks_exact(RELOCATION_SIZE).rev();
    let parsed =
        entries.filter_map(|raw| Relocation::parse(&mut Cursor::new(raw, image.target())).ok());
    let _enough = parsed.filter(Relocation::fills_slot).any(|relocation| take(&relocation));
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
