//! Frames of WebAssembly: their functions, modules and places.
//!
//! A frame holds the instance that it runs for; from there the way leads through the module's object to
//! C++: the `NativeModule` with the bytes of the module, and the code that was made of it
//! (`src/wasm/wasm-code-manager.h`). Nothing of that is exported for debuggers. So what is looked for is
//! what only the right object can be: bytes with WebAssembly's mark, a tree of code whose members know
//! the module and where their instructions begin.

mod bytes;
mod code;

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};

use super::{Heap, Script, frame::FrameSlots, heap::Object};
use crate::{FrameKind, LanguageFrame};
use bytes::ModuleBytes;
use code::WasmCode;

/// The slot of a frame that holds the instance, or what is trusted of it.
const INSTANCE: i64 = -16;
/// Words of an instance that are looked at.
const INSTANCE_WORDS: u64 = 64;
/// Words of a module's object that are looked at.
const MODULE_WORDS: u64 = 12;
/// Words of what keeps a C++ object for JavaScript that are looked at.
const KEEPER_WORDS: u64 = 8;

/// A module of WebAssembly.
#[derive(Clone, Copy, Debug)]
struct Module<'h, 'a> {
    script: Option<Script>,
    /// The `NativeModule`.
    native: Addr,
    bytes: ModuleBytes<'h, 'a>,
}

/// A frame of WebAssembly, as far as it is known.
pub fn frame(heap: &Heap<'_>, pc: CodeAddr, slots: FrameSlots) -> LanguageFrame {
    let unknown =
        || LanguageFrame { kind: FrameKind::Wasm, language: Some("wasm"), ..Default::default() };
    let Some(module) = Module::of_frame(heap, slots) else { return unknown() };
    let file = module.script.and_then(|script| script.name(heap)).map(Arc::from);
    let Some(code) = WasmCode::at(heap, module.native, pc.lookup()) else {
        return LanguageFrame { file, ..unknown() };
    };
    let offset = code
        .byte_offset(heap, pc.lookup())
        .and_then(|offset| offset.checked_add(module.bytes.function_start(code.index)?));
    // V8 counts a module's bytes as the columns of one line.
    let column = offset.and_then(|offset| u32::try_from(offset.checked_add(1)?).ok());
    LanguageFrame {
        function: Some(module.name(code.index).into()),
        file,
        line: column.map(|_| 1),
        column,
        ..unknown()
    }
}

impl<'h, 'a> Module<'h, 'a> {
    fn of_frame(heap: &'h Heap<'a>, slots: FrameSlots) -> Option<Self> {
        let instance = heap.object(slots.tagged(heap, INSTANCE)?)?;
        let object = module_object(heap, instance)?;
        let script = fields(heap, object, MODULE_WORDS).find_map(|it| Script::load(heap, it));
        fields(heap, object, MODULE_WORDS).find_map(|keeper| {
            let (native, bytes) = native_module(heap, keeper)?;
            Some(Self { script, native, bytes })
        })
    }

    /// The name of a function, as traces show it; by its number where the module names none.
    fn name(&self, index: u64) -> String {
        let names = self.bytes.names(index);
        match (names.module, names.function) {
            (Some(module), Some(function)) => format!("{module}.{function}"),
            (Some(name), None) | (None, Some(name)) => name,
            (None, None) => format!("wasm-function[{index}]"),
        }
    }
}

/// The module's object of an instance; what is trusted of an instance knows that by the instance.
fn module_object(heap: &Heap<'_>, instance: Object) -> Option<Object> {
    let types = &heap.layout.types;
    let module_of = |holder: Object| {
        fields(heap, holder, INSTANCE_WORDS).find(|field| field.kind == types.wasm_module)
    };
    let is_instance =
        |field: &Object| types.wasm_instance != 0 && field.kind == types.wasm_instance;
    module_of(instance)
        .or_else(|| fields(heap, instance, INSTANCE_WORDS).filter(is_instance).find_map(module_of))
}

fn fields<'h>(heap: &'h Heap<'_>, object: Object, words: u64) -> impl Iterator<Item = Object> + 'h {
    (1..words).filter_map(move |word| heap.field(object.at, word.saturating_mul(8)))
}

/// The `NativeModule` that an object of the heap keeps, and its bytes: through what frees it one day, and
/// a `shared_ptr`. `src/objects/managed.h`
fn native_module<'h, 'a>(
    heap: &'h Heap<'a>,
    keeper: Object,
) -> Option<(Addr, ModuleBytes<'h, 'a>)> {
    let held = pointer(heap, keeper.at, 8)?;
    (0..KEEPER_WORDS).find_map(|word| {
        let shared = pointer(heap, held, word.saturating_mul(8))?;
        let native = pointer(heap, shared, 0)?;
        Some((native, ModuleBytes::of(heap, native)?))
    })
}

/// A pointer of C++, if it may be one.
fn pointer(heap: &Heap<'_>, at: Addr, offset: u64) -> Option<Addr> {
    let word = heap.word(at, offset)?;
    (word != 0 && word.is_multiple_of(8)).then_some(Addr::new(word))
}
