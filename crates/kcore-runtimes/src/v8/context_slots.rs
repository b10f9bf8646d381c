//! The slots of a context: which variable lies in which.
//!
//! `src/objects/contexts.h` of V8 9.4 to 14.6: the ScopeInfo, the context around it, an extension where there is one, and
//! the variables.

use super::{Heap, ScopeInfo, heap::Object};

/// The slot of the first variable where there is no extension.
pub const FIRST_VARIABLE: u64 = 2;

/// The names of the variables of a context, at most `most`, each with its slot.
pub fn variable_slots(heap: &Heap<'_>, context: Object, most: u64) -> Vec<(Object, u64)> {
    let info = heap.element(context, 0).and_then(|info| ScopeInfo::load(heap, heap.object(info)?));
    let Some(info) = info else { return Vec::new() };
    let slots = heap.length(context).unwrap_or_default();
    let variables = info.local_count().saturating_add(FIRST_VARIABLE);
    let first = FIRST_VARIABLE.saturating_add(u64::from(slots == variables.saturating_add(1)));
    let names = info.local_names(heap, most).into_iter();
    names.filter_map(|(name, index)| Some((name, first.checked_add(index)?))).collect()
}
