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

/// A note as the kernel writes it.
fn note(owner: &str, kind: u32, desc: &[u8]) -> Vec<u8> {
    let head = [owner.len() as u32 + 1, desc.len() as u32, kind].map(u32::to_le_bytes).concat();
    let mut note = [&head, owner.as_bytes()].concat();
    note.resize((12 + owner.len() + 1).next_multiple_of(4), 0);
    note.extend_from_slice(desc);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

/// The core with more notes behind the first one, the registers of the thread that died: qemu writes
/// none of these.
fn with_notes(case: &Case, notes: &[u8]) -> (tempfile::TempDir, Arc<Core>) {
    let mut bytes = std::fs::read(&case.core).expect("the core");
    let word = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize
    };
    let table = word(&bytes, 32);
    let header = (table..).step_by(56).find(|at| bytes[*at] == 4).expect("notes");
    let (offset, size) = (word(&bytes, header + 8), word(&bytes, header + 32));
    let old = bytes[offset..offset + size].to_vec();
    let length = |at: usize| u32::from_le_bytes(old[at..at + 4].try_into().unwrap()) as usize;
    let first = 12 + length(0).next_multiple_of(4) + length(4).next_multiple_of(4);
    let all = [&old[..first], notes, &old[first..]].concat();
    for (at, value) in [(8, bytes.len()), (32, all.len())] {
        bytes[header + at..header + at + 8].copy_from_slice(&(value as u64).to_le_bytes());
    }
    bytes.extend(all);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("core");
    std::fs::write(&path, bytes).expect("a copy");
    let options =
        OpenOptions { core: Some(path), exe: Some(case.exe.clone()), ..OpenOptions::default() };
    (folder, Arc::new(Core::open(&options).expect("the copy opens")))
}

#[test]
fn vectors_are_shown_where_a_kernel_noted_them() {
    let vectors = (0..32_u128).flat_map(|number| (number << 120 | 0xf0 | number).to_le_bytes());
    let desc: Vec<u8> =
        vectors.chain([0x10, 0, 0, 0x08, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).collect();
    let opened = crate::harness::open("leaf", "O2-aarch64-pac");
    let (_folder, core) = with_notes(&opened.case, &note("CORE", 2, &desc));
    let out = run_on(&core, "::fpregs").out;
    let expected = "fpsr   0x08000010 (IXC|QC)\nfpcr   0x00c00000 (RZ)\n\n\
                    %v0    0x000000000000000000000000000000f0\n\
                    %v1    0x010000000000000000000000000000f1\n";
    assert!(out.starts_with(expected), "{out}");
    assert!(out.ends_with("\n%v31   0x1f0000000000000000000000000000ff\n"), "{out}");
    let record = &json_on(&core, "$x")[0];
    assert_eq!(
        (&record["x87"], &record["vectors"][31]["name"]),
        (&serde_json::Value::Null, &"v31".into())
    );
}

#[test]
fn variables_are_found_by_the_thread_pointer_that_a_kernel_noted() {
    let opened = crate::harness::open("tls-static", "O0-aarch64-static");
    let tid = u64::from(opened.core.tids()[0].get());
    let output = opened.output();
    let printed = |name: &str| {
        let start = format!("{tid} {name} ");
        let line = output.lines().find_map(|line| line.strip_prefix(&start));
        u64::from_str_radix(line.expect("it is printed"), 16).expect("an address")
    };
    let error = opened.error("::tls exe_small");
    let expected = format!("the thread pointer of thread {tid} is not known");
    assert_eq!(error, format!("kcore: failed to lookup exe_small: {expected}"));
    let pointer = note("LINUX", 0x401, &printed("pointer").to_le_bytes());
    let (_folder, core) = with_notes(&opened.case, &pointer);
    for name in ["exe_small", "exe_wide", "errno"] {
        let found = &json_on(&core, &format!("::tls {name}"))[0];
        assert_eq!(hex(&found["address"]), printed(name), "{name}");
    }
    assert_eq!(run_on(&core, "::errno").out, "22 (EINVAL)\n");
}
