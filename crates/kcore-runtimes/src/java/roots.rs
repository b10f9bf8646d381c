//! What keeps objects of Java from outside of the heap.
//!
//! Certain roots are threads, references of native code (JNI), and classes of the loader of the virtual machine itself.
//! Words of stacks and registers may be left over, and other classes that are loaded may be about to be unloaded: they
//! count only if nothing certain keeps the object.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};

use super::{Java, classes::Objects, memory::Memory, vm_structs::VmStructs};
use crate::{
    Host,
    graph::{Nodes, Root, RootKind, native_words},
    objects::{Stopped, Watch},
};

/// A thread.
pub const THREAD: RootKind = RootKind::certain("thread", "the thread");
/// An exception that was thrown in a thread.
pub const EXCEPTION: RootKind = RootKind::certain("exception", "the exception");
/// A reference that native code has while it runs.
pub const JNI_LOCAL: RootKind = RootKind::certain("jni_local", "a local reference of native code");
/// A reference that native code keeps.
pub const JNI_GLOBAL: RootKind =
    RootKind::certain("jni_global", "a global reference of native code");
/// A class of the virtual machine's own loader, which is never unloaded.
pub const CLASS: RootKind = RootKind::certain("class", "the class");
/// A class of another loader.
pub const LOADED: RootKind = RootKind::guessed("loaded_class", "the loaded class");
/// A word of the stack of a thread.
pub const STACK: RootKind = RootKind::guessed("stack", "the stack");
/// A register of a thread.
pub const REGISTER: RootKind = RootKind::guessed("register", "a register");

/// Words of stacks that are remembered, at most.
const MAX_WORDS: usize = 1 << 22;
/// Blocks of references of native code, at most.
const MAX_BLOCKS: u64 = 1 << 16;
/// References in a block of a thread.
const HANDLES: u64 = 32;
/// `OopStorage`: its array of blocks; in that the number of blocks, and the first of them; in a block of 64 references its
/// owner (`src/hotspot/share/gc/shared/oopStorage{,.inline}.hpp`, JDK 11 to 25).
const ARRAY: u64 = 8;
const COUNT: u64 = 8;
const BLOCKS: u64 = 24;
const OWNER: u64 = 520;

/// Where references of native code hang.
#[derive(Clone, Copy, Debug)]
pub struct HandleLayout {
    /// `JNIHandles._global_handles`.
    global: Option<Addr>,
    /// In a thread, its blocks.
    block: u64,
    handles: u64,
    top: u64,
    next: u64,
}

/// Takes a root.
type Tell<'t> = &'t mut dyn FnMut(Root);

impl HandleLayout {
    /// The layout that the tables of a virtual machine describe.
    pub fn of(tables: &VmStructs) -> Option<Self> {
        let one = |names: &[&str]| tables.need_one(names).ok();
        Some(Self {
            global: tables.variable("JNIHandles._global_handles"),
            block: one(&["JavaThread._active_handles", "Thread._active_handles"])?,
            handles: one(&["JNIHandleBlock._handles"])?,
            top: one(&["JNIHandleBlock._top"])?,
            next: one(&["JNIHandleBlock._next"])?,
        })
    }

    /// Where the references lie that native code of a thread has.
    fn of_thread(&self, memory: Memory<'_>, thread: Addr) -> Vec<Addr> {
        let mut slots = Vec::new();
        let mut block = memory.pointer(thread, self.block);
        for _ in 0..MAX_BLOCKS {
            let Some(at) = block else { break };
            let count = memory.uint(at, self.top, 4).unwrap_or_default().min(HANDLES);
            let offsets =
                (0..count).map(|index| self.handles.saturating_add(index.saturating_mul(8)));
            slots.extend(offsets.filter_map(|offset| at.checked_add(offset)));
            block = memory.pointer(at, self.next).filter(|next| *next != at);
        }
        slots
    }

    /// Where the references lie that native code keeps; none where their storage is not the one that is known.
    fn global(&self, memory: Memory<'_>) -> Vec<Addr> {
        let mut slots = Vec::new();
        let storage = self.global.and_then(|at| memory.pointer(at, 0));
        let Some(storage) = storage else { return slots };
        let Some(array) = memory.pointer(storage, ARRAY) else { return slots };
        for index in 0..memory.uint(array, COUNT, 8).unwrap_or_default().min(MAX_BLOCKS) {
            let offset = index.saturating_mul(8).saturating_add(BLOCKS);
            let Some(block) = memory.pointer(array, offset) else { break };
            if memory.pointer(block, OWNER) != Some(storage) {
                break;
            }
            slots.extend((0..64).filter_map(|index: u64| block.checked_add(index.checked_mul(8)?)));
        }
        slots
    }
}

impl Java {
    /// Calls `tell` with each root that is known.
    pub(super) fn each_root(
        &self,
        host: &dyn Host,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: Tell<'_>,
    ) -> Result<(), Stopped> {
        let Some(reader) = self.objects_in(host.space()) else { return Ok(()) };
        let mut tell = |root: Root| {
            if nodes.number(root.to).is_some() {
                tell(root);
            }
        };
        self.of_threads(host, &reader, &mut tell);
        self.of_native_code(host, &reader, &mut tell);
        self.of_classes(&reader, &mut tell);
        let (oops, memory_of) = (reader.oops, reader.memory);
        let is_object = |word: u64| {
            oops.referred_in_full(memory_of, word).filter(|at| nodes.number(*at).is_some())
        };
        native_words::registers(host, &is_object, &REGISTER).into_iter().for_each(&mut tell);
        let stacks = native_words::stacks(host);
        let memory: Vec<AddrRange> = stacks.iter().map(|(range, _)| *range).collect();
        let words = native_words::referring(host.space(), &memory, MAX_WORDS, &is_object, watch)?;
        for (at, to) in words {
            let thread = native_words::thread_of(&stacks, at);
            tell(Root { thread, at: Some(at), ..Root::new(&STACK, to) });
        }
        Ok(())
    }

    fn of_threads(&self, host: &dyn Host, _reader: &Objects<'_>, tell: Tell<'_>) {
        for thread in &self.threads(host).all {
            let root = |kind, to| Root {
                name: thread.facts.name.clone(),
                thread: thread.tid,
                ..Root::new(kind, to)
            };
            let runs = thread.runs.filter(|runs| Some(*runs) != thread.object);
            thread.object.into_iter().chain(runs).for_each(|to| tell(root(&THREAD, to)));
            thread.pending_exception.into_iter().for_each(|to| tell(root(&EXCEPTION, to)));
        }
    }

    fn of_native_code(&self, host: &dyn Host, reader: &Objects<'_>, tell: Tell<'_>) {
        let Some(layout) = &self.layout.handles else { return };
        let memory = reader.memory;
        for thread in &self.threads(host).all {
            for at in layout.of_thread(memory, thread.at) {
                if let Some(to) = reader.oops.in_handle(memory, at) {
                    let thread = thread.tid;
                    tell(Root { thread, at: Some(at), ..Root::new(&JNI_LOCAL, to) });
                }
            }
        }
        for at in layout.global(memory) {
            if let Some(to) = reader.oops.in_handle(memory, at) {
                tell(Root { at: Some(at), ..Root::new(&JNI_GLOBAL, to) });
            }
        }
    }

    fn of_classes(&self, reader: &Objects<'_>, tell: Tell<'_>) {
        let (Some(heap), Some(layout)) = (&self.layout.heap, &self.layout.klasses) else { return };
        heap.each_class(reader, &mut |class, has_loader| {
            let Some(to) = layout.mirror(&reader.oops, reader.memory, class) else { return };
            let name: Option<Arc<str>> = reader.methods.class(reader.memory, class);
            let kind = if has_loader { &LOADED } else { &CLASS };
            tell(Root { name, ..Root::new(kind, to) });
        });
    }
}
