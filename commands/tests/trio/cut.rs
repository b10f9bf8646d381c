//! Cores that were cut, memory that was overwritten, and processes without trio.

use crate::{Opened, cases, hurt::Hurt};

/// One core with tasks, and all that is asked of it.
fn hurt() -> Option<Hurt> {
    let case = cases().into_iter().find(|case| case.name().ends_with("trio/python3.13"))?;
    let line = "::runtimes; ::status; ::trio; ::tasks; ::stacks; ::walk trio | ::stack";
    Some(Hurt { case, line, shown: "stack_group" })
}

#[test]
fn a_core_that_is_cut_anywhere_shows_what_is_left() {
    let Some(hurt) = hurt() else { return };
    hurt.assert_cut_shows_what_is_left();
}

#[test]
fn tasks_of_a_python_that_was_not_dumped_are_not_said_to_be_none() {
    let Some(hurt) = hurt() else { return };
    let whole = hurt.whole();
    let records = hurt.records(&whole[..whole.len() / 16]);
    let texts: Vec<_> = records.iter().filter_map(|record| record["message"].as_str()).collect();
    let says_none = |text: &&str| text.contains("no tasks of trio in this process");
    assert!(!texts.iter().any(says_none), "{texts:?}");
}

#[test]
fn memory_that_lies_is_no_harm() {
    let Some(hurt) = hurt() else { return };
    hurt.assert_lies_are_no_harm();
}

#[test]
fn a_python_without_trio_says_that_it_has_none() {
    let Some(case) = crate::made("python-stack", "python3.13") else { return };
    let core = Opened::of(&case);
    let records = core.records("::trio");
    let texts: Vec<_> = records.iter().filter_map(|record| record["message"].as_str()).collect();
    let says_none = |text: &&str| text.contains("no tasks of trio in this process");
    assert!(texts.iter().any(says_none), "{records:#?}");
    assert!(core.core.tasks().runtimes().is_empty());
}
