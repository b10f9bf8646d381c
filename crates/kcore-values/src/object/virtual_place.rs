//! Where a member lies whose place is an expression: a virtual base class, found through the object's
//! table of virtual functions.

use gimli::{EndianSlice, EvaluationResult, Location, RunTimeEndian, Value};
use kcore_mem::{Addr, Endian};

use crate::{Absent, Process};

/// Operations of an expression that are done before it counts as endless.
const MAX_OPERATIONS: u32 = 256;

/// The address that an expression gives for an object at `object`, which begins on its stack.
pub fn evaluate(process: &dyn Process, code: &[u8], object: Addr) -> Result<Addr, Absent> {
    evaluate_with(process, code, object, object.get())
}

/// The same where another number begins on its stack: that of a dimension of an array.
pub fn evaluate_with(
    process: &dyn Process,
    code: &[u8],
    object: Addr,
    first: u64,
) -> Result<Addr, Absent> {
    run(process, code, object, first)?.map_err(|error| Absent::Unreadable(error.to_string()))
}

/// Faults of memory are the outer error, faults of the expression the inner one.
fn run(
    process: &dyn Process,
    code: &[u8],
    object: Addr,
    first: u64,
) -> Result<Result<Addr, gimli::Error>, Absent> {
    let target = process.space().target();
    let endian = match target.endian {
        Endian::Little => RunTimeEndian::Little,
        Endian::Big => RunTimeEndian::Big,
    };
    let encoding =
        gimli::Encoding { format: gimli::Format::Dwarf32, version: 4, address_size: target.word };
    let mut evaluation = gimli::Evaluation::new(EndianSlice::new(code, endian), encoding);
    evaluation.set_initial_value(first);
    evaluation.set_object_address(object.get());
    evaluation.set_max_iterations(MAX_OPERATIONS);
    let mut state = evaluation.evaluate();
    loop {
        state = match state {
            Err(error) => return Ok(Err(error)),
            Ok(EvaluationResult::Complete) => break,
            Ok(EvaluationResult::RequiresMemory { address, size, .. }) => {
                let value = process.space().read_uint(Addr::new(address), usize::from(size))?;
                evaluation.resume_with_memory(Value::Generic(value))
            }
            Ok(_) => return Err(Absent::Unreadable("its place depends on a frame".to_owned())),
        };
    }
    match evaluation.as_result() {
        [gimli::Piece { location: Location::Address { address }, .. }] => {
            Ok(Ok(Addr::new(*address)))
        }
        _ => Err(Absent::Unreadable("its place is no address".to_owned())),
    }
}
