//! What a process registered of code that it made while it ran, for exceptions to pass or for debuggers to know: LLVM's
//! JITs (PostgreSQL, Julia, Numba, drivers of graphics), wasmtime, LuaJIT.
//!
//! libgcc keeps what `__register_frame` is given as objects: to gcc 12 in two lists, from gcc 13 on in a B-tree. Both
//! hang on variables without a symbol that is exported, in the data of whoever holds libgcc.

pub mod code_map;
mod gdb;
mod object;
mod relocated;
mod roots;
#[cfg(test)]
mod tests;
mod tree;

use std::{collections::HashSet, sync::Arc};

use kcore_mem::{Addr, AddrRange, AddressSpace, Svma, Target};
use kcore_symbols::{Function, ModuleSymbols, RawSymbol, SymbolTable};
use kcore_unwind::{Cfi, CfiBuilder};

use self::gdb::MadeFile;
use crate::HostModule;

/// Sections that are read, at most: a JIT registers one for each module or function that it made.
const MAX_SECTIONS: usize = 1 << 16;
/// Bytes of a section, at most.
const MAX_SECTION: u64 = 16 << 20;
/// Bytes of all sections, and of all names, at most.
const MAX_BYTES: u64 = 64 << 20;
/// Bytes that a function takes beside its name.
const SYMBOL: u64 = 64;

/// The frame descriptions that were registered, by the code that they cover, and names.
#[derive(Default)]
pub struct Registered {
    sections: Vec<Cfi>,
    /// Code by its first address, with the index of its section.
    covered: Vec<(AddrRange, usize)>,
    /// Of all functions; their addresses are those of the process.
    symbols: Option<ModuleSymbols>,
}

/// Where what was registered may hang in memory.
pub struct RegistryAddresses {
    /// What may be objects of libgcc, or trees of them.
    pub objects: Vec<Addr>,
    /// Descriptors of GDB's interface.
    pub descriptors: Vec<Addr>,
}

impl RegistryAddresses {
    /// Those of some modules, of which one may be the executable.
    pub fn find(
        modules: &[&dyn HostModule],
        exe: Option<&dyn HostModule>,
        space: &dyn AddressSpace,
    ) -> Self {
        let descriptors = modules.iter().filter_map(|module| gdb::descriptor(*module)).collect();
        Self { objects: roots::of(modules, exe, space), descriptors }
    }
}

impl Registered {
    /// Reads what hangs on these places. What is damaged is left out.
    pub fn read(places: &RegistryAddresses, space: &dyn AddressSpace) -> Self {
        let mut starts = Vec::new();
        for root in &places.objects {
            object::sections(*root, space, &mut starts);
            tree::sections(*root, space, &mut starts);
        }
        let (mut found, mut seen, mut left) = (Self::default(), HashSet::new(), MAX_BYTES);
        for start in starts.into_iter().filter(|start| seen.insert(*start)) {
            let len = section_len(start, left.min(MAX_SECTION), space);
            left = left.saturating_sub(len);
            found.add(space.read_held(start, len), Svma::new(start.get()), space.target());
        }
        found.read_files(&places.descriptors, space);
        found.covered.sort_by_key(|(range, _)| range.start);
        found
    }

    fn read_files(&mut self, descriptors: &[Addr], space: &dyn AddressSpace) {
        let files = gdb::files(descriptors, space);
        for (bytes, at) in files.iter().filter_map(MadeFile::unwind_information) {
            self.add(bytes, at, space.target());
        }
        let mut left = MAX_BYTES;
        let fits = |function: &RawSymbol| {
            let rest = left.checked_sub(SYMBOL.saturating_add(function.name.len() as u64));
            left = rest.unwrap_or_default();
            rest.is_some()
        };
        let functions: Vec<_> =
            files.iter().flat_map(MadeFile::functions).take_while(fits).collect();
        if !functions.is_empty() {
            self.symbols = Some(ModuleSymbols::from_table(SymbolTable::from_raw(functions)));
        }
    }

    fn add(&mut self, bytes: Vec<u8>, at: Svma, target: Target) {
        let cfi = CfiBuilder::new(target, 0).eh_frame(Arc::new(bytes), at).build();
        let index = self.sections.len();
        self.covered.extend(cfi.covered().into_iter().map(|range| (range, index)));
        self.sections.push(cfi);
    }

    /// The function at `at` that has a name.
    pub fn function_at(&self, at: Addr) -> Option<Function> {
        self.symbols.as_ref()?.function_at(Svma::new(at.get()))
    }

    /// The frame descriptions that cover the code at `at`.
    pub fn at(&self, at: Addr) -> Option<&Cfi> {
        let after = self.covered.partition_point(|(range, _)| range.start <= at);
        let (range, index) = self.covered.get(after.checked_sub(1)?)?;
        self.sections.get(*index).filter(|_| range.contains(at))
    }
}

/// The bytes of a section up to its end, a record of length 0, or up to the first that cannot be read.
fn section_len(start: Addr, limit: u64, space: &dyn AddressSpace) -> u64 {
    let mut len: u64 = 0;
    while len < limit {
        let Some(record) = start.checked_add(len).and_then(|at| record_len(at, space)) else {
            break;
        };
        len = len.saturating_add(record);
    }
    len.min(limit)
}

/// The bytes of a record with its length; `None` for that which ends a section. Those of 64 bits, which no JIT writes,
/// end it too.
fn record_len(at: Addr, space: &dyn AddressSpace) -> Option<u64> {
    const EXTENDED: u64 = 0xffff_fff0;
    let len = space.read_uint(at, 4).ok()?;
    (len != 0 && len < EXTENDED).then(|| len.saturating_add(4))
}
