//! Programs that tests compile, and processes that are killed when a test is done with them.

use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Compiles a program of tests (`save/target.c`), for those that run now alone.
#[allow(dead_code, reason = "not every program of tests compiles one")]
pub fn compiled(source: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let kind = source.parent().and_then(Path::file_name).unwrap().to_string_lossy();
    let name = source.file_stem().unwrap().to_string_lossy();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(format!("{kind}-{name}-{}", std::process::id()));
    let mut compiler = Command::new("cc");
    let built = compiler.args(["-g", "-O1", "-pthread", "-o"]).arg(&program).arg(&source).status();
    assert!(built.expect("a C compiler").success());
    program
}

/// A process that is killed when the test is done with it.
pub struct Running(pub Child);

impl Running {
    /// Starts it, with pipes to its input and from its output.
    pub fn start(command: &mut Command) -> (Self, ChildStdin, ChildStdout) {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        (Self(child), input, output)
    }

    /// Its id.
    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
