//! Functions that ended by tail calls: shown where debug information proves that they ran, with what their callers
//! passed, and never where another way is possible.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod programs;

use programs::{Build, CHAINS, Chain, Crashed};
use serde_json::{Value, json};

/// Name and trust of the frames up to `main`.
fn frames(crashed: &Crashed) -> Vec<(String, bool)> {
    let stack = crashed.stack();
    let named = stack["frames"].as_array().unwrap().iter().map(|frame| {
        let name = frame["function"].as_str().unwrap_or("?").to_owned();
        (name, frame["trust"] == "tail_call")
    });
    let mut named: Vec<_> = named.collect();
    let main = named.iter().position(|(name, _)| name == "main").unwrap();
    named.truncate(main + 1);
    named
}

/// What the program did, as far as it left traces that prove it.
fn proven(chain: &Chain) -> Vec<(String, bool)> {
    let tails = chain.tails.iter().map(|name| ((*name).to_owned(), true));
    let (dies, main) = (("dies".to_owned(), false), ("main".to_owned(), false));
    [dies].into_iter().chain(tails).chain([main]).collect()
}

#[test]
fn what_all_ways_have_in_common_is_shown() {
    for crashed in programs::all() {
        assert_eq!(frames(crashed), proven(crashed.chain), "{}", crashed.name());
    }
}

#[test]
fn other_debuggers_show_no_more_and_where_they_read_the_calls_no_less() {
    for crashed in programs::all() {
        let Some(theirs) = crashed.gdb() else { continue };
        let own: Vec<String> = frames(crashed).into_iter().map(|(name, _)| name).collect();
        let mut left = own.iter();
        let are_own = theirs.iter().all(|name| left.any(|own| own == name));
        assert!(are_own, "{}: {own:?}, gdb {theirs:?}", crashed.name());
        // It gives up where a jump gets its target from elsewhere.
        if crashed.build.is_gcc() && crashed.chain.name != "wild" {
            assert_eq!(own, theirs, "{}", crashed.name());
        }
    }
}

#[test]
fn a_value_is_what_was_passed_or_nothing() {
    for crashed in programs::all() {
        let name = crashed.name();
        let x = crashed.argument_of("dies");
        let told = if crashed.build.is_gcc() { crashed.chain.told } else { None };
        match told {
            Some(told) => assert_eq!(x, json!(told), "{name}"),
            None => assert!(x.is_null() || x == json!(crashed.chain.passed), "{name}: {x}"),
        }
        if !crashed.chain.is_whole {
            assert!(x.is_null(), "{name}: no way is certain, and yet {x}");
        }
    }
}

#[test]
fn functions_that_are_gone_tell_what_they_were_passed() {
    let crashed = programs::one(Build::GCC, "whole");
    assert_eq!(crashed.argument_of("last"), json!(42));
    assert_eq!(crashed.argument_of("middle"), json!(21));
    let (shown, _) = crashed.kcore(&["-c", "::frame 2; ::locals; ::print x; ::frame 0; ::locals"]);
    assert!(shown.contains("[tail call]") && shown.contains("by tail_call"), "{shown}");
    assert!(shown.contains("x = 0x15\n0x15\n"), "{shown}");
    assert!(shown.ends_with("x = 0x2b\n"), "{shown}");
    let (_, errors) = crashed.kcore(&["-c", "::regs -f 2"]);
    assert!(errors.contains("ended by a tail call"), "{errors}");
    let (walked, _) = crashed.kcore(&["-c", "::walk frame | ::locals x"]);
    assert_eq!(walked.matches("0x2b").count(), 1, "{walked}");
    assert!(!walked.contains("0x15"), "{walked}");
}

#[test]
fn a_gap_is_told() {
    let forked = programs::one(Build::GCC, "forked");
    let (shown, _) = forked.kcore(&["-c", "::stack"]);
    assert!(shown.contains("[tail call: forked was called next"), "{shown}");
}

/// The program tells its stack itself, on machines of both kinds and dumped by each maker.
#[test]
fn the_stack_of_the_scenario_has_all_its_calls() {
    for variant in ["O2-pie", "O2-static", "O2-pie-gcore", "O2-aarch64-pie", "O2-aarch64-pac"] {
        let Some(shown) = programs::scenario(variant) else { continue };
        let names: Vec<&str> =
            shown.lines().take(5).map(|it| &it[..it.find('+').unwrap()]).collect();
        assert_eq!(names, ["inner", "middle", "outer", "run", "main"], "{variant}: {shown}");
        assert_eq!(shown.matches("[tail call]").count(), 2, "{variant}: {shown}");
    }
}

#[test]
fn every_chain_has_a_program() {
    let names: Vec<Value> = CHAINS.iter().map(|chain| json!(chain.name)).collect();
    assert_eq!(programs::all().filter(|it| it.build == Build::GCC).count(), names.len());
}
