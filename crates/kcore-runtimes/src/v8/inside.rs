//! What V8 keeps of functions for itself: contexts, scopes, code.

use kcore_mem::{Addr, AddrRange};

use super::{
    Code, CodeKind, Function, Heap, ScopeInfo, V8,
    context_slots::{FIRST_VARIABLE, variable_slots},
    heap::Object,
};
use crate::Host;

/// Names are read to this many units.
const MAX_NAME: u64 = 1024;
/// Slots of a context that are told, at most.
const MAX_SLOTS: u64 = 1 << 12;

/// A context: what holds the variables that inner functions use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextView {
    /// The word of its ScopeInfo.
    pub scope_info: Option<u64>,
    /// The word of the context around it.
    pub previous: Option<u64>,
    /// Its other slots by index, with the names of their variables.
    pub slots: Vec<ContextSlot>,
}

/// A slot of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextSlot {
    /// Its index.
    pub index: u64,
    /// The variable that it is.
    pub name: Option<String>,
    /// Its tagged word.
    pub word: u64,
}

/// A ScopeInfo: what is known of a scope before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeView {
    /// Its flags.
    pub flags: u64,
    /// The name of its function.
    pub function: Option<String>,
    /// The name that V8 made up for a function without one.
    pub inferred: Option<String>,
    /// The offsets in the source from its first to behind its last unit.
    pub positions: Option<(u64, u64)>,
    /// Its variables that lie in a context.
    pub locals: Vec<String>,
}

/// Machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeView {
    /// The object that describes it, without tag.
    pub at: Addr,
    /// The instructions.
    pub instructions: AddrRange,
    /// What compiled it: `baseline`, `maglev`, `turbofan`, `other`.
    pub kind: &'static str,
    /// Its flags.
    pub flags: u64,
}

/// What V8 keeps of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionView {
    /// Its name.
    pub name: Option<String>,
    /// What functions of the same source share, without tag.
    pub shared: Addr,
    /// Its context, without tag.
    pub context: Option<Addr>,
    /// Its bytecode, without tag.
    pub bytecode: Option<Addr>,
    /// Its ScopeInfo, without tag.
    pub scope_info: Option<Addr>,
    /// Its script, without tag.
    pub script: Option<Addr>,
    /// How many parameters it names.
    pub parameters: Option<u64>,
    /// Its code, where the function says it.
    pub code: Option<CodeView>,
}

impl V8 {
    /// The context that a word is, or whose function it is.
    pub fn context(&self, host: &dyn Host, word: u64) -> Option<ContextView> {
        let heap = self.decodable(host)?;
        let object = heap.object(heap.object_or_tagged(Addr::new(word)))?;
        let context = match heap.is_context(object) {
            true => object,
            false => Function::load(&heap, super::Tagged::Strong(object.at))?.context(&heap)?,
        };
        let word = |index| heap.element(context, index).map(super::Tagged::word);
        let names = variable_slots(&heap, context, MAX_SLOTS);
        let slots = (FIRST_VARIABLE..heap.length(context)?.min(MAX_SLOTS)).filter_map(|index| {
            let name = names.iter().find(|(_, slot)| *slot == index);
            Some(ContextSlot {
                index,
                name: name.and_then(|(name, _)| heap.text(*name, MAX_NAME)),
                word: word(index)?,
            })
        });
        Some(ContextView { scope_info: word(0), previous: word(1), slots: slots.collect() })
    }

    /// The ScopeInfo that a word is, or of whose function or context it is.
    pub fn scope_info(&self, host: &dyn Host, word: u64) -> Option<ScopeView> {
        let heap = self.decodable(host)?;
        let object = heap.object(heap.object_or_tagged(Addr::new(word)))?;
        let of_function =
            || Function::load(&heap, super::Tagged::Strong(object.at))?.shared.scope(&heap);
        let of_context = || {
            heap.is_context(object).then_some(())?;
            ScopeInfo::load(&heap, heap.object(heap.element(object, 0)?)?)
        };
        let info = ScopeInfo::load(&heap, object).or_else(of_function).or_else(of_context)?;
        let text = |name: Option<Object>| heap.text(name?, MAX_NAME);
        let locals = info.local_names(&heap, MAX_SLOTS).into_iter();
        Some(ScopeView {
            flags: info.flags(),
            function: text(info.function_name(&heap)),
            inferred: text(info.inferred_name(&heap)),
            positions: info.positions(&heap),
            locals: locals.filter_map(|(name, _)| heap.text(name, MAX_NAME)).collect(),
        })
    }

    /// The code that holds an address, or whose object lies there, with its tag or without.
    pub fn code(&self, host: &dyn Host, at: Addr) -> Option<CodeView> {
        let heap = self.decodable(host)?;
        if let Some(code) = Code::at(&heap, host, at) {
            return Some(view(&heap, code));
        }
        let object = heap.object(heap.object_or_tagged(at))?;
        Code::of(&heap, object).map(|code| view(&heap, code))
    }

    /// What V8 keeps of a function.
    pub fn function(&self, host: &dyn Host, word: u64) -> Option<FunctionView> {
        let heap = self.decodable(host)?;
        let function = Function::load(&heap, heap.object_or_tagged(Addr::new(word)))?;
        let shared = function.shared;
        Some(FunctionView {
            name: function.name(&heap),
            shared: shared.at(),
            context: function.context(&heap).map(|context| context.at),
            bytecode: shared.bytecode(&heap).map(|bytecode| bytecode.at),
            scope_info: shared.scope(&heap).map(ScopeInfo::at),
            script: shared.script(&heap).map(super::Script::at),
            parameters: shared.parameter_count(&heap),
            code: code_of(&heap, function).map(|code| view(&heap, code)),
        })
    }
}

/// The code that a function says to run. Since V8 13 it holds a handle of a table in place of it.
fn code_of(heap: &Heap<'_>, function: Function) -> Option<Code> {
    let fields =
        (1..8_u64).filter_map(|word| heap.field(function.object.at, word.saturating_mul(8)));
    let mut code = fields.filter(|field| field.kind == heap.layout.types.code);
    Code::of(heap, code.next()?)
}

fn view(heap: &Heap<'_>, code: Code) -> CodeView {
    let kind = match code.kind {
        CodeKind::Baseline => "baseline",
        CodeKind::Maglev => "maglev",
        CodeKind::Turbofan => "turbofan",
        CodeKind::Other => "other",
    };
    let flags = heap.uint(code.object.at, heap.layout.offsets.code_flags, 4).unwrap_or_default();
    CodeView { at: code.object.at, instructions: code.instructions, kind, flags }
}
