//! Functions that end the process and are told why: what the code states for their arguments is shown, without debug
//! information too.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gen_cores::{Program, core_of};
use serde_json::Value;

use super::{analysis, findings, gallery::runs_all};

fn compiled(options: &[&str], name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/why/stated.cpp");
    let name = format!("why-{name}-{}", std::process::id());
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut compiler = Command::new("c++");
    let built = compiler.args(options).arg("-o").arg(&made).arg(source).status();
    assert!(built.expect("a C++ compiler").success());
    made
}

/// The finder and the sentence of the only finding.
fn told(program: &Path, args: &[&str]) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let core = core_of(&Program { path: program, args, stack_kib: 8192 }, folder.path()).unwrap();
    let said = analysis(&core);
    let [finding] = findings(&said) else { panic!("{args:?}: {said:#}") };
    assert_eq!(finding["confidence"], "certain", "{said:#}");
    runs_all("stated", &core, finding);
    (finding["finder"].clone(), finding["sentence"].as_str().unwrap().to_owned())
}

#[test]
fn an_assertion_of_boost_has_its_words() {
    for options in [&["-O2"][..], &["-O2", "-no-pie", "-fno-pie"], &["-O0"]] {
        let program = compiled(options, &format!("boost{}", options.concat()));
        let plain =
            "Boost ended the process: parts/table.hpp:1217: assertion failed: used <= size, in add";
        assert_eq!(told(&program, &["plain"]), ("last-words".into(), plain.to_owned()));
        let told_more = "Boost ended the process: parts/table.hpp:31: assertion failed: name: a table has a name, in find";
        assert_eq!(told(&program, &["told"]), ("last-words".into(), told_more.to_owned()));
        let (finder, sentence) = told(&program, &["computed"]);
        assert_eq!(finder, "abort", "{options:?}: {sentence}");
        fs::remove_file(program).unwrap();
    }
}

#[test]
fn a_fatal_error_of_python_has_its_words() {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let Ok(asked) = asked else { return };
    let python = String::from_utf8(asked.stdout).unwrap();
    let library = compiled(&["-O2", "-shared", "-fPIC", "-DPYTHON"], "python.so");
    let script = format!("import ctypes; ctypes.PyDLL('{}').give_up(4)", library.display());
    let (finder, sentence) = told(Path::new(python.trim()), &["-c", &script]);
    let says =
        "Python ended the process: Fatal Python error: give_up: the cache is torn, in give_up";
    assert_eq!((finder, &*sentence), ("last-words".into(), says));
    fs::remove_file(library).unwrap();
}
