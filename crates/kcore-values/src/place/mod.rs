//! Where an object lies: in memory, in registers, in several places, or nowhere.

mod bits;
mod read;

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_symbols::BitField;

use crate::Absent;

/// Where an object lies.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectPlace {
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
impl ObjectPlace {
    /// The place of what lies nowhere, however large it is.
    pub fn nowhere(why: Absent) -> Self {
        let pieces = [Piece { size: u64::MAX, source: PieceSource::Absent(why) }];
        Self::Pieces { pieces: pieces.into(), bits: BitField { offset: 0, size: u64::MAX } }
    }

    /// Why what has no address has none: what it was said to be nowhere for.
    pub(crate) fn why_absent(&self) -> Absent {
        let pieces = match self {
            Self::Pieces { pieces, .. } => &**pieces,
            _ => &[],
        };
        match pieces {
            [Piece { source: PieceSource::Absent(why), .. }] => why.clone(),
            _ => Absent::OptimizedOut,
        }
    }

    /// The address of its first byte; `None` for what lies in registers or in several places.
    pub fn address(&self) -> Option<Addr> {
        match self {
            Self::Memory(at) => Some(*at),
            Self::Bits(at, bits) => at.checked_add(bits.offset / 8),
            Self::Pieces { .. } => None,
        }
    }

    /// The bits behind that address, for what does not fill whole bytes.
    pub const fn bits(&self) -> Option<BitField> {
        match self {
            Self::Bits(_, BitField { offset, size }) => {
                Some(BitField { offset: *offset % 8, size: *size })
            }
            _ => None,
        }
    }

    /// What begins so many bytes in, and reaches to the end.
    #[must_use]
    pub fn part(&self, offset: u64) -> Self {
        match self {
            Self::Memory(at) => Self::Memory(Addr::new(at.get().wrapping_add(offset))),
            Self::Bits(..) | Self::Pieces { .. } => {
                let offset = offset.saturating_mul(8);
                self.bit_field(BitField { offset, size: u64::MAX })
            }
        }
    }

    /// Some of its bits.
    #[must_use]
    pub fn bit_field(&self, field: BitField) -> Self {
        let within = |bits: &BitField| BitField {
            offset: bits.offset.saturating_add(field.offset),
            size: field.size.min(bits.size.saturating_sub(field.offset)),
        };
        match self {
            Self::Memory(at) => Self::Bits(*at, field),
            Self::Bits(at, bits) => Self::Bits(*at, within(bits)),
            Self::Pieces { pieces, bits } => {
                Self::Pieces { pieces: Arc::clone(pieces), bits: within(bits) }
            }
        }
    }

    /// What a pointer leads to that lies nowhere itself, when its value is known all the same.
    pub fn implicit_target(&self) -> Option<&crate::Object> {
        let Self::Pieces { pieces, bits } = self else { return None };
        let mut end: u64 = 0;
        let at = pieces.iter().find(|piece| {
            end = end.saturating_add(piece.size);
            bits.offset < end
        })?;
        match &at.source {
            PieceSource::Pointer(target) => Some(target),
            _ => None,
        }
    }
}
