//! What the walker asks about code.

use kcore_mem::{Addr, AddrRange};

use crate::Cfi;

/// Code and its unwind information, by address. Implemented by whoever knows files and symbols.
pub trait Modules: Sync {
    /// The unwind information of the module that holds `at`.
    fn cfi_at(&self, at: Addr) -> Option<&Cfi>;

    /// Whether the process could execute at `at`: it lies in an executable mapping.
    fn is_code(&self, at: Addr) -> bool;

    /// Whether what lies at `at` belongs to a module. Code that does not was made at run time.
    fn is_in_module(&self, at: Addr) -> bool;

    /// The nearest function that a symbol tells to begin at or before `at`, for code without unwind
    /// information. It need not reach up to `at`: symbols of the functions between may be stripped.
    fn function_before(&self, at: Addr) -> Option<AddrRange>;

    /// The exception table of the module that holds `at`, as machines have one that unwind by it: `.ARM.exidx`.
    fn exception_table(&self, at: Addr) -> Option<AddrRange> {
        let _ = at;
        None
    }

    /// Whether the code at `at` is where every stack begins (`_start`).
    fn is_entry(&self, at: Addr) -> bool;

    /// Whether a function that called something from `at` has no caller on that stack, whatever its unwind information
    /// says: it left the stack that it was called on, and never returns.
    fn is_first_on_stack(&self, at: Addr) -> bool;
}
