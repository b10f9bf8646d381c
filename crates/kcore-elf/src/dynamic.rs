//! The dynamic section of a module, in memory and in its file.

use kcore_mem::{Addr, AddressSpace, Arch, Cursor, Target};

use crate::{Image, MemoryImage};

const DT_NULL: u64 = 0;
/// Where the dynamic linker leaves its list: only in memory it has a value.
pub const DT_DEBUG: u64 = 21;
/// The address of a word that points to `struct r_debug`: MIPS has no room for it in a dynamic section that is only
/// read (glibc `sysdeps/mips/dl-debug.h`).
const DT_MIPS_RLD_MAP: u64 = 0x7000_0016;
/// The same, from where this entry lies.
const DT_MIPS_RLD_MAP_REL: u64 = 0x7000_0035;
/// Where the stubs of the PLT lie, on 64-bit PowerPC. glibc adds the bias each time that it sets up lazy binding, which it
/// does twice for the dynamic linker itself (`elf_machine_runtime_setup` in `sysdeps/powerpc/powerpc64/dl-machine.h`).
const DT_PPC64_GLINK: u64 = 0x7000_0000;
/// Entries that are read, at most.
const MAX_ENTRIES: usize = 4096;

/// An entry of a dynamic section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicEntry {
    /// `d_tag`.
    pub tag: u64,
    /// `d_val` or `d_ptr`.
    pub value: u64,
}

/// The entries at `at` up to `DT_NULL`, as far as memory holds them.
pub fn dynamic_in_memory(
    space: &dyn AddressSpace,
    at: Addr,
) -> impl Iterator<Item = DynamicEntry> + '_ {
    let size = u64::from(space.target().word);
    let word = move |index: u64| space.read_word(at.checked_add(index.checked_mul(size)?)?).ok();
    (0..MAX_ENTRIES as u64).map_while(move |index| {
        let tag = word(index.checked_mul(2)?).filter(|tag| *tag != DT_NULL)?;
        Some(DynamicEntry { tag, value: word(index.checked_mul(2)?.checked_add(1)?)? })
    })
}

/// The value of the first entry with a tag.
pub fn dynamic_value(space: &dyn AddressSpace, image: &MemoryImage, tag: u64) -> Option<u64> {
    let at = image.addr(image.dynamic()?);
    dynamic_in_memory(space, at).find(|entry| entry.tag == tag).map(|entry| entry.value)
}

/// Where the dynamic linker keeps `struct r_debug`.
pub fn debug_structure(space: &dyn AddressSpace, image: &MemoryImage) -> Option<Addr> {
    if !matches!(space.target().arch, Arch::Mips | Arch::Mips64) {
        return dynamic_value(space, image, DT_DEBUG).map(Addr::new);
    }
    let absolute = || dynamic_value(space, image, DT_MIPS_RLD_MAP).map(Addr::new);
    let slot = relative_place(space, image, DT_MIPS_RLD_MAP_REL).or_else(absolute)?;
    space.read_addr(slot).ok()
}

/// Where an entry leads whose value is a distance from the entry.
fn relative_place(space: &dyn AddressSpace, image: &MemoryImage, tag: u64) -> Option<Addr> {
    let at = image.addr(image.dynamic()?);
    let size = u64::from(space.target().word).checked_mul(2)?;
    let (index, entry) =
        (0_u64..).zip(dynamic_in_memory(space, at)).find(|(_, entry)| entry.tag == tag)?;
    at.checked_add(index.checked_mul(size)?)?.checked_add(entry.value)
}

/// Whether memory has nothing against `file` being what is mapped with this bias: the dynamic
/// section, which is part of the data that cores hold, has the same entries. Dynamic linkers add
/// the bias to the addresses in it, glibc in most sections, musl in none.
pub fn fits_memory(space: &dyn AddressSpace, file: &Image, bias: i64) -> bool {
    let Some((at, bytes)) = file.dynamic() else { return true };
    let at = Addr::new(at.get().wrapping_add_signed(bias));
    if space.read_word(at).is_err() {
        return true;
    }
    let own = parse(bytes, file.target());
    let mapped: Vec<_> = dynamic_in_memory(space, at).take(own.len()).collect();
    own.len() == mapped.len()
        && own.iter().zip(&mapped).all(|(own, mapped)| {
            is_same(*own, *mapped, bias)
                || (file.target().arch == Arch::PowerPc64 && is_same_glink(*own, *mapped, bias))
        })
}

fn is_same_glink(own: DynamicEntry, mapped: DynamicEntry, bias: i64) -> bool {
    let twice = own.value.wrapping_add_signed(bias).wrapping_add_signed(bias);
    own.tag == DT_PPC64_GLINK && mapped == DynamicEntry { value: twice, ..own }
}

fn is_same(own: DynamicEntry, mapped: DynamicEntry, bias: i64) -> bool {
    own.tag == mapped.tag
        && (own.tag == DT_DEBUG
            || mapped.value == own.value
            || mapped.value == own.value.wrapping_add_signed(bias))
}

fn parse(bytes: &[u8], target: Target) -> Vec<DynamicEntry> {
    let mut cursor = Cursor::new(bytes, target);
    let entries = std::iter::from_fn(|| {
        let tag = cursor.word().ok().filter(|tag| *tag != DT_NULL)?;
        Some(DynamicEntry { tag, value: cursor.word().ok()? })
    });
    entries.take(MAX_ENTRIES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_have_the_bias_added_and_other_values_may_not_differ() {
        let entry = |tag, value| DynamicEntry { tag, value };
        assert!(is_same(entry(5, 0x400), entry(5, 0x400), 0x1000), "musl");
        assert!(is_same(entry(5, 0x400), entry(5, 0x1400), 0x1000), "glibc");
        assert!(!is_same(entry(10, 0x400), entry(10, 0x401), 0x1000), "other strings");
        assert!(!is_same(entry(5, 0x400), entry(6, 0x400), 0x1000));
        let glink = |value| {
            is_same_glink(entry(DT_PPC64_GLINK, 0x400), entry(DT_PPC64_GLINK, value), 0x1000)
        };
        assert!(glink(0x2400) && !glink(0x2401), "the bias twice");
        assert!(!is_same_glink(entry(5, 0x400), entry(5, 0x2400), 0x1000));
        assert!(is_same(entry(DT_DEBUG, 0), entry(DT_DEBUG, 0x7f00), 0x1000));
    }

    #[test]
    fn a_section_of_a_file_ends_at_its_null_entry_or_its_last_byte() {
        let words = [1_u64, 7, 0, 0, 9, 9];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let first = vec![DynamicEntry { tag: 1, value: 7 }];
        assert_eq!(parse(&bytes, Target::X86_64), first);
        assert_eq!(parse(&bytes[..24], Target::X86_64), first);
        assert_eq!(parse(&bytes[..8], Target::X86_64), []);
    }
}
