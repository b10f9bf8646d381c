//! `::ucontext`, `::regs -u`, `::stack -u`, `addr::siginfo`, `::jmp_buf`, and the walkers `ucontext`,
//! `linkmap`, `ulwp`, `auxv`, `arg`, `env`.

use std::sync::LazyLock;

use crate::harness::{Opened, hex, open};

static CONTEXTS: LazyLock<Opened> = LazyLock::new(|| open("contexts", "O2-pie"));

/// A program of each kind that saves contexts in its own way.
const KINDS: [&str; 5] =
    ["O2-pie", "O2-static", "O2-musl-pie", "O2-aarch64-pie", "O2fp-aarch64-nopie"];

/// Where the program said that something lies.
fn place(opened: &Opened, name: &str) -> u64 {
    let output = opened.output();
    let place = output.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    u64::from_str_radix(place.expect("the program prints it"), 16).expect("an address")
}

/// Holds what a jump buffer shows against the frame that set it, whose stack pointer is `sp`.
fn check_jump_buffer(variant: &str, sp: &str) {
    let opened = open("contexts", variant);
    let record = opened.one(&format!("{:x}::jmp_buf", place(&opened, "buffer")));
    let target = record["target"].as_str().unwrap_or_default();
    assert!(target.starts_with("set_jump+"), "{variant}: {record}");
    let frames = opened.one("::stack")["frames"].clone();
    let frames = frames.as_array().expect("a list");
    let setter = frames.iter().find(|it| it["function"] == "set_jump").expect("it is there");
    assert_eq!(record["registers"][sp], setter["sp"], "{variant}");
}

#[test]
fn a_jump_buffer_leads_to_where_it_was_set() {
    for variant in ["O0-pie", "O2-pie", "O2-nopie", "O2-static", "O2-musl-pie", "O2-musl-static"] {
        check_jump_buffer(variant, "rsp");
    }
}

#[test]
fn aarch64_has_its_own_jump_buffers() {
    for variant in ["O2-aarch64-pie", "O2fp-aarch64-nopie"] {
        check_jump_buffer(variant, "sp");
    }
}

#[test]
fn what_is_no_jump_buffer_is_refused() {
    let at = place(&CONTEXTS, "first");
    let error = CONTEXTS.error(&format!("{at:x}::jmp_buf"));
    let expected = format!("kcore: failed to read jump buffer at {at:x}: no jump buffer: 0x");
    assert!(error.starts_with(&expected) && error.ends_with(" is no code"), "{error}");
    assert!(CONTEXTS.error("8::jmp_buf").contains("no mapping for address"));
    let out = CONTEXTS.text(&format!("{:x}::sigjmp_buf", place(&CONTEXTS, "buffer")));
    assert!(out.starts_with("target  = set_jump+0x") && out.contains("\nrip     = 0x"), "{out}");
}

#[test]
fn a_handler_is_given_what_interrupted_what() {
    for variant in KINDS {
        let opened = open("contexts", variant);
        let info = opened.one(&format!("{:x}::siginfo", place(&opened, "given")));
        let (signal, code) = (&info["signal"], &info["code_name"]);
        assert_eq!((signal, code), (&"SIGUSR1".into(), &"SI_TKILL".into()), "{variant}: {info}");
        assert_eq!(
            info["sender_pid"],
            opened.core.process().pid().expect("it is known"),
            "{variant}"
        );
        assert!(info["tid"].is_null());
        let at = place(&opened, "interrupted");
        let context = opened.one(&format!("{at:x}::ucontext"));
        assert!(context["link"].is_null() && context["fault_address"].is_null(), "{context}");
        let pc = if variant.contains("aarch64") { "pc" } else { "rip" };
        let stack = opened.one(&format!("{at:x}::stack -u"))["frames"].clone();
        assert_eq!(stack[0]["pc"], context["registers"][pc], "{variant}");
    }
}

#[test]
fn registers_of_a_context_are_laid_out_as_others() {
    let at = place(&CONTEXTS, "interrupted");
    let out = CONTEXTS.text(&format!("{at:x}::regs -u"));
    let context = CONTEXTS.one(&format!("{at:x}::ucontext"));
    let rip = hex(&context["registers"]["rip"]);
    assert!(out.contains(&format!("\n\n%rip = {rip:#018x} libc.so.6`")), "{out}");
    assert!(out.contains("\n%fsbase = <unknown>") && !out.contains("%cs"), "{out}");
    assert!(CONTEXTS.one(&format!("{at:x}::regs -u"))["tid"].is_null());
    let text = CONTEXTS.text(&format!("{at:x}::ucontext"));
    assert!(text.starts_with("flags   = ") && text.contains("\nmask    = 0 ()\n"), "{text}");
    assert!(text.contains(&format!("\nrip     = {rip:#018x}\n")), "{text}");
    assert_eq!(CONTEXTS.error("::regs -u"), "kcore: -u needs the address of a ucontext_t");
}

/// The frame that a signal interrupted is the one behind the code to which its handler returns.
#[test]
fn signals_leave_their_contexts_on_the_stack() {
    for variant in ["O0-pie", "O2-pie", "O2-musl-pie", "O2-aarch64-pie", "O2-aarch64-pac"] {
        for scenario in ["altstack", "signal-handler"] {
            let opened = open(scenario, variant);
            let name = format!("{scenario}/{variant}");
            let stack = opened.one("::stack")["frames"].clone();
            let frames = stack.as_array().expect("a list");
            let restorer = frames.iter().position(|it| it["kind"] == "trampoline");
            let interrupted = &frames[restorer.expect("a handler runs") + 1];
            let contexts = opened.json("::walk ucontext | ::ucontext");
            assert_eq!(contexts.len(), 1, "{name}");
            let pc = if variant.contains("aarch64") { "pc" } else { "rip" };
            assert_eq!(contexts[0]["registers"][pc], interrupted["pc"], "{name}");
            let unwound = opened.one("::walk ucontext | ::stack -u")["frames"].clone();
            let rest: Vec<_> = frames[restorer.unwrap() + 1..].iter().map(|it| &it["pc"]).collect();
            let unwound: Vec<_> = unwound.as_array().unwrap().iter().map(|it| &it["pc"]).collect();
            assert_eq!(unwound, rest, "{name}");
            let piped = opened.json("::walk thread | ::walk ucontext");
            assert_eq!(piped.len(), 1, "{name}");
        }
    }
    let fault = open("altstack", "O2-pie").one("::walk ucontext | ::ucontext");
    assert_eq!((&fault["trap_number"], &fault["trap_error"]), (&14.into(), &"0x4".into()));
    assert_eq!(fault["fault_address"], "0x8");
}

#[test]
fn contexts_are_followed_by_their_links() {
    let (first, second) = (place(&CONTEXTS, "first"), place(&CONTEXTS, "second"));
    let expected = format!("{first:#x}\n{second:#x}\n");
    assert_eq!(CONTEXTS.text(&format!("{first:x}::walk ucontext")), expected);
    assert_eq!(CONTEXTS.text("::walk ucontext"), "");
}

#[test]
fn the_dynamic_linkers_list_is_walked() {
    for variant in ["O2-pie", "O2-nopie", "O2-musl-pie", "O2-aarch64-pie"] {
        let opened = open("contexts", variant);
        let entries = opened.json("::walk linkmap");
        let objects = opened.json("::objects");
        for entry in &entries {
            let at = hex(&entry["value"]);
            let dynamic = &opened.json(&format!("{at:x},3/K"))[2]["value"];
            let holder = opened.one(&format!("{:x}::objects", hex(dynamic)));
            assert!(objects.contains(&holder), "{variant}: {holder}");
        }
        assert!(entries.len() >= 2, "{variant}");
    }
    assert_eq!(open("contexts", "O2-static").text("::walk linkmap"), "");
}

#[test]
fn each_thread_has_a_structure_that_holds_its_id() {
    let opened = open("tls", "O2-pie");
    let structures = opened.json("::walk ulwp");
    assert_eq!(structures.len(), 3);
    for (structure, tid) in structures.iter().zip(opened.core.tids()) {
        assert_eq!(id_in(&opened, hex(&structure["value"])), u64::from(tid.get()));
    }
    assert_eq!(opened.json("::walk thread | ::walk ulwp"), structures);
    let aarch64 = open("tls", "O2-aarch64-pie");
    let structure = hex(&aarch64.json("::walk ulwp")[0]["value"]);
    assert_eq!(id_in(&aarch64, structure), u64::from(aarch64.core.tids()[0].get()));
}

/// The field `tid` of glibc's `struct pthread`, whose offset a symbol of its tells debuggers.
fn id_in(opened: &Opened, structure: u64) -> u64 {
    let offset = opened.one("libc`_thread_db_pthread_tid+8/D")["value"].clone();
    let at = structure + offset.as_u64().expect("an offset");
    opened.one(&format!("{at:x}/D"))["value"].as_u64().expect("an id")
}

#[test]
fn what_the_kernel_put_on_the_stack_is_walked() {
    let vector = CONTEXTS.json("::walk auxv");
    let entries = CONTEXTS.json("::auxv");
    assert_eq!(vector.len(), entries.len());
    for (at, entry) in vector.iter().zip(&entries) {
        let words = CONTEXTS.json(&format!("{:x},2/K", hex(&at["value"])));
        assert_eq!(hex(&words[0]["value"]), entry["number"].as_u64().unwrap(), "{entry}");
        assert_eq!(words[1]["value"], entry["value"]);
    }
    let addresses = |line: &str| -> Vec<_> {
        CONTEXTS.json(line).iter().map(|it| it["address"].clone()).collect()
    };
    let walked = |line: &str| -> Vec<_> {
        CONTEXTS.json(line).iter().map(|it| it["value"].clone()).collect()
    };
    assert_eq!(walked("::walk env"), addresses("::env"));
    assert_eq!(walked("::walk arg"), addresses("::args"));
}

#[test]
fn the_environment_is_shown_as_it_is_now() {
    for variant in ["O2-pie", "O2-nopie", "O2-static", "O2-musl-pie", "O2-aarch64-pie"] {
        let opened = open("contexts", variant);
        assert_eq!(opened.text("::getenv KCORE_ADDED"), "", "{variant}");
        assert_eq!(opened.text("::getenv -t KCORE_ADDED"), "later\n", "{variant}");
        assert!(opened.text("::env -t").contains("\nKCORE_SCENARIO=contexts\n"), "{variant}");
    }
}
