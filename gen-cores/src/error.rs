//! What can go wrong while cores are made, each with the path or case and the reason.

use std::path::{Path, PathBuf};

/// The result of everything in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a core could not be made, found or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be used.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A `recipe.toml` is wrong.
    #[error("{}: {reason}", path.display())]
    Recipe {
        /// The recipe.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },
    /// A scenario of this name does not exist.
    #[error("no scenario `{0}`: `gen-cores --list` shows all")]
    NoScenario(String),
    /// A scenario has no such variant, or its name does not parse.
    #[error("`{scenario}` has no variant `{variant}`: `gen-cores --list` shows all")]
    NoVariant {
        /// The scenario.
        scenario: String,
        /// The name that was asked for.
        variant: String,
    },
    /// A word in a variant's name is unknown.
    #[error("variant `{variant}`: {reason}")]
    Variant {
        /// The whole name.
        variant: String,
        /// Which part does not fit.
        reason: String,
    },
    /// A command ended badly.
    #[error("`{command}` failed ({status}): {output}")]
    Command {
        /// The command line.
        command: String,
        /// Exit status or signal.
        status: String,
        /// The end of what it printed.
        output: String,
    },
    /// A runtime that was fetched cannot be used.
    #[error("{}: {reason}", path.display())]
    Toolchain {
        /// What was fetched.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Something is missing that must not be fetched.
    #[error("{} is set", crate::NO_DOWNLOADS)]
    NoDownloads,
    /// The program did not die as it should.
    #[error("{case}: {reason}")]
    Run {
        /// `scenario/variant`.
        case: String,
        /// What happened instead.
        reason: String,
    },
    /// The account that the program wrote, or a truth.json, is not what it should be.
    #[error("{}: {reason}", path.display())]
    Truth {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },
}

/// Adds the path to an input or output error.
pub(crate) trait AtPath<T> {
    /// Names the path that the operation was about.
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> AtPath<T> for std::io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { path: path.to_owned(), source })
    }
}
