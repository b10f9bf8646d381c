//! Functions by where they are defined.

use std::{collections::HashSet, sync::Arc};

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashMap;

use super::{
    super::{
        Code, Function, Heap, Script, Tagged, V8,
        function::Shared,
        heap::Object,
        script::{LineColumn, Lines},
    },
    Census, Stopped, Watch,
};
use crate::Host;

/// Where a BytecodeArray says how long it is; code of a function lies behind so many bytes of what holds it.
const WITHIN_CODE: u64 = 40;
/// Deoptimization data: where the function stands, and where it stands since V8 13.
const DEOPT_FUNCTION: u64 = 6;
const DEOPT_FUNCTION_WRAPPED: u64 = 7;

/// Functions between two looks at the user.
const STEP: usize = 1024;
/// Bytes of names that are told of all functions, at most.
const MAX_TEXT: usize = 64 << 20;

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
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn definitions(
        &self,
        host: &dyn Host,
        census: &Census,
        watch: Watch<'_>,
    ) -> Result<Vec<Definition>, Stopped> {
        let heap = self.heap(host);
        let functions = functions(&heap, census, watch)?;
        let code = machine_code(&heap, host, census, &functions, watch)?;
        let mut teller = Teller { heap, code, script: None, texts: HashSet::new(), left: MAX_TEXT };
        let mut told = Vec::with_capacity(functions.len());
        for (done, (function, count)) in functions.iter().enumerate() {
            if done.is_multiple_of(STEP) && watch(done as u64, functions.len() as u64).is_break() {
                return Err(Stopped);
            }
            told.push(teller.definition(*function, *count));
        }
        told.sort_by_key(|definition| (definition.count, definition.function));
        Ok(told)
    }
}

/// One closure of each function, and how many there are; those of one script together.
fn functions(
    heap: &Heap<'_>,
    census: &Census,
    watch: Watch<'_>,
) -> Result<Vec<(Function, u64)>, Stopped> {
    let closures = census.select(heap, |map| heap.is_function(map.example()), watch)?;
    let mut found: FxHashMap<Addr, (Function, u64)> = FxHashMap::default();
    for at in closures {
        let Some(function) = Function::load(heap, Tagged::Strong(at)) else { continue };
        let (_, count) = found.entry(function.shared.at()).or_insert((function, 0));
        *count = count.saturating_add(1);
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by_cached_key(|(function, _)| {
        (function.shared.script(heap).map(Script::at), function.object.at)
    });
    Ok(found)
}

/// What is told of all functions of a script.
struct InScript {
    script: Script,
    name: Option<Arc<str>>,
    lines: Lines,
}

/// Tells functions, those of one script one after the other.
struct Teller<'a> {
    heap: Heap<'a>,
    code: FxHashMap<Addr, Vec<AddrRange>>,
    script: Option<InScript>,
    /// Names that were told: many functions share one.
    texts: HashSet<Arc<str>>,
    /// Bytes that further names may have.
    left: usize,
}

impl Teller<'_> {
    fn definition(&mut self, function: Function, count: u64) -> Definition {
        let shared = function.shared;
        let name = function.name(&self.heap).and_then(|name| self.text(name));
        let script = shared.script(&self.heap).map(|script| self.script(script));
        let file = script.and_then(|script| script.name.clone());
        let place = self.place(shared);
        let heap = &self.heap;
        let bytecode = shared.bytecode(heap).and_then(|bytecode| {
            let first = bytecode.at.checked_add(heap.layout.offsets.bytecode_data)?;
            Some(AddrRange::with_len(first, heap.length(bytecode)?))
        });
        Definition {
            function: function.object.at,
            count,
            name,
            file,
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            is_closure: function.context(heap).is_some_and(|context| is_inner(heap, context)),
            code: self.code.remove(&shared.at()).unwrap_or_default(),
            bytecode,
        }
    }

    fn place(&self, shared: Shared) -> Option<LineColumn> {
        let script = self.script.as_ref()?;
        (shared.script(&self.heap)? == script.script).then_some(())?;
        script.lines.place(&self.heap, shared.positions(&self.heap)?.0)
    }

    /// A script, which is looked at once where its functions come one after the other.
    fn script(&mut self, script: Script) -> &InScript {
        let known = self.script.take().filter(|known| known.script == script);
        let known = known.unwrap_or_else(|| {
            let name = script.name(&self.heap).and_then(|name| self.text(name));
            InScript { script, name, lines: Lines::of(&self.heap, script) }
        });
        self.script.insert(known)
    }

    /// A text that may have been told before; none where too much was told.
    fn text(&mut self, text: String) -> Option<Arc<str>> {
        if let Some(known) = self.texts.get(text.as_str()) {
            return Some(known.clone());
        }
        self.left = self.left.checked_sub(text.len())?;
        let text: Arc<str> = text.into();
        self.texts.insert(text.clone());
        Some(text)
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
    functions: &[(Function, u64)],
    watch: Watch<'_>,
) -> Result<FxHashMap<Addr, Vec<AddrRange>>, Stopped> {
    let shared = functions.iter().map(|(function, _)| function.shared);
    let by_bytecode = shared.filter_map(|shared| Some((shared.bytecode(heap)?.at, shared.at())));
    let by_bytecode: FxHashMap<Addr, Addr> = by_bytecode.collect();
    let mut found: FxHashMap<Addr, Vec<AddrRange>> = FxHashMap::default();
    let wanted = super::shape::holder_of_instructions(heap.layout);
    for at in census.select(heap, |map| map.kind == wanted, watch)? {
        let inside = at.saturating_add(heap.layout.offsets.code_start.max(WITHIN_CODE));
        let Some(code) = Code::at(heap, host, inside) else { continue };
        if let Some(shared) = function_of(heap, code.object, &by_bytecode) {
            found.entry(shared).or_default().push(code.instructions);
        }
    }
    Ok(found)
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
