//! Searching code for references: which instructions jump to, read, write or compute an address.

use std::time::Instant;

use kcore_disasm::{Disassembler, Reference, Unsupported};
use kcore_mem::{Addr, AddrRange};
use kcore_parallel::prelude::*;

use crate::{Core, MemoryView, Module, SymbolBinding, SymbolRef, pace::Pace};

/// Functions that one thread looks at before it takes others.
const CHUNK: usize = 256;
/// Chunks that are looked at between two batches, at most.
const MAX_CHUNKS: usize = 256;
/// Bytes of code that are decoded in one go; no function is so long, but what a core says of one may be.
const MAX_PIECE: u64 = 1 << 24;

/// Whose code is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchedCode {
    /// That of all modules, and not of the executable alone.
    pub all_modules: bool,
    /// Only functions that other modules can see.
    pub globals_only: bool,
}

/// What was found in a part of the code.
#[derive(Debug, Default)]
pub struct ReferenceBatch {
    /// The references, in the order of addresses.
    pub found: Vec<Reference>,
    /// Functions that were searched so far.
    pub done: usize,
}

/// A search of code that goes on as long as it is pulled.
pub struct References<'c> {
    core: &'c Core,
    wanted: Vec<AddrRange>,
    functions: Vec<AddrRange>,
    done: usize,
    pace: Pace,
}

impl<'c> MemoryView<'c> {
    /// Searches the functions of modules for instructions that refer to an address in one of the
    /// ranges.
    ///
    /// # Errors
    /// When there is no disassembler for the machine.
    pub fn references(
        self,
        wanted: Vec<AddrRange>,
        searched: SearchedCode,
    ) -> Result<References<'c>, Unsupported> {
        let disassembler = Disassembler::new(self.core.target())?;
        if !disassembler.finds_references() {
            return Err(Unsupported(self.core.arch()));
        }
        let functions = self.core.functions(searched);
        Ok(References { core: self.core, wanted, functions, done: 0, pace: Pace::new(MAX_CHUNKS) })
    }
}

impl Core {
    /// The code of functions, lowest address first and each byte once.
    fn functions(&self, searched: SearchedCode) -> Vec<AddrRange> {
        let modules = self.modules().all().iter();
        let modules = modules.filter(|module| searched.all_modules || module.is_exe());
        let mut functions: Vec<_> =
            modules.flat_map(|module| functions_of(module, searched.globals_only)).collect();
        functions.sort_unstable();
        cut_overlaps(&mut functions);
        functions.into_iter().flat_map(pieces).collect()
    }

    /// The references in a function. Code that is not there has none.
    fn references_in(
        &self,
        disassembler: &Disassembler,
        function: AddrRange,
        wanted: &[AddrRange],
    ) -> Vec<Reference> {
        let mut found = Vec::new();
        let mut at = function.start;
        while function.contains(at)
            && let Ok(bytes) = self.space().slice(at)
        {
            let left = usize::try_from(function.end.offset_from(at).unwrap_or(0));
            let code = bytes.get(..left.unwrap_or(usize::MAX)).unwrap_or(bytes);
            found.extend(disassembler.references(at, code, wanted));
            at = at.saturating_add(code.len().max(1) as u64);
        }
        found
    }
}

/// The functions that a module defines.
fn functions_of(module: &Module, globals_only: bool) -> impl Iterator<Item = AddrRange> {
    let wanted = move |symbol: &SymbolRef<'_>| {
        let is_local = symbol.binding() == SymbolBinding::Local;
        symbol.kind().is_function() && symbol.is_defined() && !(globals_only && is_local)
    };
    let span = module.span();
    module.symbols().table().iter().filter(wanted).filter_map(move |symbol| {
        let start = module.addr(symbol.value())?;
        AddrRange::with_len(start, symbol.extent()).intersection(&span)
    })
}

/// Ends each of the ranges where the next begins, and lets it go on where one before it does: names of
/// one function, and functions within others, are looked at once. The ranges are in order.
fn cut_overlaps(ranges: &mut Vec<AddrRange>) {
    ranges.dedup_by(|next, last| {
        let same = next.start == last.start;
        if same {
            last.end = last.end.max(next.end);
        }
        same
    });
    let starts = ranges.iter().skip(1).map(|next| next.start).chain([Addr::new(u64::MAX)]);
    let starts: Vec<_> = starts.collect();
    let mut covered = Addr::new(0);
    for (range, next) in ranges.iter_mut().zip(starts) {
        covered = covered.max(range.end);
        range.end = covered.min(next);
    }
}

/// A range in parts that can be decoded without a look at the user.
fn pieces(range: AddrRange) -> impl Iterator<Item = AddrRange> {
    let rest = move |piece: &AddrRange| {
        let next = AddrRange::new(piece.end, range.end.min(piece.end.saturating_add(MAX_PIECE)));
        (!next.is_empty()).then_some(next)
    };
    let first = AddrRange::new(range.start, range.end.min(range.start.saturating_add(MAX_PIECE)));
    std::iter::successors(Some(first), rest)
}

impl References<'_> {
    /// How many functions are searched in all.
    pub const fn total(&self) -> usize {
        self.functions.len()
    }

    fn search(&self, functions: &[AddrRange]) -> Vec<Reference> {
        // Disassemblers are cheap, and no two threads may share one.
        let Ok(disassembler) = Disassembler::new(self.core.target()) else { return Vec::new() };
        let in_function =
            |function: &AddrRange| self.core.references_in(&disassembler, *function, &self.wanted);
        functions.iter().flat_map(in_function).collect()
    }
}

impl Iterator for References<'_> {
    type Item = ReferenceBatch;

    fn next(&mut self) -> Option<ReferenceBatch> {
        let left = self.functions.get(self.done..).filter(|left| !left.is_empty())?;
        let step = left.get(..self.pace.items().saturating_mul(CHUNK)).unwrap_or(left);
        let start = Instant::now();
        let found: Vec<_> = step.par_chunks(CHUNK).map(|chunk| self.search(chunk)).collect();
        let found = found.into_iter().flatten().collect();
        self.done = self.done.saturating_add(step.len());
        self.pace.took(start.elapsed());
        Some(ReferenceBatch { found, done: self.done })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_end_where_others_begin() {
        let range = |start, end| AddrRange::new(Addr::new(start), Addr::new(end));
        let mut ranges = vec![range(0, 10), range(0, 90), range(20, 30), range(40, 200)];
        cut_overlaps(&mut ranges);
        assert_eq!(ranges, [range(0, 20), range(20, 40), range(40, 200)]);
    }

    #[test]
    fn long_functions_are_split_without_gaps() {
        let range = |start, end| AddrRange::new(Addr::new(start), Addr::new(end));
        assert_eq!(pieces(range(16, 4096)).collect::<Vec<_>>(), [range(16, 4096)]);
        let start = 16;
        let parts: Vec<_> = pieces(range(start, start + 2 * MAX_PIECE + 1)).collect();
        assert_eq!(
            parts,
            [
                range(start, start + MAX_PIECE),
                range(start + MAX_PIECE, start + 2 * MAX_PIECE),
                range(start + 2 * MAX_PIECE, start + 2 * MAX_PIECE + 1),
            ]
        );
        let wild = range(u64::MAX - 8, u64::MAX);
        assert_eq!(pieces(wild).collect::<Vec<_>>(), [wild]);
    }
}
