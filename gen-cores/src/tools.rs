//! The tools that cores are made and compared with, and the Debian packages that hold them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::command::Line;
use crate::variant::{Libc, Maker};
use crate::{Language, Result, Variant};

/// A tool and the Debian package that it comes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// Name of the command.
    pub command: &'static str,
    /// Name of the package.
    pub package: &'static str,
}

/// All tools that are used here or by tests that compare stacks.
pub const TOOLS: &[Tool] = &[
    Tool { command: "gcc", package: "gcc" },
    Tool { command: "g++", package: "g++" },
    Tool { command: "musl-gcc", package: "musl-tools" },
    Tool { command: "gdb", package: "gdb" },
    Tool { command: "eu-stack", package: "elfutils" },
    Tool { command: "zstd", package: "zstd" },
];

/// The tools that are not in `$PATH`.
pub fn missing_tools() -> Vec<Tool> {
    TOOLS.iter().copied().filter(|tool| !is_there(tool.command)).collect()
}

/// Whether a command is in `$PATH`.
pub(crate) fn is_there(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(command).is_file())
}

/// The compiler for a language and C library.
pub(crate) fn compiler(language: Language, libc: Libc) -> &'static str {
    match (language, libc) {
        (Language::Rust, _) => "rustc",
        (Language::Cpp, _) => "g++",
        (Language::C, Libc::Glibc) => "gcc",
        (Language::C, Libc::Musl) => "musl-gcc",
    }
}

/// Why this machine cannot make a variant, if so.
pub(crate) fn why_not(language: Language, variant: &Variant) -> Option<String> {
    let mut needed = vec!["gcc", compiler(language, variant.libc)];
    if variant.maker == Maker::Gcore {
        needed.push("gdb");
    }
    let missing = needed.into_iter().find(|command| !is_there(command))?;
    let package = TOOLS.iter().find(|tool| tool.command == missing).map_or("", |tool| tool.package);
    Some(format!("{missing} is not installed (package {package})"))
}

/// The first line of a compiler's version, asked once in a process.
pub(crate) fn compiler_version(language: Language, libc: Libc) -> Result<String> {
    version(compiler(language, libc))
}

/// The first line of what `command --version` prints, asked once in a process.
pub(crate) fn version(command: &'static str) -> Result<String> {
    static KNOWN: Mutex<Option<HashMap<&str, String>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(HashMap::new);
    if let Some(version) = known.get(command) {
        return Ok(version.clone());
    }
    let text = Line::new(command).arg("--version").run(Path::new("/"))?;
    let first = text.lines().next().unwrap_or_default().to_owned();
    known.insert(command, first.clone());
    Ok(first)
}
