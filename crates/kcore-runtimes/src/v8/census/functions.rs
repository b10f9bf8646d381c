//! Functions by where they are defined.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashMap;

use super::{
    super::{Code, Function, Heap, Tagged, V8, function::Shared, heap::Object, script::Place},
    Census,
};
use crate::Host;

/// Where a BytecodeArray says how long it is; code of a function lies behind so many bytes of what holds it.
const WITHIN_CODE: u64 = 40;
/// Deoptimization data: where the function stands, and where it stands since V8 13.
const DEOPT_FUNCTION: u64 = 6;
const DEOPT_FUNCTION_WRAPPED: u64 = 7;

/// A function as it is defined, of which there may be many closures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// One of its closures, without tag.
    pub function: Addr,
    /// How many closures there are.
    pub count: u64,
    /// Its name as in stack traces.
    pub name: Option<Arc<str>>,
    /// Its script.
    pub file: Option<Arc<str>>,
    /// Where it begins, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// Whether its closures have variables of functions around them.
    pub is_closure: bool,
    /// Its machine code.
    pub code: Vec<AddrRange>,
    /// Its bytecode.
    pub bytecode: Option<AddrRange>,
}

impl V8 {
    /// All functions of which there is a closure, by what they share; those with the fewest closures first.
    pub fn definitions(&self, host: &dyn Host, census: &Census) -> Vec<Definition> {
        let heap = self.heap(host);
        let mut found: FxHashMap<Addr, (Function, u64)> = FxHashMap::default();
        for function in functions(&heap, census) {
            let (_, count) = found.entry(function.shared.at()).or_insert((function, 0));
            *count = count.saturating_add(1);
        }
        let code = machine_code(&heap, host, census, found.values().map(|(function, _)| *function));
        let told = found.into_values().map(|(function, count)| {
            let code = code.get(&function.shared.at()).cloned().unwrap_or_default();
            definition(&heap, function, count, code)
        });
        let mut told: Vec<_> = told.collect();
        told.sort_by_key(|definition| (definition.count, definition.function));
        told
    }
}

fn functions<'a>(heap: &'a Heap<'_>, census: &'a Census) -> impl Iterator<Item = Function> + 'a {
    let is_function = |at: &Addr| {
        let map = heap.word(*at, 0).and_then(|word| census.map_of(word));
        map.is_some_and(|map| heap.is_function(map.example()))
    };
    let found = census.objects().filter(is_function);
    found.filter_map(|at| Function::load(heap, Tagged::Strong(at)))
}

fn definition(heap: &Heap<'_>, function: Function, count: u64, code: Vec<AddrRange>) -> Definition {
    let shared = function.shared;
    let place: Option<Place> = shared.first_place(heap);
    let bytecode = shared.bytecode(heap).and_then(|bytecode| {
        let first = bytecode.at.checked_add(heap.layout.offsets.bytecode_data)?;
        Some(AddrRange::with_len(first, heap.length(bytecode)?))
    });
    Definition {
        function: function.object.at,
        count,
        name: function.name(heap).map(Arc::from),
        file: shared.script(heap).and_then(|script| script.name(heap)).map(Arc::from),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        is_closure: function.context(heap).is_some_and(|context| is_inner(heap, context)),
        code,
        bytecode,
    }
}

/// Whether a context is that of a function, and not of the whole program.
fn is_inner(heap: &Heap<'_>, context: Object) -> bool {
    let types = &heap.layout.types;
    let native = super::shape::native_context(heap.layout);
    // That of scripts is the one behind it.
    context.kind != native && context.kind <= types.last_context
}

/// The machine code of functions, by what they share.
fn machine_code(
    heap: &Heap<'_>,
    host: &dyn Host,
    census: &Census,
    functions: impl Iterator<Item = Function>,
) -> FxHashMap<Addr, Vec<AddrRange>> {
    let by_bytecode = functions
        .filter_map(|function| Some((function.shared.bytecode(heap)?.at, function.shared.at())));
    let by_bytecode: FxHashMap<Addr, Addr> = by_bytecode.collect();
    let mut found: FxHashMap<Addr, Vec<AddrRange>> = FxHashMap::default();
    let wanted = super::shape::holder_of_instructions(heap.layout);
    let is_code = |at: &Addr| {
        let map = heap.word(*at, 0).and_then(|word| census.map_of(word));
        map.is_some_and(|map| map.kind == wanted)
    };
    for at in census.objects().filter(is_code) {
        let inside = at.saturating_add(heap.layout.offsets.code_start.max(WITHIN_CODE));
        let Some(code) = Code::at(heap, host, inside) else { continue };
        if let Some(shared) = function_of(heap, code.object, &by_bytecode) {
            found.entry(shared).or_default().push(code.instructions);
        }
    }
    found
}

/// What a Code was made of: its bytecode, or the function that its deoptimization data names.
fn function_of(heap: &Heap<'_>, code: Object, by_bytecode: &FxHashMap<Addr, Addr>) -> Option<Addr> {
    let data = heap.field(code.at, heap.layout.offsets.code_deopt)?;
    if let Some(shared) = by_bytecode.get(&data.at) {
        return Some(*shared);
    }
    let indices = [DEOPT_FUNCTION, DEOPT_FUNCTION_WRAPPED].into_iter();
    let mut found = indices.filter_map(|index| heap.object(heap.element(data, index)?));
    found.find_map(|object| Shared::load(heap, object)).map(Shared::at)
}
