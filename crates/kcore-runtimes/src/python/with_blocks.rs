//! Which threads are within `with lock:`.
//!
//! Within the block the value stack of the frame holds the `__exit__` of what was entered: a method bound to it, and since
//! 3.14 the function with the object behind it (`LOAD_SPECIAL`, `Python/bytecodes.c`). How many values the stack holds for
//! sure tell the open blocks of the frame to 3.10 (`PyTryBlock`, `Include/cpython/frameobject.h`), and since 3.11 the entry of
//! the exception table for its instruction (`Objects/exception_handling_notes.txt`). Before the block is entered, and while
//! it is left, there is no such entry.
//!
//! A block need not hold its lock: who waits for a condition has given back the lock of that, under whatever name the block
//! entered it, and code that calls `release` itself says nothing.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::{
    Chain, Code, PyFrame, Python, exception_table,
    heap::{Heap, Object},
};
use crate::Host;

/// A frame is within the block of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenWith {
    /// The thread that runs it.
    pub thread: Tid,
    /// The lock, or the one of a condition that was entered.
    pub lock: Addr,
}

/// Frames of one thread that are looked at, innermost first, and values of one frame.
const MAX_FRAMES: usize = 1 << 12;
const MAX_VALUES: u64 = 1 << 10;
/// `f_valuestack` of a frame to 3.10, behind `f_locals`; `f_iblock`, behind `f_lasti` and `f_lineno`.
const VALUES_BEHIND_LOCALS: u64 = 8;
const BLOCKS_BEHIND_INSTRUCTION: u64 = 8;
/// `f_blockstack` ends where variables begin: twenty blocks of three numbers, of which the last is the level.
const MAX_BLOCKS: u64 = 20;
const BLOCK: u64 = 12;
const LEVEL: u64 = 8;
/// `m_ml` and `m_self` of a function of C, `im_func` and `im_self` of a method: `Include/cpython/{methodobject,classobject}.h`.
const FUNCTION: u64 = 16;
const SELF: u64 = 24;
/// `d_name` of a descriptor: `Include/cpython/descrobject.h`.
const DESCRIPTOR_NAME: u64 = 24;
/// What is called at the end of a block.
const EXIT: &str = "__exit__";
/// What gives a lock back before that.
const RELEASE: &str = "release";
/// Where a `threading.Condition` keeps its lock.
const CONDITION_LOCK: &str = "_lock";

impl Python {
    /// All of them. They are looked for once.
    pub(super) fn open_withs(&self, host: &dyn Host) -> &[OpenWith] {
        self.open_withs.get_or_init(|| self.find_withs(host))
    }

    pub(super) fn find_withs(&self, host: &dyn Host) -> Vec<OpenWith> {
        let heap = self.heap(host);
        let threads = self.state(host).threads.iter();
        let run = threads.filter_map(|state| Some((state.tid?, self.chain(&heap, state))));
        run.flat_map(|(thread, chain)| {
            let locks = self.locks_within(host, &heap, &chain).into_iter();
            locks.map(move |lock| OpenWith { thread, lock })
        })
        .collect()
    }

    /// The locks that frames entered and did not give back, as far as their code says.
    fn locks_within(&self, host: &dyn Host, heap: &Heap<'_>, chain: &Chain) -> Vec<Addr> {
        let frames = chain.groups.iter().flat_map(|group| &group.frames);
        let (mut waited, mut found) = (Vec::new(), Vec::new());
        for frame in frames.take(MAX_FRAMES) {
            let condition = waited_condition(heap, frame).and_then(|at| heap.object(at));
            waited.extend(condition.and_then(|it| self.lock_in(host, heap, it)));
            if !frame.code.uses(heap, RELEASE) {
                let entered = self.managers(host, heap, frame).into_iter();
                let locks = entered.filter_map(|manager| self.lock_in(host, heap, manager));
                found.extend(locks.filter(|lock| !waited.contains(lock)));
            }
        }
        found
    }

    /// What the open `with` blocks of a frame entered.
    fn managers(&self, host: &dyn Host, heap: &Heap<'_>, frame: &PyFrame) -> Vec<Object> {
        let Some((first, count)) = values(heap, frame) else { return Vec::new() };
        let value = |index: u64| -> Option<Object> {
            let word = heap.word(first, index.checked_mul(8)?)?;
            heap.object(self.referred(word)?)
        };
        let values: Vec<Option<Object>> = (0..count.min(MAX_VALUES)).map(value).collect();
        let bound = values.iter().flatten().filter_map(|value| self.bound(host, heap, *value));
        let is_pair = heap.layout.minor >= 14;
        let pairs = values.windows(2).filter(|_| is_pair).filter_map(|pair| match pair {
            [Some(function), Some(own)] => self.is_exit(host, heap, *function).then_some(*own),
            _ => None,
        });
        bound.chain(pairs).collect()
    }

    /// What a bound `__exit__` is bound to.
    fn bound(&self, host: &dyn Host, heap: &Heap<'_>, value: Object) -> Option<Object> {
        let is_exit = match &*self.class_name(host, value.class)? {
            "builtin_function_or_method" => c_name(heap, value.at, FUNCTION)? == EXIT,
            "method" => self.is_exit(host, heap, heap.field(value.at, FUNCTION)?),
            _ => false,
        };
        is_exit.then(|| heap.field(value.at, SELF))?
    }

    /// Whether it is an `__exit__` that is bound to nothing.
    fn is_exit(&self, host: &dyn Host, heap: &Heap<'_>, function: Object) -> bool {
        let name = || match &*self.class_name(host, function.class)? {
            "function" => self.function_code(heap, function).map(|code| code.name.to_string()),
            "method_descriptor" => heap.name(heap.field(function.at, DESCRIPTOR_NAME)?),
            _ => None,
        };
        name().is_some_and(|name| name.rsplit('.').next() == Some(EXIT))
    }

    /// The code of a function.
    pub(super) fn function_code(&self, heap: &Heap<'_>, function: Object) -> Option<Arc<Code>> {
        let [code, _] = heap.layout.objects.function;
        self.code(heap, heap.pointer(function.at, code)?)
    }

    /// The lock that was entered: a condition has one.
    fn lock_in(&self, host: &dyn Host, heap: &Heap<'_>, manager: Object) -> Option<Addr> {
        if self.lock_kind(host, manager).is_some() {
            return Some(manager.at);
        }
        let lock = self.attribute(heap, manager, CONDITION_LOCK)?;
        self.lock_kind(host, lock).map(|_| lock.at)
    }
}

/// The condition that a frame waits for: its lock is free meanwhile.
fn waited_condition(heap: &Heap<'_>, frame: &PyFrame) -> Option<Addr> {
    let name = frame.code.name.rsplit('.').next();
    let is_wait =
        matches!(name, Some("wait" | "wait_for")) && frame.code.file.ends_with("threading.py");
    is_wait.then(|| heap.word(frame.at, heap.layout.frame.slots))?.map(|word| Addr::new(word & !3))
}

/// Where the value stack of a frame begins, and how many values it has for sure.
fn values(heap: &Heap<'_>, frame: &PyFrame) -> Option<(Addr, u64)> {
    match heap.layout.minor {
        ..=10 => values_by_blocks(heap, frame.at),
        _ => values_by_table(heap, frame),
    }
}

fn values_by_blocks(heap: &Heap<'_>, at: Addr) -> Option<(Addr, u64)> {
    let offsets = &heap.layout.frame;
    let first = heap.pointer(at, offsets.locals.checked_add(VALUES_BEHIND_LOCALS)?)?;
    let blocks = heap.int(at, offsets.instruction.checked_add(BLOCKS_BEHIND_INSTRUCTION)?)?;
    let last = u64::try_from(blocks).ok()?.checked_sub(1).filter(|last| *last < MAX_BLOCKS)?;
    let start = offsets.slots.checked_sub(MAX_BLOCKS.checked_mul(BLOCK)?)?;
    let level = start.checked_add(last.checked_mul(BLOCK)?)?.checked_add(LEVEL)?;
    Some((first, u64::try_from(heap.int(at, level)?).ok()?))
}

fn values_by_table(heap: &Heap<'_>, frame: &PyFrame) -> Option<(Addr, u64)> {
    let offset = frame.offset(heap)?;
    let depth = exception_table::depth_at(&frame.code.exception_table(heap)?, offset / 2)?;
    let slots = frame.code.slot_count(heap)?.checked_mul(8)?;
    let first = frame.at.checked_add(heap.layout.frame.slots)?.checked_add(slots)?;
    Some((first, depth))
}

/// The name in the definition of a function of C (`PyMethodDef`) that a field leads to.
fn c_name(heap: &Heap<'_>, at: Addr, offset: u64) -> Option<String> {
    let definition = heap.pointer(at, offset)?;
    let name = Addr::new(heap.word(definition, 0)?);
    String::from_utf8(heap.space.read_cstr(name, 64).ok()?).ok()
}
