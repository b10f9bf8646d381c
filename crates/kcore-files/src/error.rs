//! Why a core could not be opened.

use std::{io, path::PathBuf};

use kcore_elf::ParseError;

use crate::Format;

/// Why a core could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The system refused the file.
    #[error("{}: {error}", path.display())]
    Open {
        /// The file as named by the user.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file is no file that could hold a core.
    #[error("{}: is a directory", .0.display())]
    Directory(PathBuf),
    /// A stream, compressed or from a pipe, holds something else.
    #[error("{name}: {error}")]
    NotCore {
        /// The file as named by the user.
        name: String,
        /// What it is not.
        error: ParseError,
    },
    /// A bundle that is compressed, or comes through a pipe: its files are read from where they lie.
    #[error(
        "{0}: a bundle that is packed or comes through a pipe: unpack it into a file, and open that"
    )]
    PackedBundle(String),
    /// The core is compressed, and kcore was built without the feature `compression`.
    #[error("{name}: is packed with {format}, and this build has no compression")]
    NoCompression {
        /// The file as named by the user.
        name: String,
        /// How it is compressed.
        format: Format,
    },
    /// A minidump holds no process that kcore can read.
    #[error("{name}: {why}")]
    Minidump {
        /// The file as named by the user.
        name: String,
        /// Why not.
        why: String,
    },
    /// A compressed stream is damaged before its first byte of content.
    #[error("{name}: the {format} stream is cut off or damaged before anything of use ({error})")]
    Damaged {
        /// The file as named by the user.
        name: String,
        /// How it is compressed.
        format: Format,
        /// What the decoder said.
        error: io::Error,
    },
    /// A zstd stream looks back further than is kept of it.
    #[error("{name}: {error}")]
    WideWindow {
        /// The file as named by the user.
        name: String,
        /// How far.
        error: io::Error,
    },
    /// A stream is longer than the core in it says that it is.
    #[error("{name}: unpacks to more than the {limit:#x} bytes that its program headers claim")]
    TooLong {
        /// The file as named by the user.
        name: String,
        /// Bytes that the headers account for.
        limit: u64,
    },
    /// There is no room to unpack the core.
    #[error(
        "{}: {available:#x} bytes free, too few to go on unpacking after {written:#x} bytes \
         (set TMPDIR to a larger file system)", dir.display()
    )]
    NoSpace {
        /// The folder for unpacked cores.
        dir: PathBuf,
        /// Bytes that are free in it.
        available: u64,
        /// Bytes that were unpacked before.
        written: u64,
    },
    /// The unpacked core could not be written or mapped.
    #[error("{}: {error}", dir.display())]
    Unpack {
        /// The folder for unpacked cores.
        dir: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}
