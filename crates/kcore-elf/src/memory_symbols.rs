//! The dynamic symbols of a module, read from memory: what is left when its file is gone.
//!
//! The dynamic section names the tables; their length follows from a hash table (gABI for
//! `DT_HASH`; glibc `elf/dl-lookup.c` for `DT_GNU_HASH`).

use kcore_mem::{Addr, AddressSpace, Arch, Cursor, Svma};

use crate::{MemoryImage, SymbolBinding, SymbolKind, dynamic::dynamic_value};

const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_GNU_HASH: u64 = 0x6fff_fef5;
/// Symbols read, at most: the largest known libraries export some 300,000.
const MAX_SYMBOLS: u64 = 1 << 21;
const MAX_NAME: usize = 64 << 10;
/// Bytes of names for each byte of the table, at most, for several symbols may have one name. The
/// names of the largest known C++ libraries are four times as long as their tables.
const NAMES_PER_BYTE: usize = 12;

/// A dynamic symbol as memory holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemorySymbol {
    /// Its name, still mangled.
    pub name: Vec<u8>,
    /// Its value.
    pub value: Svma,
    /// Its size in bytes, 0 when unknown.
    pub size: u64,
    /// What it names.
    pub kind: SymbolKind,
    /// Who sees it.
    pub binding: SymbolBinding,
    /// `st_other`.
    pub other: u8,
    /// `st_shndx`; 0 is undefined.
    pub section: u16,
}

/// The dynamic symbols of the module at `image`, as far as memory holds them.
pub fn dynamic_symbols(space: &dyn AddressSpace, image: &MemoryImage) -> Vec<MemorySymbol> {
    read_symbols(space, image).unwrap_or_default()
}

struct Tables {
    symbols: Addr,
    strings: Addr,
    count: u64,
}

fn read_symbols(space: &dyn AddressSpace, image: &MemoryImage) -> Option<Vec<MemorySymbol>> {
    let tables = find_tables(space, image)?;
    let entry: usize = if space.target().word == 8 { 24 } else { 16 };
    let raw = space.read_held(tables.symbols, tables.count.checked_mul(entry as u64)?);
    let entries = raw.chunks_exact(entry).skip(1);
    let symbols = entries.filter_map(|raw| read_symbol(space, raw, tables.strings));
    let mut left = raw.len().saturating_mul(NAMES_PER_BYTE).saturating_add(MAX_NAME);
    let within = symbols.take_while(|symbol| {
        let fits = left.checked_sub(symbol.name.len());
        left = fits.unwrap_or_default();
        fits.is_some()
    });
    Some(within.collect())
}

fn read_symbol(space: &dyn AddressSpace, raw: &[u8], strings: Addr) -> Option<MemorySymbol> {
    let mut cursor = Cursor::new(raw, space.target());
    let name = cursor.u32().ok()?;
    let wide = space.target().word == 8;
    let early = if wide { None } else { Some((cursor.word().ok()?, cursor.word().ok()?)) };
    let info = cursor.u8().ok()?;
    let other = cursor.u8().ok()?;
    let section = cursor.u16().ok()?;
    let (value, size) = match early {
        Some(early) => early,
        None => (cursor.word().ok()?, cursor.word().ok()?),
    };
    let kind = SymbolKind::from_elf(info & 15);
    // Arm sets bit 0 for functions in Thumb code.
    let is_arm = space.target().arch == Arch::Arm && kind.is_function();
    let value = if is_arm { value & !1 } else { value };
    Some(MemorySymbol {
        name: space.read_cstr(strings.checked_add(u64::from(name))?, MAX_NAME).ok()?,
        value: Svma::new(value),
        size,
        kind,
        binding: SymbolBinding::from_elf(info >> 4),
        other,
        section,
    })
}

/// glibc writes addresses into the dynamic section of what it loads, the kernel and musl leave the
/// values of the file: whichever is mapped counts.
fn find_tables(space: &dyn AddressSpace, image: &MemoryImage) -> Option<Tables> {
    let located = |value: u64| {
        let relocated = Addr::new(value);
        let stated = image.addr(Svma::new(value));
        let mapped = |at: &Addr| space.slice(*at).is_ok();
        [relocated, stated].into_iter().find(mapped)
    };
    let entry = |tag| dynamic_value(space, image, tag);
    let symbols = located(entry(DT_SYMTAB)?)?;
    let strings = located(entry(DT_STRTAB)?)?;
    let hash = entry(DT_HASH).and_then(located);
    let count = hash
        .and_then(|hash| space.read_uint(hash.checked_add(4)?, 4).ok())
        .or_else(|| gnu_hash_count(space, located(entry(DT_GNU_HASH)?)?))?;
    Some(Tables { symbols, strings, count: count.min(MAX_SYMBOLS) })
}

/// The number of symbols is one more than the last index of the last chain: header of four words
/// of 32 bits (`nbuckets`, `symoffset`, `bloom_size`, `bloom_shift`), bloom filter, buckets,
/// chains, the last element of each chain with bit 0 set.
fn gnu_hash_count(space: &dyn AddressSpace, hash: Addr) -> Option<u64> {
    let half =
        |at: Addr, index: u64| space.read_uint(at.checked_add(index.checked_mul(4)?)?, 4).ok();
    let (buckets, first) = (half(hash, 0)?, half(hash, 1)?);
    let bloom = half(hash, 2)?.checked_mul(u64::from(space.target().word))?;
    let bucket_table = hash.checked_add(16)?.checked_add(bloom)?;
    let chains = bucket_table.checked_add(buckets.checked_mul(4)?)?;
    let mut last = 0;
    for index in 0..buckets.min(MAX_SYMBOLS) {
        last = half(bucket_table, index)?.max(last);
    }
    if last < first {
        return Some(first);
    }
    while half(chains, last.checked_sub(first)?)? & 1 == 0 && last < MAX_SYMBOLS {
        last = last.checked_add(1)?;
    }
    last.checked_add(1)
}
