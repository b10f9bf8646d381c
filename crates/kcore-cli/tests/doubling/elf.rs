//! A program with sections that no compiler would write.

use crate::synthetic::{note, words};

/// Where the program lies in memory.
pub const BASE: u64 = 0x40_0000;
/// Where its code lies, in the file and from [`BASE`] on.
pub const TEXT: u64 = 0x1000;
/// Bytes of an ELF header, of a section header, and of a program header.
const HEADER: usize = 64;
const SEGMENT: usize = 56;

const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;

/// A program under construction: code, what lies behind it in memory, and sections that do not.
pub struct Program {
    code: Vec<u8>,
    loaded: Vec<(&'static str, Vec<u8>)>,
    sections: Vec<(&'static str, Vec<u8>)>,
    symbols: Option<(Vec<u8>, Vec<u8>)>,
}

/// A section as its header states it.
struct Placed {
    name: &'static str,
    kind: u32,
    address: u64,
    at: usize,
    len: usize,
    link: u32,
}

impl Program {
    /// A program of this code.
    pub const fn new(code: Vec<u8>) -> Self {
        Self { code, loaded: Vec::new(), sections: Vec::new(), symbols: None }
    }

    /// Nops.
    pub fn of_nops(len: usize) -> Self {
        Self::new(vec![0x90; len])
    }

    /// One more section that is not in memory.
    #[must_use]
    pub fn with(mut self, name: &'static str, bytes: Vec<u8>) -> Self {
        self.sections.push((name, bytes));
        self
    }

    /// One more section behind the code.
    #[must_use]
    pub fn with_loaded(mut self, name: &'static str, bytes: Vec<u8>) -> Self {
        self.loaded.push((name, bytes));
        self
    }

    /// A symbol table, whose strings may be anything.
    #[must_use]
    pub fn with_symbols(mut self, table: Vec<u8>, strings: Vec<u8>) -> Self {
        self.symbols = Some((table, strings));
        self
    }

    fn loaded_len(&self) -> usize {
        let code = TEXT as usize + self.code.len();
        self.loaded.iter().fold(code, |at, (_, bytes)| at.next_multiple_of(16) + bytes.len())
    }

    /// What a core has of it: all that is loaded.
    pub fn memory(&self) -> Vec<u8> {
        let mut file = self.file();
        file.truncate(self.loaded_len());
        file
    }

    /// The file.
    pub fn file(&self) -> Vec<u8> {
        let mut file = vec![0; TEXT as usize];
        let mut placed = vec![text(self.code.len())];
        file.extend(&self.code);
        for (name, bytes) in &self.loaded {
            file.resize(file.len().next_multiple_of(16), 0);
            let address = BASE + file.len() as u64;
            placed.push(add(&mut file, name, PROGBITS, bytes, 0));
            placed.last_mut().expect("just added").address = address;
        }
        for (name, bytes) in &self.sections {
            placed.push(add(&mut file, name, PROGBITS, bytes, 0));
        }
        if let Some((table, strings)) = &self.symbols {
            let link = placed.len() as u32 + 2;
            placed.push(add(&mut file, ".symtab", SYMTAB, table, link));
            placed.push(add(&mut file, ".strtab", STRTAB, strings, 0));
        }
        finish(file, &placed, self.loaded_len())
    }
}

/// The section of the code.
const fn text(len: usize) -> Placed {
    let (kind, address) = (PROGBITS, BASE + TEXT);
    Placed { name: ".text", kind, address, at: TEXT as usize, len, link: 0 }
}

fn add(file: &mut Vec<u8>, name: &'static str, kind: u32, bytes: &[u8], link: u32) -> Placed {
    let at = file.len();
    file.extend(bytes);
    Placed { name, kind, address: 0, at, len: bytes.len(), link }
}

/// Adds the section headers and their names, and writes the header of the file.
fn finish(mut file: Vec<u8>, placed: &[Placed], loaded: usize) -> Vec<u8> {
    let (mut names, mut headers) = (vec![0], vec![0; HEADER]);
    for section in placed {
        headers.extend(section.header(names.len()));
        names.extend(section.name.bytes().chain([0]));
    }
    let own = Placed { address: 0, ..add(&mut file, "", STRTAB, &names, 0) };
    headers.extend(own.header(0));
    let at = file.len() as u64;
    file.extend(headers);
    let front = front(at, placed.len() as u16 + 2, loaded);
    file[..front.len()].copy_from_slice(&front);
    file
}

impl Placed {
    fn header(&self, name: usize) -> Vec<u8> {
        let mut bytes = (name as u32).to_le_bytes().to_vec();
        bytes.extend(self.kind.to_le_bytes());
        // SHF_ALLOC and SHF_EXECINSTR.
        let flags = if self.address == 0 { 0 } else { 6 };
        bytes.extend(words(&[flags, self.address, self.at as u64, self.len as u64]));
        bytes.extend(self.link.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(words(&[1, if self.kind == SYMTAB { 24 } else { 0 }]));
        bytes
    }
}

/// The header of the file, one loaded segment and the build-id.
fn front(sections_at: u64, count: u16, loaded: usize) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend([2, 62, 1, 0].iter().flat_map(|half: &u16| half.to_le_bytes()));
    bytes.extend(words(&[BASE + TEXT, HEADER as u64, sections_at]));
    let halves = [0, 0, HEADER as u16, SEGMENT as u16, 2, HEADER as u16, count, count - 1];
    bytes.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
    let id = note("GNU", 3, b"twenty bytes of an id");
    let id_at = HEADER + 2 * SEGMENT;
    bytes.extend(segment(1, 5, 0, loaded));
    bytes.extend(segment(4, 4, id_at, id.len()));
    bytes.extend(id);
    bytes
}

fn segment(kind: u32, flags: u32, at: usize, len: usize) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(flags.to_le_bytes());
    let address = BASE + at as u64;
    bytes.extend(words(&[at as u64, address, address, len as u64, len as u64, 1]));
    bytes
}

/// A number of seven bits a byte.
pub fn leb(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        bytes.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return bytes;
        }
    }
}
