//! V8, the JavaScript engine of Node.js and Deno, without pointer compression.
//!
//! Facts come from V8's sources from 9.4 to 15.0 (the files are named where they are used) and from
//! what V8 exports for debuggers, see the module `layout`; what those leave open was found in cores of Node.js 16
//! to 26 and of Deno 2.4 to 2.9. Every object is looked at through its map before its fields are believed: what is damaged or
//! was not dumped costs the names that it holds, and nothing else.

mod awaiting;
mod builtins;
mod bytecode;
mod call_site;
pub mod census;
mod closure;
mod code;
mod context_slots;
mod decode;
mod details;
mod embedded;
mod ending;
mod error;
mod eval_origin;
mod fatal;
mod frame;
mod function;
pub mod handles;
mod heap;
mod inlined;
mod inside;
mod layout;
mod location;
mod metadata;
mod objects;
mod original;
mod owner;
mod positions;
mod probe;
mod property;
mod property_details;
mod raw;
mod read_only;
mod scope_info;
mod script;
pub mod script_tree;
mod source;
mod source_map;
mod step;
mod string;
mod tagged;
#[cfg(test)]
mod tests;
mod thread;
mod trace;
mod translation;
mod type_of;
pub mod value;
mod variables;
mod version;
mod wasm;

use std::sync::{Arc, OnceLock};

use kcore_mem::Addr;
use kcore_unwind::{Phase, Regs, RuleFrame, RuleStep, Tid};

use builtins::Builtins;
use bytecode::BytecodeSizes;
use code::{Code, CodeKind};
use decode::Decoder;
use function::Function;
use heap::Heap;
use layout::Layout;
use location::Location;
use scope_info::ScopeInfo;
use script::Script;
use tagged::Tagged;
use version::Version;

use crate::{
    DyingStack, Ending, FrameOfLanguage, Host, HostModule, Identity, LanguageFrame, NativeStack,
    Runtime, ScriptVariables, Span, ThreadFacts, VariableLimits, graph::GraphCell,
    objects::Objects,
};

pub use awaiting::Waiting;
pub use closure::{Scope, Variable};
pub use details::FrameDetails;
pub use inside::{CodeView, ContextSlot, ContextView, FunctionView, ScopeView};
pub use location::Tier;
pub use metadata::{ClassField, Metadata};
pub use probe::PROBE;
pub use raw::RawField;
pub use script::LineColumn;
pub use source::{Source, SourceLine};
pub use string::{Representation, StringPart};
pub use type_of::TypeOf;

/// What is said of memory of a heap that is no object yet.
const UNUSED: &str = "memory that V8 was about to allocate objects from";

/// V8 in a process.
pub struct V8 {
    identity: Identity,
    layout: Layout,
    /// Whether the layouts are those of its version.
    is_known: bool,
    homes: owner::Homes,
    builtins: Builtins,
    sizes: OnceLock<Option<BytecodeSizes>>,
    metadata: OnceLock<Metadata>,
    census: OnceLock<Arc<census::Census>>,
    groups: OnceLock<Arc<[census::Group]>>,
    marked: census::Marked,
    graph: GraphCell,
    maps: source_map::MapCache,
}

impl V8 {
    fn new(identity: Identity, layout: Layout, is_known: bool, homes: owner::Homes) -> Self {
        Self {
            identity,
            layout,
            is_known,
            homes,
            builtins: Builtins::Anywhere,
            sizes: OnceLock::new(),
            metadata: OnceLock::new(),
            census: OnceLock::new(),
            groups: OnceLock::new(),
            marked: census::Marked::default(),
            graph: GraphCell::default(),
            maps: source_map::MapCache::default(),
        }
    }

    /// The same, whose own code lies nowhere else in its module.
    fn with_builtins(self, builtins: Builtins) -> Self {
        Self { builtins, ..self }
    }

    fn heap<'a>(&'a self, host: &'a dyn Host) -> Heap<'a> {
        let maps = source_map::Maps { cache: &self.maps, host };
        let maps = host.reads_source_maps().then_some(maps);
        Heap { space: host.space(), layout: &self.layout, maps }
    }

    /// The heap, if its layouts are known, or those of the nearest version may be used.
    fn decodable<'a>(&'a self, host: &'a dyn Host) -> Option<Heap<'a>> {
        (self.is_known || host.allows_nearest()).then(|| self.heap(host))
    }

    /// Whether its objects can be read: their layouts are known, or those of another version may be taken.
    pub fn is_decodable(&self, host: &dyn Host) -> bool {
        self.decodable(host).is_some()
    }

    /// What makes all doubtful that is told, if the layouts are those of another version.
    fn layout_doubt(&self) -> Option<Arc<str>> {
        let column = self.layout.column.name();
        let doubt = || format!("by the layouts of V8 {column}").into();
        (!self.is_known).then(doubt)
    }

    /// The module that holds it, or another mapping of its file.
    fn owns(&self, module: &dyn HostModule) -> bool {
        module.name() == &*self.identity.instance && !self.homes.is_other(module.span())
    }

    /// Whether V8's code may lie at an address: in its module, in a copy of what its module holds, or
    /// in memory that it made executable.
    fn is_code(&self, host: &dyn Host, at: Addr) -> bool {
        match host.module_at(at) {
            Some(module) => self.owns(module) && self.builtins.hold(at),
            None => self.is_made_code(host, at),
        }
    }

    /// Whether an address lies in executable memory that is no file's.
    fn is_made_code(&self, host: &dyn Host, at: Addr) -> bool {
        host.range_at(at).is_some_and(|range| range.executable && !range.is_file)
    }

    fn bytecode_sizes(&self, host: &dyn Host) -> Option<BytecodeSizes> {
        self.sizes.get_or_init(|| self.read_bytecode_sizes(host)).clone()
    }

    /// V8's own table where it exports it; else that of its version: to search all symbols of a
    /// program costs more than all else that a stack takes.
    fn read_bytecode_sizes(&self, host: &dyn Host) -> Option<BytecodeSizes> {
        let modules = host.modules();
        let module = modules.into_iter().find(|module| self.owns(*module));
        let read = |module: &dyn HostModule| {
            let (svma, size) = module.exported(BytecodeSizes::SYMBOL)?;
            BytecodeSizes::parse(&host.space().read_held(module.addr(svma)?, size))
        };
        let exported = module.and_then(read);
        exported.or_else(|| BytecodeSizes::parse(&layout::bytecode_sizes(self.layout.column)))
    }
}

/// Leaves what is said of a map that is not used at the first frame of its script.
fn told_once<'f>(frames: impl Iterator<Item = &'f mut LanguageFrame>) {
    let mut told: Vec<Arc<str>> = Vec::new();
    for frame in frames {
        let Some(refused) = frame.map_refused.take() else { continue };
        if !told.contains(&refused) {
            told.push(refused.clone());
            frame.map_refused = Some(refused);
        }
    }
}

impl Runtime for V8 {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let ours = phase == Phase::AfterCfi && self.is_code(host, frame.pc.lookup());
        ours.then(|| step::step(&self.heap(host), host, frame, caller))?
    }

    fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let holder = match self.place(host, at)? {
            census::HeapOccupant::Object(holder) => holder,
            census::HeapOccupant::Unused(_) => return Some(UNUSED.to_owned()),
        };
        let inside = match holder.offset {
            0 => String::new(),
            offset => format!("+{offset:#x}"),
        };
        Some(format!("{:x}{inside}, {} of {} bytes", holder.at.get(), holder.class, holder.size))
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        let Some(heap) = self.decodable(host) else { return Vec::new() };
        let mut spans = Decoder { v8: self, host, heap }.spans(stack);
        told_once(spans.iter_mut().flat_map(|span| &mut span.language));
        if let Some(doubt) = self.layout_doubt() {
            for frame in spans.iter_mut().flat_map(|span| &mut span.language) {
                frame.doubt.get_or_insert_with(|| doubt.clone());
            }
        }
        spans
    }

    fn variables(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        self.variables_of(host, frame, limits)
    }

    fn objects(&self, host: &dyn Host) -> Option<&dyn Objects> {
        self.is_decodable(host).then_some(self)
    }

    fn thread(&self, host: &dyn Host, thread: Tid) -> Option<ThreadFacts> {
        self.thread_facts(host, thread)
    }

    fn end(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        self.decodable(host).map(|heap| self.endings(host, heap, dying)).unwrap_or_default()
    }
}
