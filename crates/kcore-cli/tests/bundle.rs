//! `kcore bundle`: the archive opens as the core did, without the files that it was made of; tar and gdb read it too.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gen_cores::{Outcome, Program, core_of, ensure, not_tested};
use tempfile::TempDir;

const SOURCE: &str = "\
#include <stdlib.h>
#include <string.h>
char *held;
__attribute__((noinline)) static int inner(int *nowhere) { return *nowhere; }
__attribute__((noinline)) static int outer(int *nowhere) { return inner(nowhere) + 1; }
int main(void)
{
  held = memset(malloc(60000), 'Q', 50000);
  return outer((int *)0x10);
}
";
const SECRET: &str = "very-secret-token-4711";

/// A program with a separate debug file, and its core.
struct Ground(TempDir);

impl Ground {
    fn new() -> Self {
        let ground = Self(tempfile::tempdir().unwrap());
        for folder in ["build", "cores", "away"] {
            fs::create_dir(ground.path(folder)).unwrap();
        }
        fs::write(ground.path("build/app.c"), SOURCE).unwrap();
        ground.shell("gcc -g -O0 app.c -o app && objcopy --only-keep-debug app app.debug", "build");
        ground.shell("objcopy --strip-all --add-gnu-debuglink=app.debug app && rm app.c", "build");
        let script = ground.path("run");
        let app = ground.path("build/app");
        fs::write(&script, format!("#!/bin/sh\nTOKEN={SECRET} exec {}\n", app.display())).unwrap();
        ground.shell("chmod +x run", ".");
        let program = Program { path: &script, args: &[], stack_kib: 8192 };
        core_of(&program, &ground.path("cores")).unwrap();
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn shell(&self, line: &str, folder: &str) -> String {
        let mut shell = Command::new("sh");
        let output = shell.args(["-ec", line]).current_dir(self.path(folder)).output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {text}");
        text.into_owned()
    }

    fn kcore(&self, words: &[&str], core: &Path) -> (String, String, Option<i32>) {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.args(words).arg(core).stdin(Stdio::null()).env_remove("DEBUGINFOD_URLS");
        let output = kcore.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    }

    /// Makes a bundle in another folder, and takes the files away that it was made of.
    fn bundle(&self, options: &[&str]) -> (PathBuf, String) {
        let bundle = self.path("away/app.tar");
        let name = bundle.display().to_string();
        let words = [&["bundle", "-o", &name][..], options].concat();
        let (_, errors, status) = self.kcore(&words, &self.path("cores/core"));
        assert_eq!(status, Some(0), "{errors}");
        (bundle, errors)
    }
}

#[test]
fn a_bundle_opens_as_the_core_did_when_its_files_are_gone() {
    let ground = Ground::new();
    let asked = ["--no-rc", "--json", "-c", "::stack -v; ::regs; ::print nosuch"];
    let (before, ..) = ground.kcore(&asked, &ground.path("cores/core"));
    assert!(before.contains("\"function\":\"inner\""), "{before}");
    let (bundle, said) = ground.bundle(&[]);
    assert!(said.contains("wrote ") && said.contains("all memory of the core is in it"), "{said}");
    fs::remove_dir_all(ground.path("build")).unwrap();
    fs::remove_dir_all(ground.path("cores")).unwrap();
    let (after, ..) = ground.kcore(&asked, &bundle);
    let without_header =
        |text: &str| text.lines().skip(1).map(ToOwned::to_owned).collect::<Vec<_>>();
    assert_eq!(without_header(&after), without_header(&before));
    let (objects, ..) = ground.kcore(&["--no-rc", "-c", "::objects -v app"], &bundle);
    assert!(objects.contains("verified, container layer"), "{objects}");
    // No file of this machine counts: libc is the one in the bundle.
    let (objects, ..) = ground.kcore(&["--no-rc", "-c", "::objects"], &bundle);
    assert!(!objects.contains("missing ("), "{objects}");
}

#[test]
fn the_environment_is_left_out_on_demand() {
    let ground = Ground::new();
    let (bundle, _) = ground.bundle(&[]);
    let has_secret = |bundle: &Path| holds(bundle, SECRET.as_bytes());
    assert!(has_secret(&bundle), "the bait works");
    let (bundle, said) = ground.bundle(&["--no-env"]);
    assert!(said.contains("strings of the environment were left out"), "{said}");
    assert!(!has_secret(&bundle));
    let (stack, ..) = ground.kcore(&["--no-rc", "-c", "::stack"], &bundle);
    assert!(stack.contains("inner"), "{stack}");
}

fn holds(bundle: &Path, bytes: &[u8]) -> bool {
    fs::read(bundle).unwrap().windows(bytes.len()).any(|window| window == bytes)
}

#[test]
fn stacks_alone_are_what_they_were_and_all_else_is_gone() {
    let ground = Ground::new();
    let core = ground.path("cores/core");
    let heap = [b'Q'; 5000];
    let asked = ["--no-rc", "--json", "-c", "::threads; ::walk thread | ::stack; ::stacks; ::regs"];
    let (before, ..) = ground.kcore(&asked, &core);
    assert!(holds(&core, &heap) && holds(&core, SECRET.as_bytes()), "the baits work");
    let (bundle, said) = ground.bundle(&["--stacks-only"]);
    assert!(said.contains("what stacks need of the core"), "{said}");
    assert!(!holds(&bundle, &heap) && !holds(&bundle, SECRET.as_bytes()));
    fs::remove_dir_all(ground.path("build")).unwrap();
    let (after, ..) = ground.kcore(&asked, &bundle);
    let records = |text: &str| text.lines().skip(1).map(ToOwned::to_owned).collect::<Vec<_>>();
    assert_eq!(records(&after), records(&before));
    let (status, ..) = ground.kcore(&["--no-rc", "-c", "::status"], &bundle);
    assert!(status.contains("are in this core: those that its stacks need"), "{status}");
    let (text, errors, _) = ground.kcore(&["--no-rc", "-c", "*held/s"], &bundle);
    assert!(!text.contains("QQQ") && errors.contains("not dumped"), "{text}{errors}");
    let (check, errors, status) = ground.kcore(&["check"], &bundle);
    assert_eq!(status, Some(0), "{check}{errors}");
    assert!(check.contains("whole: 1 thread; ") && check.contains(" left out when"), "{check}");
}

/// Runtimes whose stacks lie in memory of all kinds.
const RUNTIMES: [(&str, &str); 6] = [
    ("threads-12", "O2-pie"),
    ("cpp-coroutines", "O2-pie"),
    ("tokio-tasks", "release-pie"),
    ("python-stack", "python3.8"),
    ("node-stack", "node24"),
    ("lua-stack", "lua5.4"),
];

#[test]
fn stacks_of_every_language_and_of_tasks_are_in_a_small_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("small.tar");
    let run = |words: &[&str], core: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_kcore"))
            .args(words)
            .arg(core)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let asked = "::threads; ::walk thread | ::stack; ::stacks; ::tasks; ::tasks | ::stack";
    let records = |core: &Path| -> Vec<String> {
        let shown = run(&["--no-rc", "--json", "-c", asked], core);
        // Files that are missing are looked for in other places.
        let records = shown.lines().skip(1).filter(|line| !line.contains("\"type\":\"note\""));
        records.map(ToOwned::to_owned).collect()
    };
    for (scenario, variant) in RUNTIMES {
        let core = match ensure(scenario, variant).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case.core,
            Outcome::Skipped(skipped) => {
                not_tested(skipped);
                continue;
            }
        };
        run(&["bundle", "--stacks-only", "-o", bundle.to_str().unwrap()], &core);
        let before = records(&core);
        assert!(before.len() > 3, "{scenario}: {before:?}");
        assert_eq!(records(&bundle), before, "{scenario}");
        let mappings = |core: &Path| run(&["--no-rc", "-c", "::mappings"], core);
        assert_eq!(mappings(&bundle), mappings(&core), "{scenario}");
    }
}

#[test]
fn memory_that_commands_read_is_kept_with_stacks() {
    let ground = Ground::new();
    let (bundle, _) = ground.bundle(&["--stacks-only", "-c", "*held/s"]);
    assert!(holds(&bundle, &[b'Q'; 5000]) && !holds(&bundle, SECRET.as_bytes()));
    let (text, errors, _) = ground.kcore(&["--no-rc", "-c", "*held/s"], &bundle);
    assert!(text.contains("QQQ"), "{text}{errors}");
    // What it has is not enough for another bundle with all of it.
    let second = ground.path("away/second.tar");
    let name = second.display().to_string();
    let (_, errors, status) = ground.kcore(&["bundle", "--stacks-only", "-o", &name], &bundle);
    assert_eq!(status, Some(0), "{errors}");
    assert!(!holds(&second, &[b'Q'; 5000]));
    let (stack, ..) = ground.kcore(&["--no-rc", "-c", "::stack"], &second);
    assert!(stack.contains("inner"), "{stack}");
}

#[test]
fn a_command_that_fails_is_told_once_and_the_others_count() {
    let ground = Ground::new();
    let commands = ["--stacks-only", "-c", "::nosuch; nosuch/s", "-c", "*held/s"];
    let (bundle, said) = ground.bundle(&commands);
    for failure in ["::nosuch", "nosuch/s"] {
        let told = said.lines().filter(|line| line.contains(failure.trim_end_matches("/s")));
        assert!(said.contains(failure.trim_end_matches("/s")), "{said}");
        assert!(told.count() <= 2, "{said}");
    }
    assert!(!said.contains("QQQ") && holds(&bundle, &[b'Q'; 5000]), "{said}");
}

#[test]
fn variables_of_all_frames_are_in_a_small_bundle() {
    let ground = Ground::new();
    let asked = ["--no-rc", "--json", "-c", "::walk frame | ::locals; ::stack -v"];
    let (before, ..) = ground.kcore(&asked, &ground.path("cores/core"));
    assert!(before.contains("\"name\":\"nowhere\""), "{before}");
    let (bundle, _) = ground.bundle(&["--stacks-only"]);
    let (after, ..) = ground.kcore(&asked, &bundle);
    let records = |text: &str| text.lines().skip(1).map(ToOwned::to_owned).collect::<Vec<_>>();
    assert_eq!(records(&after), records(&before));
}

#[test]
fn gdb_reads_what_tar_unpacks() {
    let ground = Ground::new();
    let (bundle, _) = ground.bundle(&[]);
    fs::remove_dir_all(ground.path("build")).unwrap();
    ground.shell("tar -xf app.tar", "away");
    let readme = fs::read_to_string(ground.path("away/kcore-bundle.txt")).unwrap();
    assert!(readme.contains("root/") && readme.contains("app"), "{readme}");
    let line = readme.lines().find(|line| line.contains("gdb -iex")).unwrap().trim().to_owned();
    let line = line.replacen("gdb ", "gdb -batch -nx -ex bt ", 1);
    if Command::new("gdb").arg("--version").output().is_err() {
        return;
    }
    let shown = ground.shell(&line, "away");
    assert!(shown.contains("inner (nowhere=0x10) at app.c:4"), "{shown}");
    // The linker knows libraries below /lib, which is a link to /usr/lib.
    assert!(!shown.contains("Could not load shared library symbols"), "{shown}");
    drop(bundle);
}

#[test]
fn the_core_itself_is_not_overwritten() {
    let ground = Ground::new();
    let core = ground.path("cores/core");
    let before = fs::read(&core).unwrap();
    let name = core.display().to_string();
    let (_, errors, status) = ground.kcore(&["bundle", "-o", &name], &core);
    assert_eq!(status, Some(2), "{errors}");
    assert_eq!(fs::read(&core).unwrap(), before);
}

#[test]
fn a_stream_is_written_to_and_a_pipe_is_never_replaced() {
    let ground = Ground::new();
    let core = ground.path("cores/core").display().to_string();
    let kcore = env!("CARGO_BIN_EXE_kcore");
    ground.shell(&format!("{kcore} bundle {core} -o - | tar -tf - > listed"), "away");
    let listed = fs::read_to_string(ground.path("away/listed")).unwrap();
    assert!(listed.starts_with("kcore-bundle.txt\ncore\n"), "{listed}");
    assert!(!ground.path("away/-").exists());
    let line = format!(
        "mkfifo pipe\n timeout 60 cat pipe > read & timeout 60 {kcore} bundle {core} -o pipe; wait; test -p pipe; \
         tar -tf read"
    );
    let listed = ground.shell(&line, "away");
    assert!(listed.contains("kcore-bundle.txt\ncore\n"), "{listed}");
    let (_, errors, status) = ground.kcore(&["bundle", "-o", "x.tar.gz"], Path::new(&core));
    assert_eq!(status, Some(2), "{errors}");
    assert!(errors.contains(".gz says that it is packed"), "{errors}");
    let (bundle, _) = ground.bundle(&[]);
    let (_, said) = ground.bundle(&[]);
    assert!(said.contains("in place of the file of that name"), "{said}");
    fs::remove_file(bundle).unwrap();
}

#[test]
fn a_cut_bundle_opens_as_a_cut_core_and_a_packed_one_is_called_so() {
    let ground = Ground::new();
    let (bundle, _) = ground.bundle(&[]);
    let bytes = fs::read(&bundle).unwrap();
    let cut = ground.path("away/cut.tar");
    let core_len = fs::metadata(ground.path("cores/core")).unwrap().len() as usize;
    fs::write(&cut, &bytes[..core_len]).unwrap();
    let (status, errors, code) = ground.kcore(&["--no-rc", "-c", "::status"], &cut);
    assert!(code == Some(0) && status.contains("truncated"), "{status}{errors}");
    fs::write(&cut, &bytes[..bytes.len() - 8192]).unwrap();
    let (status, ..) = ground.kcore(&["--no-rc", "-c", "::status"], &cut);
    assert!(status.contains("the bundle is cut off"), "{status}");
    fs::write(&cut, &bytes[..600]).unwrap();
    let (_, errors, code) = ground.kcore(&["--no-rc", "-c", "::status"], &cut);
    assert!(code == Some(2) && errors.contains("cut off"), "{errors}");
    ground.shell("gzip -1 app.tar", "away");
    let packed = ground.path("away/app.tar.gz");
    let (_, errors, code) = ground.kcore(&["--no-rc", "-c", "::status"], &packed);
    assert!(code == Some(2) && errors.contains("a bundle that is packed"), "{errors}");
}
