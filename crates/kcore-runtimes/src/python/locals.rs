//! The local variables of a frame.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Code, Python,
    dict::Entries,
    heap::{DICT, Heap},
};
use crate::Host;

/// Where a cell keeps what it refers to, `Include/cpython/cellobject.h`.
const CELL: u64 = 16;

/// A variable of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// What it is called.
    pub name: Arc<str>,
    /// Whether it is an argument.
    pub is_argument: bool,
    /// Where its value lies.
    pub at: Addr,
}

impl Python {
    /// The variables of the frame at `at` that have a value, in the order of the code; `None` where it cannot be read
    /// what they are.
    pub fn locals(&self, host: &dyn Host, at: Addr) -> Option<Vec<Local>> {
        let heap = self.heap(host);
        let code = Addr::new(heap.word(at, heap.layout.frame.code)? & !3);
        let code = self.code(&heap, code)?;
        match code.is_optimized() {
            true => self.of_slots(host, &heap, at, &code),
            false => self.of_dict(&heap, at),
        }
    }

    fn of_slots(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        at: Addr,
        code: &Code,
    ) -> Option<Vec<Local>> {
        let slots = code.slots(heap)?;
        let slots = slots.iter().zip(0_u64..);
        let value = |may_be_cell: bool, index: u64| {
            let offset = heap.layout.frame.slots.checked_add(index.checked_mul(8)?)?;
            let value = self.referred(heap.word(at, offset)?)?;
            match may_be_cell && self.is_cell(host, heap, value) {
                true => heap.pointer(value, CELL),
                false => Some(value),
            }
        };
        let local = slots.filter_map(|(slot, index)| {
            Some(Local {
                at: value(slot.may_be_cell, index).filter(|_| !slot.is_hidden)?,
                name: slot.name.clone(),
                is_argument: index < code.arguments,
            })
        });
        Some(local.collect())
    }

    /// A slot of a cell holds one from the first instructions on.
    fn is_cell(&self, host: &dyn Host, heap: &Heap<'_>, at: Addr) -> bool {
        let name = heap.object(at).and_then(|object| self.class_name(host, object.class));
        name.is_some_and(|name| &*name == "cell")
    }

    /// The variables of a module or of the body of a class: a dict.
    fn of_dict(&self, heap: &Heap<'_>, at: Addr) -> Option<Vec<Local>> {
        let dict = match heap.word(at, heap.layout.frame.locals)? & !3 {
            0 => return Some(Vec::new()),
            word => heap.object(Addr::new(word))?,
        };
        // Any mapping may stand there, of which nothing is known.
        let entries = if dict.is(DICT) { Some(Entries::of(heap, dict)?) } else { None };
        let entries = entries.into_iter().flatten();
        let local = entries.filter_map(|entry| {
            let name = heap.name(heap.object(entry.key)?)?;
            Some(Local { name: name.into(), is_argument: false, at: entry.value })
        });
        Some(local.collect())
    }
}
