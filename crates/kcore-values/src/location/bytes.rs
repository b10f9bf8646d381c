//! Numbers as the bytes that they have in memory, and back.

use std::sync::Arc;

use gimli::{Reader as _, Value};
use kcore_mem::Endian;

use super::evaluate::Reader;

/// The low `size` bytes of a number, sign or zeros above it, in the order of memory.
pub fn of_number(number: i128, size: usize, endian: Endian) -> Arc<[u8]> {
    let fill = if number < 0 { 0xff } else { 0 };
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.resize(size, fill);
    in_order(bytes, endian)
}

/// A value of the stack of an expression, as `size` bytes; as many as it has without.
pub fn of_value(value: Value, size: Option<usize>, word: u8, endian: Endian) -> Arc<[u8]> {
    let mut bytes = match value {
        Value::Generic(value) => {
            let mut bytes = value.to_le_bytes().to_vec();
            bytes.truncate(usize::from(word));
            bytes
        }
        Value::I8(value) => value.to_le_bytes().to_vec(),
        Value::U8(value) => value.to_le_bytes().to_vec(),
        Value::I16(value) => value.to_le_bytes().to_vec(),
        Value::U16(value) => value.to_le_bytes().to_vec(),
        Value::I32(value) => value.to_le_bytes().to_vec(),
        Value::U32(value) => value.to_le_bytes().to_vec(),
        Value::I64(value) => value.to_le_bytes().to_vec(),
        Value::U64(value) => value.to_le_bytes().to_vec(),
        Value::F32(value) => value.to_le_bytes().to_vec(),
        Value::F64(value) => value.to_le_bytes().to_vec(),
    };
    // An object may be smaller than the number that has its value, and not larger.
    bytes.truncate(size.unwrap_or(usize::MAX));
    in_order(bytes, endian)
}

/// The bytes of a register as a number; of a wide one the low bytes.
pub fn to_number(bytes: &[u8], endian: Endian) -> u64 {
    let mut number = [0; 8];
    let low: Vec<u8> = match endian {
        Endian::Little => bytes.iter().copied().take(8).collect(),
        Endian::Big => bytes.iter().rev().copied().take(8).collect(),
    };
    for (to, from) in number.iter_mut().zip(low) {
        *to = from;
    }
    u64::from_le_bytes(number)
}

/// All bytes of a reader.
pub fn of_reader(reader: &Reader) -> Arc<[u8]> {
    reader.to_slice().map(|bytes| Arc::from(&*bytes)).unwrap_or_default()
}

fn in_order(mut little: Vec<u8>, endian: Endian) -> Arc<[u8]> {
    if endian == Endian::Big {
        little.reverse();
    }
    little.into()
}
