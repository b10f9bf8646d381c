//! Where an object lies: in memory, in registers, in several places, or nowhere.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_symbols::BitField;

use crate::Absent;

/// Where an object lies.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// In memory.
    Memory(Addr),
    /// Some bits behind an address, counted as [`BitField`] counts them.
    Bits(Addr, BitField),
    /// Put together: registers, constants, memory, what was optimized away.
    Pieces {
        /// The pieces, in order.
        pieces: Arc<[Piece]>,
        /// The bits of them that are this object's, counted as [`BitField`] counts them.
        bits: BitField,
    },
}

/// A piece of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// How many bits it has.
    pub size: u64,
    /// Where they are.
    pub source: PieceSource,
}

/// Where the bits of a piece are.
#[derive(Clone, Debug, PartialEq)]
pub enum PieceSource {
    /// So many bits behind an address.
    Memory(Addr, u64),
    /// Here: what a register held, or a constant; the first so many bits of the first.
    Bytes(Arc<[u8]>),
    /// A pointer to something that was optimized away itself, though its value is known.
    Pointer(Arc<crate::Object>),
    /// Nowhere.
    Absent(Absent),
}
