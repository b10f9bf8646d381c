//! Moves the program headers of a library to the end of its file, as BOLT does that needs more of them.

/// Bytes of a program header of 64 bits, and where the file's header says where they are and how many.
const ENTRY: usize = 56;
const OFFSET_AT: usize = 32;
const COUNT_AT: usize = 56;
/// A segment that is mapped; readable alone.
const LOAD: u32 = 1;
const READ: u32 = 4;
const PAGE: u64 = 4096;

/// The file with its program headers in a segment of their own behind all others, and nothing where they were.
pub fn with_headers_at_end(mut file: Vec<u8>) -> Vec<u8> {
    let from = word(&file, OFFSET_AT) as usize;
    let count = usize::from(u16::from_le_bytes([file[COUNT_AT], file[COUNT_AT + 1]]));
    let mut entries: Vec<Vec<u8>> =
        file[from..from + count * ENTRY].chunks(ENTRY).map(<[u8]>::to_vec).collect();
    file[from..from + count * ENTRY].fill(0);
    let offset = (file.len() as u64).next_multiple_of(PAGE);
    let is_load = |entry: &Vec<u8>| entry[..4] == LOAD.to_le_bytes();
    let last = entries.iter().rposition(is_load).expect("a segment");
    let end = word(&entries[last], 16) + word(&entries[last], 40);
    // The loader wants segments in the order of their addresses.
    let own = segment(offset, end.next_multiple_of(PAGE), ((count + 1) * ENTRY) as u64);
    entries.insert(last + 1, own);
    file.resize(offset as usize, 0);
    file.extend(entries.concat());
    file[OFFSET_AT..OFFSET_AT + 8].copy_from_slice(&offset.to_le_bytes());
    file[COUNT_AT..COUNT_AT + 2].copy_from_slice(&(count as u16 + 1).to_le_bytes());
    file
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn segment(offset: u64, address: u64, size: u64) -> Vec<u8> {
    let flags = [LOAD.to_le_bytes(), READ.to_le_bytes()].concat();
    let rest = [offset, address, address, size, size, PAGE].map(u64::to_le_bytes);
    [flags, rest.concat()].concat()
}
