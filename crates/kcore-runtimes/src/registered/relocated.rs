//! The `.eh_frame` of an object file that was registered as the compiler made it: its section headers have the addresses
//! of the process, and its relocations are still to be applied.

use kcore_elf::{Image, SymbolTableKind};
use kcore_mem::{Arch, Svma};

const EH_FRAME: &str = ".eh_frame";
const RELOCATIONS: &str = ".rela.eh_frame";
/// Bytes of `Elf64_Rela`.
const ENTRY: usize = 24;
/// `sh_flags`: code.
const EXECUTABLE: u64 = 4;

/// A relocation (`Elf64_Rela`).
struct Relocation {
    offset: u64,
    symbol: usize,
    kind: u32,
    addend: u64,
}

/// What is written at a place.
struct Form {
    bytes: usize,
    /// Relative to the place.
    is_relative: bool,
}

/// The section with its relocations applied, and where it lies; `None` in a file whose code has no address.
pub fn eh_frame(file: &Image) -> Option<(Vec<u8>, Svma)> {
    let mut bytes = file.section_data(EH_FRAME)?.as_ref().to_vec();
    let at = place(file)?;
    let relocations = file.section_data(RELOCATIONS);
    let relocations = relocations.as_ref().map(AsRef::as_ref).unwrap_or_default();
    for entry in relocations.chunks_exact(ENTRY) {
        // One that cannot be applied damages its own description alone.
        let _ = Relocation::parse(file, entry).and_then(|it| it.apply(file, at, &mut bytes));
    }
    Some((bytes, at))
}

/// Where the section lies. One that was not loaded may lie anywhere near the code: what it says is relative to itself.
fn place(file: &Image) -> Option<Svma> {
    let own = file.section(EH_FRAME).map(|section| section.svma);
    let code = file.sections().iter().filter(|section| section.flags & EXECUTABLE != 0);
    let mut code = code.map(|section| section.svma);
    own.filter(|at| at.get() != 0).or_else(|| code.find(|at| at.get() != 0))
}

impl Relocation {
    fn parse(file: &Image, entry: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(file.target().uint(entry.get(at..at.checked_add(8)?)?));
        let info = word(8)?;
        Some(Self {
            offset: word(0)?,
            symbol: usize::try_from(info >> 32).ok()?,
            kind: info as u32,
            addend: word(16)?,
        })
    }

    fn apply(&self, file: &Image, at: Svma, bytes: &mut [u8]) -> Option<()> {
        let form = Form::of(file.target().arch, self.kind)?;
        let symbol = file.symbol(SymbolTableKind::Full, self.symbol)?;
        let section = file.sections().get(usize::from(symbol.section))?;
        (symbol.is_defined() && section.svma.get() != 0).then_some(())?;
        let value = section.svma.get().wrapping_add(symbol.value.get()).wrapping_add(self.addend);
        let place = if form.is_relative { at.get().wrapping_add(self.offset) } else { 0 };
        let value = value.wrapping_sub(place).to_le_bytes();
        let from = usize::try_from(self.offset).ok()?;
        let slot = bytes.get_mut(from..from.checked_add(form.bytes)?)?;
        slot.copy_from_slice(value.get(..form.bytes)?);
        Some(())
    }
}

impl Form {
    /// Those of which compilers make `.eh_frame` (x86-64 psABI 4.4.1, ELF for the Arm 64-bit Architecture 5.7).
    const fn of(arch: Arch, kind: u32) -> Option<Self> {
        let (bytes, is_relative) = match (arch, kind) {
            (Arch::X86_64, 1) | (Arch::Aarch64, 257) => (8, false),
            (Arch::X86_64, 24) | (Arch::Aarch64, 260) => (8, true),
            (Arch::X86_64, 2) | (Arch::Aarch64, 261) => (4, true),
            (Arch::X86_64, 10 | 11) | (Arch::Aarch64, 258) => (4, false),
            _ => return None,
        };
        Some(Self { bytes, is_relative })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: u64 = 0x7f12_3456_0000;
    const EH_FRAME_AT: u64 = 0x7f12_3457_0000;
    /// Where parts of the file lie.
    const FRAMES: u64 = 0x40;
    const RELA: u64 = 0x80;
    const SYMBOLS: u64 = 0x100;
    const NAMES: u64 = 0x140;
    const HEADERS: u64 = 0x180;

    fn words(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// A section header: its name and kind, flags, address, offset, size, link, size of an entry.
    fn header(name: u32, kind: u32, [flags, at, offset, size, link, entry]: [u64; 6]) -> Vec<u8> {
        let link = link as u32;
        let start = [name.to_le_bytes(), kind.to_le_bytes()].concat();
        let middle = [link.to_le_bytes(), 0_u32.to_le_bytes()].concat();
        [start, words(&[flags, at, offset, size]), middle, words(&[8, entry])].concat()
    }

    /// An object file of one function at `TEXT` + 0x10, with these relocations (`r_offset`, type, symbol, addend).
    fn object(own: u64, relocations: &[[u64; 4]]) -> Image {
        let mut file = [&b"\x7fELF\x02\x01\x01"[..], &[0; 9], &[1, 0, 62, 0, 1, 0, 0, 0]].concat();
        file.extend(words(&[0, 0, HEADERS]));
        // e_flags, then sizes and counts: no program headers, six sections, the last one with names.
        file.extend([0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 64, 0, 6, 0, 5, 0]);
        file.resize(RELA as usize, 0xee);
        for [offset, kind, symbol, addend] in relocations {
            file.extend(words(&[*offset, symbol << 32 | kind, *addend]));
        }
        file.resize(SYMBOLS as usize + 24, 0);
        // A function of section 1, and one of no section.
        file.extend([1, 0, 0, 0, 0x12, 0, 1, 0].into_iter().chain(words(&[0x10, 8])));
        file.resize(NAMES as usize, 0);
        file.extend(b"\0.text\0.eh_frame\0.rela.eh_frame\0.symtab\0.strtab\0");
        file.resize(HEADERS as usize + 64, 0);
        let rela = 24 * relocations.len() as u64;
        file.extend(header(1, 8, [6, TEXT, 0, 0x100, 0, 0]));
        file.extend(header(7, 1, [2, own, FRAMES, 0x20, 0, 0]));
        file.extend(header(17, 4, [0, 0, RELA, rela, 4, 24]));
        file.extend(header(33, 2, [0, 0, SYMBOLS, 48, 5, 24]));
        file.extend(header(41, 3, [0, 0, NAMES, 49, 0, 0]));
        Image::parse(file.into()).unwrap()
    }

    fn relocated(own: u64, relocations: &[[u64; 4]]) -> (Vec<u8>, u64) {
        let (bytes, at) = eh_frame(&object(own, relocations)).unwrap();
        (bytes, at.get())
    }

    #[test]
    fn addresses_and_distances_are_written() {
        let (bytes, at) = relocated(EH_FRAME_AT, &[[0, 1, 1, 4], [8, 2, 1, 0], [16, 24, 1, 0]]);
        assert_eq!(at, EH_FRAME_AT);
        assert_eq!(bytes[..8], (TEXT + 0x14).to_le_bytes());
        let distance = |from: u64| (TEXT + 0x10).wrapping_sub(EH_FRAME_AT + from).to_le_bytes();
        assert_eq!((&bytes[8..12], &bytes[12..16]), (&distance(8)[..4], &[0xee; 4][..]));
        assert_eq!(bytes[16..24], distance(16));
    }

    #[test]
    fn a_section_that_was_not_loaded_lies_at_the_code() {
        let (bytes, at) = relocated(0, &[[8, 2, 1, 0]]);
        assert_eq!((at, &bytes[8..12]), (TEXT, &8_u32.to_le_bytes()[..]));
    }

    #[test]
    fn what_cannot_be_applied_changes_nothing() {
        let beyond = [0x1d, 2, 1, 0];
        let of_no_section = [0, 2, 0, 0];
        let of_no_symbol = [0, 2, 9, 0];
        let of_no_kind = [0, 42, 1, 0];
        let all = [beyond, of_no_section, of_no_symbol, of_no_kind, [u64::MAX, 1, 1, 0]];
        assert_eq!(relocated(EH_FRAME_AT, &all).0, [0xee; 0x20]);
    }
}
