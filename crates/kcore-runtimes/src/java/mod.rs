//! Java on HotSpot: its frames, compiled or not, and its threads, by what the virtual machine says of itself.
//!
//! Facts come from openjdk/jdk, `src/hotspot/share` and `src/hotspot/cpu/x86`, JDK 11, 17, 21 and 25, and from the tables
//! that each build of the virtual machine exports (`runtime/vmStructs.cpp`), so that builds of any vendor are read, without
//! debug information. The way out of its code is that of its anchor.

pub(crate) mod blobs;
mod chunk;
mod circles;
mod classes;
mod colors;
mod compiled;
mod compiled_variables;
mod element;
mod ending;
mod evacuation;
mod fields;
mod flags;
mod forwarding;
mod frames;
mod generations;
mod heap;
mod histogram;
mod hprof;
mod identify;
mod klass;
mod layout;
mod lines;
mod liveness;
mod local_table;
mod lock_thread;
mod locks;
mod memory;
mod method;
mod modified_utf8;
mod native_image;
mod objects;
mod oops;
mod parked_monitors;
mod probe;
mod readers;
mod roots;
mod saved_registers;
mod scope_values;
mod spaces;
mod stream;
#[cfg(test)]
mod tests;
mod threads;
mod throwable;
pub mod value;
mod variables;
mod version;
mod virtual_threads;
pub(crate) mod vm_structs;
mod walk;
mod words;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

pub use circles::circles;
pub use element::source_name;
pub use histogram::{ClassHistogram, HistogramRow, WantedClass};
pub use hprof::{DumpedStack, HeapDump, HeapDumpError};
pub use lock_thread::LockThread;
pub use locks::{JavaLock, LockWaiter, WaitReason};
pub use method::Method;
pub use probe::PROBE;
pub use threads::{Activity, JavaThread, ThreadObject, ThreadState, Threads};
pub use virtual_threads::VirtualThread;
pub use vm_structs::TableEntry;

use blobs::CodeCache;
use classes::{Classes, Objects};
use klass::Klasses;
use layout::Layout;
use memory::Memory;
use spaces::Spaces;
use vm_structs::VmStructs;

use crate::{
    DyingStack, Ending, FrameOfLanguage, Host, Identity, LanguageFrame, NativeStack, Runtime,
    ScriptVariables, Span, Task, ThreadFacts, VariableLimits, graph::GraphCell,
    objects::Objects as HeapObjects,
};

/// Classes that extend each other, at most.
const MAX_DEPTH: usize = 64;
/// Methods that are remembered, at most.
const MAX_KNOWN: usize = 1 << 16;
/// What the stub that calls Java returns to.
const CALL_STUB: &str = "StubRoutines._call_stub_return_address";

/// A virtual machine of Java in a process.
pub struct Java {
    identity: Identity,
    layout: Arc<Layout>,
    cache: Arc<CodeCache>,
    call_stub: Addr,
    /// Where its library lies.
    library: Addr,
    methods: RwLock<FxHashMap<Addr, Option<Arc<Method>>>>,
    classes: Classes,
    klasses: Klasses,
    spaces: OnceLock<Spaces>,
    buffers: OnceLock<Arc<[AddrRange]>>,
    held: OnceLock<Arc<[AddrRange]>>,
    /// What of the heap could not be read, once somebody asked for all of it.
    missing: OnceLock<Option<String>>,
    graph: GraphCell,
    threads: OnceLock<Threads>,
    locks: OnceLock<Vec<JavaLock>>,
    virtual_threads: OnceLock<Vec<Arc<VirtualThread>>>,
}

impl Java {
    /// That of a version whose tables say this: for who knows what they say.
    ///
    /// # Errors
    /// In words, where they lack something, or the code cache cannot be read.
    pub fn with_tables(
        host: &dyn Host,
        major: u8,
        entries: &[(&str, TableEntry)],
    ) -> Result<Self, String> {
        let (tables, space) = (VmStructs::of(entries), host.space());
        let layout = Layout::of(&tables, space, major)?;
        let cache = CodeCache::read(&tables, space).ok_or("its code cache cannot be read")?;
        let identity = Identity::new(probe::NAME, "");
        Ok(Self::new(identity, layout, cache, &tables, Addr::default(), space))
    }

    fn new(
        identity: Identity,
        layout: Layout,
        cache: CodeCache,
        tables: &VmStructs,
        library: Addr,
        space: &dyn AddressSpace,
    ) -> Self {
        let call_stub = tables.variable(CALL_STUB).and_then(|at| space.read_addr(at).ok());
        let call_stub = call_stub.unwrap_or_default();
        Self::unread(identity, Arc::new(layout), Arc::new(cache), call_stub, library)
    }

    /// One that has learnt nothing yet.
    fn unread(
        identity: Identity,
        layout: Arc<Layout>,
        cache: Arc<CodeCache>,
        call_stub: Addr,
        library: Addr,
    ) -> Self {
        Self {
            identity,
            layout,
            cache,
            call_stub,
            library,
            methods: RwLock::default(),
            classes: Classes::default(),
            klasses: Klasses::default(),
            spaces: OnceLock::new(),
            buffers: OnceLock::new(),
            held: OnceLock::new(),
            missing: OnceLock::new(),
            graph: GraphCell::default(),
            threads: OnceLock::new(),
            locks: OnceLock::new(),
            virtual_threads: OnceLock::new(),
        }
    }

    /// The method whose `Method` lies at an address.
    pub fn method(&self, space: &dyn AddressSpace, at: Addr) -> Option<Arc<Method>> {
        let known = self.methods.read().unwrap_or_else(PoisonError::into_inner).get(&at).cloned();
        known.unwrap_or_else(|| {
            let method = self.layout.methods.method(Memory(space), at).map(Arc::new);
            let mut known = self.methods.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
            known.insert(at, method.clone());
            method
        })
    }

    /// The threads of Java. They are looked for once.
    pub fn threads(&self, host: &dyn Host) -> &Threads {
        self.threads.get_or_init(|| {
            let memory = Memory(host.space());
            let objects = self.objects_in(host.space());
            let layout = self.layout.threads.as_ref();
            layout.map(|layout| layout.threads(memory, objects.as_ref())).unwrap_or_default()
        })
    }

    /// What threads wait for, that with the most waiters first; `None` where that cannot be decoded. It is found out once.
    pub fn locks(&self, host: &dyn Host) -> Option<&[JavaLock]> {
        let layout = self.layout.locks.as_ref()?;
        let objects = self.objects_in(host.space())?;
        let find = || {
            let entered = |thread: &VirtualThread| self.entered_by(&objects, thread);
            layout.locks(&objects, self.threads(host), self.virtual_threads(host), &entered)
        };
        Some(self.locks.get_or_init(find))
    }

    /// How its objects are read; `None` where that is not known.
    fn objects_in<'a>(&'a self, space: &'a dyn AddressSpace) -> Option<Objects<'a>> {
        let (oops, fields) = self.layout.objects?;
        let methods = &self.layout.methods;
        Some(Objects { memory: Memory(space), oops, fields, methods, known: &self.classes })
    }
}

impl Runtime for Java {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        self.spans(host, stack)
    }

    fn later(&self) -> Option<Arc<dyn Runtime>> {
        let (layout, cache) = (self.layout.clone(), self.cache.clone());
        let identity = self.identity.clone();
        Some(Arc::new(Self::unread(identity, layout, cache, self.call_stub, self.library)))
    }

    fn objects(&self, host: &dyn Host) -> Option<&dyn HeapObjects> {
        let _ = host;
        let layout = &self.layout;
        let is_known = layout.objects.is_some() && layout.klasses.is_some();
        (is_known && layout.collector.is_some()).then_some(self)
    }

    fn thread(&self, host: &dyn Host, thread: Tid) -> Option<ThreadFacts> {
        let found = self.threads(host).on_thread(thread)?;
        let state = found.facts.state.map(|state| state.as_str().into());
        Some(ThreadFacts { name: found.facts.name.clone(), state })
    }

    fn variables(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        self.variables_of(host, frame, limits)
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        self.virtual_tasks(host)
    }

    fn task_frames(&self, host: &dyn Host, task: &Task) -> Vec<LanguageFrame> {
        self.task_frames_of(host, task)
    }

    fn end(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        self.ending(host, dying)
    }

    fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        self.identified(host, at)
    }
}
