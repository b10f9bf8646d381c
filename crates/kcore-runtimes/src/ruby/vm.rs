//! The VM, its ractors and threads: `vm_core.h`, `ractor_core.h`, `thread_pthread.h`.
//!
//! Everything here points back: a thread at its VM, a context at its thread. What does not is no thread.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Tid;
use rustc_hash::{FxHashMap, FxHashSet};

use super::heap::Heap;
use crate::Host;

/// Threads and ractors of a process, at most.
const MAX_THREADS: usize = 1 << 20;
const MAX_RACTORS: usize = 1 << 16;
/// Bytes of a stack of values, at most: `RUBY_THREAD_VM_STACK_SIZE` is 1 MiB as a rule.
const MAX_STACK: u64 = 1 << 32;
/// `vm_stack`, `vm_stack_size`, `cfp` of `rb_execution_context_t`.
const STACK: u64 = 0;
const STACK_SIZE: u64 = 8;
const FRAME: u64 = 16;
/// `pub.id` of `rb_ractor_t`.
const RACTOR_ID: u64 = 8;
/// The states of a thread: `THREAD_RUNNABLE` and those behind it.
const STATE_MASK: u64 = 3;

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubyThread {
    /// `rb_thread_t`.
    pub at: Addr,
    /// The context of the fiber that it runs.
    pub context: Addr,
    /// The native thread, if it has one.
    pub tid: Option<Tid>,
    /// Whether it says itself that it has none.
    pub is_parked: bool,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// The number of its ractor; `None` before there were any.
    pub ractor: Option<u64>,
    /// What it does.
    pub state: ThreadState,
    /// Whether it holds the GVL of its ractor.
    pub holds_gvl: bool,
    /// Whether it stands in the queue for that.
    pub waits_for_gvl: bool,
}

/// `status` of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// It runs, or would.
    Runnable,
    /// It waits, for a time or for something to happen.
    Stopped,
    /// It waits for what may never happen.
    StoppedForever,
    /// It ended.
    Killed,
}

/// A stack of values and control frames, and who runs on it: `rb_execution_context_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// It.
    pub at: Addr,
    /// Where its values begin.
    pub stack: Addr,
    /// Behind its frames.
    pub end: Addr,
    /// The innermost frame.
    pub frame: Addr,
}

/// The threads of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// They, in the order of MRI's lists.
    pub all: Vec<RubyThread>,
    /// Why there may be more.
    pub why: Option<&'static str>,
}

impl Threads {
    /// The thread whose native thread has an id.
    pub fn of(&self, tid: Tid) -> Option<&RubyThread> {
        self.all.iter().find(|thread| thread.tid == Some(tid))
    }
}

impl Heap<'_> {
    /// The context at an address, if it is one: its thread leads back to the VM.
    pub fn context(&self, at: Addr) -> Option<Context> {
        let stack = self.pointer(at, STACK)?;
        let size = self.word(at, STACK_SIZE)?.checked_mul(8).filter(|size| *size <= MAX_STACK)?;
        let end = stack.checked_add(size)?;
        let frame = self.pointer(at, FRAME)?;
        (stack <= frame && frame < end).then_some(Context { at, stack, end, frame })
    }

    /// Whether a thread of this VM lies at an address.
    pub fn is_thread(&self, vm: Addr, at: Addr) -> bool {
        let context = self.pointer(at, self.layout.thread.context);
        let thread = context.and_then(|it| self.pointer(it, self.layout.context.thread));
        self.pointer(at, self.layout.thread.vm) == Some(vm) && thread == Some(at)
    }

    /// Whether a VM lies at an address: its main thread leads back to it.
    pub fn is_vm(&self, vm: Addr) -> bool {
        self.pointer(vm, self.layout.vm.main_thread).is_some_and(|main| self.is_thread(vm, main))
    }

    /// The VM of the context at an address, which a native thread has as its own.
    pub fn vm_of_context(&self, context: Addr) -> Option<Addr> {
        let thread = self.pointer(context, self.layout.context.thread)?;
        (self.pointer(thread, self.layout.thread.context)? == context).then_some(())?;
        let vm = self.pointer(thread, self.layout.thread.vm)?;
        (self.is_thread(vm, thread) && self.is_vm(vm)).then_some(vm)
    }

    /// All threads of a VM.
    pub fn threads(&self, host: &dyn Host, vm: Addr) -> Threads {
        let natives = native_threads(host);
        let mut found = Threads::default();
        let Some(offsets) = self.layout.ractor else {
            self.threads_of(vm, vm, self.layout.vm.list, None, &natives, &mut found);
            return found;
        };
        let (nodes, is_whole) = self.list(vm.saturating_add(self.layout.vm.list), MAX_RACTORS);
        for node in nodes {
            let ractor = Addr::new(node.get().wrapping_sub(offsets.node));
            let id = self.word(ractor, RACTOR_ID).map(|id| id & 0xffff_ffff);
            self.threads_of(vm, ractor, offsets.threads, id, &natives, &mut found);
        }
        if !is_whole {
            found.why = Some("the list of ractors is damaged, or was not dumped");
        }
        found
    }

    fn threads_of(
        &self,
        vm: Addr,
        owner: Addr,
        list: u64,
        ractor: Option<u64>,
        natives: &FxHashMap<u64, Tid>,
        found: &mut Threads,
    ) {
        let offsets = &self.layout.thread;
        let holder = self.pointer(owner, offsets.holder);
        let (waiting, _) = self.list(owner.saturating_add(offsets.waiting), MAX_THREADS);
        let (nodes, is_whole) = self.list(owner.saturating_add(list), MAX_THREADS);
        let left = MAX_THREADS.saturating_sub(found.all.len());
        let (threads, others): (Vec<Addr>, Vec<Addr>) =
            nodes.into_iter().take(left).partition(|at| self.is_thread(vm, *at));
        if !is_whole || !others.is_empty() {
            found.why = Some("the list of threads is damaged, or was not dumped");
        }
        for thread in threads.into_iter().filter_map(|at| self.thread(at, ractor, natives)) {
            let at = thread.at;
            let is_within =
                |node: &Addr| node.offset_from(at).is_some_and(|offset| offset < offsets.size);
            let is_queued = waiting.iter().any(is_within);
            // One that yields to another is in no queue for a moment.
            let would_run = thread.state == ThreadState::Runnable
                && self.word(at, offsets.blocking) == Some(0)
                && holder.is_some();
            found.all.push(RubyThread {
                holds_gvl: holder == Some(at),
                waits_for_gvl: (is_queued || would_run) && holder != Some(at),
                ..thread
            });
        }
    }

    fn thread(
        &self,
        at: Addr,
        ractor: Option<u64>,
        natives: &FxHashMap<u64, Tid>,
    ) -> Option<RubyThread> {
        let offsets = &self.layout.thread;
        let native = match offsets.native {
            Some(native) => self.pointer(at, native),
            None => Some(at),
        };
        let pthread = native.and_then(|native| self.word(native, offsets.pthread));
        let state = match self.uint(at, offsets.status, 1)? & STATE_MASK {
            0 => ThreadState::Runnable,
            1 => ThreadState::Stopped,
            2 => ThreadState::StoppedForever,
            _ => ThreadState::Killed,
        };
        Some(RubyThread {
            at,
            context: self.pointer(at, offsets.context)?,
            tid: pthread.and_then(|pthread| natives.get(&pthread).copied()),
            is_parked: offsets.native.is_some_and(|native| self.word(at, native) == Some(0)),
            name: self.word(at, offsets.name).and_then(|name| self.text(name)).map(Arc::from),
            ractor,
            state,
            holds_gvl: false,
            waits_for_gvl: false,
        })
    }

    /// The nodes of a circular list, without its head, and whether it led back to that.
    fn list(&self, head: Addr, most: usize) -> (Vec<Addr>, bool) {
        let (mut nodes, mut known) = (Vec::new(), FxHashSet::default());
        let mut next = self.pointer(head, 0);
        while let Some(node) = next.filter(|node| *node != head) {
            if nodes.len() >= most || !known.insert(node) {
                return (nodes, false);
            }
            nodes.push(node);
            next = self.pointer(node, 0);
        }
        (nodes, next.is_some())
    }
}

/// The native threads by `pthread_t`, which on x86-64 is the thread pointer.
fn native_threads(host: &dyn Host) -> FxHashMap<u64, Tid> {
    let pointer = |tid| Some((host.thread_pointer(tid)?.get(), tid));
    host.threads().into_iter().filter_map(pointer).collect()
}
