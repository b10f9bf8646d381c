//! `kcore bundle`: the archive opens as the core did, without the files that it was made of; tar and gdb read it too.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gen_cores::{Program, core_of};
use tempfile::TempDir;

const SOURCE: &str = "\
__attribute__((noinline)) static int inner(int *nowhere) { return *nowhere; }
__attribute__((noinline)) static int outer(int *nowhere) { return inner(nowhere) + 1; }
int main(void) { return outer((int *)0x10); }
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
    let has_secret = |bundle: &Path| {
        let bytes = fs::read(bundle).unwrap();
        bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
    };
    assert!(has_secret(&bundle), "the bait works");
    let (bundle, said) = ground.bundle(&["--no-env"]);
    assert!(said.contains("strings of the environment were left out"), "{said}");
    assert!(!has_secret(&bundle));
    let (stack, ..) = ground.kcore(&["--no-rc", "-c", "::stack"], &bundle);
    assert!(stack.contains("inner"), "{stack}");
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
    assert!(shown.contains("inner (nowhere=0x10) at app.c:1"), "{shown}");
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
