//! Runs a tool and keeps what it printed for the error message.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::AtPath;
use crate::{Error, Result};

/// How much of a tool's output an error carries.
const OUTPUT_KEPT: usize = 2000;

/// A command line, kept as words so that it can be run and recorded alike.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    words: Vec<String>,
}

impl Line {
    /// A command line that begins with `program`.
    pub(crate) fn new(program: &str) -> Line {
        Line { words: vec![program.to_owned()] }
    }

    /// Appends one argument.
    pub(crate) fn arg(&mut self, arg: impl Into<String>) -> &mut Line {
        self.words.push(arg.into());
        self
    }

    /// Appends a path.
    pub(crate) fn path(&mut self, path: &Path) -> &mut Line {
        self.arg(path.display().to_string())
    }

    /// Appends several arguments.
    pub(crate) fn args<S: AsRef<str>>(&mut self, args: impl IntoIterator<Item = S>) -> &mut Line {
        self.words.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// The words, to be started in another way.
    pub(crate) fn words(&self) -> Vec<String> {
        self.words.clone()
    }

    /// The line as text, for people.
    pub(crate) fn text(&self) -> String {
        self.words.join(" ")
    }

    /// Runs it in a folder and gives its standard output.
    pub(crate) fn run(&self, dir: &Path) -> Result<String> {
        let (program, args) = self.words.split_first().map_or(("true", &[][..]), |(p, a)| (p, a));
        let output = Command::new(program)
            .args(args)
            .current_dir(dir)
            .stdin(Stdio::null())
            .env("LC_ALL", "C")
            .output()
            .at(Path::new(program))?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => Ok(stdout),
            false => Err(Error::Command {
                command: self.text(),
                status: output.status.to_string(),
                output: tail(&(stdout + &String::from_utf8_lossy(&output.stderr))),
            }),
        }
    }
}

/// The end of a text, cut at a character.
pub(crate) fn tail(text: &str) -> String {
    let start = text.len().saturating_sub(OUTPUT_KEPT);
    let start = (start..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(start..).unwrap_or_default().trim().to_owned()
}
