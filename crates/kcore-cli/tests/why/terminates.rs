//! Programs of C++ that end by `std::terminate` and have no exception.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gen_cores::{Program, core_of};

use super::{analysis, findings, gallery::runs_all};

/// The bug, what is said with debug information, and what is said of a program that is optimised and stripped.
const BUGS: &[(&str, &str, &str)] = &[
    ("pure", "a pure virtual function was called, in ", "a pure virtual function was called"),
    (
        "thread",
        "a std::thread was destroyed that nobody had joined or detached, in forget_thread",
        "std::terminate was called",
    ),
    (
        "assign",
        "a std::thread was overwritten that nobody had joined or detached, in replace_thread",
        "std::terminate was called",
    ),
    ("plain", "std::terminate was called, in give_up", "std::terminate was called"),
    ("nothing", "std::terminate was called, in throw_nothing", "std::terminate was called"),
];

fn compiled(options: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/why/terminates.cpp");
    let name = format!("why-terminates{}-{}", options.concat(), std::process::id());
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut compiler = Command::new("c++");
    let built = compiler.args(options).arg("-pthread").arg("-o").arg(&program).arg(source).status();
    assert!(built.expect("a C++ compiler").success());
    program
}

#[test]
fn a_program_that_gives_up_without_an_exception_says_why() {
    for (options, is_whole) in
        [(&["-g", "-O0"][..], true), (&["-g", "-O2"], true), (&["-O2", "-s"], false)]
    {
        let program = compiled(options);
        for (bug, whole, stripped) in BUGS {
            let folder = tempfile::tempdir().unwrap();
            let program = Program { path: &program, args: &[bug], stack_kib: 8192 };
            let core = core_of(&program, folder.path()).unwrap();
            let said = analysis(&core);
            let [finding] = findings(&said) else { panic!("{options:?} {bug}: {said:#}") };
            let says = if is_whole { whole } else { stripped };
            let sentence = finding["sentence"].as_str().unwrap();
            assert!(sentence.starts_with(says), "{options:?} {bug}: {sentence}");
            let facts = (&finding["finder"], &finding["confidence"]);
            // Where the function is inlined, the compiler may have merged calls.
            let is_merged =
                options.contains(&"-O2") && is_whole && ["thread", "assign"].contains(bug);
            let sure = if is_merged { "likely" } else { "certain" };
            assert_eq!(facts, (&"terminate".into(), &sure.into()), "{options:?} {bug}");
            runs_all(bug, &core, finding);
        }
        fs::remove_file(program).unwrap();
    }
}
