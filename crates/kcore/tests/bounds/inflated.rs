//! Compressed sections that inflate to many times their size.

use std::{fs, io::Write, path::PathBuf};

use kcore::{Allowance, Budget, Core, OpenOptions};

use crate::{measure::measure, sections};

/// Zeros at the end of each section: they compress to a thousandth.
const PADDING: usize = 192 << 20;
/// The memory that may be used: a fixed amount, and for each byte of the file three times what may be inflated.
/// A growing vector and copies of units take more than the sections themselves.
const FIXED: usize = 24 << 20;
const PER_BYTE: usize = 3 * 32;

/// A compilation unit, and `struct S { int n; }`.
fn unit() -> (Vec<u8>, Vec<u8>) {
    let abbreviations: &[&[u8]] = &[
        &[1, 0x11, 1, 3, 8, 0, 0],
        &[2, 0x24, 0, 3, 8, 0xb, 0xb, 0x3e, 0xb, 0, 0],
        &[3, 0x13, 1, 3, 8, 0xb, 0xb, 0, 0],
        &[4, 0xd, 0, 3, 8, 0x49, 0x13, 0x38, 0xb, 0, 0],
        &[0],
    ];
    let int = 11 + 3;
    let entries: &[&[u8]] = &[
        b"\x01x\0",
        b"\x02int\0\x04\x05",
        b"\x03S\0\x04",
        &[&b"\x04n\0"[..], &[int, 0, 0, 0, 0], &[0]].concat(),
        &[0],
    ];
    let header = [4, 0, 0, 0, 0, 0, 8];
    (abbreviations.concat(), [&header[..], &entries.concat()].concat())
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Its `Elf64_Chdr` and its compressed bytes.
fn compressed(algorithm: u32, bytes: &[u8]) -> Vec<u8> {
    let packed = if algorithm == 1 { zlib(bytes) } else { zstd(bytes) };
    let words = [u64::from(algorithm), bytes.len() as u64, 1];
    words.iter().flat_map(|word| word.to_le_bytes()).chain(packed).collect()
}

/// A program as [`build`] makes it. That takes memory too, which no other test is to measure.
fn program(algorithm: u32, padding: usize) -> Vec<u8> {
    measure("a program", || build(algorithm, padding)).0
}

/// A program whose unit is as long as its padding, and whose other sections are padded as well.
fn build(algorithm: u32, padding: usize) -> Vec<u8> {
    let (abbreviations, mut unit) = unit();
    unit.resize(unit.len() + padding, 0);
    let info = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
    let zeros = vec![0; padding];
    let names = [".debug_info", ".debug_str", ".debug_line_str", ".debug_ranges"];
    let packed = [&info, &zeros, &zeros, &zeros].map(|bytes| compressed(algorithm, bytes));
    let mut all: Vec<(&str, &[u8])> = vec![(".debug_abbrev", &abbreviations)];
    all.extend(names.into_iter().zip(packed.iter().map(Vec::as_slice)));
    let mut elf = sections::elf(&all);
    let headers = u64::from_le_bytes(elf[40..48].try_into().expect("8 bytes")) as usize;
    // SHF_COMPRESSED, of all but the null section and the abbreviations.
    for section in 2..2 + names.len() {
        elf[headers + 64 * section + 8 + 1] = 8;
    }
    elf
}

/// Asks a program for its type, with so much memory: whether it is there, and what is told.
fn asked(elf: &[u8], memory: u64) -> (bool, Vec<String>, usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let exe: PathBuf = folder.path().join("program");
    fs::write(&exe, elf).expect("a program");
    let budget = Budget::new(Allowance::of_memory(memory));
    let options = OpenOptions { exe: Some(exe), budget, ..OpenOptions::default() };
    let ((is_there, doubts), allocated) = measure("inflated sections", || {
        let core = Core::open(&options).expect("it opens");
        let found = core.types().named(None, "S");
        let size = found.ok().and_then(|ty| ty.size());
        (size == Some(4), core.doubts().iter().map(ToString::to_string).collect())
    });
    (is_there, doubts, allocated.peak)
}

#[test]
fn sections_that_inflate_to_many_times_their_size_share_one_limit() {
    for algorithm in [1, 2] {
        let elf = program(algorithm, PADDING);
        let (_, doubts, peak) = asked(&elf, 512 << 20);
        let most = FIXED + PER_BYTE * elf.len();
        assert!(peak <= most && most < PADDING, "algorithm {algorithm}: {peak} of {most}");
        let of_info: Vec<_> = doubts.iter().filter(|doubt| doubt.contains(".debug_info")).collect();
        assert_eq!(of_info.len(), 1, "algorithm {algorithm}: {doubts:?}");
        assert!(of_info[0].contains("--max-memory"), "{of_info:?}");
    }
}

#[test]
fn usual_sections_are_read_whole_and_larger_ones_with_more_memory() {
    for algorithm in [1, 2] {
        let (is_there, doubts, _) = asked(&program(algorithm, 100_000), 512 << 20);
        assert!(is_there && !doubts.iter().any(|doubt| doubt.contains(".debug")), "{doubts:?}");
        let (is_there, doubts, _) = asked(&program(algorithm, 20 << 20), 16 << 30);
        assert!(is_there && !doubts.iter().any(|doubt| doubt.contains(".debug")), "{doubts:?}");
    }
}
