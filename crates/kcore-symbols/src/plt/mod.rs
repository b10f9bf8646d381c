//! Names for the entries of the procedure linkage table, which no symbol table lists.
//!
//! An entry jumps through a slot of the global offset table, and a relocation names the symbol of
//! that slot. Following the jump instead of counting entries serves `.plt`, `.plt.sec` and
//! `.plt.got`, and the linkers that lay them out in another order.

mod arch;

use std::{cell::Cell, ffi::CStr};

use kcore_elf::{Image, SymbolBinding, SymbolKind, SymbolTableKind};
use kcore_mem::{Cursor, OutOfBytes, Svma};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    names::Arena,
    symbol::{Entry, SymbolSource},
};

/// How many times the length of the strings the names of entries may be together: any number of slots may have one
/// symbol, and any number of entries one slot.
const OVERLAP: usize = 8;

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

/// The entries of an image whose function is known, as far as their names are not longer than those of a linker.
/// `name_at` names the function at an address,
/// for slots that are filled by calling a resolver (`IRELATIVE`).
pub fn entries(image: &Image, name_at: impl Fn(Svma) -> Option<Vec<u8>>) -> Vec<LinkageEntry> {
    let Some(linkage) = arch::linkage(image.target()) else { return Vec::new() };
    let lazy = relocations(image, ".rela.plt");
    // With `.plt.sec` the entries of `.plt` are only its lazy second halves: they come last.
    let tables = [".plt.sec", ".plt.got", ".plt"];
    let stubs = tables.into_iter().flat_map(|table| table_stubs(image, linkage, table, &lazy));
    let stubs: Vec<_> = stubs.collect();
    let slots = stubs.iter().map(|(_, stub)| stub.slot).collect();
    let room = NameBudget::of(image);
    let names = slot_names(image, linkage, slots, &lazy, &room, name_at);
    let room = NameBudget::of(image);
    let entry = |(section, stub): (u16, Stub)| {
        let name = names.get(&stub.slot).filter(|name| room.take(name))?;
        let name = [name.as_slice(), b"@plt"].concat();
        Some(LinkageEntry { svma: stub.svma, size: stub.size, section, name })
    };
    stubs.into_iter().filter_map(entry).collect()
}

/// Bytes of names that may still be copied.
struct NameBudget(Cell<usize>);

impl NameBudget {
    fn of(image: &Image) -> Self {
        let tables = [SymbolTableKind::Dynamic, SymbolTableKind::Full];
        let strings = tables.into_iter().map(|table| image.symbol_strings(table).len());
        let strings = strings.fold(0_usize, usize::saturating_add);
        Self(Cell::new(strings.saturating_mul(OVERLAP)))
    }

    /// Takes the bytes of a name. When they are not there, none are left.
    fn take(&self, name: &[u8]) -> bool {
        let left = self.0.get().checked_sub(name.len());
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    fn is_over(&self) -> bool {
        self.0.get() == 0
    }
}

/// What linkers make for one machine.
pub struct Linkage {
    /// Type of relocations that fill a slot with a symbol's address at load time.
    pub glob_dat: u64,
    /// Type of relocations that fill a slot when it is first used.
    pub jump_slot: u64,
    /// Type of relocations that fill a slot with what a resolver returns.
    pub irelative: u64,
    /// The entries of a table, by its address, its bytes, and the relocations of lazy slots.
    pub stubs: fn(Svma, &[u8], &[Relocation]) -> Vec<Stub>,
}

/// An entry, and the slot that it jumps through.
pub struct Stub {
    /// Where it begins.
    pub svma: Svma,
    /// Its bytes.
    pub size: u64,
    /// Address of the slot.
    pub slot: u64,
}

/// The entries of a section, each with the section's number.
fn table_stubs(
    image: &Image,
    linkage: &Linkage,
    table: &str,
    lazy: &[Relocation],
) -> Vec<(u16, Stub)> {
    let index = image.sections().iter().position(|section| section.name == table);
    let section = index.and_then(|index| u16::try_from(index).ok());
    let header = index.and_then(|index| image.sections().get(index));
    let (Some(section), Some(header), Some(bytes)) = (section, header, image.section_data(table))
    else {
        return Vec::new();
    };
    (linkage.stubs)(header.svma, &bytes, lazy).into_iter().map(|stub| (section, stub)).collect()
}

/// The functions of the slots that the stubs jump through.
fn slot_names(
    image: &Image,
    linkage: &Linkage,
    mut missing: FxHashSet<u64>,
    lazy: &[Relocation],
    room: &NameBudget,
    name_at: impl Fn(Svma) -> Option<Vec<u8>>,
) -> FxHashMap<u64, Vec<u8>> {
    let strings = image.symbol_strings(SymbolTableKind::Dynamic);
    // Where names begin: to read them all, of which a few are wanted, takes longer than the rest.
    let symbols: Vec<u32> =
        image.symbols(SymbolTableKind::Dynamic).map(|symbol| symbol.name_start).collect();
    let name_of = |index: usize| {
        let rest = strings.get(*symbols.get(index)? as usize..)?;
        Some(CStr::from_bytes_until_nul(rest).map_or(rest, CStr::to_bytes))
    };
    let has_stubs = !missing.is_empty();
    let mut names = FxHashMap::default();
    let mut take = |relocation: &Relocation| {
        if missing.remove(&relocation.slot)
            && let Some(name) = relocation.name(linkage, &name_of, &name_at)
            && room.take(&name)
        {
            names.insert(relocation.slot, name);
        }
        missing.is_empty() || room.is_over()
    };
    if !lazy.iter().any(&mut take) && has_stubs {
        search_backwards(image, linkage, take);
    }
    names
}

/// A relocation that fills a slot.
pub struct Relocation {
    /// Address of the slot.
    pub slot: u64,
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

    const fn fills_slot(&self, linkage: &Linkage) -> bool {
        self.kind == linkage.glob_dat
            || self.kind == linkage.jump_slot
            || self.kind == linkage.irelative
    }

    fn name<'n>(
        &self,
        linkage: &Linkage,
        name_of: &impl Fn(usize) -> Option<&'n [u8]>,
        name_at: &impl Fn(Svma) -> Option<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        if self.kind == linkage.irelative {
            return name_at(Svma::new(self.addend));
        }
        // The null symbol, number 0, is not among the names.
        let index = usize::try_from(self.symbol.checked_sub(1)?).ok()?;
        name_of(index).filter(|name| !name.is_empty()).map(<[u8]>::to_vec)
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
fn search_backwards(image: &Image, linkage: &Linkage, mut take: impl FnMut(&Relocation) -> bool) {
    let bytes = image.section_data(".rela.dyn").unwrap_or_default();
    let entries = bytes.chunks_exact(RELOCATION_SIZE).rev();
    let parsed =
        entries.filter_map(|raw| Relocation::parse(&mut Cursor::new(raw, image.target())).ok());
    let _enough = parsed
        .filter(|relocation| relocation.fills_slot(linkage))
        .any(|relocation| take(&relocation));
}
