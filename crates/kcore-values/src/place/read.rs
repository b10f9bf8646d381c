//! Reading what lies at a place.

use kcore_mem::{Addr, Endian};
use kcore_symbols::BitField;

use super::{
    ObjectPlace, Piece, PieceSource,
    bits::{bits_of, packed},
};
use crate::{Absent, Process};

/// Bytes that are read at once: more than any number has, and no more than memory is worth.
const MAX_READ: u64 = 1 << 20;

/// Bytes of an object that lies in pieces: it was one that fits into registers.
const MAX_IN_PIECES: u64 = 1 << 12;

impl ObjectPlace {
    /// The bytes of an object of `size` bytes, in the order of memory. A bit-field comes as the bytes of
    /// the integer that it is, as many as its bits need.
    ///
    /// # Errors
    /// When a part of it is not there.
    pub fn read(&self, process: &dyn Process, size: u64) -> Result<Vec<u8>, Absent> {
        self.read_in_order(process, size, process.space().target().endian)
    }

    /// The same of an object whose bytes, and the bits in them, stand in an order that may not be the target's. Its
    /// bytes come in that order.
    ///
    /// # Errors
    /// When a part of it is not there.
    pub fn read_in_order(
        &self,
        process: &dyn Process,
        size: u64,
        endian: Endian,
    ) -> Result<Vec<u8>, Absent> {
        match self {
            Self::Memory(at) => read_memory(process, *at, size),
            Self::Bits(at, bits) => {
                let mut found = Vec::new();
                memory_bits(process, *at, within(*bits, size), endian, &mut found)?;
                Ok(packed(&found, endian))
            }
            Self::Pieces { pieces, bits } => {
                let bits = within(*bits, size.min(MAX_IN_PIECES));
                Ok(packed(&piece_bits(process, pieces, bits, endian)?, endian))
            }
        }
    }
}

/// No more bits than the object has.
fn within(bits: BitField, size: u64) -> BitField {
    BitField { size: bits.size.min(size.saturating_mul(8)), ..bits }
}

fn read_memory(process: &dyn Process, at: Addr, size: u64) -> Result<Vec<u8>, Absent> {
    if size > MAX_READ {
        return Err(Absent::Unreadable(format!("{size:#x} bytes are too many")));
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    process.space().read(at, &mut bytes)?;
    Ok(bytes)
}

fn memory_bits(
    process: &dyn Process,
    at: Addr,
    bits: BitField,
    endian: Endian,
    found: &mut Vec<bool>,
) -> Result<(), Absent> {
    let first = bits.offset / 8;
    let offset = bits.offset % 8;
    let size = offset.saturating_add(bits.size).div_ceil(8);
    let bytes = read_memory(process, at.saturating_add(first), size)?;
    found.extend(bits_of(&bytes, endian, offset, bits.size));
    Ok(())
}

/// The bits of all pieces that lie within `wanted`.
fn piece_bits(
    process: &dyn Process,
    pieces: &[Piece],
    wanted: BitField,
    endian: Endian,
) -> Result<Vec<bool>, Absent> {
    let end = wanted.offset.saturating_add(wanted.size);
    let mut found = Vec::new();
    let mut start: u64 = 0;
    for piece in pieces {
        let piece_end = start.saturating_add(piece.size);
        let (from, to) = (start.max(wanted.offset), piece_end.min(end));
        if from < to {
            let part =
                BitField { offset: from.saturating_sub(start), size: to.saturating_sub(from) };
            take_piece(process, piece, part, endian, &mut found)?;
        }
        start = piece_end;
    }
    match found.is_empty() && wanted.size > 0 {
        true => Err(Absent::OptimizedOut),
        false => Ok(found),
    }
}

/// Adds some bits of a piece.
fn take_piece(
    process: &dyn Process,
    piece: &Piece,
    part: BitField,
    endian: Endian,
    found: &mut Vec<bool>,
) -> Result<(), Absent> {
    match &piece.source {
        PieceSource::Memory(at, offset) => {
            let offset = offset.saturating_add(part.offset);
            memory_bits(process, *at, BitField { offset, ..part }, endian, found)
        }
        PieceSource::Bytes(bytes) => {
            let before = found.len();
            found.extend(bits_of(bytes, endian, part.offset, part.size));
            match (found.len().saturating_sub(before)) as u64 == part.size {
                true => Ok(()),
                false => Err(Absent::OptimizedOut),
            }
        }
        PieceSource::Pointer(_) => Err(Absent::OptimizedOut),
        PieceSource::Absent(why) => Err(why.clone()),
    }
}
