//! What of a core goes into a minidump.

use std::fs;
use std::path::Path;

use kcore_mem::{Cursor, Target};

/// A thread: its id, its signal and its registers as `pr_reg` has them.
pub struct Thread {
    pub tid: u32,
    pub signal: u32,
    pub registers: Vec<u64>,
}

/// A core, taken to pieces.
#[derive(Default)]
pub struct CoreParts {
    pub pid: u32,
    pub threads: Vec<Thread>,
    /// Code and address of the first signal.
    pub fault: (u32, u64),
    pub auxv: Vec<u8>,
    /// Start and bytes.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// As `/proc/PID/maps`.
    pub maps: String,
}

/// Start, end, offset and path of a mapped file.
type MappedFile = (u64, u64, u64, String);

impl CoreParts {
    /// Takes a core to pieces. Where it has no list of files, as qemu writes none, the executable is mapped as it says.
    pub fn read(core: &[u8], target: Target, exe: &Path) -> Self {
        let mut parts = Self::default();
        let mut segments = Vec::new();
        let mut files = Vec::new();
        for [kind, flags, offset, at, size, len] in program_headers(core, target) {
            let bytes = &core[offset as usize..(offset + size) as usize];
            match kind {
                4 => files.extend(parts.add_notes(bytes, target)),
                1 => segments.push((at, len, flags, bytes)),
                _ => {}
            }
        }
        if files.is_empty() {
            files = mapped_exe(exe, target);
        }
        for (at, len, flags, bytes) in segments {
            let file = files.iter().find(|(start, ..)| *start == at);
            let (offset, path) = file.map_or((0, ""), |(_, _, offset, path)| (*offset, path));
            let [r, w, x] = [(4, 'r'), (2, 'w'), (1, 'x')]
                .map(|(flag, letter)| if flags & flag == 0 { '-' } else { letter });
            let (end, inode) = (at + len, u8::from(file.is_some()));
            parts.maps += &format!("{at:x}-{end:x} {r}{w}{x}p {offset:08x} 00:00 {inode} {path}\n");
            if !bytes.is_empty() {
                parts.memory.push((at, bytes.to_vec()));
            }
        }
        parts
    }

    fn add_notes(&mut self, bytes: &[u8], target: Target) -> Vec<MappedFile> {
        let mut files = Vec::new();
        let mut cursor = Cursor::new(bytes, target);
        while let (Ok(name), Ok(len), Ok(kind)) = (cursor.u32(), cursor.u32(), cursor.u32()) {
            cursor.skip(name.next_multiple_of(4) as usize).unwrap();
            let desc = cursor.bytes(len as usize).unwrap();
            cursor.align(4);
            match kind {
                1 => self.threads.push(thread(desc, target)),
                3 => self.pid = id_of(desc, target),
                6 => self.auxv = desc.to_vec(),
                0x5349_4749 if self.fault == (0, 0) => self.fault = fault(desc, target),
                0x4649_4c45 => files = mapped_files(desc, target),
                _ => {}
            }
        }
        files
    }
}

/// Type, flags, offset, address, bytes in the file and bytes in memory.
fn program_headers(core: &[u8], target: Target) -> Vec<[u64; 6]> {
    let is_wide = target.word == 8;
    let at = |offset: usize| {
        let mut cursor = Cursor::new(core, target);
        cursor.skip(offset).unwrap();
        cursor
    };
    let start = at(if is_wide { 32 } else { 28 }).word().unwrap() as usize;
    let count = at(if is_wide { 56 } else { 44 }).u16().unwrap() as usize;
    let size = if is_wide { 56 } else { 32 };
    let header = |number: usize| {
        let mut cursor = at(start + number * size);
        let kind = cursor.u32().unwrap();
        let mut flags = if is_wide { cursor.u32().unwrap() } else { 0 };
        let [offset, at, _, in_file, in_memory] = [(); 5].map(|()| cursor.word().unwrap());
        if !is_wide {
            flags = cursor.u32().unwrap();
        }
        [kind.into(), flags.into(), offset, at, in_file, in_memory]
    };
    (0..count).map(header).collect()
}

fn thread(desc: &[u8], target: Target) -> Thread {
    let mut cursor = Cursor::new(desc, target);
    let (id, registers, tail) = if target.word == 8 { (32, 112, 8) } else { (24, 72, 4) };
    cursor.skip(12).unwrap();
    let signal = cursor.u16().unwrap().into();
    cursor.skip(id - 14).unwrap();
    let tid = cursor.u32().unwrap();
    cursor.skip(registers - id - 4).unwrap();
    let count = (desc.len() - registers - tail) / target.word as usize;
    Thread { tid, signal, registers: (0..count).map(|_| cursor.word().unwrap()).collect() }
}

/// `pr_pid`: user ids have 16 bits where the note is short.
fn id_of(desc: &[u8], target: Target) -> u32 {
    let at = match (target.word, desc.len()) {
        (8, _) => 24,
        (_, 124) => 12,
        _ => 16,
    };
    Cursor::new(&desc[at..], target).u32().unwrap()
}

/// MIPS has the code and the error the other way round.
fn fault(desc: &[u8], target: Target) -> (u32, u64) {
    let mut cursor = Cursor::new(desc, target);
    let [_, second, third] = [(); 3].map(|()| cursor.u32().unwrap());
    cursor.align(target.word as usize);
    let is_mips = matches!(target.arch, kcore_mem::Arch::Mips | kcore_mem::Arch::Mips64);
    (if is_mips { second } else { third }, cursor.word().unwrap())
}

fn mapped_files(desc: &[u8], target: Target) -> Vec<MappedFile> {
    let mut cursor = Cursor::new(desc, target);
    let (count, page) = (cursor.word().unwrap(), cursor.word().unwrap());
    let mut word = || cursor.word().unwrap();
    let ranges: Vec<_> = (0..count).map(|_| (word(), word(), word() * page)).collect();
    let mut name = || String::from_utf8_lossy(cursor.cstr().unwrap()).into_owned();
    ranges.into_iter().map(|(start, end, offset)| (start, end, offset, name())).collect()
}

/// The segments of an executable that is not moved, from the page on in which each begins.
fn mapped_exe(exe: &Path, target: Target) -> Vec<MappedFile> {
    let headers = program_headers(&fs::read(exe).unwrap(), target);
    let loaded = headers.into_iter().filter(|header| header[0] == 1);
    let mapped = |[_, _, offset, at, _, len]: [u64; 6]| {
        (at & !0xfff, at + len, offset & !0xfff, exe.display().to_string())
    };
    loaded.map(mapped).collect()
}
