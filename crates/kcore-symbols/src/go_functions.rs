//! The functions of a file that Go's linker made and whose symbols were stripped: the linker lists all functions in a
//! section that stays, since the runtime needs it (`runtime/symtab.go`, `cmd/link/internal/ld/pcln.go`, Go 1.18 to 1.27).

use kcore_elf::{Image, Section, SymbolBinding, SymbolKind};
use kcore_mem::{Cursor, Svma, Target};
use rustc_hash::FxHashMap;

use crate::{
    names::NameAt,
    symbol::{Entry, SymbolSource},
};

/// The section; the second one in files that may lie anywhere, up to Go 1.25.
const TABLES: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];
/// How it begins since Go 1.18 and since Go 1.20, and where a description has the kind of the function.
const KNOWN: [(u32, usize); 2] = [(0xffff_fff0, 36), (0xffff_fff1, 40)];
/// If the tables have no section of their own: the section in which they lie, the section by which a file of Go is known, and
/// the alignment of the tables.
const SHARED: &str = ".data.rel.ro";
const MADE_BY_GO: &str = ".go.buildinfo";
const ALIGNED: usize = 32;
/// Where the words of the header, `runtime.pcHeader`, begin.
const WORDS: usize = 8;
/// Numbers of its words: how many functions there are, where their code begins, where their names and where they
/// themselves are.
const COUNT: usize = 0;
const TEXT: usize = 2;
const NAMES: usize = 3;
const FUNCTIONS: usize = 7;
/// The section that is `runtime.moduledata`, since Go 1.26, and the number of its word that says where the code begins: the
/// header does not say it any more.
const MODULE: &str = ".go.module";
const MODULE_TEXT: u64 = 22;
/// The section of the code.
const CODE: &str = ".text";
/// Bytes of an entry of the index: where a function begins, and where it is described.
const ENTRY: usize = 8;
/// Where a description has the name.
const NAME: usize = 4;
/// Bytes of a name that are compared, at most: any number of functions may have one long name.
const LONG: usize = 512;

/// The functions of a file, and the bytes that their names lie in.
pub struct GoFunctions {
    table: Table,
    /// Where the code of all functions begins.
    text: Svma,
    /// The section of that.
    section: u16,
    /// Of each function, whether no other one of its name is of a lower kind. What the compiler made around a function, for
    /// another convention of calls, has the name of that and the highest kind of all.
    is_lowest: Vec<bool>,
}

/// The section, and what its header says.
struct Table {
    bytes: Section,
    target: Target,
    count: usize,
    names: usize,
    functions: usize,
    /// Where a description has the kind of the function.
    kind: usize,
}

/// What the table says of a function.
struct Described {
    /// Where its code begins and ends, behind the first one.
    start: u32,
    end: u32,
    /// Where its name lies.
    name: u32,
    /// Its `funcID`.
    kind: u8,
}

impl GoFunctions {
    /// Those of a file; `None` where it has none, or they do not hold together.
    pub fn of(image: &Image) -> Option<Self> {
        let (name, base) = place_of_table(image)?;
        let table = Table::parse(image.section_data(name)?, base, image.target())?;
        let text = text_start(image, image.section(name)?.svma.checked_add(base as u64)?)?;
        let section = image.sections().iter().position(|section| section.name == CODE)?;
        let section = u16::try_from(section).ok()?;
        let is_lowest = table.lowest_of_their_name();
        Some(Self { table, text, section, is_lowest })
    }

    /// The bytes that the names lie in.
    pub fn names(&self) -> Section {
        self.table.bytes.clone()
    }

    /// All functions, the names of which lie in the bytes of number `file`. They end where one is damaged.
    pub fn entries(&self, file: u8) -> impl Iterator<Item = Entry> {
        let all = (1..).zip(self.table.all()).zip(&self.is_lowest);
        all.map_while(move |((index, function), is_lowest)| {
            Some(Entry {
                value: self.text.checked_add(u64::from(function.start))?,
                size: u64::from(function.end.checked_sub(function.start)?),
                name: NameAt::in_table(file, function.name),
                index,
                section: self.section,
                other: 0,
                kind: SymbolKind::Function,
                // Of those that have one name, the global one is found by it.
                binding: if *is_lowest { SymbolBinding::Global } else { SymbolBinding::Local },
                source: SymbolSource::GoTable,
                loaded: true,
            })
        })
    }
}

impl Table {
    /// That which begins `base` bytes behind the beginning of a section.
    fn parse(bytes: Section, base: usize, target: Target) -> Option<Self> {
        let head = bytes.get(base..)?;
        let kind = begins(head, target)?;
        let size = target.word_size();
        let word = |number: usize| {
            let at = number.checked_mul(size)?.checked_add(WORDS)?;
            let bytes = head.get(at..at.checked_add(size)?)?;
            usize::try_from(target.uint(bytes)).ok()
        };
        let into = |number: usize| word(number)?.checked_add(base);
        let (count, names, functions) = (word(COUNT)?, into(NAMES)?, into(FUNCTIONS)?);
        Some(Self { target, count, names, functions, kind, bytes })
    }

    /// All functions, as far as they can be read.
    fn all(&self) -> impl Iterator<Item = Described> {
        (0..self.count).map_while(|number| self.described(number))
    }

    fn described(&self, number: usize) -> Option<Described> {
        let entry = self.functions.checked_add(number.checked_mul(ENTRY)?)?;
        let into = usize::try_from(self.half(entry.checked_add(4)?)?).ok()?;
        let at = self.functions.checked_add(into)?;
        let offset = usize::try_from(self.half(at.checked_add(NAME)?)?).ok()?;
        let name = self.names.checked_add(offset).filter(|name| *name < self.bytes.len())?;
        Some(Described {
            start: self.half(entry)?,
            // Behind the last one the index says where it ends.
            end: self.half(entry.checked_add(ENTRY)?)?,
            name: u32::try_from(name).ok()?,
            kind: *self.bytes.get(at.checked_add(self.kind)?)?,
        })
    }

    /// Of each function, whether no other one of its name is of a lower kind.
    fn lowest_of_their_name(&self) -> Vec<bool> {
        let mut lowest: FxHashMap<&[u8], u8> = FxHashMap::default();
        let all: Vec<(&[u8], u8)> =
            self.all().map(|function| (self.text(function.name), function.kind)).collect();
        for (name, kind) in &all {
            let known = lowest.entry(name).or_insert(*kind);
            *known = (*kind).min(*known);
        }
        all.iter().map(|(name, kind)| lowest.get(name) == Some(kind)).collect()
    }

    /// The name at a place, or the beginning of a long one.
    fn text(&self, at: u32) -> &[u8] {
        let rest = self.bytes.get(at as usize..).unwrap_or_default();
        let rest = rest.get(..LONG).unwrap_or(rest);
        rest.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    fn half(&self, at: usize) -> Option<u32> {
        Cursor::new(self.bytes.get(at..)?, self.target).u32().ok()
    }
}

/// The section that has the tables, and how far into it they begin. Where the system's linker made the file, some releases
/// leave them no section of their own.
fn place_of_table(image: &Image) -> Option<(&'static str, usize)> {
    if let Some(name) = TABLES.into_iter().find(|name| image.section(name).is_some()) {
        return Some((name, 0));
    }
    image.section(MADE_BY_GO)?;
    let (bytes, target) = (image.section_data(SHARED)?, image.target());
    let mut places = (0..bytes.len()).step_by(ALIGNED);
    let base = places.find(|at| bytes.get(*at..).is_some_and(|it| begins(it, target).is_some()))?;
    Some((SHARED, base))
}

/// Whether tables begin with these bytes, and where a description in them has the kind of the function.
fn begins(bytes: &[u8], target: Target) -> Option<usize> {
    let mut cursor = Cursor::new(bytes, target);
    let (magic, zeros) = (cursor.u32().ok()?, cursor.bytes(2).ok()?);
    let (quantum, word) = (cursor.u8().ok()?, cursor.u8().ok()?);
    let (_, kind) = KNOWN.into_iter().find(|(known, _)| *known == magic)?;
    let is_one =
        zeros == [0, 0] && matches!(quantum, 1 | 2 | 4) && usize::from(word) == target.word_size();
    is_one.then_some(kind)
}

/// Where the code of all functions begins. The header at `table` says it, or since Go 1.26 `runtime.moduledata`.
fn text_start(image: &Image, table: Svma) -> Option<Svma> {
    let size = image.target().word_size() as u64;
    let in_header = table.checked_add(WORDS as u64)?.checked_add(size.checked_mul(TEXT as u64)?)?;
    let in_module = || {
        let module = image.section(MODULE)?.svma;
        pointer(image, module.checked_add(size.checked_mul(MODULE_TEXT)?)?)
    };
    let text = pointer(image, in_header).or_else(in_module)?;
    let code = image.section(CODE)?;
    text.offset_from(code.svma).is_some_and(|into| into < code.size).then_some(text)
}

/// The address that a word of the file stands for: the word itself or, where that is 0, what its relocation will put there.
fn pointer(image: &Image, at: Svma) -> Option<Svma> {
    let target = image.target();
    let word = image.bytes_at(at)?.get(..target.word_size())?;
    let address = match target.uint(word) {
        0 => addend(&image.section_data(".rela.dyn")?, target, at)?,
        address => address,
    };
    (address != 0).then(|| Svma::new(address))
}

/// The addend of the relocation for the word at `at`, if that relocation has no symbol.
fn addend(relocations: &[u8], target: Target, at: Svma) -> Option<u64> {
    let size = target.word_size();
    let mut all = relocations.chunks_exact(size.checked_mul(3)?);
    let found = all.find(|raw| raw.get(..size).map(|slot| target.uint(slot)) == Some(at.get()))?;
    let [_, kind, addend] = [0, 1, 2].map(|number: usize| {
        let from = number.saturating_mul(size);
        found.get(from..from.saturating_add(size)).map(|word| target.uint(word))
    });
    let symbol = if size == 8 { kind? >> 32 } else { kind? >> 8 };
    (symbol == 0).then_some(addend?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Target = Target::X86_64;

    /// Tables of functions with a kind each, behind each other, as the linker of Go 1.20 makes them.
    fn tables(magic: u32, functions: &[(&str, u8)]) -> Vec<u8> {
        let (header, described) = (8 + 8 * 8, 44);
        let index = functions.len() * ENTRY + 4;
        let names = header + index + functions.len() * described;
        let count = functions.len() as u64;
        let words = [count, 0, 0, names as u64, 0, 0, 0, header as u64];
        let mut bytes = magic.to_le_bytes().to_vec();
        bytes.extend([0, 0, 1, 8]);
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        for number in 0..functions.len() as u32 {
            bytes.extend((number * 0x20).to_le_bytes());
            bytes.extend((index as u32 + number * described as u32).to_le_bytes());
        }
        bytes.extend((count as u32 * 0x20).to_le_bytes());
        let mut texts = Vec::new();
        for (name, kind) in functions {
            let mut one = vec![0; described];
            one[NAME..NAME + 4].copy_from_slice(&(texts.len() as u32).to_le_bytes());
            one[40] = *kind;
            bytes.extend(one);
            texts.extend(name.bytes().chain([0]));
        }
        bytes.extend(texts);
        bytes
    }

    fn parsed(bytes: Vec<u8>) -> Option<Table> {
        Table::parse(Section::from(bytes), 0, TARGET)
    }

    #[test]
    fn functions_lie_behind_each_other() {
        let table = parsed(tables(0xffff_fff1, &[("main.f", 0), ("main.g", 0)])).unwrap();
        let all: Vec<_> =
            table.all().map(|it| (it.start, it.end, table.text(it.name).to_vec())).collect();
        assert_eq!(all, [(0, 0x20, b"main.f".to_vec()), (0x20, 0x40, b"main.g".to_vec())]);
    }

    #[test]
    fn a_wrapper_is_not_the_first_of_its_name() {
        let functions = [("a", 21), ("b", 3), ("a", 0), ("b", 21), ("c", 21)];
        let table = parsed(tables(0xffff_fff1, &functions)).unwrap();
        assert_eq!(table.lowest_of_their_name(), [false, true, true, false, true]);
    }

    #[test]
    fn what_is_cut_or_unknown_ends_the_list() {
        let whole = tables(0xffff_fff1, &[("main.f", 0), ("main.g", 0)]);
        for len in 0..whole.len() {
            let count = parsed(whole[..len].to_vec()).map_or(0, |table| table.all().count());
            assert!(count <= 2, "{len}");
        }
        assert!(parsed(tables(0xffff_fffb, &[("main.f", 0)])).is_none());
        let mut many = whole.clone();
        many[WORDS..WORDS + 8].fill(0xff);
        assert!(parsed(many).is_none_or(|table| table.all().count() <= whole.len() / ENTRY));
    }

    #[test]
    fn tables_may_lie_in_a_section_of_others() {
        let bytes = [vec![7; 64], tables(0xffff_fff0, &[("main.f", 0), ("main.g", 0)])].concat();
        assert!(begins(&bytes, TARGET).is_none() && begins(&bytes[64..], TARGET) == Some(36));
        let table = Table::parse(Section::from(bytes), 64, TARGET).unwrap();
        let names: Vec<_> = table.all().map(|it| table.text(it.name).to_vec()).collect();
        assert_eq!(names, [b"main.f", b"main.g"]);
    }

    #[test]
    fn an_address_is_what_a_relocation_without_a_symbol_adds() {
        let relocation = |slot: u64, kind: u64, addend: u64| {
            [slot, kind, addend].into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>()
        };
        let all = [relocation(0x10, 8, 0x100), relocation(0x18, 5 << 32 | 6, 0x200)].concat();
        let at = |slot: u64| addend(&all, TARGET, Svma::new(slot));
        assert_eq!((at(0x10), at(0x18), at(0x20)), (Some(0x100), None, None));
    }
}
