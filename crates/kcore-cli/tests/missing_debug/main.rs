//! Files with debug information that belong to a program and are not there, or are of another build: they are named
//! where the variables that they describe would stand.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use gen_cores::{Program, core_of};
use serde_json::Value;
use tempfile::TempDir;

const SOURCE: &str = "\
#include <signal.h>
struct pair { int first; long second; };
struct pair of_main = { 7, 8 };
static int inner(int argument) {
    struct pair local = { argument, 2 };
    raise(SIGSEGV);
    return local.first;
}
int main(int argc, char **argv) { return inner(argc + (argv != 0)); }
";

/// A program whose debug information lies in a file beside it, and its core.
struct Split {
    folder: TempDir,
    core: PathBuf,
}

impl Split {
    fn new(compiler: &str, version: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("main.c"), SOURCE).unwrap();
        let split = Self { core: folder.path().join("core"), folder };
        split.compile(compiler, version, "main.o", "-O0");
        split.tool(compiler, &["main.o", "-o", "program"]);
        let program = split.path("program");
        let program = Program { path: &program, args: &[], stack_kib: 8192 };
        let core = core_of(&program, split.folder.path()).unwrap();
        Self { core, ..split }
    }

    fn compile(&self, compiler: &str, version: &str, object: &str, optimized: &str) {
        let options = ["-g", version, "-gsplit-dwarf", optimized, "-c", "main.c", "-o", object];
        self.tool(compiler, &options);
    }

    fn tool(&self, tool: &str, words: &[&str]) {
        let status = Command::new(tool).args(words).current_dir(self.folder.path()).status();
        assert!(status.unwrap().success(), "{tool} {words:?}");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn kcore(&self, words: &[&str]) -> (String, String) {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.arg("--no-rc").args(words).arg(&self.core).stdin(Stdio::null());
        let output = kcore.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }

    /// The number of the frame of `inner`, as `::frame` takes it.
    fn inner(&self) -> String {
        let (stack, errors) = self.kcore(&["-c", "::stack"]);
        let at = stack.lines().position(|line| line.contains("inner"));
        at.unwrap_or_else(|| panic!("{stack}{errors}")).to_string()
    }

    fn check_named(&self, file: &str, why: &str) {
        let frame = format!("::frame {}", self.inner());
        let locals = format!("{frame}; ::locals");
        let (shown, errors) = self.kcore(&["-c", &locals]);
        assert!(!shown.contains("local ="), "{shown}");
        let told = errors.lines().any(|line| line.contains("frame") && line.contains(file));
        assert!(told, "::locals names {file}: {errors}");
        assert!(errors.contains(why), "{why}: {errors}");
        let (shown, errors) = self.kcore(&["-c", "::stack -v"]);
        let stands = format!("<variables are in {file}, which was not found>");
        assert!(shown.contains(&stands), "{shown}");
        assert_eq!(errors.lines().count(), 1, "said once: {errors}");
        let (shown, _) = self.kcore(&["-c", &format!("{frame} -v")]);
        assert!(shown.contains(&stands), "{shown}");
        let (_, errors) = self.kcore(&["-c", "::print of_main"]);
        assert!(errors.contains(file), "{errors}");
        let (doubts, _) = self.kcore(&["-c", "::stack; ::status"]);
        let doubt = format!("doubt: debug information of program is missing: {file}");
        assert!(doubts.contains(&doubt), "{doubts}");
        self.check_json(file);
    }

    fn check_json(&self, file: &str) {
        let (text, _) = self.kcore(&["--json", "-c", "::stack -v; ::print of_main"]);
        let records: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &str| records.iter().filter(|it| it["type"] == kind).collect::<Vec<_>>();
        let notes = of("stack")[0]["notes"].to_string();
        assert!(notes.contains(file), "{notes}");
        assert!(of("note").iter().all(|note| note["text"].to_string().contains(file)), "{text}");
        assert!(!of("note").is_empty(), "{text}");
    }
}

#[test]
fn a_split_file_that_is_gone_is_named() {
    for (compiler, version) in [("gcc", "-gdwarf-5"), ("gcc", "-gdwarf-4"), ("clang", "-gdwarf-5")]
    {
        let split = Split::new(compiler, version);
        let locals = format!("::frame {}; ::locals; ::print of_main", split.inner());
        let (shown, errors) = split.kcore(&["-c", &locals]);
        assert!(shown.contains("local =") && errors.is_empty(), "{compiler}: {shown}{errors}");
        fs::remove_file(split.path("main.dwo")).unwrap();
        split.check_named("main.dwo", "not found at ");
    }
}

#[test]
fn a_split_file_of_another_build_is_said_to_be_one() {
    let split = Split::new("gcc", "-gdwarf-5");
    split.compile("gcc", "-gdwarf-5", "other.o", "-O2");
    fs::rename(split.path("other.dwo"), split.path("main.dwo")).unwrap();
    split.check_named("main.dwo", "main.dwo is of another build");
}

#[test]
fn a_package_without_the_unit_is_named() {
    let split = Split::new("gcc", "-gdwarf-4");
    split.compile("gcc", "-gdwarf-4", "other.o", "-O2");
    split.tool("dwp", &["other.dwo", "-o", "program.dwp"]);
    fs::remove_file(split.path("main.dwo")).unwrap();
    split.check_named("main.dwo", "program.dwp does not have it");
}

#[test]
fn a_file_that_is_shared_between_modules_is_named_when_it_is_gone() {
    let split = Split::new("gcc", "-gdwarf-4");
    let plain = ["-g", "-gdwarf-4", "-O0", "main.c", "-o"];
    for program in ["program", "twin"] {
        split.tool("gcc", &[&plain[..], &[program]].concat());
    }
    let program = split.path("program");
    let program = Program { path: &program, args: &[], stack_kib: 8192 };
    let core = core_of(&program, split.folder.path()).unwrap();
    let split = Split { core, ..split };
    split.tool("dwz", &["-m", "shared.dwz", "program", "twin"]);
    let (_, errors) = split.kcore(&["-c", "::stack -v"]);
    assert_eq!(errors, "");
    fs::remove_file(split.path("shared.dwz")).unwrap();
    let (_, errors) = split.kcore(&["-c", "::stack -v"]);
    assert!(errors.contains("shared.dwz: not found at "), "{errors}");
    let (status, _) = split.kcore(&["-c", "::stack; ::status"]);
    assert!(status.contains("debug information of program is missing: shared.dwz"), "{status}");
}

#[test]
fn a_program_that_was_stripped_lacks_no_file_that_it_shared() {
    let split = Split::new("gcc", "-gdwarf-4");
    // What `strip` leaves: the name of the shared file, and its build-id.
    fs::write(split.path("link"), b"shared.debug\0\x11\x22\x33\x44\x55\x66\x77\x88").unwrap();
    split.tool("strip", &["-g", "program"]);
    split.tool("objcopy", &["--add-section", ".gnu_debugaltlink=link", "program"]);
    let (shown, errors) = split.kcore(&["-c", "::stack; ::status"]);
    assert!(shown.contains("inner"), "{shown}{errors}");
    assert!(!shown.contains("shared.debug") && errors.is_empty(), "{shown}{errors}");
}
