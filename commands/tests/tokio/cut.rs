//! Cores that were cut, memory that was overwritten, and processes without tokio.

use crate::{cases, harness, hurt::Hurt, made, open};

const LINE: &str = "::runtimes; ::status; ::tokio; ::stacks; ::walk tokio | ::stack";

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

#[test]
fn a_process_without_tokio_is_said_to_have_none() {
    let Some(case) = made::made("rust-threads", "release-pie") else { return };
    let records = harness::json_on(&open(case.core, case.exe), "::tokio");
    let text = records.iter().map(ToString::to_string).collect::<String>();
    assert!(text.contains("no tasks of tokio in this process"), "{text}");
}
