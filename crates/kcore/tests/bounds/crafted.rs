//! Cores that claim, repeat and overlap as no process does.

use crate::synthetic::{core, note, segment, with_segments, words};
use kcore_mem::Target;

const PAGE: u64 = 0x1000;
const MODULE: u64 = 0x40_0000;
const STACK: u64 = 0x7000_0000_0000;

/// Segments without bytes, one behind the other.
pub fn segments(count: u64) -> Vec<u8> {
    let segments: Vec<u8> = (1..=count).flat_map(|at| segment(1, 0, at * PAGE, 0)).collect();
    with_segments(Target::X86_64, &segments, &[])
}

/// Segments without bytes, all the same.
pub fn same_segments(count: usize) -> Vec<u8> {
    with_segments(Target::X86_64, &segment(1, 0, PAGE, 0).repeat(count), &[])
}

/// Segments of one page each, all of which are the first page of the file.
pub fn segments_of_one_page(count: u64) -> Vec<u8> {
    let segments: Vec<u8> = (1..=count).flat_map(|at| segment(1, 0, at * PAGE, 4096)).collect();
    with_segments(Target::X86_64, &segments, &[])
}

/// Threads that all stand at the lower end of one stack, which holds nothing but return addresses.
pub fn threads(count: u32) -> Vec<u8> {
    let notes: Vec<u8> = (1..=count).flat_map(|tid| note("CORE", 1, &status(tid))).collect();
    let code = [0xff, 0xd0].repeat(0x800);
    let stack = words(&[MODULE + 0x100; 0x1_0000]);
    core(&notes, &[(MODULE, code), (STACK, stack)])
}

/// `NT_PRSTATUS` with pc, stack pointer and frame pointer.
fn status(tid: u32) -> Vec<u8> {
    let mut desc = vec![0; 336];
    desc[32..36].copy_from_slice(&tid.to_le_bytes());
    for (register, value) in [(4, STACK), (16, MODULE + 0x80), (19, STACK)] {
        let at = 112 + register * 8;
        desc[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
    }
    desc
}

/// `NT_FILE` with rows of one page each.
fn file_note(rows: &[(u64, u64)], path: &[u8]) -> Vec<u8> {
    let mut desc = words(&[rows.len() as u64, PAGE]);
    for (start, len) in rows {
        desc.extend(words(&[*start, start + len, 0]));
    }
    desc.extend([path, b"\0"].concat().repeat(rows.len()));
    note("CORE", 0x4649_4c45, &desc)
}

/// Mapped files without memory.
pub fn files(count: u64) -> Vec<u8> {
    let rows: Vec<_> = (1..=count).map(|at| (at * PAGE, PAGE)).collect();
    core(&file_note(&rows, b"/gone/data"), &[])
}

/// An ELF header that claims as many program headers as there can be, and those.
fn headers(count: usize, header: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend([3_u16, 62, 1, 0].iter().flat_map(|half| half.to_le_bytes()));
    bytes.extend(words(&[0, 64, 0]));
    let counts = [0, 0, 64, 56, u16::try_from(count).unwrap_or(u16::MAX), 64, 0, 0];
    bytes.extend(counts.iter().flat_map(|half| half.to_le_bytes()));
    bytes.extend(header.repeat(count));
    bytes
}

/// Modules whose memory is the same part of the core, with as many notes as there can be.
pub fn modules(count: usize) -> Vec<u8> {
    let image = [headers(1, &segment(1, 0, 0, 0x100)), segment(4, 0, 0, 0xf000).repeat(60_000)];
    let mut image = image.concat();
    image[56..58].copy_from_slice(&60_001_u16.to_le_bytes());
    let places: Vec<u64> = (1..=count as u64).map(|at| at * 0x100_0000).collect();
    let rows: Vec<_> = places.iter().map(|at| (*at, PAGE)).collect();
    let note = file_note(&rows, b"/m");
    let image_at = 64 + 56 * (count + 1) + note.len();
    let mut segments = segment(4, image_at - note.len(), 0, note.len());
    places.iter().for_each(|at| segments.extend(segment(1, image_at, *at, image.len())));
    with_segments(Target::X86_64, &segments, &[note, image].concat())
}

/// Modules that say that they lie at one and the same place.
pub fn modules_in_one_place(count: usize) -> Vec<u8> {
    let image = headers(60_000, &segment(1, 0, 0, 0x1000));
    core(&file_note(&vec![(MODULE, PAGE); count], b"/m"), &[(MODULE, image)])
}

/// A file with a long path that is mapped in many parts.
pub fn long_path(count: usize) -> Vec<u8> {
    let note = file_note(&[(PAGE, PAGE << 32)], &b"/long".repeat(100_000));
    let mut segments = segment(4, 64 + 56 * (count + 1), 0, note.len());
    (1..=count as u64).for_each(|at| segments.extend(segment(1, 0, at * PAGE, 0)));
    with_segments(Target::X86_64, &segments, &note)
}

/// An executable with `DT_DEBUG`, as many entries in its link map, and as many modules.
pub fn link_map(count: u64) -> Vec<u8> {
    let dynamic = MODULE + 64 + 3 * 56;
    let debug = dynamic + 32;
    let first = debug + 40;
    let loads = [segment(1, 0, 0, 0x1000), segment(2, 0, dynamic - MODULE, 32)].concat();
    let mut image = headers(2, &[]);
    image.extend([&loads[..], &loads[..56]].concat());
    image.extend(words(&[21, debug, 0, 0, 1, first, 0, 0, 0]));
    for index in 0..count {
        let next = if index + 1 < count { first + (index + 1) * 32 } else { 0 };
        image.extend(words(&[0, first + count * 32, index * PAGE, next]));
    }
    image.extend([b'p'; 4000]);
    image.push(0);
    image[56] = 2;
    let places: Vec<_> = (0..count).map(|at| (STACK + at * PAGE, PAGE)).collect();
    let files = file_note(&[&[(MODULE, PAGE)], &places[..]].concat(), b"/l");
    let auxv = note("CORE", 6, &words(&[3, MODULE + 64, 5, 2, 0, 0]));
    // Executable, and not dumped: so each counts as a module.
    let mut memory = vec![(MODULE, image)];
    memory.extend(places.iter().map(|(at, _)| (*at, Vec::new())));
    core(&[files, auxv].concat(), &memory)
}

/// A module whose dynamic symbols all have one name, and a thread in it.
pub fn symbols(count: u32) -> Vec<u8> {
    let dynamic = 64 + 2 * 56;
    let at = MODULE + dynamic + 64;
    let table = u64::from(count) * 24;
    let loads = [segment(1, 0, 0, 0x1000), segment(2, 0, dynamic, 64)].concat();
    let mut image = [headers(0, &[]), loads].concat();
    image[56] = 2;
    image.extend(words(&[6, at, 5, at + table + 16, 4, at + table, 0, 0]));
    let symbol = [&[0, 0, 0, 0, 0x12, 0, 1, 0], &words(&[0x100, 0x20])[..]].concat();
    image.extend(symbol.repeat(count as usize));
    image.extend([1, count, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
    image.extend([b'n'; 60_000]);
    image.push(0);
    let notes = [note("CORE", 1, &status(1)), file_note(&[(MODULE, PAGE)], b"/s")].concat();
    core(&notes, &[(MODULE, image), (STACK, words(&[MODULE + 0x100; 64]))])
}

/// A module whose unwind information claims to be longer than all memory.
pub fn claimed_unwind_information() -> Vec<u8> {
    let hdr = 64 + 2 * 56;
    let mut unwind = segment(1, hdr as usize, hdr, usize::MAX >> 2);
    unwind[..4].copy_from_slice(&0x6474_e550_u32.to_le_bytes());
    let loads = [segment(1, 0, 0, usize::MAX >> 2), unwind].concat();
    let mut image = [headers(0, &[]), loads].concat();
    image[56] = 2;
    image.extend([1, 0x1b, 3, 0x3b, 8, 0, 0, 0, 0, 0, 0, 0]);
    image.extend([0; 64]);
    let notes = [note("CORE", 1, &status(1)), file_note(&[(MODULE, PAGE)], b"/u")].concat();
    core(&notes, &[(MODULE, image), (STACK, words(&[MODULE + 0x100; 64]))])
}

/// Arguments that are all the same long string, which ends with `end`.
pub fn arguments(count: u64, end: &[u8]) -> Vec<u8> {
    let string = STACK + 8 * (count + 8);
    let mut stack = words(&[count]);
    stack.extend(words(&vec![string; count as usize]));
    // No environment; the auxiliary vector, whose last entry names its end.
    let auxv = words(&[6, PAGE, 25, string, 0, 0]);
    stack.extend([words(&[0, 0]), auxv.clone()].concat());
    stack.resize((string - STACK) as usize, 0);
    stack.extend([b'a'; 100_000]);
    stack.extend(end);
    core(&note("CORE", 6, &auxv), &[(STACK, stack)])
}

/// A module without unwind information, whose only symbol lies far before the code in which all
/// frames of many threads are.
pub fn code_to_follow(threads: u32) -> Vec<u8> {
    const CODE: usize = 0x1_0000;
    let dynamic = 64 + 2 * 56;
    let at = MODULE + dynamic + 64;
    let loads = [segment(1, 0, 0, 2 * CODE), segment(2, 0, dynamic, 64)].concat();
    let mut image = [headers(0, &[]), loads].concat();
    image[56] = 2;
    image.extend(words(&[6, at, 5, at + 48, 4, at + 64, 0, 0]));
    image.extend([0; 24]);
    image.extend([&[1, 0, 0, 0, 0x12, 0, 1, 0], &words(&[0x200, 0])[..]].concat());
    image.extend(b"\0far\0\0\0\0\0\0\0\0\0\0\0\0");
    image.extend([1_u32, 2, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
    image.resize(0x200, 0);
    // test %eax,%eax; call *%rax
    image.extend([0x85, 0xc0, 0xff, 0xd0].repeat(CODE / 4));
    let stack: Vec<u64> =
        (0..0x1000).map(|at| MODULE + 0x200 + CODE as u64 - 4 * (at % 64)).collect();
    let mut notes: Vec<u8> = (1..=threads).flat_map(|tid| note("CORE", 1, &status(tid))).collect();
    notes.extend(file_note(&[(MODULE, 2 * CODE as u64)], b"/c"));
    core(&notes, &[(MODULE, image), (STACK, words(&stack))])
}
