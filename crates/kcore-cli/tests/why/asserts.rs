//! A program's own `assert`: what it was told is shown.

use std::{fs, path::Path, process::Command};

use gen_cores::{Program, core_of};

use super::{analysis, findings};

/// What follows the function in the sentence, if debug information tells the arguments, or the code of the caller.
const STATED: &str = ": fail_assert was called with \"used <= size\" for parts/table.c:1217";

#[test]
fn the_words_of_an_assertion_are_arguments_on_the_stack() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/why/asserts.c");
    let cases: &[(&[&str], &[&str], bool)] = &[
        (&["-g", "-O0"], &["assert"], true),
        (&["-g", "-O2"], &["assert"], true),
        (&["-g", "-O2"], &["give", "up"], false),
        (&["-O2"], &["assert"], true),
        (&["-O2"], &["give", "up"], false),
    ];
    for (options, args, is_told) in cases {
        let name = format!("why-asserts{}-{}", options.concat(), std::process::id());
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut compiler = Command::new("cc");
        let built = compiler.args(*options).arg("-o").arg(&program).arg(&source).status();
        assert!(built.expect("a C compiler").success());
        let folder = tempfile::tempdir().unwrap();
        let core = core_of(&Program { path: &program, args, stack_kib: 8192 }, folder.path());
        let said = analysis(&core.unwrap());
        let [finding] = findings(&said) else { panic!("{options:?}: {said:#}") };
        let sentence = finding["sentence"].as_str().unwrap();
        assert_eq!(sentence.ends_with(STATED), *is_told, "{options:?} {args:?}: {sentence}");
        assert_eq!(finding["confidence"], "certain", "{options:?}: {sentence}");
        fs::remove_file(program).unwrap();
    }
}
