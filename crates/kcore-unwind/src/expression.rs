//! DWARF expressions in unwind rules, evaluated against memory and the frame's registers.

use gimli::{EndianSlice, EvaluationResult, EvaluationStorage, Location, RunTimeEndian, Value};
use kcore_mem::{Addr, AddressSpace, Arch, Fault};

use crate::{Cfi, RegisterId, Regs, arch::register_of_dwarf, cfi::endian, row::ExpressionRef};

/// Operations of one expression, at most: the longest known have some ten. A frame may have one for
/// each register.
const MAX_OPERATIONS: u32 = 128;

/// Why an expression has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvalError {
    /// Memory that it reads has no bytes.
    Fault(Fault),
    /// A register that it reads is unknown.
    UnknownRegister(RegisterId),
    /// It is malformed, does not end, or asks for what an unwind rule has not.
    Malformed,
}

/// Evaluates an expression of `cfi`. `initial` is pushed first: the CFA, for a register's rule.
pub fn evaluate(
    cfi: &Cfi,
    expression: ExpressionRef,
    initial: Option<u64>,
    regs: &Regs,
    space: &dyn AddressSpace,
) -> Result<u64, EvalError> {
    let section = cfi.section(expression.section).ok_or(EvalError::Malformed)?;
    let end = expression.offset.checked_add(expression.len).ok_or(EvalError::Malformed)?;
    let bytes = section.get(expression.offset..end).ok_or(EvalError::Malformed)?;
    let slice = EndianSlice::new(bytes, endian(cfi.target()));
    let encoding = gimli::Encoding {
        address_size: cfi.target().word,
        format: gimli::Format::Dwarf32,
        version: 4,
    };
    let known = EvalContext { regs, arch: cfi.target().arch, space, bias: cfi.bias() };
    run(Evaluation::new_in(slice, encoding), initial, &known)
}

/// Room for an evaluation that takes no memory. The longest known expressions hold three values at a time;
/// unwind rules call no other expressions, and give one piece.
struct OnStack;

impl<R: gimli::Reader> EvaluationStorage<R> for OnStack {
    type Stack = [Value; 64];
    type ExpressionStack = [(R, R); 1];
    type Result = [gimli::Piece<R>; 1];
}

/// What an expression may ask for.
struct EvalContext<'a> {
    regs: &'a Regs,
    arch: Arch,
    space: &'a dyn AddressSpace,
    bias: i64,
}

type Evaluation<'a> = gimli::Evaluation<EndianSlice<'a, RunTimeEndian>, OnStack>;

fn run(
    mut evaluation: Evaluation<'_>,
    initial: Option<u64>,
    known: &EvalContext<'_>,
) -> Result<u64, EvalError> {
    evaluation.set_max_iterations(MAX_OPERATIONS);
    if let Some(value) = initial {
        evaluation.set_initial_value(value);
    }
    let malformed = |_| EvalError::Malformed;
    let mut state = evaluation.evaluate().map_err(malformed)?;
    // Each turn answers one question of at least one operation, so the limit above bounds it too.
    loop {
        state = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let at = Addr::new(address);
                let value = known.space.read_uint(at, size.into()).map_err(EvalError::Fault)?;
                evaluation.resume_with_memory(Value::Generic(value)).map_err(malformed)?
            }
            EvaluationResult::RequiresRegister { register, .. } => {
                let register = register_of_dwarf(known.arch, register.0);
                let value = known.regs.get(register).ok_or(EvalError::UnknownRegister(register))?;
                evaluation.resume_with_register(Value::Generic(value)).map_err(malformed)?
            }
            EvaluationResult::RequiresRelocatedAddress(address) => evaluation
                .resume_with_relocated_address(address.wrapping_add_signed(known.bias))
                .map_err(malformed)?,
            _ => return Err(EvalError::Malformed),
        };
    }
    single_value(evaluation.as_result()).ok_or(EvalError::Malformed)
}

fn single_value(pieces: &[gimli::Piece<EndianSlice<'_, RunTimeEndian>>]) -> Option<u64> {
    let [piece] = pieces else { return None };
    match piece.location {
        Location::Address { address } => Some(address),
        Location::Value { value } => value.to_u64(u64::MAX).ok(),
        _ => None,
    }
}
