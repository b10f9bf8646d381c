//! Expressions made by hand, an operation at a time.

mod bounds;
mod entry_values;
mod fake;
mod pieces;

use kcore_mem::Addr;
use kcore_symbols::{
    BaseType, ConstantValue, Encoding, Type, TypeKind, TypeNode, VariableLocation,
};

use super::{number_of, place_of};
use crate::{Absent, ObjectPlace, Piece, PieceSource};
use fake::{BIAS, Frame, MEMORY, expression};

/// An unsigned number of `size` bytes.
fn number(size: u64) -> Type {
    let base = BaseType { encoding: Encoding::Unsigned, bits: None, swapped: false };
    let kind = TypeKind::Base(base);
    Type::made(TypeNode { id: None, name: None, size: Some(size), is_declaration: false, kind })
}

/// Where a number of 4 bytes lies by an expression.
fn place(bytes: &[u8], frame: &Frame) -> Result<ObjectPlace, Absent> {
    place_of(&VariableLocation::Expression(expression(bytes)), &number(4), frame)
}

fn memory(at: u64) -> Result<ObjectPlace, Absent> {
    Ok(ObjectPlace::Memory(Addr::new(at)))
}

/// The bytes of a place that is one piece.
fn bytes(place: Result<ObjectPlace, Absent>) -> Vec<u8> {
    match place.unwrap() {
        ObjectPlace::Pieces { pieces, bits } => {
            assert_eq!((bits.offset, bits.size), (0, 32));
            match &pieces[0] {
                Piece { source: PieceSource::Bytes(bytes), .. } => bytes.to_vec(),
                other => panic!("{other:?}"),
            }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn addresses_lie_where_the_module_does() {
    let address = [&[0x03][..], &0x40_u64.to_le_bytes()].concat();
    assert_eq!(place(&address, &Frame::new()), memory(0x40 + BIAS));
}

#[test]
fn registers_give_addresses_and_values() {
    let frame = Frame::new().with(6, 0x2000).with(3, 0x11_2233_4455);
    assert_eq!(place(&[0x76, 0x10], &frame), memory(0x2010), "breg6 16");
    assert_eq!(place(&[0x92, 6, 0x70], &frame), memory(0x1ff0), "bregx 6 -16");
    assert_eq!(bytes(place(&[0x53], &frame))[..4], [0x55, 0x44, 0x33, 0x22], "reg3");
    assert_eq!(bytes(place(&[0x90, 3], &frame))[..2], [0x55, 0x44], "regx 3");
}

#[test]
fn a_register_that_nobody_saved_is_optimized_out() {
    let frame = Frame::new();
    assert_eq!(place(&[0x53], &frame), Err(Absent::OptimizedOut));
    assert_eq!(place(&[0x73, 0], &frame), Err(Absent::OptimizedOut));
}

#[test]
fn the_frame_base_is_an_address_or_what_a_register_held() {
    let mut frame = Frame::new().with(6, 0x3000);
    frame.cfa = Some(Addr::new(0x2000));
    frame.frame_base = VariableLocation::Expression(expression(&[0x9c]));
    assert_eq!(place(&[0x91, 0x6c], &frame), memory(0x2000 - 20), "fbreg -20 from the CFA");
    frame.frame_base = VariableLocation::Expression(expression(&[0x56]));
    assert_eq!(place(&[0x91, 0x6c], &frame), memory(0x3000 - 20), "fbreg -20 from reg6");
    frame.frame_base = VariableLocation::OptimizedOut;
    assert_eq!(place(&[0x91, 0x6c], &frame), Err(Absent::OptimizedOut));
}

#[test]
fn without_a_cfa_nothing_relative_to_it_is_known() {
    let found = place(&[0x9c], &Frame::new());
    assert_eq!(found, Err(Absent::Unreadable("location: the CFA is not known".to_owned())));
}

#[test]
fn memory_is_read_or_told_to_be_missing() {
    let frame = Frame::new().with(0, MEMORY).with(1, MEMORY + 16).with(2, 8);
    assert_eq!(place(&[0x70, 0, 0x94, 2], &frame), memory(0x0100), "deref_size 2");
    assert_eq!(place(&[0x70, 0, 0x06], &frame), memory(0x0706_0504_0302_0100), "deref");
    assert_eq!(place(&[0x71, 0, 0x06], &frame).unwrap_err().as_str(), "not_dumped");
    assert_eq!(place(&[0x72, 0, 0x06], &frame).unwrap_err().as_str(), "unreadable");
}

#[test]
fn threads_have_storage_of_their_own() {
    let offset = [0x0e, 0x10, 0, 0, 0, 0, 0, 0, 0];
    for operation in [0x9b, 0xe0] {
        let code = [&offset[..], &[operation]].concat();
        assert_eq!(place(&code, &Frame::new()), memory(0x7010), "{operation:#x}");
    }
}

#[test]
fn values_have_no_place() {
    let frame = Frame::new().with(3, 40);
    assert_eq!(bytes(place(&[0x73, 2, 0x9f], &frame)), [42, 0, 0, 0], "breg3 2, stack_value");
    assert_eq!(bytes(place(&[0x09, 0xff, 0x9f], &frame)), [0xff; 4], "const1s -1");
    assert_eq!(bytes(place(&[0x9e, 4, 1, 2, 3, 4], &frame)), [1, 2, 3, 4], "implicit_value");
}

#[test]
fn constants_have_as_many_bytes_as_their_type() {
    let constant = |value| VariableLocation::Constant(value);
    let frame = Frame::new();
    let place = |value| place_of(&constant(value), &number(4), &frame);
    assert_eq!(bytes(place(ConstantValue::Number(-2))), [0xfe, 0xff, 0xff, 0xff]);
    assert_eq!(bytes(place(ConstantValue::Number(300))), [44, 1, 0, 0]);
    assert_eq!(bytes(place(ConstantValue::Bytes([9, 8, 7, 6].into()))), [9, 8, 7, 6]);
}

#[test]
fn what_is_nowhere_says_why() {
    let frame = Frame::new();
    let nowhere = place_of(&VariableLocation::OptimizedOut, &number(4), &frame);
    assert_eq!(nowhere, Err(Absent::OptimizedOut));
    let damaged = VariableLocation::Damaged(gimli::Error::TooManyIterations);
    assert_eq!(place_of(&damaged, &number(4), &frame).unwrap_err().as_str(), "unreadable");
    // breg3 0, convert to a type of a unit that is not there.
    let typed = place(&[0x73, 0, 0xa8, 0x20, 0x9f], &frame.with(3, 1));
    assert_eq!(typed.unwrap_err().as_str(), "unreadable");
}

#[test]
fn an_expression_is_also_a_number() {
    let frame = Frame::new().with(5, 7);
    let of = |bytes: &[u8]| number_of(&expression(bytes), &frame);
    assert_eq!(of(&[0x55]), Ok(7), "reg5");
    assert_eq!(of(&[0x75, 1]), Ok(8), "breg5 1");
    assert_eq!(of(&[0x75, 1, 0x9f]), Ok(8), "breg5 1, stack_value");
    assert_eq!(of(&[0x9e, 1, 1]).unwrap_err().as_str(), "unreadable", "a block is no number");
}
