//! The kcore that the documents show: the debug build, which the tests use too.

use std::{
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};
use serde_json::Value;

use super::transcript::Transcript;
use crate::cargo;

/// A built kcore.
pub struct Program {
    executable: PathBuf,
}

impl Program {
    /// Builds kcore as `cargo test --workspace` does, unless it is up to date. `cargo build` would build another one
    /// beside it: the tests want more features of some crates.
    pub fn build() -> Result<Self> {
        let test = ["test", "--workspace", "--test", "readme"];
        let options = ["--no-run", "-q", "--message-format=json"];
        let messages = cargo::output(cargo::command(env!("CARGO"), &test).args(options))?;
        let executable = messages.lines().find_map(executable).context("cargo built no kcore")?;
        Ok(Self { executable })
    }

    /// What kcore writes to standard output.
    pub fn output(&self, args: &[&str]) -> Result<String> {
        let program = self.executable.to_string_lossy();
        cargo::output(&mut cargo::command(&program, args))
    }

    /// What a shell shows that is given `line`, with kcore in its path and `typed` on its standard input.
    pub fn shell(&self, line: &str, typed: &str) -> Result<Transcript> {
        let mut shell = self.shell_command(line)?;
        let mut running = shell.spawn().with_context(|| format!("cannot run {line}"))?;
        type_into(&mut running, typed)?;
        let output = running.wait_with_output()?;
        let text = String::from_utf8(output.stdout).with_context(|| format!("output of {line}"))?;
        Ok(Transcript { text, is_success: output.status.success() })
    }

    /// Standard error goes where standard output goes, as on a terminal. Settings of the user have no say.
    fn shell_command(&self, line: &str) -> Result<Command> {
        let script = format!("exec 2>&1\n{line}");
        let mut shell = cargo::command("sh", &["-c", &script]);
        shell.env("PATH", self.path()?).env("SHELL", "/bin/sh").env("LC_ALL", "C");
        shell.env("NO_COLOR", "1").env("XDG_CONFIG_HOME", "/nonexistent");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(shell)
    }

    /// The search path, with the folder of kcore at its front.
    fn path(&self) -> Result<OsString> {
        let folder = self.executable.parent().map(Path::to_owned);
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders = folder.into_iter().chain(std::env::split_paths(&others));
        std::env::join_paths(folders).context("the search path")
    }
}

/// The executable that one of cargo's messages names.
fn executable(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_kcore = message["target"]["name"] == "kcore";
    message["executable"].as_str().filter(|_| is_kcore).map(PathBuf::from)
}

fn type_into(running: &mut Child, typed: &str) -> Result<()> {
    let Some(mut input) = running.stdin.take() else { return Ok(()) };
    match input.write_all(typed.as_bytes()) {
        // Nobody reads: the line takes no input.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("typing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_says_where_kcore_is() {
        let built = r#"{"target":{"name":"kcore"},"executable":"/t/debug/kcore"}"#;
        assert_eq!(executable(built), Some(PathBuf::from("/t/debug/kcore")));
        let library = r#"{"target":{"name":"kcore"},"executable":null}"#;
        assert_eq!(executable(library), None);
        assert_eq!(executable("warning: text"), None);
    }
}
