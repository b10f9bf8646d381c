//! Functions of Go's runtime that leave the stack that they were called on and never return.
//!
//! `runtime.mcall` and `runtime.morestack` call a function on the stack of the scheduler, `g0`, `runtime.clone` the first
//! one of a thread; `runtime.rt0_go` is entered by a jump (Go 1.19, `runtime/asm_amd64.s`, `runtime/sys_linux_amd64.s`).
//! Their unwind information describes them as functions that have a caller below: what lies there was left by others.

use kcore_mem::AddrRange;

use crate::Module;

const FUNCTIONS: [&str; 4] =
    ["runtime.mcall", "runtime.morestack", "runtime.clone", "runtime.rt0_go"];
/// What the linker adds to the names of those that take their arguments on the stack.
const OLD_ABI: &str = ".abi0";
/// Sections that Go's linker makes; the second one in files that may lie anywhere, where the system's linker keeps it.
const TABLES: [&str; 3] = [".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo"];

/// Their code in a module; none in one that Go did not make.
pub fn first_functions(module: &Module) -> Vec<AddrRange> {
    let is_go = module
        .image()
        .is_some_and(|image| TABLES.iter().any(|table| image.section(table).is_some()));
    if !is_go {
        return Vec::new();
    }
    let table = module.symbols().table();
    let names = FUNCTIONS.iter().flat_map(|name| [(*name).to_owned(), format!("{name}{OLD_ABI}")]);
    let found = names.filter_map(|name| {
        let symbol = table.lookup(&name)?;
        Some(AddrRange::with_len(module.addr(symbol.value())?, symbol.extent()))
    });
    found.collect()
}
