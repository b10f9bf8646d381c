//! Places of what expressions say.

use std::sync::Arc;

use gimli::Location;
use kcore_mem::{Addr, Arch, Endian};
use kcore_symbols::{BitField, ConstantValue, Expression, Type, VariableLocation};

use super::{
    bytes,
    evaluate::{Evaluator, Reader, damaged},
};
use crate::{Absent, ObjectPlace, Piece, PieceSource};

/// Bytes of a variable that is a constant, at most.
const MAX_CONSTANT: u64 = 1 << 12;

impl Evaluator<'_> {
    /// Where a variable lies.
    pub fn place(&self, location: &VariableLocation, ty: &Type) -> Result<ObjectPlace, Absent> {
        match location {
            VariableLocation::OptimizedOut => Err(Absent::OptimizedOut),
            VariableLocation::Damaged(error) => Err(damaged(*error)),
            VariableLocation::Constant(constant) => Ok(self.constant(constant, ty)),
            VariableLocation::Expression(expression) => {
                let pieces = match self.pieces(expression) {
                    Ok(pieces) => pieces,
                    Err(why) => return self.good_pieces(expression, ty, why),
                };
                let mut found = Vec::with_capacity(pieces.len());
                if let [only] = pieces.as_slice()
                    && only.size_in_bits.is_none()
                {
                    if let Location::Address { address } = only.location {
                        return Ok(ObjectPlace::Memory(Addr::new(address)));
                    }
                    found.push(self.whole(&only.location, expression, ty)?);
                } else {
                    for piece in &pieces {
                        found.push(self.piece(piece, expression, ty)?);
                    }
                }
                joined(found, ty, self.target().endian)
            }
        }
    }

    /// The pieces of a variable that are there, though the expression as a whole failed because of `why`.
    fn good_pieces(
        &self,
        expression: &Expression,
        ty: &Type,
        why: Absent,
    ) -> Result<ObjectPlace, Absent> {
        let Some(pieces) = self.lone_pieces(expression) else { return Err(why) };
        let mut found = Vec::with_capacity(pieces.len());
        for piece in pieces {
            found.push(match piece {
                Ok(piece) => self.piece(&piece, expression, ty)?,
                Err((size, why)) => Piece { size, source: PieceSource::Absent(why) },
            });
        }
        joined(found, ty, self.target().endian)
    }

    fn constant(&self, constant: &ConstantValue, ty: &Type) -> ObjectPlace {
        let bytes = match constant {
            ConstantValue::Bytes(bytes) => Arc::clone(bytes),
            ConstantValue::Number(number) => {
                let size = ty.size().unwrap_or(u64::from(self.target().word)).min(MAX_CONSTANT);
                let size = usize::try_from(size).unwrap_or(0);
                bytes::of_number(*number, size, self.target().endian)
            }
        };
        let source = PieceSource::Bytes(bytes);
        let pieces = vec![Piece { size: bits(&source).unwrap_or(0), source }];
        of_pieces(pieces, ty, Endian::Little)
    }

    /// A piece that is all there is.
    fn whole(
        &self,
        location: &Location<Reader>,
        expression: &Expression,
        ty: &Type,
    ) -> Result<Piece, Absent> {
        let size = ty.size().and_then(|size| usize::try_from(size).ok());
        let source = self.source(location, size, expression, ty)?;
        let register = (self.target().register_size() as u64).saturating_mul(8);
        Ok(Piece { size: bits(&source).unwrap_or(register), source })
    }

    /// One of several pieces. One that is not there leaves the others.
    fn piece(
        &self,
        piece: &gimli::Piece<Reader>,
        expression: &Expression,
        ty: &Type,
    ) -> Result<Piece, Absent> {
        let size = piece.size_in_bits.unwrap_or(0);
        let skipped = piece.bit_offset.unwrap_or(0);
        let source = match piece.location {
            Location::Address { address } => PieceSource::Memory(Addr::new(address), skipped),
            ref other => {
                let reach = size.saturating_add(skipped).div_ceil(8);
                let reach = usize::try_from(reach).ok();
                match self.source(other, reach, expression, ty) {
                    Ok(source) => without_first(source, skipped, self.target().endian),
                    Err(absent) => PieceSource::Absent(absent),
                }
            }
        };
        Ok(Piece { size, source })
    }

    /// What a location other than an address holds, at most `size` bytes of a number.
    fn source(
        &self,
        location: &Location<Reader>,
        size: Option<usize>,
        expression: &Expression,
        ty: &Type,
    ) -> Result<PieceSource, Absent> {
        let target = self.target();
        Ok(match location {
            Location::Empty => PieceSource::Absent(Absent::OptimizedOut),
            Location::Address { address } => PieceSource::Memory(Addr::new(*address), 0),
            Location::Register { register } => {
                let held = self.frame.register(register.0).ok_or(Absent::OptimizedOut)?;
                let size = size.filter(|_| begins_with_value(target.arch, register.0));
                let first = size.and_then(|size| held.get(..size)).map(Arc::from);
                PieceSource::Bytes(first.unwrap_or(held))
            }
            Location::Value { value } => {
                PieceSource::Bytes(bytes::of_value(*value, size, target.word, target.endian))
            }
            Location::Bytes { value } => PieceSource::Bytes(bytes::of_reader(value)),
            Location::ImplicitPointer { value, byte_offset } => {
                PieceSource::Pointer(self.pointee(expression, value.0, *byte_offset, ty)?)
            }
        })
    }
}

/// Whether what is shorter than a register stands in its first bytes, the highest ones: in floating-point registers of
/// z/Architecture (its ELF ABI, 1.2.1), which have the numbers 16 to 31.
fn begins_with_value(arch: Arch, register: u16) -> bool {
    matches!(arch, Arch::S390 | Arch::S390x) && (16..=31).contains(&register)
}

/// The place that pieces make, unless there is nothing of it.
fn joined(pieces: Vec<Piece>, ty: &Type, endian: Endian) -> Result<ObjectPlace, Absent> {
    let absent = |piece: &Piece| match &piece.source {
        PieceSource::Absent(why) => Some(why.clone()),
        _ => None,
    };
    let why: Option<Vec<Absent>> = pieces.iter().map(absent).collect();
    match why {
        // The first reason that says more than that nothing was kept.
        Some(why) => {
            let telling = why.iter().find(|why| **why != Absent::OptimizedOut);
            Err(telling.cloned().unwrap_or(Absent::OptimizedOut))
        }
        None => Ok(of_pieces(pieces, ty, endian)),
    }
}

/// The place of an object of type `ty`. Of a register that is larger than the object the low bytes
/// count, which stand last where the highest byte stands first.
fn of_pieces(mut pieces: Vec<Piece>, ty: &Type, endian: Endian) -> ObjectPlace {
    let held = pieces.iter().fold(0_u64, |all, piece| all.saturating_add(piece.size));
    let size = ty.size().map_or(held, |size| size.saturating_mul(8));
    if let Some(rest) = size.checked_sub(held).filter(|rest| *rest > 0) {
        pieces.push(Piece { size: rest, source: PieceSource::Absent(Absent::OptimizedOut) });
    }
    let unused = if endian == Endian::Big { held.saturating_sub(size) } else { 0 };
    ObjectPlace::Pieces { pieces: pieces.into(), bits: BitField { offset: unused, size } }
}

/// How many bits a source has that are counted.
fn bits(source: &PieceSource) -> Option<u64> {
    match source {
        PieceSource::Bytes(bytes) => u64::try_from(bytes.len()).ok()?.checked_mul(8),
        _ => None,
    }
}

/// The bytes of a source behind its first bits, which are whole bytes or, of one that is a number, any.
fn without_first(source: PieceSource, skipped: u64, endian: Endian) -> PieceSource {
    match source {
        PieceSource::Bytes(bytes) if skipped > 0 => {
            let number = bytes::to_number(&bytes, endian);
            let shifted = u32::try_from(skipped).ok().and_then(|bits| number.checked_shr(bits));
            let shifted = i128::from(shifted.unwrap_or(0));
            PieceSource::Bytes(bytes::of_number(shifted, bytes.len().min(8), endian))
        }
        other => other,
    }
}
