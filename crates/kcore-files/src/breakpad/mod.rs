//! Symbol files of Breakpad, `NAME.sym`, read as separate debug files.
//!
//! Such a file is text (`docs/symbol_files.md` of Breakpad): functions with their lines and inlined calls, other symbols, and
//! unwind rules. Here it is written as an ELF file with a symbol table, DWARF 4 and `.debug_frame`, so that the rest of kcore
//! has one kind of debug file to read. It has no types and no variables, and so none are there afterwards.
//!
//! All of the file is read once, when names or rules of its module are first asked for. What is made is about as long as the
//! text.

mod debug_id;
mod elf;
mod frames;
mod functions;
mod leb;
mod lines;
mod names;
mod records;
mod registers;
mod rule;
mod strings;
mod symbols;

use kcore_mem::{Budget, Svma, Target};

pub use debug_id::{DebugId, debug_id};
use elf::{Code, ElfSection, SectionKind};
use frames::Frames;
use functions::{ABBREVIATIONS, Functions};
use records::{Record, parse};
use strings::Strings;
use symbols::Symbols;

/// The longest file that is read, in bytes: offsets in DWARF have 32 bits.
const MAX_FILE: usize = 1 << 30;
/// Lines between two looks at whether the command has to end.
const LINES_AT_A_TIME: usize = 4096;
/// The first word of each file.
const MODULE: &[u8] = b"MODULE ";

/// Whether bytes that begin a file begin a symbol file of Breakpad.
pub fn is_symbol_file(bytes: &[u8]) -> bool {
    bytes.starts_with(MODULE)
}

/// The id that a symbol file says it belongs to, and whether it is for Linux.
pub fn id_of_file(bytes: &[u8]) -> Option<(DebugId, bool)> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).skip(1);
    let system = words.next()?;
    let id = DebugId::parse(words.nth(1)?)?;
    Some((id, matches!(system, b"Linux" | b"Android" | b"linux")))
}

/// A symbol file as the bytes of an ELF file for `target`, whose first address is `base`, by which the file tells all others.
///
/// # Errors
/// When it is too long, or the command has to end: in words.
pub fn to_debug_file(
    bytes: &[u8],
    base: Svma,
    target: Target,
    budget: &Budget,
) -> Result<Vec<u8>, String> {
    if bytes.len() > MAX_FILE {
        return Err(format!("a symbol file of {} bytes is too long to be read", bytes.len()));
    }
    let mut strings = Strings::new();
    let mut functions = Functions::new(target, base);
    let mut symbols = Symbols::default();
    let mut frames = Frames::new(target, base);
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if number.is_multiple_of(LINES_AT_A_TIME) && budget.is_halted() {
            return Err("the command ended before it was read".to_owned());
        }
        match parse(line) {
            Some(Record::Unwind(unwind)) => frames.add(&unwind),
            Some(record) => {
                symbols.add(&record, &mut strings);
                functions.add(record, &mut strings);
            }
            None => {}
        }
    }
    let functions = functions.finish(&mut strings);
    let strings = strings.finish();
    let debug = |name, bytes| ElfSection { name, kind: SectionKind::Debug, bytes };
    let symbols_kind = SectionKind::Symbols(Symbols::entry_size(target));
    let sections = vec![
        debug(".debug_info", functions.info),
        debug(".debug_abbrev", ABBREVIATIONS.to_vec()),
        debug(".debug_ranges", functions.ranges),
        debug(".debug_line", functions.lines),
        debug(".debug_frame", frames.finish()),
        debug(".debug_str", strings.clone()),
        ElfSection { name: ".symtab", kind: symbols_kind, bytes: symbols.finish(target, base) },
        ElfSection { name: ".strtab", kind: SectionKind::Strings, bytes: strings },
    ];
    if sections.iter().any(|section| u32::try_from(section.bytes.len()).is_err()) {
        return Err("more names and lines than debug information of 32 bits can have".to_owned());
    }
    Ok(elf::file(target, Code { base, len: functions.end }, sections))
}
