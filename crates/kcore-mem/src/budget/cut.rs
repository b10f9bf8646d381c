//! What was left out of an answer, and the option that raises the limit where one was reached.

use std::fmt;

use super::Resource;

/// Something that was left out, most often because a [`Budget`](super::Budget) was exhausted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// A resource was exhausted.
    Spent {
        /// The resource.
        resource: Resource,
        /// Its limit.
        limit: u64,
    },
    /// A compressed section was not inflated to its end.
    Section {
        /// Its name, and the file that has it if that has a name.
        name: String,
        /// Its inflated size, as its header claims.
        size: u64,
        /// Its compressed size.
        packed: u64,
    },
    /// A section is compressed in a way that this build cannot read.
    Compression {
        /// Its name, and the file that has it if that has a name.
        name: String,
        /// Its `ch_type` (gABI, «Compressed sections»).
        algorithm: u32,
    },
}

impl Cut {
    pub(super) const fn of(resource: Resource, limit: u64) -> Self {
        Self::Spent { resource, limit }
    }

    /// Whether later answers lack it as well.
    pub(super) const fn stays(&self) -> bool {
        matches!(self, Self::Section { .. } | Self::Compression { .. })
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Section { name, size, packed } => write!(
                f,
                "section {name} would take {size} bytes of memory, and is {packed} bytes long: it was not read to its end"
            )?,
            Self::Compression { name, algorithm } => {
                let algorithm = algorithm_name(*algorithm);
                return write!(
                    f,
                    "section {name} is compressed with {algorithm}, which this build of kcore cannot read"
                );
            }
            Self::Spent { resource, limit } => write!(f, "{}", spent(*resource, *limit))?,
        }
        f.write_str(" (--max-memory raises the limit)")
    }
}

fn algorithm_name(algorithm: u32) -> String {
    match algorithm {
        1 => "zlib".to_owned(),
        2 => "zstd".to_owned(),
        other => format!("algorithm {other}"),
    }
}

fn spent(resource: Resource, limit: u64) -> String {
    match resource {
        Resource::Inflated => format!("sections of more than {limit} bytes were not read"),
        Resource::Values => format!("there are more than {limit} values: the others are left out"),
        Resource::Text => {
            format!("there is text of more than {limit} bytes: the rest of it is left out")
        }
        Resource::Steps => {
            format!("more than {limit} links and entries would be read: what follows is left out")
        }
        Resource::Frames => format!("there are more than {limit} frames: the others are left out"),
        Resource::Entries => format!(
            "more than {limit} entries of debug information would be read: the variables of other frames are left out"
        ),
    }
}
