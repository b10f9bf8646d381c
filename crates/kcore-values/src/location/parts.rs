//! Pieces one by one: where one of them fails, the others stand.

use gimli::{Location, Operation, Piece, Reader as _};
use kcore_symbols::Expression;

use super::evaluate::{Evaluator, Pieces, Reader};
use crate::Absent;

/// Pieces of one variable that are evaluated alone.
const MAX_PIECES: usize = 1 << 8;

/// A piece, or its size in bits and why it is not there.
pub type LonePiece = Result<Piece<Reader>, (u64, Absent)>;

impl Evaluator<'_> {
    /// The pieces of an expression that fails as a whole, each by the operations that it consists of. `None` of
    /// an expression without pieces.
    pub fn lone_pieces(&self, expression: &Expression) -> Option<Vec<LonePiece>> {
        let all = expression.bytes();
        let mut rest = self.reader(all).ok()?;
        let (mut pieces, mut start) = (Vec::new(), 0_usize);
        while !rest.is_empty() && pieces.len() < MAX_PIECES {
            let operation = Operation::parse(&mut rest, expression.encoding()).ok()?;
            let Operation::Piece { size_in_bits, .. } = operation else { continue };
            let end = all.len().checked_sub(rest.len())?;
            let part = expression.beside(all.get(start..end)?);
            pieces.push(self.lone_piece(&part, size_in_bits));
            start = end;
        }
        (rest.is_empty() && start == all.len() && pieces.len() > 1).then_some(pieces)
    }

    fn lone_piece(&self, part: &Expression, size: u64) -> LonePiece {
        let mut found: Pieces = self.pieces(part).map_err(|why| (size, why))?;
        let empty = Piece { size_in_bits: Some(size), bit_offset: None, location: Location::Empty };
        Ok(found.pop().unwrap_or(empty))
    }
}
