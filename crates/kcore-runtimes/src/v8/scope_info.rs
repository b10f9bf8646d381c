//! ScopeInfos: names and positions of functions, names of their variables.
//!
//! `src/objects/scope-info.tq` of V8 9.4 to 15.0: tagged words behind the map, of which those behind
//! the fixed ones are there or not as flags say.

use kcore_mem::Addr;

use super::{Heap, Tagged, heap::Object};

/// So many names of variables lie in the object itself; more in a table, since V8 9.5.
const MAX_INLINED_NAMES: u64 = 75;

/// Entries of such a table that are looked at.
const MAX_CAPACITY: u64 = 1 << 17;

const SCOPE_TYPE: u64 = 0xf;
const CLASS_VARIABLE: u64 = 1 << 10;
const FUNCTION_VARIABLE: u64 = 3 << 12;
const INFERRED_NAME: u64 = 1 << 14;

/// What scope it is, by the number in the flags: those with positions, and modules.
struct ScopeTypes {
    module: u64,
    with_positions: [u64; 5],
}

/// A scope.
#[derive(Clone, Copy, Debug)]
pub struct ScopeInfo {
    object: Object,
    flags: u64,
    locals: u64,
}

/// Indices of the parts that are there or not.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    names: Option<u64>,
    names_table: Option<u64>,
    function_name: Option<u64>,
    inferred_name: Option<u64>,
    positions: Option<u64>,
}

impl ScopeInfo {
    /// The ScopeInfo that an object is, if it is one.
    pub fn load(heap: &Heap<'_>, object: Object) -> Option<Self> {
        (object.kind == heap.layout.types.scope_info).then_some(())?;
        let flags = if heap.layout.has_flat_scope_info() {
            heap.uint(object.at, 8, 4)?
        } else {
            u64::from(heap.smi(object.at, 8)?.cast_unsigned())
        };
        let locals =
            if flags & heap.layout.empty_scope() == 0 { heap.smi(object.at, 24)? } else { 0 };
        Some(Self { object, flags, locals: u64::try_from(locals).ok()? })
    }

    /// Where it lies, without tag.
    pub const fn at(self) -> Addr {
        self.object.at
    }

    /// Its flags.
    pub const fn flags(self) -> u64 {
        self.flags
    }

    /// The name of its function, if it has one.
    pub fn function_name(self, heap: &Heap<'_>) -> Option<Object> {
        self.string(heap, self.parts(heap)?.function_name?)
    }

    /// The name that V8 made up for a function without one, from where it was assigned.
    pub fn inferred_name(self, heap: &Heap<'_>) -> Option<Object> {
        self.string(heap, self.parts(heap)?.inferred_name?)
    }

    /// The offsets in the source from its first to behind its last unit.
    pub fn positions(self, heap: &Heap<'_>) -> Option<(u64, u64)> {
        let index = self.parts(heap)?.positions?;
        let position = |index| u64::try_from(self.word(heap, index)?.smi()?).ok();
        Some((position(index)?, position(index.checked_add(1)?)?))
    }

    /// How many variables of it lie in a context.
    pub const fn local_count(self) -> u64 {
        self.locals
    }

    /// The names of its variables in a context, at most `most`, each with its index among them.
    pub fn local_names(self, heap: &Heap<'_>, most: u64) -> Vec<(Object, u64)> {
        let Some(parts) = self.parts(heap) else { return Vec::new() };
        if let Some(names) = parts.names {
            let named = |local: u64| Some((self.string(heap, names.checked_add(local)?)?, local));
            return (0..self.locals.min(most)).filter_map(named).collect();
        }
        self.table_names(heap, &parts, most).unwrap_or_default()
    }

    /// Names in a table: count, deleted, capacity, then pairs of name and index.
    fn table_names(self, heap: &Heap<'_>, parts: &Parts, most: u64) -> Option<Vec<(Object, u64)>> {
        let table = heap.object(self.word(heap, parts.names_table?)?)?;
        let capacity = u64::try_from(heap.element(table, 2)?.smi()?).ok()?;
        let pair = |entry: u64| {
            let key = entry.checked_mul(2)?.checked_add(3)?;
            let name = heap.object(heap.element(table, key)?)?;
            let index = heap.element(table, key.checked_add(1)?)?.smi()?;
            heap.is_string(name).then_some((name, u64::try_from(index).ok()?))
        };
        let mut names: Vec<_> = (0..capacity.min(MAX_CAPACITY)).filter_map(pair).collect();
        names.sort_by_key(|(_, index)| *index);
        names.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Some(names)
    }

    fn word(self, heap: &Heap<'_>, index: u64) -> Option<Tagged> {
        heap.tagged(self.object.at, index.checked_add(1)?.checked_mul(8)?)
    }

    fn string(self, heap: &Heap<'_>, index: u64) -> Option<Object> {
        let string = heap.object(self.word(heap, index)?)?;
        (heap.string_length(string)? > 0).then_some(string)
    }

    fn parts(self, heap: &Heap<'_>) -> Option<Parts> {
        if self.flags & heap.layout.empty_scope() != 0 {
            return None;
        }
        let types = ScopeTypes::of(heap);
        let scope_type = self.flags & SCOPE_TYPE;
        let flat = heap.layout.has_flat_scope_info();
        let mut parts = Parts::default();
        let mut next = heap.layout.offsets.scope_variable_part;
        let mut take = |present: bool, words: u64| {
            let index = next;
            next = next.saturating_add(if present { words } else { 0 });
            present.then_some(index)
        };
        take(scope_type == types.module, 1);
        let inlined = self.locals < MAX_INLINED_NAMES || !heap.layout.column.is_since(10, 2);
        parts.names = take(inlined, self.locals);
        parts.names_table = take(!inlined, 1);
        take(true, self.locals);
        take(self.flags & CLASS_VARIABLE != 0, 1);
        take(self.has_receiver_slot(heap), 1);
        parts.function_name = take(self.flags & FUNCTION_VARIABLE != 0, 2);
        parts.inferred_name = take(self.flags & INFERRED_NAME != 0, 1);
        parts.positions =
            if flat { Some(3) } else { take(types.with_positions.contains(&scope_type), 2) };
        Some(parts)
    }

    /// Whether it says where its receiver lies: in V8 9 where that is a context or the stack.
    fn has_receiver_slot(self, heap: &Heap<'_>) -> bool {
        !heap.layout.column.is_since(10, 2) && matches!((self.flags >> 7) & 3, 1 | 2)
    }
}

impl ScopeTypes {
    fn of(heap: &Heap<'_>) -> Self {
        // Where not all have positions, `ScopeType` is: class, eval, function, module, script and what follows.
        Self { module: heap.layout.module_scope(), with_positions: [0, 1, 2, 3, 4] }
    }
}
