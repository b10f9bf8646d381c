//! What a search gave: a file, and every place where it was not.

use std::{fmt, path::PathBuf, sync::Arc};

use kcore_elf::{BuildId, Image};
use kcore_mem::Arch;

/// The kinds of places that are searched, in the order in which they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SearchedPlace {
    /// The path that the user gave.
    Given,
    /// What the live process has mapped itself.
    Process,
    /// The path as recorded, in a folder that the user named for it.
    PathMap,
    /// The path as recorded, below the sysroot.
    Sysroot,
    /// The path as recorded, in a layer of a container.
    Layer,
    /// The folder of the core, by file name.
    CoreDir,
    /// The path as the core records it.
    Recorded,
    /// The path as recorded, below the root of the process, which still runs.
    ProcessRoot,
    /// A directory in the build-id layout.
    BuildIdDir,
    /// The name in `.gnu_debuglink` or `.gnu_debugaltlink`.
    DebugLink,
    /// A symbol file of Breakpad, `NAME/DEBUGID/NAME.sym` or `NAME.sym`, below the folder of the core or a directory of debug
    /// files.
    Breakpad,
    /// A section of the file itself: its mini debug information.
    Within,
    /// A [`FilePlace`](crate::FilePlace) of the program that embeds kcore, by its name.
    Added(&'static str),
}

impl SearchedPlace {
    /// The places where files are looked for, in order.
    pub const IN_ORDER: [Self; 11] = [
        Self::Given,
        Self::Process,
        Self::PathMap,
        Self::Sysroot,
        Self::Layer,
        Self::CoreDir,
        Self::Recorded,
        Self::ProcessRoot,
        Self::BuildIdDir,
        Self::DebugLink,
        Self::Breakpad,
    ];

    /// The word by which a user chooses it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Given => "exe",
            Self::Process => "process",
            Self::PathMap => "map",
            Self::Sysroot => "sysroot",
            Self::Layer => "layer",
            Self::CoreDir => "core-dir",
            Self::Recorded => "recorded",
            Self::ProcessRoot => "process-root",
            Self::BuildIdDir => "build-id",
            Self::DebugLink => "debug-link",
            Self::Breakpad => "breakpad",
            Self::Within => "within",
            Self::Added(name) => name,
        }
    }

    /// The words for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Given => "given by option",
            Self::Process => "the process itself",
            Self::PathMap => "mapped path",
            Self::Sysroot => "sysroot",
            Self::Layer => "container layer",
            Self::CoreDir => "folder of the core",
            Self::Recorded => "path as recorded",
            Self::ProcessRoot => "root of the process",
            Self::BuildIdDir => "build-id directory",
            Self::DebugLink => "debug link",
            Self::Breakpad => "symbol file of Breakpad",
            Self::Within => "mini debug information of the file itself",
            Self::Added(name) => name,
        }
    }
}

/// A file that was found.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// Its path on this machine.
    pub path: PathBuf,
    /// The file.
    pub image: Arc<Image>,
    /// Whether a build-id or a checksum proves that it is the wanted one.
    pub verified: bool,
    /// Where it was found.
    pub place: SearchedPlace,
}

/// Why a path did not give the wanted file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// There is no file.
    NotFound,
    /// It is a folder, a device, a pipe: not to be opened.
    NotRegular,
    /// The system did not let it be read.
    Unreadable(String),
    /// It is no ELF file.
    NotElf(String),
    /// It is another build; `None`: it has no build-id.
    BuildIdMismatch {
        /// The build-id of the file.
        found: Option<BuildId>,
    },
    /// Its contents are not those that the process had mapped.
    OtherContents,
    /// It is no symbol file of Breakpad for this system.
    NotSymbols(String),
    /// It is a symbol file of another build.
    DebugIdMismatch {
        /// The debug id that it tells.
        found: String,
    },
    /// Its checksum is not the one in `.gnu_debuglink`.
    ChecksumMismatch {
        /// The checksum of the file.
        found: u32,
    },
    /// It has no build-id, and is too long to compute its checksum. Its length in bytes.
    TooLong(u64),
    /// It is for another machine.
    WrongArch(Arch),
    /// A sysroot or a layer was given, and it is a file of this machine that does not lie in it.
    OutsideSysroot,
    /// It could not be fetched.
    NotFetched(String),
    /// It lies outside of the folders that a core which nobody trusts may have read.
    OutsideNamed,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("not found"),
            Self::NotRegular => f.write_str("not a regular file"),
            Self::Unreadable(error)
            | Self::NotElf(error)
            | Self::NotSymbols(error)
            | Self::NotFetched(error) => f.write_str(error),
            Self::DebugIdMismatch { found } => {
                write!(f, "its debug id is {found}, not that of the process")
            }
            Self::BuildIdMismatch { found: Some(found) } => {
                write!(f, "its build-id is {found}, not that of the process")
            }
            Self::BuildIdMismatch { found: None } => f.write_str("it has no build-id"),
            Self::OtherContents => f.write_str("its contents differ from what was mapped"),
            Self::ChecksumMismatch { found } => write!(f, "its checksum is {found:#x}"),
            Self::TooLong(len) => write!(
                f,
                "it has no build-id, and is with {len} bytes too long to be read for its checksum"
            ),
            Self::WrongArch(arch) => write!(f, "it is for {arch}"),
            Self::OutsideSysroot => {
                f.write_str("not under the sysroot or a layer, and so not looked at (--host-files)")
            }
            Self::OutsideNamed => f.write_str("outside of what --untrusted lets be read"),
        }
    }
}

/// A path that did not give the wanted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The path on this machine.
    pub path: PathBuf,
    /// Which kind of place it is.
    pub place: SearchedPlace,
    /// Why not.
    pub why: Why,
}

/// What a search gave.
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// The file.
    pub file: Option<FoundFile>,
    /// The paths that were tried before, in order.
    pub tried: Vec<Tried>,
}
