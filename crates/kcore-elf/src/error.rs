//! Why bytes are not the ELF file that they should be.

use kcore_mem::OutOfBytes;

/// Why a file could not be read as ELF.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The first bytes are not those of ELF.
    #[error("not an ELF file (it begins with {0:02x?})")]
    NotElf(Vec<u8>),
    /// It is ELF, but no core.
    #[error("not a core file (ELF type {0})")]
    NotCore(u16),
    /// A core of another system than Linux, by its notes.
    #[error("a core of {0}: kcore reads cores of Linux")]
    OtherSystem(&'static str),
    /// A class or byte order that ELF does not define.
    #[error("ELF class {class} with byte order {order} is not known")]
    UnknownClass {
        /// `e_ident[EI_CLASS]`.
        class: u8,
        /// `e_ident[EI_DATA]`.
        order: u8,
    },
    /// The file ends within its own header.
    #[error("the ELF header is cut off: it {0}")]
    Header(#[from] OutOfBytes),
    /// What goblin says of a module's file.
    #[error("{0}")]
    Malformed(String),
}
