//! STUB, being written by a colleague: only the signatures are meant.

use std::path::PathBuf;

use crate::{Addr, AddressSpace, Target, Tid};

/// What to open, and where to look for its files.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The core; `-` is standard input. `None`: the executable alone.
    pub core: Option<PathBuf>,
    /// The executable.
    pub exe: Option<PathBuf>,
    /// Look for the target's files under this directory first.
    pub sysroot: Option<PathBuf>,
    /// More directories in the build-id layout.
    pub debug_dirs: Vec<PathBuf>,
}

/// Why nothing could be opened.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(pub String);

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No module has the symbol.
    #[error("unknown symbol name")]
    UnknownSymbol,
    /// No module has the name before the backquote.
    #[error("unknown object file name")]
    UnknownModule,
}

/// An opened core.
pub struct Core;

impl Core {
    /// Opens.
    ///
    /// # Errors
    /// When the target cannot be read at all.
    pub fn open(_options: &OpenOptions) -> Result<Self, OpenError> {
        Err(OpenError("stub".into()))
    }

    /// Architecture, word size, byte order.
    pub fn target(&self) -> Target {
        Target::X86_64
    }

    /// The memory of the process.
    pub fn space(&self) -> &dyn AddressSpace {
        unimplemented!("stub")
    }

    /// The threads, crashed one first.
    pub fn tids(&self) -> Vec<Tid> {
        Vec::new()
    }

    /// The value of register `name` (`rax`, `eax`, `rip`, `fsbase`…) in physical frame `frame` of
    /// thread `tid`: `Err` unknown register name, `Ok(None)` not recoverable in that frame.
    ///
    /// # Errors
    /// An unknown name, an unknown thread or frame: a message.
    pub fn register(&self, _tid: Tid, _frame: usize, _name: &str) -> Result<Option<u64>, String> {
        Ok(None)
    }

    /// The address of a symbol, in MDB's scope order; `object` is what stood before the backquote.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn lookup_symbol(&self, _object: Option<&str>, _name: &str) -> Result<Addr, LookupError> {
        Err(LookupError::UnknownSymbol)
    }

    /// Symbol names that begin with `prefix`, sorted, at most `max`, for completion.
    pub fn complete_symbol(&self, _prefix: &str, _max: usize) -> Vec<String> {
        Vec::new()
    }
}
