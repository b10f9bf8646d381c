//! kcore and gdb on the same core.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

#[path = "../support/missing.rs"]
mod missing;

/// What a run showed.
pub struct Shown {
    pub out: String,
    pub errors: String,
    pub succeeded: bool,
}

/// A core, unpacked, and its executable.
pub struct Core {
    folder: tempfile::TempDir,
    exe: PathBuf,
}

impl Core {
    /// That of the committed program `nodes`, which has debug information.
    pub fn nodes() -> Self {
        Self::committed("nodes")
    }

    /// A committed one.
    pub fn committed(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let packed = fs::read(committed(scenario, "core.zst")).unwrap();
        let mut frames = ruzstd::decoding::StreamingDecoder::new(&packed[..]).unwrap();
        let mut core = Vec::new();
        frames.read_to_end(&mut core).unwrap();
        fs::write(folder.path().join("core"), core).unwrap();
        Self { folder, exe: committed(scenario, scenario) }
    }

    /// That of a process that runs, with its libraries.
    pub fn of_process(pid: u32, exe: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("core").display().to_string();
        let saved = program(&["save", &pid.to_string(), "-o", &path]);
        assert!(saved.succeeded, "{}", saved.errors);
        Self { folder, exe: exe.into() }
    }

    fn path(&self) -> String {
        self.folder.path().join("core").display().to_string()
    }

    /// What kcore shows.
    pub fn kcore(&self, line: &str) -> Shown {
        program(&["-c", line, "-e", &self.exe.display().to_string(), &self.path()])
    }

    /// The same as JSON.
    pub fn json(&self, line: &str) -> Shown {
        let exe = self.exe.display().to_string();
        program(&["--json", "-c", line, "-e", &exe, &self.path()])
    }

    /// What gdb shows.
    pub fn gdb(&self, line: &str) -> String {
        let output = Command::new("gdb")
            .args(["-batch", "-nx", "-ex", "set debuginfod enabled off"])
            .args(["-ex", "set width 0", "-ex"])
            .arg(format!("file {}", self.exe.display()))
            .arg("-ex")
            .arg(format!("core-file {}", self.path()))
            .args(["-ex", "echo ANSWER\\n", "-ex", line])
            .stdin(Stdio::null())
            .output()
            .expect("gdb runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_once("ANSWER\n").expect("gdb answers").1.to_owned()
    }
}

fn committed(scenario: &str, file: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    root.join(scenario).join("x86_64").join(file)
}

/// What kcore shows of the committed core `nodes`.
pub fn kcore(line: &str) -> Shown {
    program(&["-c", line, &committed("nodes", "core.zst").display().to_string()])
}

/// What kcore shows when it is started so, without the user's own configuration.
pub fn program(words: &[&str]) -> Shown {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
    command.args(words).env("XDG_CONFIG_HOME", missing::missing()).stdin(Stdio::null());
    // Where the sources of the committed programs are.
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Shown { out: text(stdout), errors: text(stderr), succeeded: status.success() }
}
