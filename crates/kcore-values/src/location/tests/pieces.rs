//! Variables that lie in several places.

use super::*;

/// The pieces of an object of 16 bytes.
fn pieces(bytes: &[u8], frame: &Frame) -> Vec<Piece> {
    let location = VariableLocation::Expression(expression(bytes));
    match place_of(&location, &number(16), frame).unwrap() {
        ObjectPlace::Pieces { pieces, bits } => {
            assert_eq!((bits.offset, bits.size), (0, 128));
            pieces.to_vec()
        }
        other => panic!("{other:?}"),
    }
}

fn held(bytes: &[u8]) -> PieceSource {
    PieceSource::Bytes(bytes.into())
}

#[test]
fn pieces_stand_one_behind_the_other() {
    let frame = Frame::new().with(3, 5).with(6, 0x2000);
    // reg3, piece 8; breg6 16, piece 4; piece 4.
    let found = pieces(&[0x53, 0x93, 8, 0x76, 16, 0x93, 4, 0x93, 4], &frame);
    assert_eq!(found.iter().map(|piece| piece.size).collect::<Vec<_>>(), [64, 32, 32]);
    assert_eq!(found[0].source, held(&5_u64.to_le_bytes()));
    assert_eq!(found[1].source, PieceSource::Memory(Addr::new(0x2010), 0));
    assert_eq!(found[2].source, PieceSource::Absent(Absent::OptimizedOut));
}

#[test]
fn a_piece_that_cannot_be_evaluated_leaves_the_others() {
    let frame = Frame::new().with(3, 5);
    // reg3, piece 8; call_frame_cfa, stack_value, piece 4; lit2, stack_value, piece 4.
    let code = [0x53, 0x93, 8, 0x9c, 0x9f, 0x93, 4, 0x32, 0x9f, 0x93, 4];
    let found = pieces(&code, &frame);
    assert_eq!(found[0].source, held(&5_u64.to_le_bytes()));
    let PieceSource::Absent(why) = &found[1].source else { panic!("{:?}", found[1]) };
    assert_eq!((found[1].size, why.as_str()), (32, "unreadable"));
    assert_eq!(found[2].source, held(&[2, 0, 0, 0]));
}

#[test]
fn a_piece_that_is_lost_leaves_the_others() {
    let frame = Frame::new().with(3, 5);
    let found = pieces(&[0x53, 0x93, 8, 0x5c, 0x93, 8], &frame);
    assert_eq!(found[0].source, held(&5_u64.to_le_bytes()));
    assert_eq!(found[1].source, PieceSource::Absent(Absent::OptimizedOut), "reg12");
}

#[test]
fn what_pieces_leave_over_is_nowhere() {
    let found = pieces(&[0x53, 0x93, 8], &Frame::new().with(3, 5));
    assert_eq!(found[1], Piece { size: 64, source: PieceSource::Absent(Absent::OptimizedOut) });
}

#[test]
fn an_object_of_which_nothing_is_left_is_optimized_out() {
    assert_eq!(place(&[0x93, 4], &Frame::new()), Err(Absent::OptimizedOut));
    assert_eq!(place(&[0x5c, 0x93, 4], &Frame::new()), Err(Absent::OptimizedOut));
}

#[test]
fn bits_of_memory_and_of_values_are_counted() {
    let frame = Frame::new().with(6, 0x2000).with(3, 0b1011_0100);
    // breg6 0, bit_piece 12 3; breg3 0, stack_value, bit_piece 4 2.
    let code = [0x76, 0, 0x9d, 12, 3, 0x73, 0, 0x9f, 0x9d, 4, 2];
    let found = pieces(&code, &frame);
    assert_eq!(found[0], Piece { size: 12, source: PieceSource::Memory(Addr::new(0x2000), 3) });
    let PieceSource::Bytes(bytes) = &found[1].source else { panic!("{found:?}") };
    assert_eq!((found[1].size, bytes[0] & 0xf), (4, 0b1101));
}

#[test]
fn vector_registers_are_wider_than_numbers() {
    let mut frame = Frame::new();
    frame.registers.insert(17, (0..16).collect());
    let found = pieces(&[0x61], &frame);
    assert_eq!(found[0], Piece { size: 128, source: held(&(0..16).collect::<Vec<u8>>()) });
}
