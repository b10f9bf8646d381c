//! What callers passed.

use super::*;

/// entry_value(reg5), stack_value.
const ENTRY: [u8; 4] = [0xa3, 1, 0x55, 0x9f];

#[test]
fn the_caller_tells_what_it_passed() {
    let caller = Frame::new().with(3, 40);
    let frame = Frame::new().called(caller, 5, &[0x73, 2]);
    assert_eq!(bytes(place(&ENTRY, &frame)), [42, 0, 0, 0]);
    // The extension of GNU for DWARF 4.
    assert_eq!(bytes(place(&[0xf3, 1, 0x55, 0x9f], &frame)), [42, 0, 0, 0]);
}

#[test]
fn what_the_caller_lost_or_never_told_is_optimized_out() {
    let gone = Err(Absent::OptimizedOut);
    assert_eq!(place(&ENTRY, &Frame::new()), gone, "no caller");
    let lost = Frame::new().called(Frame::new(), 5, &[0x73, 2]);
    assert_eq!(place(&ENTRY, &lost), gone, "the caller's register is lost");
    let other = Frame::new().called(Frame::new().with(3, 1), 4, &[0x73, 2]);
    assert_eq!(place(&ENTRY, &other), gone, "it tells of another register");
}

#[test]
fn callers_are_asked_what_they_were_passed_themselves() {
    let first = Frame::new().with(3, 7);
    let second = Frame::new().called(first, 5, &[0x73, 0]);
    // entry_value(reg5) * 2.
    let third = Frame::new().called(second, 5, &[0xa3, 1, 0x55, 0x32, 0x1e]);
    assert_eq!(bytes(place(&ENTRY, &third)), [14, 0, 0, 0]);
}

#[test]
fn what_a_register_pointed_to_has_a_value_of_its_own() {
    let frame = Frame::new().called(Frame::new(), 5, &[0x30]);
    // entry_value(breg5 0, deref), stack_value.
    assert_eq!(bytes(place(&[0xa3, 3, 0x75, 0, 0x06, 0x9f], &frame)), [99, 0, 0, 0]);
}

#[test]
fn a_chain_of_callers_has_an_end() {
    let mut frame = Frame::new().with(3, 1);
    for _ in 0..100 {
        frame = Frame::new().called(frame, 5, &[0xa3, 1, 0x55]);
    }
    let found = place(&ENTRY, &frame);
    assert_eq!(found, Err(Absent::Unreadable("location: it refers to itself".to_owned())));
}
