//! Programs of another C library than glibc cannot have the agent (`docs/book/src/agent.md` says why): they are told so when they
//! are compiled, and by their loader.

use std::{path::Path, process::Command};

use crate::program::library;

fn musl(source: &Path, options: &[&str], program: &Path) -> std::process::Output {
    let mut command = Command::new("musl-gcc");
    command.arg(source).args(options).arg("-o").arg(program).output().expect("musl-gcc")
}

#[test]
fn the_header_says_that_it_is_for_glibc() {
    let folder = tempfile::tempdir().unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = format!("-I{}", here.join("include").display());
    let output = musl(&here.join("examples/busy.c"), &[&include], &folder.path().join("busy"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("error: #error \"kcore-agent works with glibc alone"), "{said}");
}

/// The loader refuses before any code of the library could say why.
#[test]
fn a_program_of_musl_into_which_it_is_preloaded_is_told_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("hello.c"), folder.path().join("hello"));
    std::fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(\"ran\") < 0; }\n")
        .unwrap();
    assert!(musl(&source, &[], &program).status.success());
    let output = Command::new(&program).output().unwrap();
    assert_eq!(output.stdout, b"ran\n");
    let output = Command::new(&program).env("LD_PRELOAD", library()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("libkcore_agent.so: __register_atfork: symbol not found"), "{said}");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(127), &b""[..]), "{said}");
    // One that has no loader is not touched by the variable.
    let program = folder.path().join("static");
    assert!(musl(&source, &["-static"], &program).status.success());
    let output = Command::new(&program).env("LD_PRELOAD", library()).output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"ran\n"[..]));
}
