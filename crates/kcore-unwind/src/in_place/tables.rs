//! What a walk in place looks up.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, CodeAddr};
use rustc_hash::FxHashMap;

use crate::{
    Cfi, Machine,
    row::{Context, Row},
};

/// Rows that are kept ready, at most: enough for the code of a thousand different stacks.
const MAX_READY: usize = 1 << 16;

/// Unwind information of a process, by address.
pub struct Tables {
    pub(super) machine: Box<dyn Machine>,
    /// Modules, lowest first.
    modules: Vec<(AddrRange, Arc<Cfi>)>,
    /// Where code may run, lowest first.
    code: Vec<AddrRange>,
    /// Rows of code that was met before, ready to be applied. A return address that no call left has none.
    ready: FxHashMap<CodeAddr, Row>,
    context: Context,
}

/// Gathers what [`Tables`] are made of.
#[must_use]
pub struct TablesBuilder(Tables);

impl TablesBuilder {
    /// For a process of this machine, whose code lies in `code`.
    pub fn new(machine: Box<dyn Machine>, mut code: Vec<AddrRange>) -> Self {
        code.sort_unstable();
        Self(Tables {
            machine,
            modules: Vec::new(),
            code,
            ready: FxHashMap::default(),
            context: Context::new(),
        })
    }

    /// The unwind information of what lies at `range`. Its bytes must be copies: the module may be unloaded
    /// while they are read.
    pub fn module(mut self, range: AddrRange, cfi: Arc<Cfi>) -> Self {
        cfi.prepare();
        self.0.modules.push((range, cfi));
        self
    }

    /// The tables.
    pub fn build(mut self) -> Tables {
        self.0.modules.sort_unstable_by_key(|(range, _)| *range);
        self.0
    }
}

impl Tables {
    /// How many modules have unwind information.
    pub fn modules(&self) -> usize {
        self.modules.len()
    }

    /// How many rows are ready.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Gets the rows of code ready that was met: the next walk that meets it finds them without running an
    /// unwind program. Not for a handler.
    pub fn learn(&mut self, met: impl IntoIterator<Item = CodeAddr>) {
        for pc in met {
            let at = pc.lookup();
            if self.ready.len() >= MAX_READY || self.ready.contains_key(&pc) {
                continue;
            }
            // Behind a function's last byte there may be what a signal's handler returns to: see the walk.
            let may_return_to_signal = pc.is_return() && self.row_at(pc.addr()).is_none();
            if let Some(row) = self.row_at(at).filter(|_| !may_return_to_signal) {
                self.ready.insert(pc, row);
            }
        }
    }

    /// The row for the code at `at`. Not for a handler.
    fn row_at(&mut self, at: Addr) -> Option<Row> {
        let cfi = cfi_among(&self.modules, at)?;
        let mut row = None;
        cfi.row_in_place(at, &mut self.context, &mut |found| {
            row = Row::new(found);
            Some(())
        });
        row
    }

    /// The row that is ready for the code at `pc`.
    pub(super) fn ready_row(&self, pc: CodeAddr) -> Option<&Row> {
        self.ready.get(&pc)
    }

    /// The unwind information of the module that holds `at`.
    pub(super) fn cfi_at(&self, at: Addr) -> Option<&Cfi> {
        cfi_among(&self.modules, at)
    }

    /// Whether code may run at `at`.
    pub(super) fn is_code(&self, at: Addr) -> bool {
        let after = self.code.partition_point(|range| range.start <= at);
        let range = after.checked_sub(1).and_then(|index| self.code.get(index));
        range.is_some_and(|range| range.contains(at))
    }
}

fn cfi_among(modules: &[(AddrRange, Arc<Cfi>)], at: Addr) -> Option<&Cfi> {
    let after = modules.partition_point(|(range, _)| range.start <= at);
    let (range, cfi) = modules.get(after.checked_sub(1)?)?;
    range.contains(at).then_some(cfi)
}
