//! What comes through a pipe, or is typed as an address, chooses what a dcmd is about: each dcmd with each kind of
//! value. None may answer for the current thread instead.

use std::sync::LazyLock;

use serde_json::Value;

use crate::harness::{Opened, hex, open, run_on};

static WORKERS: LazyLock<Opened> = LazyLock::new(|| open("workers", "O2-pie"));
static FIBERS: LazyLock<Opened> = LazyLock::new(|| open("fibers", "O2-pie"));
static NODES: LazyLock<Opened> = LazyLock::new(|| open("nodes", "O0-pie"));

/// A thread that is not the current one.
fn other_thread() -> u32 {
    WORKERS.core.tids()[3].get()
}

fn of_kind(records: &[Value], kind: &str) -> Vec<Value> {
    records.iter().filter(|record| record["type"] == kind).cloned().collect()
}

/// Dcmds that are about a thread, with the kind of their records.
const ABOUT_THREADS: [(&str, &str); 8] = [
    ("::stack", "stack"),
    ("::regs", "registers"),
    ("::fpregs", "fp_registers"),
    ("::errno", "errno"),
    ("::tls errno", "tls"),
    ("::findstack", "stack"),
    ("::stackinfo", "stack_use"),
    ("::thread", "thread"),
];

#[test]
fn a_thread_from_a_pipe_or_by_its_id_is_the_one_that_is_shown() {
    let threads: Vec<u64> = WORKERS.core.tids().iter().map(|tid| u64::from(tid.get())).collect();
    for (dcmd, kind) in ABOUT_THREADS {
        let piped = of_kind(&WORKERS.json(&format!("::walk thread | {dcmd}")), kind);
        let whose: Vec<u64> = piped.iter().filter_map(|record| record["tid"].as_u64()).collect();
        assert_eq!(whose, threads, "{dcmd}");
        let typed = of_kind(&WORKERS.json(&format!("0t{}::{}", other_thread(), &dcmd[2..])), kind);
        assert_eq!(typed[0]["tid"], other_thread(), "{dcmd}");
    }
}

#[test]
fn frame_shows_and_chooses_a_frame_of_the_thread_before_it() {
    let tid = other_thread();
    let stack = WORKERS.one(&format!("0t{tid}::stack"));
    let pc = |index: usize| stack["frames"][index]["pc"].clone();
    let shown = |line: &str| of_kind(&WORKERS.json(line), "frame");
    assert_eq!(shown(&format!("0t{tid}::frame"))[0]["pc"], pc(0));
    assert_eq!(shown(&format!("0t{tid}::frame 2"))[0]["pc"], pc(2));
    let chosen = WORKERS.json(&format!("0t{tid}::frame 2; ::regs"));
    let registers = of_kind(&chosen, "registers");
    let physical = physical(&stack["frames"], 2).into();
    assert_eq!((&registers[0]["tid"], &registers[0]["frame"]), (&tid.into(), &physical));
    // The innermost frame of each thread; none is chosen.
    let all = WORKERS.json("::walk thread | ::frame; ::thread");
    let stacks = WORKERS.json("::walk thread | ::stack");
    let tops: Vec<&Value> = stacks.iter().map(|stack| &stack["frames"][0]["pc"]).collect();
    let frames = of_kind(&all, "frame");
    assert_eq!(frames.iter().map(|frame| &frame["pc"]).collect::<Vec<_>>(), tops);
    assert_eq!(of_kind(&all, "thread")[0]["tid"], WORKERS.core.tids()[0].get());
    let missing = WORKERS.error(&format!("0t{tid}::frame 99"));
    assert!(missing.ends_with(&format!("thread {tid} has no frame 99")), "{missing}");
}

#[test]
fn a_frame_pointer_that_is_typed_stands_for_its_frame() {
    let stack = WORKERS.text(&format!("0t{}::stackregs", other_thread()));
    let pointer = stack.lines().nth(1).and_then(|line| line.split(' ').next()).unwrap();
    let frames = WORKERS.one(&format!("0t{}::stack", other_thread()))["frames"].clone();
    let shown = of_kind(&WORKERS.json(&format!("{pointer}::frame")), "frame");
    assert_eq!(shown[0]["pc"], frames[1]["pc"]);
    let registers = of_kind(&WORKERS.json(&format!("{pointer}::regs")), "registers");
    assert_eq!(registers[0]["tid"], other_thread());
    assert_eq!(registers[0]["frame"], physical(&frames, 1));
}

/// The number of the frame whose registers are those of the function at `index`.
fn physical(frames: &Value, index: usize) -> usize {
    let before = &frames.as_array().unwrap()[..index];
    let number = before.iter().filter(|frame| has_registers(frame)).count();
    // What ended by a tail call led to the frame before it, whose registers stand for it.
    if frames[index]["trust"] == "tail_call" { number - 1 } else { number }
}

/// Whether a frame has registers of its own: neither an inlined call has any, nor what ended by a tail call.
fn has_registers(frame: &Value) -> bool {
    frame["inline"] == false && frame["trust"] != "tail_call"
}

#[test]
fn frames_from_a_pipe_are_those_that_are_shown() {
    let tid = other_thread();
    let walk = format!("0t{tid}::walk frame");
    let frames = WORKERS.one(&format!("0t{tid}::stack -N"))["frames"].clone();
    let physical: Vec<&Value> = frames
        .as_array()
        .unwrap()
        .iter()
        .filter(|frame| has_registers(frame))
        .map(|frame| &frame["pc"])
        .collect();
    let shown = of_kind(&WORKERS.json(&format!("{walk} | ::frame")), "frame");
    assert_eq!(shown.iter().map(|frame| &frame["pc"]).collect::<Vec<_>>(), physical);
    let registers = of_kind(&WORKERS.json(&format!("{walk} | ::regs")), "registers");
    for (index, record) in registers.iter().enumerate() {
        assert_eq!((&record["tid"], &record["frame"]), (&tid.into(), &index.into()));
    }
    let stacks = of_kind(&WORKERS.json(&format!("{walk} | ::head -n 2 | ::stack")), "stack");
    assert_eq!(stacks[1]["frames"][0]["pc"], *physical[2], "the caller of the second frame");
    // Of a frame that is not the innermost one nobody kept them.
    let outer = run_on(&WORKERS.core, &format!("{walk} | ::fpregs"));
    let refused = format!("floating-point registers of frame 1 of thread {tid} were not saved");
    assert!(outer.errors.contains(&refused), "{}", outer.errors);
    assert_eq!(outer.errors.lines().count(), physical.len() - 1, "{}", outer.errors);
}

/// What takes the address of a structure does not take a frame's or a thread's number for one.
#[test]
fn a_thread_or_frame_is_no_address_of_a_structure() {
    for (dcmd, structure) in [
        ("::ucontext", "ucontext_t"),
        ("::regs -u", "ucontext_t"),
        ("::stack -u", "ucontext_t"),
        ("::jmp_buf", "jmp_buf"),
    ] {
        for (walk, what) in [("::walk thread", "thread"), ("::walk frame", "frame 0 of thread")] {
            let said = WORKERS.error(&format!("{walk} | {dcmd}"));
            let is_said = said.contains(what)
                && said.ends_with(&format!("is not the address of a {structure}"));
            assert!(is_said, "{walk} | {dcmd}: {said}");
        }
    }
}

#[test]
fn frames_of_one_thread_are_one_stack() {
    let groups = WORKERS.json(&format!("0t{}::walk frame | ::stacks", other_thread()));
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!(groups[0]["count"], 1);
}

/// Suspended fibers run on no thread: their own frames are shown.
#[test]
fn a_task_from_a_pipe_is_the_one_that_is_shown() {
    let stacks = of_kind(&FIBERS.json("::walk fiber | ::stack"), "stack");
    let frames = of_kind(&FIBERS.json("::walk fiber | ::frame"), "frame");
    let suspended = stacks.iter().filter(|stack| stack["tid"].is_null()).count();
    assert!(suspended > 1, "{} fibers, {suspended} of them suspended", stacks.len());
    // Of some nothing is saved, and nothing can be shown.
    let places = |index: usize| -> Vec<&Value> {
        let frames = stacks.iter().map(|stack| &stack["frames"][index]["pc"]);
        frames.filter(|pc| !pc.is_null()).collect()
    };
    assert_eq!(frames.iter().map(|frame| &frame["pc"]).collect::<Vec<_>>(), places(0));
    let callers = of_kind(&FIBERS.json("::walk fiber | ::frame 1"), "frame");
    assert_eq!(callers.iter().map(|frame| &frame["pc"]).collect::<Vec<_>>(), places(1));
    let locals = run_on(&FIBERS.core, "::walk fiber | ::locals");
    assert!(!locals.errors.contains("no thread runs"), "{}", locals.errors);
}

#[test]
fn print_says_which_frame_has_no_such_variable_and_goes_on() {
    let frames = NODES.one("::stack")["frames"].as_array().unwrap().len();
    let outcomes = run_on(&NODES.core, "::walk frame | ::print label");
    assert_eq!(outcomes.out, "[ \"attempt\" ]\n", "one frame has it");
    let tid = NODES.core.tids()[0];
    let first = outcomes.errors.lines().next().unwrap_or_default();
    assert!(
        first.ends_with(&format!("frame 0 (handle_get) of thread {tid} has no variable label")),
        "{first}"
    );
    assert_eq!(outcomes.errors.lines().count(), frames - 1, "{}", outcomes.errors);
    assert!(outcomes.status.failed());
    // A type of that name is not read at the frame's address.
    let typed = run_on(&NODES.core, "::walk frame | ::print int");
    assert_eq!(typed.out, "");
    // What says that it is a type is one.
    let dot = NODES.json("::walk frame | ::head -n 1 | ::print struct node n_id");
    assert_eq!(dot.len(), 1, "{dot:?}");
}

#[test]
fn print_says_which_frame_a_path_does_not_fit_and_goes_on() {
    let frames = NODES.one("::stack")["frames"].as_array().unwrap().len();
    for path in ["request->nosuch", "request nosuch"] {
        let outcomes = run_on(&NODES.core, &format!("::walk frame | ::print {path}"));
        let errors: Vec<&str> = outcomes.errors.lines().collect();
        assert_eq!(errors.len(), frames, "{errors:?}");
        for (index, function) in [(0, "handle_get"), (1, "serve")] {
            let error = errors[index];
            assert!(error.contains(&format!("frame {index} ({function}) of thread")), "{error}");
            assert!(error.contains("no member") || error.contains("no such member"), "{error}");
        }
        assert!(errors[2].contains("frame 2 (main) of thread"), "{}", errors[2]);
    }
}

#[test]
fn a_context_is_one_wherever_it_comes_from() {
    let signals = open("signal-handler", "O0-pie");
    let walked = of_kind(&signals.json("::walk ucontext"), "element");
    let at = hex(&walked[0]["value"]);
    for dcmd in ["ucontext", "regs -u", "stack -u"] {
        let piped = signals.json(&format!("::walk ucontext | ::{dcmd}"));
        let typed = signals.json(&format!("{at:x}::{dcmd}"));
        assert_eq!(piped, typed, "{dcmd}");
    }
}
