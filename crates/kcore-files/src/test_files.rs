//! Files for the tests of this crate.

/// The header of an x86-64 core with program headers of `(p_offset, p_filesz)`.
pub fn core_header(segments: &[(u64, u64)]) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend_from_slice(&4_u16.to_le_bytes());
    bytes.extend_from_slice(&62_u16.to_le_bytes());
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    for word in [0_u64, 64, 0] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(&0_u32.to_le_bytes());
    let count = u16::try_from(segments.len()).unwrap();
    for half in [64_u16, 56, count, 64, 0, 0] {
        bytes.extend_from_slice(&half.to_le_bytes());
    }
    for (offset, size) in segments {
        bytes.extend_from_slice(&1_u32.to_le_bytes());
        bytes.extend_from_slice(&6_u32.to_le_bytes());
        for word in [*offset, 0x40_0000, 0, *size, *size, 0x1000] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    bytes
}

/// A core whose memory is `memory`, behind its header and program header.
#[cfg(feature = "compression")]
pub fn core_with(memory: &[u8]) -> Vec<u8> {
    let mut core = core_header(&[(120, memory.len() as u64)]);
    core.extend_from_slice(memory);
    core
}
