//! What ended a process, against what the program itself knew of it.

use gen_cores::Case;
use kcore::{Fate, LastWords};

use crate::{CASES, open, told_lines};

#[test]
fn an_exception_is_told_with_its_stack_and_how_far_it_came() {
    let ends = [
        ("python-ends", Fate::Uncaught),
        ("python-flight", Fate::InFlight),
        ("python-finally", Fate::Handled),
    ];
    let fate_of = |case: &Case| ends.iter().find(|(name, _)| *name == case.scenario).map(|it| it.1);
    let known = CASES.iter().filter_map(|(case, truth)| Some((case, truth, fate_of(case)?)));
    for (case, truth, fate) in known {
        let lines = told_lines(case);
        let stack = lines.iter().find_map(|line| line["exception_stack"].as_array());
        let stack = stack.expect("a stack").iter();
        let told = (
            fate,
            truth.facts.exception_type.clone().expect("a type"),
            truth.facts.exception_what.clone(),
            stack.map(|line| line.as_str().expect("a line").to_owned()).collect::<Vec<_>>(),
        );
        let words = open(case).crash().last_words().into_iter().find_map(|words| match words {
            LastWords::Exception { fate, type_name, what, trace, .. } => {
                Some((fate, type_name, what, trace))
            }
            _ => None,
        });
        assert_eq!(words, Some(told), "{}", case.name());
    }
}

#[test]
fn who_aborts_by_itself_left_no_exception() {
    for (case, _) in CASES.iter().filter(|(case, _)| case.scenario == "python-stack") {
        let words = open(case).crash().last_words();
        let is_it = |words: &&LastWords| matches!(words, LastWords::Exception { .. });
        let told = words.iter().find(is_it);
        // It aborts in a generator that handles one.
        assert!(
            matches!(told, Some(LastWords::Exception { fate: Fate::Handled, what: Some(what), .. }) if what == "caught"),
            "{told:?}"
        );
    }
    // That told of one long before.
    for (case, _) in CASES.iter().filter(|(case, _)| case.scenario == "python-natives") {
        let words = open(case).crash().last_words();
        let is_it = |words: &LastWords| matches!(words, LastWords::Exception { .. });
        assert!(!words.iter().any(is_it), "{words:?}");
    }
}
