//! Programs of x32: words of 32 bits, registers and their places on the stack of 64. A kernel for them is rare, but their
//! code runs in any process of x86-64, which writes the core that such a kernel would write.

use std::{path::Path, process::Command};

use kcore::{Addr, Core, Limits, MAX_FRAMES, OpenOptions};
use tempfile::TempDir;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/x32");

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn gcc(folder: &Path, source: &str, flags: &[&str], to: &str) {
    let mut gcc = Command::new("gcc");
    gcc.current_dir(folder).args(["-g", "-Wall", "-o", to]).args(flags);
    run(gcc.arg(format!("{SOURCES}/{source}")));
}

/// The core of the program's death, and the folder of both.
fn open(optimisation: &str) -> (Core, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    gcc(at, "launcher.c", &["-O1"], "launcher");
    let own = ["-mx32", optimisation, "-static", "-nostdlib", "-fno-stack-protector"];
    gcc(at, "program.c", &own, "program");
    run(Command::new("./launcher").current_dir(at).args(["program", "core"]));
    let options =
        OpenOptions { exe: Some(at.join("program")), ..OpenOptions::of_core(at.join("core")) };
    (Core::open(&options).expect("a core"), folder)
}

#[test]
fn the_stack_is_that_of_the_program() {
    for (optimisation, middles) in [("-O0", 3), ("-O2", 1)] {
        let (core, _folder) = open(optimisation);
        assert_eq!((core.target().word, core.arch().to_string()), (4, "x86-64".to_owned()));
        let crashed = core.crashed_thread().expect("a thread that died");
        let stack = core.stacks().of_thread(crashed.tid, MAX_FRAMES);
        let names: Vec<String> = core
            .stacks()
            .named_frames(&stack)
            .map(|frame| frame.location.function.as_deref().unwrap_or("?").to_owned())
            .map(|name| name.split('.').next().unwrap_or_default().to_owned())
            .collect();
        let told = [vec!["leaf"], vec!["middle"; middles], vec!["_start"]].concat();
        assert_eq!(names, told, "{optimisation}: {}", stack.end);
        assert_eq!(stack.end, kcore::End::Outermost, "{optimisation}");
        assert!(stack.frames.iter().all(|frame| !frame.guess), "{optimisation}");
    }
}

#[test]
fn pointers_have_four_bytes_and_registers_eight() {
    let (core, _folder) = open("-O0");
    let shown = |name: &str| {
        let object = core.variables().find(None, None, name).expect(name).object().expect(name);
        (object.ty.size(), object.value(&core, &Limits::default()).to_string())
    };
    let (size, first) = shown("first");
    assert_eq!(size, Some(24), "two pointers and a number of eight bytes, which aligns the whole");
    assert!(first.contains("\"before\""), "{first}");
    let (_, last) = shown("last");
    assert!(last.contains("1311768467463790320") && last.contains("\"behind\""), "{last}");
    let crashed = core.crashed_thread().expect("a thread that died");
    let info = crashed.siginfo.expect("why it died");
    assert_eq!(info.detail, kcore::SignalDetail::Fault { address: Addr::new(8) });
}
