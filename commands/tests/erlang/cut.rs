//! Cores that were cut, and memory that was overwritten.

use crate::{cases, hurt::Hurt};

const LINE: &str = "::runtimes; ::status; ::erlprocesses; ::erlets; ::erlschedulers; \
                    ::erlprocesses -m 1 | ::erlmessages; ::stacks; ::walk erlprocess | ::stack";

fn hurt() -> Option<Hurt> {
    let case = cases().into_iter().next()?;
    Some(Hurt { case, line: LINE, shown: "stack_group" })
}

#[test]
fn a_core_that_is_cut_shows_what_is_left() {
    let Some(hurt) = hurt() else { return };
    hurt.assert_cut_shows_what_is_left();
}

#[test]
fn memory_that_lies_is_no_harm() {
    let Some(hurt) = hurt() else { return };
    hurt.assert_lies_are_no_harm();
}
