//! What a JIT wrote of its code for `perf`, in a file beside the process: `perf-PID.map`, lines of text (Linux,
//! `tools/perf/Documentation/jit-interface.txt`), or a jitdump (`jitdump-specification.txt`, version 1).
//!
//! V8, CPython, BEAM, wasmtime, .NET and agents of Java write the first, BEAM, V8 and LLVM the second. Code goes and other
//! code comes to its place: what is said last counts.

use std::collections::BTreeMap;

use kcore_elf::{SymbolBinding, SymbolKind};
use kcore_mem::{Endian, Svma};
use kcore_symbols::{ModuleSymbols, RawSymbol, SymbolTable};
use rustc_hash::FxHashMap;

/// Pieces of code, at most.
const MAX_CODE: usize = 1 << 22;
/// The first four bytes of a jitdump, as a number of the machine that wrote it.
const JITDUMP: u32 = 0x4a69_5444;
/// Bytes before the first record: the size of the header is at 8.
const HEADER_SIZE: usize = 8;
/// Records: new code, and code that was moved.
const LOAD: u32 = 0;
const MOVE: u32 = 1;
/// Bytes of a record before its fields (kind, size, time), and of `pid` and `tid` before the others.
const RECORD: usize = 16;
const THREAD: usize = 8;
/// No piece of code is bigger.
const MAX_LEN: u64 = 1 << 32;

/// A piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedCode<'a> {
    /// Where it begins in the process.
    pub start: u64,
    /// Its bytes.
    pub len: u64,
    /// Its name, as the JIT has it.
    pub name: &'a [u8],
}

/// The functions that a file of either kind names, at the addresses of the process; `None` where it names none.
pub fn functions(bytes: &[u8]) -> Option<ModuleSymbols> {
    let symbols = latest(&named_code(bytes));
    (!symbols.is_empty()).then(|| ModuleSymbols::from_table(SymbolTable::from_raw(symbols)))
}

/// All that a file of either kind names, in its order. What is damaged is left out.
pub fn named_code(bytes: &[u8]) -> Vec<NamedCode<'_>> {
    let endian = match bytes.first_chunk().map(|magic| u32::from_le_bytes(*magic)) {
        Some(JITDUMP) => Endian::Little,
        Some(magic) if magic == JITDUMP.swap_bytes() => Endian::Big,
        _ => return lines(bytes),
    };
    records(bytes, endian)
}

fn lines(bytes: &[u8]) -> Vec<NamedCode<'_>> {
    // The file may be cut in the middle of a line, of a name or of a number.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or_default();
    let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
    lines.filter_map(line).take(MAX_CODE).collect()
}

/// Start and size in hexadecimal, and all else the name.
fn line(line: &[u8]) -> Option<NamedCode<'_>> {
    let mut parts = line.splitn(3, |byte| *byte == b' ');
    let (start, len) = (number(parts.next()?)?, number(parts.next()?)?);
    let name = parts.next()?.trim_ascii();
    Some(NamedCode { start, len, name }).filter(is_one)
}

fn number(word: &[u8]) -> Option<u64> {
    let word = std::str::from_utf8(word).ok()?;
    let digits = word.strip_prefix("0x").unwrap_or(word);
    u64::from_str_radix(digits, 16).ok()
}

fn is_one(code: &NamedCode<'_>) -> bool {
    let fits = code.start.checked_add(code.len).is_some();
    (1..MAX_LEN).contains(&code.len) && fits && !code.name.is_empty()
}

fn records(bytes: &[u8], endian: Endian) -> Vec<NamedCode<'_>> {
    let word = |at: usize| {
        let bytes = bytes.get(at..)?.first_chunk()?;
        usize::try_from(short(endian, *bytes)).ok()
    };
    let mut found: Vec<NamedCode<'_>> = Vec::new();
    let mut names: FxHashMap<u64, &[u8]> = FxHashMap::default();
    let mut at = word(HEADER_SIZE).unwrap_or(bytes.len());
    while let Some(size) = word(at.saturating_add(4)) {
        let end = at.saturating_add(size);
        let Some(record) = bytes.get(at..end).filter(|_| size >= RECORD) else { break };
        let code = match word(at).and_then(|kind| u32::try_from(kind).ok()) {
            Some(LOAD) => load(record, endian),
            Some(MOVE) => moved(record, endian, &names),
            _ => None,
        };
        if let Some(code) = code.filter(is_one) {
            names.insert(code.start, code.name);
            found.push(code);
        }
        if found.len() >= MAX_CODE {
            break;
        }
        at = end;
    }
    found
}

/// Of `JIT_CODE_LOAD` behind the thread: `vma`, `code_addr`, `code_size`, `code_index`, the name and the code itself.
fn load(record: &[u8], endian: Endian) -> Option<NamedCode<'_>> {
    let field = |index| field(record, endian, index);
    let name = record.get(RECORD.saturating_add(THREAD).saturating_add(4 * 8)..)?;
    let name = name.get(..name.iter().position(|byte| *byte == 0)?)?;
    Some(NamedCode { start: field(1)?, len: field(2)?, name })
}

/// Of `JIT_CODE_MOVE` behind the thread: `vma`, `old_code_addr`, `new_code_addr`, `code_size`, `code_index`.
fn moved<'a>(
    record: &[u8],
    endian: Endian,
    names: &FxHashMap<u64, &'a [u8]>,
) -> Option<NamedCode<'a>> {
    let field = |index| field(record, endian, index);
    let (from, start, len) = (field(1)?, field(2)?, field(3)?);
    Some(NamedCode { start, len, name: names.get(&from)? })
}

const fn short(endian: Endian, bytes: [u8; 4]) -> u32 {
    match endian {
        Endian::Little => u32::from_le_bytes(bytes),
        Endian::Big => u32::from_be_bytes(bytes),
    }
}

const fn long(endian: Endian, bytes: [u8; 8]) -> u64 {
    match endian {
        Endian::Little => u64::from_le_bytes(bytes),
        Endian::Big => u64::from_be_bytes(bytes),
    }
}

/// A field of 64 bits of a record, behind the thread.
fn field(record: &[u8], endian: Endian, index: usize) -> Option<u64> {
    let at = RECORD.checked_add(THREAD)?.checked_add(index.checked_mul(8)?)?;
    record.get(at..)?.first_chunk().map(|bytes| long(endian, *bytes))
}

/// What is said last of each place. Of code in whose place something newer begins, that which lies before it is left.
fn latest(all: &[NamedCode<'_>]) -> Vec<RawSymbol> {
    let mut by_start: BTreeMap<u64, (u64, &[u8])> = BTreeMap::new();
    for code in all {
        let end = code.start.saturating_add(code.len);
        if let Some((_, (before, _))) = by_start.range_mut(..code.start).next_back() {
            *before = (*before).min(code.start);
        }
        let covered: Vec<u64> = by_start.range(code.start..end).map(|(start, _)| *start).collect();
        for start in covered {
            by_start.remove(&start);
        }
        by_start.insert(code.start, (end, code.name));
    }
    let symbols = (0_u32..).zip(by_start).map(|(index, (start, (end, name)))| RawSymbol {
        index,
        name: name.to_vec(),
        value: Svma::new(start),
        size: end.saturating_sub(start),
        kind: SymbolKind::Function,
        binding: SymbolBinding::Global,
        other: 0,
        section: 1,
    });
    symbols.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> Vec<(u64, u64, &str)> {
        let code = named_code(bytes).into_iter();
        code.map(|it| (it.start, it.len, std::str::from_utf8(it.name).unwrap())).collect()
    }

    fn name_at(bytes: &[u8], at: u64) -> Option<String> {
        functions(bytes)?.function_at(Svma::new(at)).map(|it| it.name.to_string())
    }

    #[test]
    fn lines_have_numbers_with_and_without_a_prefix_and_names_with_blanks() {
        let text = b"1000 10 f\n0x2000 0x20 $m:g/1\n3000 8 a b  c\nnot a line\n4000 0 empty\n5000 8 \n6000 8 cut";
        assert_eq!(told(text), [(0x1000, 16, "f"), (0x2000, 32, "$m:g/1"), (0x3000, 8, "a b  c")]);
        assert_eq!(told(b"ffffffffffffffff 10 f\n1 ffffffffffffffff g\n"), []);
        assert_eq!((told(b""), told(b"1000 10 f")), (vec![], vec![]));
    }

    #[test]
    fn what_is_said_last_counts() {
        let text = b"1000 100 old\n1040 20 new\n1080 10 newest\n0f00 200 whole\n0f80 10 in it\n";
        assert_eq!(name_at(text, 0xf08).as_deref(), Some("whole"));
        assert_eq!(name_at(text, 0xf88).as_deref(), Some("in it"));
        // What was known of the rest is gone with what lay before.
        assert_eq!(name_at(text, 0x1088), None);
        let text = b"1000 100 old\n1040 20 new\n";
        let names = [0x1000, 0x103f, 0x1040, 0x105f, 0x1060].map(|at| name_at(text, at));
        let names: Vec<_> = names.iter().map(Option::as_deref).collect();
        assert_eq!(names, [Some("old"), Some("old"), Some("new"), Some("new"), None]);
    }

    fn dump(endian: Endian, records: &[(u32, Vec<u64>, &[u8])]) -> Vec<u8> {
        let short = |word: u32| match endian {
            Endian::Little => word.to_le_bytes(),
            Endian::Big => word.to_be_bytes(),
        };
        let long = |word: u64| match endian {
            Endian::Little => word.to_le_bytes(),
            Endian::Big => word.to_be_bytes(),
        };
        let mut bytes = [short(JITDUMP), short(1), short(40), [0; 4], [0; 4], [0; 4]].concat();
        bytes.extend([0; 16]);
        for (kind, fields, rest) in records {
            let size = RECORD + THREAD + fields.len() * 8 + rest.len();
            bytes.extend(
                [short(*kind), short(size as u32), [0; 4], [0; 4], [0; 4], [0; 4]].concat(),
            );
            fields.iter().for_each(|field| bytes.extend(long(*field)));
            bytes.extend(*rest);
        }
        bytes
    }

    #[test]
    fn records_name_code_and_follow_it_where_it_moves() {
        for endian in [Endian::Little, Endian::Big] {
            let bytes = dump(
                endian,
                &[
                    (LOAD, vec![0x1000, 0x1000, 8, 1], b"f\0\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3"),
                    (2, vec![1, 2], b""),
                    (MOVE, vec![0x1000, 0x1000, 0x2000, 8, 1], b""),
                    (MOVE, vec![0x1000, 0x9000, 0x3000, 8, 1], b""),
                ],
            );
            assert_eq!(told(&bytes), [(0x1000, 8, "f"), (0x2000, 8, "f")], "{endian:?}");
        }
    }

    #[test]
    fn a_dump_that_is_cut_or_lies_ends() {
        let bytes = dump(
            Endian::Little,
            &[(LOAD, vec![0, 0x1000, 8, 1], b"f\0"), (LOAD, vec![0, 0x2000, 8, 2], b"g\0")],
        );
        for len in 0..bytes.len() {
            assert!(told(&bytes[..len]).len() <= 1, "{len}");
        }
        let mut endless = bytes;
        endless[44..48].copy_from_slice(&0_u32.to_le_bytes());
        assert_eq!(told(&endless), []);
    }
}
