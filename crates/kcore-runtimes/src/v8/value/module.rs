//! What modules export, as `import * as` has it.
//!
//! `JSModuleNamespace` in `src/objects/js-objects.tq`: a property for each export, whose value is that of a
//! variable; the module lists those by name (`src/objects/module.tq`).

use crate::v8::{Heap, Tagged, heap::Object};

/// JSModuleNamespace: the module, before which there may be a word for the embedder, which is no object.
const MODULE: [u64; 2] = [24, 32];
/// Module: what it exports, an ObjectHashTable.
const EXPORTS: u64 = 8;
/// The element of that which says how many entries there may be, and the first of their keys.
const CAPACITY: u64 = 2;
const FIRST_KEY: u64 = 3;
/// Entries are looked at up to this many.
const MAX_ENTRIES: u64 = 1 << 16;

impl Heap<'_> {
    /// The value that a module exports under a name; `None` of what is no namespace of a module.
    pub fn exported_value(&self, namespace: Object, name: Object) -> Option<Tagged> {
        let types = &self.layout.types;
        (namespace.kind == types.module_namespace && types.module_namespace != 0).then_some(())?;
        let module = MODULE.into_iter().find_map(|at| self.field(namespace.at, at))?;
        let exports = self.field(module.at, EXPORTS)?;
        let capacity = u64::try_from(self.element(exports, CAPACITY)?.smi()?).ok()?;
        let mut keys = (0..capacity.min(MAX_ENTRIES)).map(|entry| {
            let at = entry.saturating_mul(2).saturating_add(FIRST_KEY);
            (at, self.element(exports, at))
        });
        let (at, _) = keys.find(|(_, key)| key.and_then(Tagged::object) == Some(name.at))?;
        let cell = self.object(self.element(exports, at.checked_add(1)?)?)?;
        (cell.kind == types.cell).then(|| self.tagged(cell.at, 8))?
    }
}
