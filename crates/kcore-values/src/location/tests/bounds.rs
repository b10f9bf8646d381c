//! Expressions that do not end, ask for too much or are nonsense.

use kcore_mem::{Allowance, Budget};

use super::*;

#[test]
fn an_endless_expression_is_damaged() {
    // skip -3: a jump to itself.
    let found = place(&[0x2f, 0xfd, 0xff], &Frame::new());
    assert!(matches!(found, Err(Absent::Unreadable(_))), "{found:?}");
}

#[test]
fn an_expression_that_asks_without_end_is_stopped() {
    let frame = Frame::new().with(3, 1);
    let code = [&[0x73, 0, 0x13].repeat(5000)[..], &[0x30]].concat();
    assert!(matches!(place(&code, &frame), Err(Absent::Unreadable(_))));
}

#[test]
fn a_frame_base_that_is_relative_to_itself_is_damaged() {
    let mut frame = Frame::new();
    frame.frame_base = VariableLocation::Expression(expression(&[0x91, 0]));
    let found = place(&[0x91, 0], &frame);
    assert_eq!(found, Err(Absent::Unreadable("location: it refers to itself".to_owned())));
}

#[test]
fn callers_that_ask_twice_are_not_asked_for_ever() {
    // Each asks its caller two times: without a bound that were 2^15 questions.
    let mut frame = Frame::new().called(Frame::new().with(3, 1), 5, &[0x73, 0]);
    for _ in 0..14 {
        frame = Frame::new().called(frame, 5, &[0xa3, 1, 0x55, 0xa3, 1, 0x55, 0x22]);
    }
    let found = place(&[0xa3, 1, 0x55, 0x9f], &frame);
    assert_eq!(found, Err(Absent::Unreadable("location: it asks for too much".to_owned())));
}

#[test]
fn a_piece_without_end_is_refused() {
    let huge = [0x30, 0x9f, 0x93, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    assert!(matches!(place(&huge, &Frame::new()), Err(Absent::Unreadable(_))));
}

#[test]
fn nonsense_is_damaged_and_does_no_harm() {
    let frame = Frame::new().with(3, 1);
    for code in [&[0x00][..], &[0xff], &[0x03, 1], &[0x22], &[0x93], &[0xa3, 0xff], &[0x53, 0x53]] {
        let found = place(code, &frame);
        assert!(matches!(found, Err(Absent::Unreadable(_))), "{code:x?}: {found:?}");
    }
}

#[test]
fn long_expressions_are_charged_to_the_command_and_those_of_programs_are_not() {
    let allowance = Allowance { entries: 8, ..Allowance::default() };
    let mut frame = Frame::new();
    frame.budget = Some(Budget::new(allowance));
    let of_nops = |count| [&[0x30][..], &vec![0x96; count], &[0x9f]].concat();
    for _ in 0..1000 {
        assert_eq!(bytes(place(&of_nops(10), &frame)), [0; 4]);
    }
    for _ in 0..2 {
        assert_eq!(bytes(place(&of_nops(64), &frame)), [0; 4]);
    }
    assert!(matches!(place(&of_nops(64), &frame), Err(Absent::Unreadable(_))));
    assert_eq!(bytes(place(&of_nops(10), &frame)), [0; 4]);
}
