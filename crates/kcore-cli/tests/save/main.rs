//! `kcore save`: cores of live processes, as other debuggers and kcore itself read them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod budget;
mod failures;
mod javascript;
mod memory;
#[path = "../support/process.rs"]
mod process;
mod racing;
mod scattered;
mod segments;
mod target;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use target::{Target, WORKER, WORKERS, kcore_command, program, records, save, stacks};

const KINDS: [&[&str]; 4] = [&[], &["--all"], &["--stacks-only"], &["--for-decoders"]];

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// How many stacks run what a worker runs, in this order, one directly below the other.
fn workers(stacks: &[Vec<String>]) -> usize {
    let runs = |stack: &&Vec<String>| stack.windows(WORKER.len()).any(|names| names == WORKER);
    stacks.iter().filter(runs).count()
}

#[test]
fn a_saved_core_has_the_stacks_that_the_process_has() {
    let (target, folder) = (Target::start(), folder());
    let live = stacks(&["-p", &target.pid()]);
    assert_eq!((live.len(), workers(&live)), (WORKERS + 1, WORKERS), "{live:?}");
    for (index, kind) in KINDS.iter().enumerate() {
        for end in ["core", "core.zst"] {
            let path = folder.path().join(format!("{index}.{end}"));
            let said = save(kind, &target.pid(), &path);
            assert!(said.contains("stood still for"), "{said}");
            assert_eq!(stacks(&[path.to_str().unwrap()]), live, "{kind:?} {end}");
        }
    }
    target.assert_runs();
}

/// The functions of each thread, by what gdb prints of `thread apply all bt`.
fn of_gdb(core: &Path) -> Vec<Vec<String>> {
    let output = Command::new("gdb")
        .args(["-q", "-nx", "-batch", "-ex", "thread apply all bt"])
        .args([program(), core])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut stacks: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("Thread ") {
            stacks.push(Vec::new());
        }
        // `#1  0x... in name (args) at file`, and without an address where a call is inlined.
        let Some(frame) = line.strip_prefix('#') else { continue };
        let frame = frame.split_once(" in ").map_or(frame, |(_, rest)| rest);
        let name = frame.split(" (").next().unwrap_or_default().trim();
        // What it prints of the first thread before it is asked belongs to none.
        if let Some(stack) = stacks.last_mut() {
            stack.push(name.to_owned());
        }
    }
    stacks
}

#[test]
fn gdb_prints_the_same_stacks() {
    let (target, folder) = (Target::start(), folder());
    for (index, kind) in KINDS.iter().enumerate() {
        let path = folder.path().join(format!("{index}.core"));
        save(kind, &target.pid(), &path);
        let stacks = of_gdb(&path);
        assert_eq!((stacks.len(), workers(&stacks)), (WORKERS + 1, WORKERS), "{kind:?} {stacks:?}");
        assert!(stacks.iter().any(|stack| stack.iter().any(|name| name == "main")), "{stacks:?}");
    }
}

#[test]
fn lldb_prints_the_same_stacks() {
    let (target, folder) = (Target::start(), folder());
    if Command::new("lldb").arg("--version").stdout(Stdio::null()).status().is_err() {
        gen_cores::not_tested("there is no lldb");
        return;
    }
    for (index, kind) in KINDS.iter().enumerate() {
        let path = folder.path().join(format!("{index}.core"));
        save(kind, &target.pid(), &path);
        let mut lldb = Command::new("lldb");
        lldb.args(["-x", "-b", "-o", "bt all", "--core"]).args([&path, program()]);
        let output = lldb.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        for name in WORKER {
            let count = text.matches(&format!("`{name}(")).count();
            assert_eq!(count, WORKERS, "{kind:?} {name}: {text}");
        }
    }
}

#[test]
fn memory_is_as_it_was_and_what_the_process_keeps_secret_is_not_there() {
    const SECRET: &[u8] = b"ybobtuvaapqswxyy";
    let (target, folder) = (Target::start(), folder());
    let has_secret = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET);
    for (kind, wanted) in [(&[][..], false), (&["--all"][..], true)] {
        let path = folder.path().join("core");
        save(kind, &target.pid(), &path);
        assert_eq!(has_secret(&fs::read(&path).unwrap()), wanted);
        let core = path.to_str().unwrap();
        // The last word of the heap: (24 << 17) times the constant of the program.
        let word = format!("{}+{:x}/J", target.addresses[1], (24 << 20) - 8);
        let output = target::kcore(&["--no-rc", core, "-c", &word]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let value = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(24 << 17);
        assert!(text.contains(&format!("{value:x}")), "{text} {}", target::stderr(&output));
    }
}

#[test]
fn a_small_core_does_not_take_data_from_files_for_that_of_the_process() {
    let (target, folder) = (Target::start(), folder());
    let path = folder.path().join("core");
    let said = save(&["--stacks-only"], &target.pid(), &path);
    let size = fs::metadata(&path).unwrap().len();
    assert!(size < 2 << 20, "{size} bytes: {said}");
    let output = target::kcore(&["--no-rc", path.to_str().unwrap(), "-c", "changed/J"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Its page may be in the core, since something else on it was needed.
    let right = text.trim_end().ends_with(" 8") || !output.status.success();
    assert!(right, "{text}");
    save(&[], &target.pid(), &path);
    let output = target::kcore(&["--no-rc", path.to_str().unwrap(), "-c", "changed/J"]);
    assert!(String::from_utf8_lossy(&output.stdout).trim_end().ends_with(" 8"));
}

#[test]
fn a_pipe_gets_the_core_and_a_second_one_is_like_the_first() {
    let (target, folder) = (Target::start(), folder());
    let path = folder.path().join("core");
    save(&[], &target.pid(), &path);
    let mut pipe = kcore_command();
    let output = pipe.args(["save", &target.pid(), "-o", "-"]).output().unwrap();
    assert!(output.status.success(), "{}", target::stderr(&output));
    let piped = folder.path().join("piped");
    fs::write(&piped, &output.stdout).unwrap();
    let mappings = |core: &Path| {
        let records = records(&[core.to_str().unwrap(), "-c", "::mappings"]);
        records.into_iter().filter(|record| record["type"] == "mapping").collect::<Vec<_>>()
    };
    assert!(mappings(&path).len() > 10);
    assert_eq!(mappings(&path), mappings(&piped));
    assert_eq!(stacks(&[path.to_str().unwrap()]), stacks(&[piped.to_str().unwrap()]));
}
