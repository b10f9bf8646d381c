//! Which native frame runs which frames: `rb_vm_tag` of `vm_core.h`, and `rb_vm_exec` of `vm.c`.
//!
//! Each activation of `rb_vm_exec` has a tag on its stack, which holds where a jump to it goes on: an address in that
//! function. Other functions have tags too. Those of `rb_vm_exec` are as many as there are groups of frames, on every
//! stack, so that no symbol is needed to tell them.

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashMap;

use super::{Ruby, heap::Heap, vm::Context};
use crate::{Host, HostModule};

/// Tags of one stack, at most.
const MAX_TAGS: usize = 1 << 20;
/// `tag` of `rb_execution_context_t`, and `buf` of a tag.
const INNERMOST: u64 = 24;
const BUFFER: u64 = 16;
/// Bytes of the buffers of `__builtin_setjmp` and of `setjmp`; `prev` is behind.
const BUILTIN_SIZE: u64 = 40;
const LIBRARY_SIZE: u64 = 200;
/// Where glibc's threads have the word that hides addresses, from the thread pointer on, and by how many bits it rotates.
const GUARD: u64 = 0x30;
const ROTATED: u32 = 17;

/// The function, and one that lies behind it in the same file and is exported.
const FUNCTION: &str = "rb_vm_exec";
const BEHIND: &str = "rb_iseq_eval";

/// A tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// It, in the frame of the function that has it.
    pub at: Addr,
    /// Where that function goes on.
    pub resumes: Addr,
    /// The stack pointer of that function.
    pub sp: Addr,
    /// Its frame pointer, or what it keeps in that register.
    pub fp: u64,
    /// Bytes of its buffer.
    size: u64,
}

/// What hides addresses in buffers of `setjmp`.
fn guard(host: &dyn Host) -> Option<u64> {
    let words = host.threads().into_iter().filter_map(|tid| {
        host.space().read_word(host.thread_pointer(tid)?.checked_add(GUARD)?).ok()
    });
    { words }.next()
}

impl Ruby {
    /// The tags of a context, innermost first.
    pub(super) fn tags(&self, host: &dyn Host, heap: &Heap<'_>, context: &Context) -> Vec<Tag> {
        let mut tags: Vec<Tag> = Vec::new();
        let mut next = heap.pointer(context.at, INNERMOST);
        while let Some(tag) = next.and_then(|at| self.tag(host, heap, at)) {
            // The outer ones lie higher on the stack.
            if tags.len() >= MAX_TAGS || tags.last().is_some_and(|inner| inner.at >= tag.at) {
                break;
            }
            tags.push(tag);
            next = heap.pointer(tag.at, BUFFER.saturating_add(tag.size));
        }
        tags
    }

    fn tag(&self, host: &dyn Host, heap: &Heap<'_>, at: Addr) -> Option<Tag> {
        let buffer = at.checked_add(BUFFER)?;
        let resumes = heap.pointer_to_code(buffer, 8).filter(|pc| self.module.contains(*pc));
        if let Some(resumes) = resumes {
            let (fp, sp) = (heap.word(buffer, 0)?, Addr::new(heap.word(buffer, 16)?));
            return Some(Tag { at, resumes, sp, fp, size: BUILTIN_SIZE });
        }
        let guard = (*self.guard.get_or_init(|| guard(host)))?;
        let shown =
            |offset| heap.word(buffer, offset).map(|word| word.rotate_right(ROTATED) ^ guard);
        let resumes = Addr::new(shown(56)?);
        let tag = Tag { at, resumes, sp: Addr::new(shown(48)?), fp: shown(8)?, size: LIBRARY_SIZE };
        self.module.contains(resumes).then_some(tag)
    }

    /// Bytes of a buffer for jumps, as a tag of any thread has it.
    pub(super) fn buffer_size(&self, host: &dyn Host) -> Option<u64> {
        let heap = self.heap(host);
        let contexts = self.threads(host).all.iter().filter_map(|it| heap.context(it.context));
        { contexts }.find_map(|context| {
            let innermost = heap.pointer(context.at, INNERMOST)?;
            self.tag(host, &heap, innermost).map(|tag| tag.size)
        })
    }

    /// The tags of the function that runs frames.
    pub(super) fn activations(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        context: &Context,
    ) -> Vec<Tag> {
        let Some(resumes) = self.resumes(host) else { return Vec::new() };
        let mut tags = self.tags(host, heap, context);
        tags.retain(|tag| tag.resumes == resumes);
        tags
    }

    /// Where jumps to `rb_vm_exec` go on, once a thread tells.
    pub(super) fn resumes(&self, host: &dyn Host) -> Option<Addr> {
        let known = self.resumes.get().copied();
        known.or_else(|| *self.resumed.get_or_init(|| self.find_resumes(host))).inspect(|at| {
            let _ = self.resumes.set(*at);
        })
    }

    fn find_resumes(&self, host: &dyn Host) -> Option<Addr> {
        let heap = self.heap(host);
        let module = host.module_at(self.module.start)?;
        let function = module
            .exported(FUNCTION)
            .and_then(|(svma, size)| Some(AddrRange::with_len(module.addr(svma)?, size)));
        let threads = self.threads(host);
        let mut votes: FxHashMap<Addr, u64> = FxHashMap::default();
        for context in threads.all.iter().filter_map(|thread| heap.context(thread.context)) {
            let mut counts: FxHashMap<Addr, usize> = FxHashMap::default();
            for tag in self.tags(host, &heap, &context) {
                let count = counts.entry(tag.resumes).or_default();
                *count = count.saturating_add(1);
            }
            if let Some(known) =
                function.and_then(|range| counts.keys().find(|at| range.contains(**at)))
            {
                return Some(*known);
            }
            let groups = self.chain(&heap, &context).groups.len();
            for (resumes, _) in
                counts.into_iter().filter(|(_, count)| *count == groups && groups > 0)
            {
                let votes = votes.entry(resumes).or_default();
                *votes = votes.saturating_add(1);
            }
        }
        let most = votes.values().copied().max()?;
        let best = votes.into_iter().filter(|(_, count)| *count == most).map(|(at, _)| at);
        nearest_before(best, exported(module, BEHIND))
    }
}

impl Heap<'_> {
    fn pointer_to_code(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.word(at, offset).filter(|word| *word >= 0x1000).map(Addr::new)
    }
}

fn exported(module: &dyn HostModule, name: &str) -> Option<Addr> {
    module.addr(module.exported(name)?.0)
}

/// Of several, the one that lies nearest before an address: the only one, if none is known.
fn nearest_before(candidates: impl Iterator<Item = Addr>, behind: Option<Addr>) -> Option<Addr> {
    let candidates: Vec<Addr> = candidates.collect();
    match (candidates.as_slice(), behind) {
        ([only], _) => Some(*only),
        (several, Some(behind)) => several.iter().copied().filter(|at| *at < behind).max(),
        _ => None,
    }
}
