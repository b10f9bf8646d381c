//! `--max-time` ends what is built of a large file, and nothing of it passes for whole then.

use std::fs;
use std::process::{Command, Output};

use crate::case::{Case, STACK, Stands};
use crate::dwarf::{CODE, abbreviation, at, entry, form, tag, unit};
use crate::elf::Program;
use crate::frames::{eh_frame_of_functions, stack_of_returns};

/// So many functions are not read in [`TIME`], in seconds, by any machine.
const FUNCTIONS: usize = 1_000_000;
const TIME: &str = "0.005";

/// What is said of the two commands of a case: each of them, since the second one has no more of an index than the
/// first, though it needs one as well.
fn assert_halted(case: &Case) -> String {
    let output = run(case, &["--max-time", TIME, "-c", case.commands, "-c", case.commands]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(errors.matches("out of time").count(), 2, "{errors}");
    assert_eq!(output.status.code(), Some(1), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn run(case: &Case, options: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("core"), &case.core).unwrap();
    fs::write(dir.path().join("program"), case.program.as_ref().unwrap()).unwrap();
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["--no-rc", "--color", "never"]).args(options).args(["program", "core"]);
    kcore.current_dir(dir.path()).output().unwrap()
}

fn described() -> Case {
    let shapes = [
        abbreviation(1, tag::UNIT, true, &[(at::LOW_PC, form::ADDR), (at::HIGH_PC, form::DATA8)]),
        abbreviation(
            2,
            tag::SUBPROGRAM,
            false,
            &[(at::NAME, form::STRING), (at::LOW_PC, form::ADDR), (at::HIGH_PC, form::DATA8)],
        ),
        vec![0],
    ];
    let function = |at: usize| {
        let start = CODE + at as u64;
        entry(2, &[b"known\0", &start.to_le_bytes(), &1_u64.to_le_bytes()])
    };
    let root = entry(1, &[&CODE.to_le_bytes(), &(FUNCTIONS as u64).to_le_bytes()]);
    let functions: Vec<u8> = (0..FUNCTIONS).flat_map(function).collect();
    let program = Program::of_nops(64)
        .with(".debug_abbrev", shapes.concat())
        .with(".debug_info", unit(0, &[root, functions, vec![0]].concat()));
    Case::of(&program, "::stack")
}

#[test]
fn the_functions_of_a_large_unit() {
    let case = described();
    let whole = run(&case, &["-c", case.commands]);
    assert!(String::from_utf8_lossy(&whole.stdout).contains("known"), "{whole:?}");
    let out = assert_halted(&case);
    assert!(!out.contains("known"), "{out}");
}

#[test]
fn the_frame_descriptions_of_a_large_module() {
    let program = Program::of_nops(FUNCTIONS + 64)
        .with_loaded(".eh_frame", eh_frame_of_functions(FUNCTIONS, 1));
    let thread = Stands::at(CODE, STACK);
    let case = Case::with_stack(&program, &[thread], stack_of_returns(3, 1), "::stack");
    let whole = run(&case, &["--json", "-c", case.commands]);
    let whole = String::from_utf8_lossy(&whole.stdout).into_owned();
    assert_eq!(whole.matches("\"trust\":\"cfi\"").count(), 3, "{whole}");
    let out = assert_halted(&case);
    assert!(out.lines().count() <= 2, "one frame at most by each of the commands: {out}");
}
