//! What people see of a process on aarch64.

use std::sync::{Arc, OnceLock};

use gen_cores::{Case, Outcome};
use kcore::{Core, OpenOptions};

use crate::harness::{hex, json_on, run_on};

/// A fault in a leaf function, whose return address is in x30.
fn core() -> Arc<Core> {
    static CORE: OnceLock<Arc<Core>> = OnceLock::new();
    CORE.get_or_init(|| Arc::new(open())).clone()
}

fn open() -> Core {
    let case: Case = match gen_cores::ensure("leaf", "O2-aarch64-pac").expect("a core") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => panic!("this machine makes no such cores: {}", skipped.reason),
    };
    let options = OpenOptions { core: Some(case.core), exe: Some(case.exe), ..Default::default() };
    Core::open(&options).expect("the core opens")
}

fn text(line: &str) -> String {
    let outcomes = run_on(&core(), line);
    assert_eq!(outcomes.errors, "", "{line}");
    outcomes.out
}

#[test]
fn registers_stand_in_two_columns_and_those_that_say_where_below() {
    let out = text("::regs");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("%x0  = 0x") && lines[0].contains("\t%x15 = 0x"), "{out}");
    assert!(lines[14].starts_with("%x14 = 0x") && lines[14].contains("\t%x29 = 0x"), "{out}");
    assert!(lines.iter().any(|line| line.starts_with("%pc  = 0x") && line.contains(" leaf")));
    assert!(lines.iter().any(|line| line.starts_with("%sp  = 0x")), "{out}");
    assert!(out.contains("%pstate = 0x") && out.contains("%tpidr = <unknown>"), "{out}");
}

#[test]
fn an_outer_frame_knows_what_its_callees_preserved() {
    let out = text("::regs -f 1");
    assert!(out.contains("%x0  = <unknown>") && out.contains("%x30 = <unknown>"), "{out}");
    assert!(!out.contains("%x19 = <unknown>") && !out.contains("%sp  = <unknown>"), "{out}");
}

#[test]
fn registers_have_their_other_names_in_expressions() {
    let value = |name: &str| hex(&json_on(&core(), &format!("<{name}=K"))[0]["value"]);
    assert_eq!((value("lr"), value("fp")), (value("x30"), value("x29")));
    assert_eq!(value("w19"), value("x19") & 0xffff_ffff);
    let outcomes = run_on(&core(), "<rax=K");
    assert!(outcomes.status.failed(), "no register of another machine: {}", outcomes.out);
}

#[test]
fn the_caller_of_a_leaf_function_is_found() {
    let out = text("$C");
    let names: Vec<&str> = out.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert!(names[0].starts_with("leaf"), "{out}");
    assert!(names[1].starts_with("sum") && names[2].starts_with("report"), "{out}");
}

#[test]
fn code_is_shown_in_its_own_syntax() {
    let out = text("leaf::dis -n 2");
    assert!(out.lines().all(|line| line.starts_with("leaf")), "{out}");
    assert!(out.lines().any(|line| line.contains("[x") || line.contains("x0,")), "{out}");
}
