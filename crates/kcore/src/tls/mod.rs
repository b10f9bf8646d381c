//! Thread-local storage: where the variables of a module lie for a thread.
//!
//! The executable's block lies at a distance from the thread pointer that the ABI fixes. Blocks of
//! other modules are found as the C library does: each has a number, and each thread a vector
//! (DTV) that holds by this number where its block lies. Modules that were there from the start
//! also have a distance of their own.

mod dtv;
mod errno;
mod place;
mod thread_areas;
mod thread_db;

use kcore_elf::ImageSegment;
use kcore_mem::{Addr, Fault};

pub(crate) use place::{Libc, Linker};
pub(crate) use thread_areas::ThreadAreas;

use crate::{Core, LookupError, Module, SymbolKind, SymbolRef, Tid, arch::facts};

/// Why a thread has no block of a module, or none that could be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The thread has not used the module's variables yet.
    #[error("thread local storage has not yet been allocated")]
    NotAllocated,
    /// The module has no thread-local variables.
    #[error("object does not support thread local storage")]
    NoStorage,
    /// The symbol is that of an ordinary variable or function.
    #[error("does not refer to thread local storage")]
    NotThreadLocal,
    /// The core does not hold the register that points to the thread's storage, and the C library's
    /// list of threads was not found.
    #[error("the thread pointer of thread {0} is not known")]
    NoThreadPointer(Tid),
    /// Neither the dynamic linker's data nor the symbols of the C library tell.
    #[error("it is not known where the C library keeps the thread local storage of {0}")]
    UnknownPlace(String),
    /// Memory that holds it could not be read.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Questions about thread-local storage: see [`Core::tls`].
#[derive(Clone, Copy)]
pub struct Tls<'c> {
    core: &'c Core,
}

impl Core {
    /// Its thread-local storage.
    pub const fn tls(&self) -> Tls<'_> {
        Tls { core: self }
    }
}

impl Tls<'_> {
    /// The register that points to a thread's local storage, or, where the core does not hold it,
    /// what the C library's list of threads says.
    pub fn pointer(&self, tid: Tid) -> Option<Addr> {
        let name = facts(self.core.target()).thread_pointer;
        let registers = self.core.registers().user(tid);
        let saved = registers.iter().find(|register| register.name == name);
        let saved = saved.map(|register| Addr::new(register.value)).filter(|at| at.get() != 0);
        saved.or_else(|| self.core.thread_areas().pointer(self.core.inner_tid(tid)))
    }

    /// Where the C library keeps its structure of a thread, `struct pthread`.
    pub fn structure(&self, tid: Tid) -> Option<Addr> {
        let pointer = self.pointer(tid)?;
        let layout = facts(self.core.target()).tls.as_ref()?;
        if !layout.thread_is_below_pointer {
            return Some(pointer);
        }
        let size = self.core.thread_areas().structure_size()?;
        let size = size.checked_add(layout.beyond_structure)?;
        Some(pointer.wrapping_offset(size.cast_signed().wrapping_neg()))
    }

    /// Where the block of a module's thread-local variables begins for a thread.
    ///
    /// # Errors
    /// When the module has none, or the thread's was not found; see [`TlsError`].
    pub fn block(&self, tid: Tid, module: &Module) -> Result<Addr, TlsError> {
        let segment = module.tls_segment().ok_or(TlsError::NoStorage)?;
        let pointer = self.pointer(tid).ok_or(TlsError::NoThreadPointer(tid))?;
        if !module.is_exe() {
            return self.core.block_of_library(pointer, module, &segment);
        }
        let layout = facts(self.core.target()).tls.as_ref();
        let layout = layout.ok_or_else(|| TlsError::UnknownPlace(module.name().to_owned()))?;
        let offset = (layout.exe_offset)(segment.svma, segment.mem_size, segment.align.max(1));
        Ok((layout.static_block)(pointer, offset))
    }

    /// Where a thread-local variable lies for a thread.
    ///
    /// # Errors
    /// When the symbol is none of a thread-local variable, or its block was not found.
    pub fn symbol(
        &self,
        tid: Tid,
        module: &Module,
        symbol: &SymbolRef<'_>,
    ) -> Result<Addr, TlsError> {
        if symbol.kind() != SymbolKind::Tls {
            return Err(TlsError::NotThreadLocal);
        }
        let block = self.block(tid, module)?;
        Ok(Addr::new(block.get().wrapping_add(symbol.value().get())))
    }

    /// Where the thread-local variable `name` lies for a thread; `object` is what stood before the
    /// backquote.
    ///
    /// # Errors
    /// As [`Tls::symbol`], and when there is no such symbol.
    pub fn variable(
        &self,
        tid: Tid,
        object: Option<&str>,
        name: &str,
    ) -> Result<Addr, LookupError> {
        let (module, symbol) = self.core.find_symbol(object, name)?;
        Ok(self.symbol(tid, module, &symbol)?)
    }
}

impl Module {
    /// The first image of its thread-local variables.
    pub(crate) fn tls_segment(&self) -> Option<ImageSegment> {
        self.segments().iter().find(|segment| segment.is_tls()).copied()
    }
}
