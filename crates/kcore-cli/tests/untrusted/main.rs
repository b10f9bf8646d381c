//! What a core that nobody trusts may have read, and what a sysroot keeps out: source files that debug information
//! names, links that lead away, commands of the shell, files of this machine.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use missing::missing;
use tempfile::TempDir;

#[path = "../support/missing.rs"]
mod missing;

/// The folder of the source in the debug information of the committed program, and its name.
const FOLDER: &[u8] = b"gen-cores/scenarios/workers";
const SOURCE: &str = "main.c";
/// The line at which its thread stood.
const LINE: &str = ">     46  ";

/// A core beside a program whose debug information says that its source is a secret file of this machine.
struct Bait {
    folder: TempDir,
    secret: TempDir,
}

impl Bait {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/workers/x86_64");
        let packed = fs::read(data.join("core.zst")).unwrap();
        let mut core = Vec::new();
        let mut frames = ruzstd::decoding::StreamingDecoder::new(&packed[..]).unwrap();
        frames.read_to_end(&mut core).unwrap();
        fs::create_dir(folder.path().join("cores")).unwrap();
        fs::write(folder.path().join("cores/core"), core).unwrap();
        fs::write(folder.path().join("cores/core.zst"), packed).unwrap();
        let secret = secret();
        let mut program = fs::read(data.join("workers")).unwrap();
        let name = secret.path().as_os_str().as_encoded_bytes();
        assert!(replace(&mut program, FOLDER, name) > 0, "the program names its source");
        fs::write(folder.path().join("cores/workers"), program).unwrap();
        Self { folder, secret }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Standard output and standard error.
    fn run(&self, options: &[&str], core: &str, commands: &str) -> (String, String) {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.args(options).args(["-c", commands]).arg(self.path(core));
        kcore.env("XDG_CONFIG_HOME", missing()).stdin(Stdio::null());
        let output = kcore.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }
}

/// A folder whose path is as long as that of the source's, with a file of 60 lines.
fn secret() -> TempDir {
    let name = "kcore-secret-";
    let random = FOLDER.len() - "/tmp/".len() - name.len();
    let secret =
        tempfile::Builder::new().prefix(name).rand_bytes(random).tempdir_in("/tmp").unwrap();
    let lines: String = (1..=60).map(|line| format!("secret {line}\n")).collect();
    fs::write(secret.path().join(SOURCE), lines).unwrap();
    secret
}

fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) -> usize {
    assert_eq!(old.len(), new.len());
    let places: Vec<usize> =
        (0..=bytes.len() - old.len()).filter(|at| bytes[*at..].starts_with(old)).collect();
    for at in &places {
        bytes[*at..*at + old.len()].copy_from_slice(new);
    }
    places.len()
}

#[test]
fn a_file_that_debug_information_names_is_not_shown() {
    let bait = Bait::new();
    let (shown, errors) = bait.run(&[], "cores/core", "::frame -s");
    assert!(shown.contains("secret 46"), "the bait works: {shown}{errors}");
    fs::create_dir(bait.path("root")).unwrap();
    let root = bait.path("root").display().to_string();
    for options in
        [&["--untrusted"][..], &["--sysroot", &root], &["--untrusted", "--sysroot", &root]]
    {
        let (shown, errors) = bait.run(options, "cores/core", "::frame -s");
        assert!(!shown.contains("secret 4"), "{options:?}: {shown}");
        assert!(shown.contains("parse_header"), "{options:?}: the rest is there: {shown}");
        assert!(errors.contains("failed to find source file"), "{options:?}: {errors}");
    }
    let (_, errors) = bait.run(&["--untrusted"], "cores/core", "::frame -s");
    assert!(errors.contains("outside of what --untrusted lets be read"), "{errors}");
    let (_, errors) = bait.run(&["--sysroot", &root], "cores/core", "::frame -s");
    assert!(errors.contains("not under the sysroot"), "{errors}");
    let asked = ["--sysroot", &root, "--host-files"];
    let (shown, _) = bait.run(&asked, "cores/core", "::frame -s");
    assert!(shown.contains("secret 46"), "whoever asks for it has it: {shown}");
}

#[test]
fn a_source_beside_the_core_and_one_under_the_sysroot_are_shown() {
    let bait = Bait::new();
    let lines: String = (1..=60).map(|line| format!("own {line}\n")).collect();
    fs::write(bait.path("cores").join(SOURCE), &lines).unwrap();
    let (shown, errors) = bait.run(&["--untrusted"], "cores/core", "::frame -s");
    assert!(shown.contains("own 46") && shown.contains(LINE), "{shown}{errors}");
    fs::remove_file(bait.path("cores").join(SOURCE)).unwrap();
    let below = bait.path("root").join(bait.secret.path().strip_prefix("/").unwrap());
    fs::create_dir_all(&below).unwrap();
    fs::write(below.join(SOURCE), lines).unwrap();
    let root = bait.path("root").display().to_string();
    let options = ["--untrusted", "--sysroot", &root];
    let (shown, errors) = bait.run(&options, "cores/core", "::frame -s");
    assert!(shown.contains("own 46"), "{shown}{errors}");
}

#[test]
fn a_link_leads_out_of_no_folder_that_may_be_read() {
    let bait = Bait::new();
    let secret = &bait.secret.path().join(SOURCE);
    let below = bait.path("root").join(bait.secret.path().strip_prefix("/").unwrap());
    fs::create_dir_all(&below).unwrap();
    symlink(secret, bait.path("cores").join(SOURCE)).unwrap();
    let up = Path::new("../../../../../../../../..").join(secret.strip_prefix("/").unwrap());
    let root = bait.path("root").display().to_string();
    for target in [secret, &up] {
        let link = below.join(SOURCE);
        let _ = fs::remove_file(&link);
        symlink(target, &link).unwrap();
        let options = ["--untrusted", "--sysroot", &root];
        let (shown, errors) = bait.run(&options, "cores/core", "::frame -s");
        assert!(!shown.contains("secret 4"), "{}: {shown}{errors}", target.display());
    }
}

#[test]
fn absolute_links_under_a_sysroot_mean_the_sysroot() {
    let bait = Bait::new();
    for folder in ["root/tmp/kcore-testdata", "root/store", "alone"] {
        fs::create_dir_all(bait.path(folder)).unwrap();
    }
    fs::rename(bait.path("cores/workers"), bait.path("root/store/workers")).unwrap();
    symlink("/store/workers", bait.path("root/tmp/kcore-testdata/workers")).unwrap();
    let root = bait.path("root").display().to_string();
    for options in [&["--sysroot", &root][..], &["--untrusted", "--sysroot", &root]] {
        let (shown, errors) = bait.run(options, "cores/core", "::objects");
        assert!(shown.contains("verified"), "{options:?}: {shown}{errors}");
    }
}

#[test]
fn no_command_runs_and_no_file_is_read_or_written() {
    let bait = Bait::new();
    let log = bait.path("cores/log").display().to_string();
    let passwd = "/etc/passwd";
    for (command, said) in [
        ("! echo ran".to_owned(), "shell commands do not run with --untrusted"),
        ("::status ! cat".to_owned(), "shell commands do not run with --untrusted"),
        ("::echo 1 ! cat | ::sort".to_owned(), "shell commands do not run with --untrusted"),
        (format!("::cat {passwd}"), "not with --untrusted"),
        (format!("::log {log}"), "not with --untrusted"),
        (format!("$<{passwd}"), "not with --untrusted"),
    ] {
        let (shown, errors) = bait.run(&["--untrusted"], "cores/core", &command);
        assert!(errors.contains(said), "{command}: {errors}");
        assert!(!shown.contains("ran") && !shown.contains("root:"), "{command}: {shown}");
    }
    assert!(!Path::new(&log).exists());
}

#[test]
fn nothing_of_the_users_is_run_or_kept() {
    let bait = Bait::new();
    let user = tempfile::tempdir().unwrap();
    fs::create_dir_all(user.path().join("config/kcore")).unwrap();
    fs::write(user.path().join("config/kcore/rc"), "6=J\n").unwrap();
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["--untrusted", "-c", "7=J"]).arg(bait.path("cores/core"));
    for (variable, folder) in
        [("XDG_CONFIG_HOME", "config"), ("XDG_CACHE_HOME", "cache"), ("XDG_STATE_HOME", "state")]
    {
        kcore.env(variable, user.path().join(folder));
    }
    let output = kcore.stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "7");
    assert!(!user.path().join("cache").exists() && !user.path().join("state").exists());
}

#[test]
fn packed_cores_and_cores_from_a_pipe_open() {
    let bait = Bait::new();
    let (shown, errors) = bait.run(&["--untrusted"], "cores/core.zst", "::stack");
    assert!(shown.contains("parse_header"), "{shown}{errors}");
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["--untrusted", "-c", "::objects -v", "-"]).current_dir(bait.path("cores"));
    let mut child = kcore.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let packed = fs::read(bait.path("cores/core.zst")).unwrap();
    child.stdin.take().unwrap().write_all(&packed).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("missing"), "it lies in no folder whose files may be read: {shown}");
}

#[test]
fn the_system_holds_kcore_to_it_as_well() {
    let bait = Bait::new();
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["--untrusted", "-f", "-"]).arg(bait.path("cores/core"));
    kcore.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = kcore.spawn().unwrap();
    let mut commands = child.stdin.take().unwrap();
    commands.write_all(b"7=J\n").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    drop(commands);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    child.wait().unwrap();
    assert_eq!(line.trim(), "7", "{said}");
    let has = |fact: &str| status.lines().any(|line| line == fact);
    assert!(has("Seccomp:\t2") || said.contains("seccomp"), "{status}{said}");
    assert!(has("NoNewPrivs:\t1") || said.contains("Landlock"), "{status}{said}");
}

#[test]
fn a_live_process_is_refused() {
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    let output = kcore.args(["--untrusted", "-p", "1", "-c", "7=J"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}
