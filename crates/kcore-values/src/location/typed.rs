//! Numbers with a type and numbers without one, as operands of one operation.
//!
//! DWARF 5 (2.5.1.4) wants both operands of an operation to have one type. clang (14) converts one of them
//! to a type of the unit and multiplies it by a literal, which has none; gdb and lldb take the literal for a
//! number of the same type. Here a conversion is put before such an operation.

use gimli::{EndianArcSlice, Operation, Reader as _, RunTimeEndian, constants};
use kcore_symbols::Expression;

type Reader = EndianArcSlice<RunTimeEndian>;

/// Numbers of the stack whose types are followed.
const MAX_STACK: usize = 64;
/// Operations of an expression whose types are followed.
const MAX_OPERATIONS: usize = 1 << 12;

/// Operations that deal with types.
const TYPED: [u8; 6] = [
    constants::DW_OP_const_type.0,
    constants::DW_OP_regval_type.0,
    constants::DW_OP_deref_type.0,
    constants::DW_OP_xderef_type.0,
    constants::DW_OP_convert.0,
    constants::DW_OP_reinterpret.0,
];

/// The same operations with the conversions that they lack. What jumps, or does something that is not
/// followed here, stays as it is.
pub fn with_conversions(expression: &Expression, bytes: &Reader) -> Option<Vec<u8>> {
    let all = bytes.to_slice().ok()?;
    // Other bytes may look the same: then nothing is found to convert.
    all.iter().any(|byte| TYPED.contains(byte)).then_some(())?;
    let mut types = Types { stack: Vec::new(), code: Vec::new(), has_changed: false };
    let mut rest = bytes.clone();
    for _ in 0..MAX_OPERATIONS {
        if rest.is_empty() {
            break;
        }
        let start = all.len().checked_sub(rest.len())?;
        let operation = Operation::parse(&mut rest, expression.encoding()).ok()?;
        types.follow(&operation)?;
        types.code.extend(all.get(start..all.len().checked_sub(rest.len())?)?);
        (types.stack.len() <= MAX_STACK).then_some(())?;
    }
    (types.has_changed && rest.is_empty()).then_some(types.code)
}

/// The types of the numbers on the stack while an expression runs, as offsets in the unit; 0 of those without
/// one.
struct Types {
    stack: Vec<usize>,
    code: Vec<u8>,
    has_changed: bool,
}

impl Types {
    fn follow(&mut self, operation: &Operation<Reader>) -> Option<()> {
        match operation {
            Operation::And
            | Operation::Div
            | Operation::Minus
            | Operation::Mod
            | Operation::Mul
            | Operation::Or
            | Operation::Plus
            | Operation::Xor => self.binary(false),
            Operation::Eq
            | Operation::Ge
            | Operation::Gt
            | Operation::Le
            | Operation::Lt
            | Operation::Ne => self.binary(true),
            Operation::Shl | Operation::Shr | Operation::Shra | Operation::Drop => {
                self.stack.pop().map(drop)
            }
            Operation::Swap => self.turn(2),
            Operation::Rot => self.turn(3),
            Operation::Pick { index } => {
                let from_end = usize::from(*index).checked_add(1)?;
                let at = self.stack.len().checked_sub(from_end)?;
                self.push(*self.stack.get(at)?)
            }
            Operation::Deref { base_type, space: false, .. } => self.replace(base_type.0),
            Operation::TLS => self.replace(0),
            Operation::Convert { base_type } | Operation::Reinterpret { base_type } => {
                self.replace(base_type.0)
            }
            Operation::TypedLiteral { base_type, .. } => self.push(base_type.0),
            Operation::RegisterOffset { base_type, .. } => self.push(base_type.0),
            Operation::UnsignedConstant { .. }
            | Operation::SignedConstant { .. }
            | Operation::FrameOffset { .. }
            | Operation::CallFrameCFA
            | Operation::EntryValue { .. }
            | Operation::ParameterRef { .. }
            | Operation::Address { .. }
            | Operation::AddressIndex { .. }
            | Operation::ConstantIndex { .. } => self.push(0),
            Operation::Piece { .. } => {
                self.stack.clear();
                Some(())
            }
            Operation::Abs
            | Operation::Neg
            | Operation::Not
            | Operation::PlusConstant { .. }
            | Operation::Nop
            | Operation::Register { .. }
            | Operation::ImplicitValue { .. }
            | Operation::StackValue
            | Operation::ImplicitPointer { .. } => Some(()),
            _ => None,
        }
    }

    fn push(&mut self, ty: usize) -> Option<()> {
        self.stack.push(ty);
        Some(())
    }

    fn replace(&mut self, ty: usize) -> Option<()> {
        *self.stack.last_mut()? = ty;
        Some(())
    }

    /// Moves the topmost of `count` numbers below the others.
    fn turn(&mut self, count: usize) -> Option<()> {
        let first = self.stack.len().checked_sub(count)?;
        self.stack.get_mut(first..)?.rotate_right(1);
        Some(())
    }

    /// Two numbers become one, which a comparison leaves without a type.
    fn binary(&mut self, is_comparison: bool) -> Option<()> {
        let (second, first) = (self.stack.pop()?, self.stack.pop()?);
        match (first, second) {
            (0, 0) => {}
            (ty, 0) => self.convert(ty),
            (0, ty) => {
                self.code.push(constants::DW_OP_swap.0);
                self.convert(ty);
                self.code.push(constants::DW_OP_swap.0);
            }
            _ => {}
        }
        self.push(if is_comparison { 0 } else { first.max(second) })
    }

    fn convert(&mut self, ty: usize) {
        self.has_changed = true;
        self.code.push(constants::DW_OP_convert.0);
        let mut rest = ty;
        loop {
            let low = u8::try_from(rest & 0x7f).unwrap_or(0);
            rest >>= 7;
            if rest == 0 {
                return self.code.push(low);
            }
            self.code.push(low | 0x80);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// The operations with the conversions that they lack; `None` where they lack none.
    fn completed(bytes: &[u8]) -> Option<Vec<u8>> {
        let reader = EndianArcSlice::new(Arc::from(bytes), RunTimeEndian::Little);
        with_conversions(&Expression::made(bytes, 8), &reader)
    }

    #[test]
    fn an_operand_without_a_type_gets_that_of_the_other() {
        // breg5 0, convert 0x27, lit3, mul: as clang 14 writes `n * 3L`.
        let found = completed(&[0x75, 0, 0xa8, 0x27, 0x33, 0x1e, 0x9f]).unwrap();
        assert_eq!(found, [0x75, 0, 0xa8, 0x27, 0x33, 0xa8, 0x27, 0x1e, 0x9f]);
        // lit3, regval_type 5 0x90, minus: the first operand lacks it.
        let found = completed(&[0x33, 0xa5, 5, 0x90, 1, 0x1c, 0x9f]).unwrap();
        assert_eq!(found, [0x33, 0xa5, 5, 0x90, 1, 0x16, 0xa8, 0x90, 1, 0x16, 0x1c, 0x9f]);
    }

    #[test]
    fn what_lacks_nothing_stays_as_it_is() {
        for (what, bytes) in [
            ("no types", &[0x75, 0, 0x33, 0x1e, 0x9f][..]),
            ("one type", &[0x75, 0, 0xa8, 0x27, 0x12, 0x1e, 0x9f]),
            ("a shift by a number", &[0x75, 0, 0xa8, 0x27, 0x33, 0x24, 0x9f]),
            ("back to none", &[0x75, 0, 0xa8, 0x27, 0xa8, 0, 0x33, 0x1e, 0x9f]),
            ("a jump", &[0x75, 0, 0xa8, 0x27, 0x2f, 0, 0, 0x33, 0x1e, 0x9f]),
            ("an empty stack", &[0xa8, 0x27, 0x1e]),
            ("a part of an operation", &[0x75, 0, 0xa8]),
        ] {
            assert_eq!(completed(bytes), None, "{what}");
        }
    }
}
