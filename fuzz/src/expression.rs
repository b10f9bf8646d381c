//! DWARF expressions that may say anything, in a frame that may hold anything.

use kcore_mem::Budget;
use kcore_symbols::{
    BaseType, CallParameter, CallSite, CallTarget, Encoding, Expression, Type, TypeKind, TypeNode,
    VariableLocation,
};
use kcore_values::{
    DeclaredPrinters, Object,
    location::{number_of, place_of},
};

use crate::{frame::Frame, input::Input, memory::Memory, process::Made};

/// The size of the object, which may be 0, and a byte that chooses how wide addresses are; the
/// expression, the frame base's, those of what the caller passed and where; then memory and registers.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let ty = number(u64::from(input.byte()));
    let word = if input.byte() & 1 == 0 { 8 } else { 4 };
    let mut expression = || Expression::made(input.part(), word);
    let [wanted, base, place, value] = std::array::from_fn(|_| expression());
    let memory = Memory::read(&mut input);
    let mut frame = Frame::read(&mut input, &memory);
    frame.frame_base = VariableLocation::Expression(base);
    frame.site = Some(call(place, value));
    let _ = number_of(&wanted, &frame);
    let place = place_of(&VariableLocation::Expression(wanted), &ty, &frame);
    drop(frame);
    if let Ok(place) = place {
        let process = Made {
            memory,
            info: None,
            types: Vec::new(),
            printers: DeclaredPrinters::default(),
            budget: Budget::default(),
        };
        process.look_at(&Object { ty, place });
    }
}

/// A call that says one thing of one argument.
fn call(place: Expression, value: Expression) -> CallSite {
    let parameter = CallParameter {
        location: Some(place),
        parameter: None,
        value: Some(value.clone()),
        data_value: Some(value),
    };
    CallSite { target: CallTarget::Unknown, parameters: vec![parameter] }
}

/// A type of numbers of that size, which may be none that a number has.
fn number(size: u64) -> Type {
    let base = BaseType { encoding: Encoding::Unsigned, bits: None, swapped: false };
    let kind = TypeKind::Base(base);
    Type::made(TypeNode { id: None, name: None, size: Some(size), is_declaration: false, kind })
}
