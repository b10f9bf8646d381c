//! Bits in the order of memory: the least significant bit of a byte is its first where bytes stand in
//! little-endian order, else the most significant one.

use kcore_mem::Endian;

/// The `size` bits that begin `offset` bits in. Fewer, where `bytes` end before.
pub fn bits_of(bytes: &[u8], endian: Endian, offset: u64, size: u64) -> impl Iterator<Item = bool> {
    let end = offset.saturating_add(size);
    (offset..end).map_while(move |bit| {
        let byte = bytes.get(usize::try_from(bit / 8).ok()?)?;
        Some(byte & (1 << place_in_byte(endian, bit)) != 0)
    })
}

/// The bytes of the integer that the bits make, in the given order, with zeros above its highest bit.
pub fn packed(bits: &[bool], endian: Endian) -> Vec<u8> {
    let mut bytes = vec![0_u8; bits.len().div_ceil(8)];
    let above = match endian {
        Endian::Little => 0,
        Endian::Big => bytes.len().saturating_mul(8).saturating_sub(bits.len()),
    };
    for (index, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
        let bit = index.saturating_add(above);
        if let Some(byte) = bytes.get_mut(bit / 8) {
            *byte |= 1 << place_in_byte(endian, bit as u64);
        }
    }
    bytes
}

const fn place_in_byte(endian: Endian, bit: u64) -> u64 {
    match endian {
        Endian::Little => bit % 8,
        Endian::Big => 7_u64.saturating_sub(bit % 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bytes: &[u8], endian: Endian, offset: u64, size: u64) -> Vec<u8> {
        packed(&bits_of(bytes, endian, offset, size).collect::<Vec<_>>(), endian)
    }

    #[test]
    fn a_little_endian_field_counts_from_the_lowest_bit() {
        // 0x1234 in memory: 0x34 0x12.
        assert_eq!(taken(&[0x34, 0x12], Endian::Little, 4, 8), [0x23]);
        assert_eq!(taken(&[0x34, 0x12], Endian::Little, 2, 3), [0b101]);
    }

    #[test]
    fn a_big_endian_field_counts_from_the_highest_bit() {
        assert_eq!(taken(&[0x12, 0x34], Endian::Big, 4, 8), [0x23]);
        assert_eq!(taken(&[0x12, 0x34], Endian::Big, 0, 12), [0x01, 0x23]);
        assert_eq!(taken(&[0b1010_0000], Endian::Big, 0, 3), [0b101]);
    }

    #[test]
    fn bits_end_where_bytes_end() {
        assert_eq!(bits_of(&[0xff], Endian::Little, 4, 100).count(), 4);
        assert_eq!(bits_of(&[0xff], Endian::Little, u64::MAX, 100).count(), 0);
    }
}
