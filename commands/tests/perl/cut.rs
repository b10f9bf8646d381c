//! Cores that were cut, and memory that was overwritten: what is left is shown, and native stacks stay what they were.

use crate::{cases, hurt::Hurt};

/// One core of the language, and all that is asked of it.
fn hurt() -> Option<Hurt> {
    let case = cases().into_iter().find(|case| case.name().ends_with("perl5.42"))?;
    let line = "::runtimes; ::status; ::walk thread | ::stack -v; ::stacks";
    Some(Hurt { case, line, shown: "stack" })
}

#[test]
fn a_core_that_is_cut_anywhere_shows_what_is_left() {
    let Some(hurt) = hurt() else { return };
    hurt.assert_cut_shows_what_is_left();
}

#[test]
fn memory_that_lies_is_no_harm() {
    let Some(hurt) = hurt() else { return };
    hurt.assert_lies_are_no_harm();
}
