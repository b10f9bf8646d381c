//! Why an address has no bytes, and where the bytes of an address come from.

use crate::Addr;

/// Why memory at an address could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The process had nothing mapped there.
    #[error("no mapping for address {0:x}")]
    Unmapped(Addr),
    /// The process had memory there, which the core left out and no file with the right build-id
    /// supplies.
    #[error("address {0:x} was not dumped")]
    NotDumped(Addr),
    /// The process had memory there, which was not copied when its snapshot was taken.
    #[error("address {0:x} was not copied")]
    NotCopied(Addr),
    /// The core once held it, but its file is cut off before.
    #[error("address {0:x} is lost: the core file ends before it")]
    Truncated(Addr),
    /// A file that should hold it could not be read.
    #[error("address {0:x} could not be read from its file")]
    Unreadable(Addr),
}

impl Fault {
    /// The first address that could not be read.
    pub const fn addr(&self) -> Addr {
        match *self {
            Self::Unmapped(at)
            | Self::NotDumped(at)
            | Self::NotCopied(at)
            | Self::Truncated(at)
            | Self::Unreadable(at) => at,
        }
    }

    /// The reason without the address, for messages that name the address themselves.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Unmapped(_) => "no mapping for address",
            Self::NotDumped(_) => "address was not dumped",
            Self::NotCopied(_) => "address was not copied",
            Self::Truncated(_) => "the core file is cut off before this address",
            Self::Unreadable(_) => "its file could not be read",
        }
    }
}

/// Where the bytes of an address come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The core file.
    Core,
    /// The copy that a snapshot has of a live process.
    Snapshot,
    /// The live process itself, read after its snapshot was taken: it may have changed since.
    Live,
    /// A module's file whose build-id is the one that the process had mapped.
    ModuleFile,
    /// A module's file of which nothing in the core proves that it is the one mapped.
    UnverifiedFile,
}

impl Origin {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Snapshot => "snapshot",
            Self::Live => "live",
            Self::ModuleFile => "module_file",
            Self::UnverifiedFile => "unverified_file",
        }
    }
}
