//! The variable `errno` of a thread.

use kcore_mem::Addr;

use super::{Tls, TlsError, thread_db};
use crate::{Core, LookupError, SymbolKind, Tid, arch::facts};

/// Bytes of `__errno_location` that are read.
const MAX_CODE: u64 = 32;

impl Tls<'_> {
    /// Where `errno` of a thread lies: a thread-local variable of glibc; in musl a field of the
    /// thread's structure, which the code of `__errno_location` tells.
    ///
    /// # Errors
    /// When the process has no C library whose `errno` is known, or the thread's was not found.
    pub fn errno(&self, tid: Tid) -> Result<Addr, LookupError> {
        let modules = self.core.modules();
        for module in modules.named("libc").chain(modules.exe()) {
            let symbol = module.symbols().table().lookup("errno");
            let own = symbol.filter(|it| it.kind() == SymbolKind::Tls && it.is_defined());
            if let Some(symbol) = own {
                return Ok(self.symbol(tid, module, &symbol)?);
            }
        }
        let offset = errno_in_structure(self.core).ok_or(LookupError::UnknownSymbol)?;
        let pointer = self.pointer(tid).ok_or(TlsError::NoThreadPointer(tid))?;
        Ok(pointer.wrapping_offset(offset))
    }
}

/// The offset of `errno` in the structure of a thread, as the code of musl has it.
fn errno_in_structure(core: &Core) -> Option<i64> {
    let function = thread_db::libc_symbol(core, "__errno_location")
        .or_else(|| core.symbols().lookup(None, "__errno_location").ok())?;
    let code = core.space().read_held(function, MAX_CODE);
    (facts(core.target()).tls.as_ref()?.errno_offset)(&code)
}
