//! Stacks of each machine, held against those that their programs know.

use gen_cores::{Seen, Thread, compare};
use kcore::{Core, MAX_FRAMES, NamedFrame, Tid};

use crate::{Opened, open, variants};

/// A leaf without a frame, threads that wait, handlers on their own and on another stack, one handler in another, and ten
/// thousand frames of one function.
const SCENARIOS: [&str; 6] =
    ["leaf", "threads-12", "signal-handler", "altstack", "signal-nested", "deep-recursion"];

/// Cases that differ, and why.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("leaf/O0-s390x-static", "the leaf keeps its caller's r11 in f0, which qemu does not note"),
    ("altstack/O0-s390x-static", "as above"),
    ("leaf/O2-s390x-static", "the compiler puts the line of the addition on the load that fails"),
];

fn as_seen(frame: &NamedFrame) -> Seen {
    Seen {
        function: frame.location.function.as_deref().map(str::to_owned),
        file: frame.location.file.as_deref().map(str::to_owned),
        line: frame.location.line,
        inline: frame.location.inline,
        pc: frame.pc().map(|pc| pc.addr().get()),
    }
}

/// How a stack differs from what the program knows.
fn difference(core: &Core, thread: &Thread) -> Option<String> {
    let stack = core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES);
    let seen: Vec<Seen> = core.stacks().named_frames(&stack).map(|frame| as_seen(&frame)).collect();
    let difference = compare(thread, &seen).err()?;
    let names = seen.iter().take(30).map(|seen| seen.function.as_deref().unwrap_or("?"));
    let names: Vec<_> = names.collect();
    Some(format!("{difference}\n    {} -- {}", names.join(" < "), stack.end))
}

fn differences(opened: &Opened) -> Vec<String> {
    let truth = opened.case.truth().expect("a truth");
    let missing =
        truth.threads.iter().filter(|thread| opened.core.thread(Tid::new(thread.tid)).is_none());
    let missing = missing.map(|thread| format!("thread {} is missing", thread.tid));
    let wrong = truth.threads.iter().filter_map(|thread| difference(&opened.core, thread));
    missing.chain(wrong).map(|it| format!("{}: {it}", opened.case.name())).collect()
}

#[test]
fn every_thread_has_the_stack_that_its_program_knows() {
    let mut found = Vec::new();
    for scenario in SCENARIOS {
        for variant in variants("O0").chain(variants("O2")) {
            let Some(opened) = open(scenario, &variant) else { continue };
            let (name, differences) = (opened.case.name(), differences(&opened));
            match EXCEPTIONS.iter().find(|(case, _)| *case == name) {
                Some((_, why)) if differences.is_empty() => {
                    found.push(format!("{name}: not needed any more: {why}"));
                }
                Some(_) => {}
                None => found.extend(differences),
            }
        }
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn programs_with_libraries_have_the_stacks_that_they_know() {
    let mut found = Vec::new();
    for variant in ["O2-arm-pie", "O2-ppc64le-pie", "O2-s390x-pie", "O2-mips-pie"] {
        let Some(opened) = open("threads-12", variant) else { continue };
        found.extend(differences(&opened));
        let names: Vec<_> = opened.core.modules().all().iter().map(|it| it.name()).collect();
        assert!(names.iter().any(|name| name.starts_with("libc.so")), "{variant}: {names:?}");
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
