//! Contexts that a search finds, held against what programs know of their coroutines.

#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../dcmds/made.rs"]
mod made;

use std::{collections::BTreeMap, fs, sync::Arc};

use gen_cores::Case;
use kcore::{Core, OpenOptions};
use made::made;
use serde_json::Value;

fn open(case: &Case) -> Arc<Core> {
    let sysroot = case.truth().expect("the truth").sysroot.map(Into::into);
    let options = OpenOptions { core: Some(case.core.clone()), sysroot, ..OpenOptions::default() };
    Arc::new(Core::open(&options).expect("the core opens"))
}

fn records(core: &Arc<Core>, line: &str) -> Vec<Value> {
    let records = harness::json_on(core, line);
    records.iter().for_each(|record| assert_ne!(record["type"], "error", "{line}: {record}"));
    records
}

/// What coroutines told of themselves.
fn told(case: &Case) -> Vec<Value> {
    let text = fs::read_to_string(case.dir.join("values.jsonl")).expect("coroutines told");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The function of a program's own that a stack has most of, and how often, one less: its depth.
fn own_function(record: &Value, names: &[&str]) -> (String, usize) {
    let frames = record["frames"].as_array().expect("frames");
    let functions: Vec<&str> =
        frames.iter().filter_map(|frame| frame["function"].as_str()).collect();
    let count = |name: &str| functions.iter().filter(|function| **function == name).count();
    let found = names.iter().copied().find(|name| count(name) > 0);
    let found = found.unwrap_or_else(|| panic!("none of {names:?} in {functions:?}"));
    (found.to_owned(), count(found) - 1)
}

/// What coroutines told of their functions and depths.
fn depths(told: &[Value]) -> BTreeMap<(String, usize), usize> {
    let mut depths: BTreeMap<(String, usize), usize> = BTreeMap::new();
    for told in told.iter().filter(|told| told["state"] == "found") {
        let function = told["function"].as_str().expect("a function").to_owned();
        let depth = told["depth"].as_u64().expect("a depth") as usize;
        *depths.entry((function, depth)).or_default() += 1;
    }
    depths
}

#[test]
fn contexts_on_stacks_are_found_on_both_machines() {
    for variant in [
        "O0-pie",
        "O2-pie",
        "O2-nopie",
        "O2-pie-gcore",
        "O0-aarch64-pie",
        "O2-aarch64-pie",
        "O2-aarch64-nopie",
    ] {
        let Some(case) = made("fcontexts", variant) else { continue };
        let core = open(&case);
        let told = told(&case);
        let found = records(&core, "::findcontexts");
        assert!(found.iter().all(|it| it["shape"] == "fcontext" && it["held_at"].is_string()));
        let new: Vec<&Value> = found.iter().filter(|it| it["state"] == "created").collect();
        let told_new = told.iter().filter(|told| told["state"] == "created").count();
        assert_eq!(new.len(), told_new, "{variant}: {found:#?}");
        assert!(new.iter().all(|it| it["entry_function"] == "body"), "{variant}: {new:#?}");
        let mut seen: BTreeMap<(String, usize), usize> = BTreeMap::new();
        for stack in records(&core, "::findcontexts | ::stack") {
            let is_of_one =
                stack["task"]["state"] == "found" && stack.to_string().contains("leaves");
            if is_of_one {
                assert_eq!(stack["end"]["reason"], "outermost", "{variant}: {stack}");
                *seen.entry(own_function(&stack, &["leaves", "leaves_at_once"])).or_default() += 1;
            }
            // The process runs on the stack of another one, whose context is old.
            assert!(!stack.to_string().contains("\"dies\""), "{variant}: {stack}");
        }
        assert_eq!(seen, depths(&told), "{variant}");
    }
}

#[test]
fn contexts_of_the_c_library_are_found_where_the_program_says() {
    for variant in ["O0-pie", "O2-pie", "O2-nopie", "O2-pie-gcore", "O2-aarch64-pie"] {
        let Some(case) = made("ucontexts", variant) else { continue };
        let core = open(&case);
        let found = records(&core, "::findcontexts");
        let stacks = records(&core, "::findcontexts | ::stack");
        let told = told(&case);
        let at = |record: &Value, key: &str| record[key].as_str().expect("an address").to_owned();
        let of = |wanted: &Value| {
            let wanted = at(wanted, "context");
            let index = found.iter().position(|found| at(found, "address") == wanted);
            index.unwrap_or_else(|| panic!("{variant}: {wanted} is not found: {found:#?}"))
        };
        for told in &told {
            let index = of(told);
            assert_eq!(found[index]["shape"], "ucontext");
            assert_eq!(found[index]["state"], told["state"], "{variant}: {told}");
            if told["state"] == "created" {
                assert_eq!(found[index]["entry_function"], told["function"]);
                continue;
            }
            let function = told["function"].as_str().expect("a function");
            let (_, depth) = own_function(&stacks[index], &[function]);
            assert_eq!(depth as u64, told["depth"], "{variant}: {told}");
            assert_eq!(stacks[index]["end"]["reason"], "outermost");
            // Not the function of the C library that all of them return to.
            let first = if function == "main" { "_start" } else { "body" };
            assert_eq!(found[index]["entry_function"], first, "{variant}: {told}");
        }
        // The process runs on the stack of another one, whose context is old.
        let dying = stacks.iter().filter(|stack| stack.to_string().contains("\"dies\"")).count();
        assert_eq!(dying, 0, "{variant}");
    }
}

#[test]
fn contexts_beside_stacks_are_found_whatever_their_layout() {
    for variant in [
        "O0-pie",
        "O2-pie",
        "O2-nopie",
        "O2-pie-gcore",
        "O0-aarch64-pie",
        "O2-aarch64-pie",
        "O2-aarch64-nopie",
    ] {
        let Some(case) = made("beside", variant) else { continue };
        let core = open(&case);
        let found = records(&core, "::findcontexts");
        let stacks = records(&core, "::findcontexts | ::stack");
        let told = told(&case);
        for told in &told {
            let at = |record: &&Value| record["address"] == told["context"];
            let index = found.iter().position(|record| at(&record));
            let index = index.unwrap_or_else(|| panic!("{variant}: {told} is not found"));
            let (context, stack) = (&found[index], &stacks[index]);
            assert_eq!(context["shape"], "beside", "{variant}: {told}");
            assert_eq!(context["state"], told["state"], "{variant}: {told}");
            let function = told["function"].as_str().expect("a function");
            if told["state"] == "created" {
                assert_eq!(context["entry_function"], function, "{variant}: {told}");
                continue;
            }
            let (_, depth) = own_function(stack, &[function]);
            assert_eq!(depth as u64, told["depth"], "{variant}: {told}");
            assert_eq!(stack["end"]["reason"], "outermost", "{variant}: {told}");
            let outermost = stack["frames"].as_array().and_then(|frames| frames.last());
            let first = if function == "run" { "_start" } else { "body" };
            assert_eq!(outermost.expect("a frame")["function"], first, "{variant}: {told}");
        }
        assert_eq!(found.len(), told.len(), "{variant}: {found:#?}");
    }
}

#[test]
fn a_process_without_coroutines_has_none() {
    let Some(case) = made("threads-12", "O2-pie") else { return };
    assert_eq!(records(&open(&case), "::findcontexts"), Vec::<Value>::new());
}

#[test]
fn bthreads_are_found_by_their_contexts_and_not_told_twice() {
    let Some(case) = made("bthreads", "O2-pie") else { return };
    let core = open(&case);
    let listed = records(&core, "::bthreads").len();
    assert!(listed > 100);
    // Left over are the threads of the system that run some, whose own stacks are Boost.Context's too.
    for found in records(&core, "::findcontexts") {
        assert_eq!(found["shape"], "fcontext", "{found}");
    }
}
