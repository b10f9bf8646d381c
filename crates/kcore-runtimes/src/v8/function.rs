//! Functions and what functions of the same source text share.

use std::ops::RangeInclusive;

use kcore_mem::Addr;

use super::{Heap, ScopeInfo, Script, Tagged, heap::Object, script::LineColumn};

/// Names are read to this many units.
const MAX_NAME: u64 = 4096;
/// Properties of a class that are looked at, at most.
const MAX_PROPERTIES: u64 = 1 << 12;

// `UncompiledData`, `src/objects/shared-function-info.tq`.
const UNCOMPILED_NAME: u64 = 8;
const UNCOMPILED_START: u64 = 16;
const UNCOMPILED_END: u64 = 20;

/// Where a DebugInfo may hold a script, and what holds bytecode its bytecode: within so many words.
const MAX_FIELDS: u64 = 6;

/// The kind of a function, in its flags.
const FUNCTION_KIND: u64 = 0x1f;
/// Whether it is a builtin that stack traces show, in the flags.
const NATIVE: u64 = 1 << 5;
/// The kinds that are async: arrow functions, functions, methods and generators.
const ASYNC: RangeInclusive<u64> = 12..=18;
/// The kinds that initialize the fields of a class, of its objects and its own, and what traces call
/// them.
const INITIALIZERS: [(u64, &str); 2] =
    [(24, "<instance_members_initializer>"), (25, "<static_initializer>")];
/// The kinds that are constructors of classes, `src/objects/function-kind.h`.
const CLASS_CONSTRUCTORS: RangeInclusive<u64> = 3..=6;

/// A SharedFunctionInfo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shared(Object);

/// A JSFunction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    /// The object.
    pub object: Object,
    /// What it shares.
    pub shared: Shared,
}

impl Function {
    /// The function that a value is, if it is one.
    pub fn load(heap: &Heap<'_>, value: Tagged) -> Option<Self> {
        let object = heap.object(value).filter(|object| heap.is_function(*object))?;
        let shared = heap.field(object.at, heap.layout.offsets.function_shared)?;
        Some(Self { object, shared: Shared::load(heap, shared)? })
    }

    /// Its context.
    pub fn context(self, heap: &Heap<'_>) -> Option<Object> {
        let context = heap.field(self.object.at, heap.layout.offsets.function_context)?;
        heap.is_context(context).then_some(context)
    }

    /// Its name as in stack traces: that of its own property `name`, if that is text, else what it
    /// was called in the source or what V8 made up. `JSFunction::GetDebugName`.
    pub fn name(self, heap: &Heap<'_>) -> Option<String> {
        self.own_name(heap).or_else(|| self.shared.debug_name(heap))
    }

    /// The offsets in the source from the first unit of what declares it to behind its last one: of a
    /// class those of all of it, and not those of its constructor.
    pub fn source_range(self, heap: &Heap<'_>) -> Option<(u64, u64)> {
        self.class_range(heap).or_else(|| self.shared.source_range(heap))
    }

    /// `ClassPositions`, which a class has under a name of V8's own: the first unit, and the one behind
    /// the last.
    fn class_range(self, heap: &Heap<'_>) -> Option<(u64, u64)> {
        self.shared.is_class_constructor(heap).then_some(())?;
        let own = heap.properties(self.object, MAX_PROPERTIES).into_iter();
        let mut held = own.filter_map(|property| heap.object(property.value));
        let positions = held.find(|held| held.kind == heap.layout.types.class_positions)?;
        let position = |offset| u64::try_from(heap.smi(positions.at, offset)?).ok();
        Some((position(8)?, position(16)?))
    }

    fn own_name(self, heap: &Heap<'_>) -> Option<String> {
        let property = heap.property(self.object, "name").filter(|found| !found.is_accessor)?;
        let name = heap.object(property.value)?;
        heap.text(name, MAX_NAME).filter(|name| !name.is_empty())
    }
}

impl Shared {
    /// The SharedFunctionInfo that an object is, or wraps.
    pub fn load(heap: &Heap<'_>, object: Object) -> Option<Self> {
        let types = &heap.layout.types;
        if object.kind == types.shared_wrapper && types.shared_wrapper != 0 {
            return heap.field_of(object.at, 8, types.shared).map(Self);
        }
        (object.kind == types.shared).then_some(Self(object))
    }

    /// Where it lies, without tag.
    pub const fn at(self) -> Addr {
        self.0.at
    }

    /// Its name in the source, `SharedFunctionInfo::Name`.
    pub fn name(self, heap: &Heap<'_>) -> Option<String> {
        self.initializer(heap).map(str::to_owned).or_else(|| self.source_name(heap))
    }

    /// What it is called if it initializes the fields of a class. V8 12 and later keeps no such name.
    pub fn initializer(self, heap: &Heap<'_>) -> Option<&'static str> {
        heap.layout.column.is_since(12, 4).then_some(())?;
        let kind = self.kind(heap)?;
        INITIALIZERS.into_iter().find_map(|(known, name)| (known == kind).then_some(name))
    }

    fn source_name(self, heap: &Heap<'_>) -> Option<String> {
        let named = self.name_or_scope(heap)?;
        if heap.is_string(named) {
            return text(heap, named);
        }
        text(heap, ScopeInfo::load(heap, named)?.function_name(heap)?)
    }

    /// Its name, or the one that V8 made up. `SharedFunctionInfo::DebugName`.
    pub fn debug_name(self, heap: &Heap<'_>) -> Option<String> {
        self.name(heap).or_else(|| self.inferred_name(heap))
    }

    fn inferred_name(self, heap: &Heap<'_>) -> Option<String> {
        if let Some(scope) = self.scope(heap) {
            return text(heap, scope.inferred_name(heap)?);
        }
        text(heap, heap.field(self.uncompiled(heap)?.at, UNCOMPILED_NAME)?)
    }

    fn name_or_scope(self, heap: &Heap<'_>) -> Option<Object> {
        heap.field(self.0.at, heap.layout.offsets.shared_name)
    }

    /// Its scope, if it is compiled.
    pub fn scope(self, heap: &Heap<'_>) -> Option<ScopeInfo> {
        ScopeInfo::load(heap, self.name_or_scope(heap)?)
    }

    fn uncompiled(self, heap: &Heap<'_>) -> Option<Object> {
        let types = &heap.layout.types;
        let kinds = [
            types.uncompiled,
            types.uncompiled_preparsed,
            types.uncompiled_job,
            types.uncompiled_preparsed_job,
        ];
        self.data(heap).find(|data| kinds.contains(&data.kind) && data.kind != 0)
    }

    /// What it was compiled to: one slot, and since V8 13 another for what is not trusted.
    fn data<'h>(self, heap: &'h Heap<'_>) -> impl Iterator<Item = Object> + 'h {
        let first = heap.layout.offsets.shared_data;
        let slots = if heap.layout.has_flat_scope_info() { 2 } else { 1 };
        let offsets = (0..slots).map(move |slot: u64| first.saturating_add(slot.saturating_mul(8)));
        offsets.filter_map(move |offset| heap.field(self.0.at, offset))
    }

    /// Its bytecode: it holds it itself, or what it holds does.
    pub fn bytecode(self, heap: &Heap<'_>) -> Option<Object> {
        let wanted = heap.layout.types.bytecode_array;
        let inside = |data: Object| {
            if data.kind == wanted {
                return Some(data);
            }
            let types = &heap.layout.types;
            let kinds = [types.code, types.interpreter_data, types.baseline_data];
            (kinds.contains(&data.kind) && data.kind != 0).then_some(())?;
            fields(heap, data).find(|field| field.kind == wanted)
        };
        self.data(heap).find_map(inside)
    }

    /// Its script; V8 before 12 may have put what debuggers attach in between.
    pub fn script(self, heap: &Heap<'_>) -> Option<Script> {
        let holder = heap.field(self.0.at, heap.layout.offsets.shared_script)?;
        if holder.kind == heap.layout.types.debug_info {
            return fields(heap, holder).find_map(|field| Script::load(heap, field));
        }
        Script::load(heap, holder)
    }

    /// The offsets in the source from its first to behind its last unit: of a declaration from the
    /// parenthesis before its parameters.
    pub fn positions(self, heap: &Heap<'_>) -> Option<(u64, u64)> {
        if let Some(scope) = self.scope(heap) {
            return scope.positions(heap);
        }
        let data = self.uncompiled(heap)?;
        let position = |offset| heap.uint(data.at, offset, 4);
        Some((position(UNCOMPILED_START)?, position(UNCOMPILED_END)?))
    }

    /// The same from the first unit of what declares it: `function`, `async`, the name of a method.
    pub fn source_range(self, heap: &Heap<'_>) -> Option<(u64, u64)> {
        let (start, end) = self.positions(heap)?;
        let back = heap.uint(self.0.at, heap.layout.offsets.shared_token, 2)?;
        // 0xffff says that nothing stands before.
        let back = if back == 0xffff { 0 } else { back };
        Some((start.checked_sub(back)?, end))
    }

    /// Where it begins.
    pub fn first_place(self, heap: &Heap<'_>) -> Option<LineColumn> {
        self.script(heap)?.place(heap, self.positions(heap)?.0)
    }

    /// How many parameters it names, without the receiver.
    pub fn parameter_count(self, heap: &Heap<'_>) -> Option<u64> {
        let with_receiver = heap.uint(self.0.at, heap.layout.offsets.shared_parameters, 2)?;
        // Functions of V8 itself that take what comes.
        (with_receiver != 0xffff).then_some(())?;
        if heap.layout.counts_receiver() {
            with_receiver.checked_sub(1)
        } else {
            Some(with_receiver)
        }
    }

    /// Whether stack traces show it: what is JavaScript, and what V8 means to be seen.
    /// `IsVisibleInStackTrace` in `src/execution/isolate.cc`. Functions of the embedder are not shown:
    /// that takes `--experimental-stack-trace-frames`.
    pub fn is_visible(self, heap: &Heap<'_>) -> bool {
        let flags = heap.uint(self.0.at, heap.layout.offsets.shared_flags, 4);
        let is_native = flags.is_some_and(|flags| flags & NATIVE != 0);
        let types = &heap.layout.types;
        // The function that WebAssembly is to JavaScript only leads there.
        let hidden = [types.function_template, types.wasm_exported];
        (self.script(heap).is_some() || is_native)
            && !self.data(heap).any(|data| hidden.contains(&data.kind))
    }

    fn kind(self, heap: &Heap<'_>) -> Option<u64> {
        let flags = heap.uint(self.0.at, heap.layout.offsets.shared_flags, 4)?;
        Some(flags & FUNCTION_KIND)
    }

    /// Whether it is an async function or async generator.
    pub fn is_async(self, heap: &Heap<'_>) -> bool {
        self.kind(heap).is_some_and(|kind| ASYNC.contains(&kind))
    }

    /// Whether it is the constructor of a class, which can only be called by `new`.
    pub fn is_class_constructor(self, heap: &Heap<'_>) -> bool {
        self.kind(heap).is_some_and(|kind| CLASS_CONSTRUCTORS.contains(&kind))
    }
}

/// The objects that the first fields of an object refer to.
fn fields<'h>(heap: &'h Heap<'_>, object: Object) -> impl Iterator<Item = Object> + 'h {
    (1..=MAX_FIELDS).filter_map(move |word| heap.field(object.at, word.saturating_mul(8)))
}

fn text(heap: &Heap<'_>, string: Object) -> Option<String> {
    heap.text(string, MAX_NAME).filter(|name| !name.is_empty())
}
