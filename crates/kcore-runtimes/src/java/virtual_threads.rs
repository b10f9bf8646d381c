//! Virtual threads (`src/java.base/share/classes/java/lang/VirtualThread.java`, JDK 21 to 25): those that a thread runs, and
//! those that wait in the heap.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::{Java, classes::Objects, probe::NAME, threads};
use crate::{Host, LanguageFrame, Task, TaskStart};

/// The classes of virtual threads, and of what keeps their frames.
const CLASS: &str = "java.lang.VirtualThread";
const CONTINUATION: &str = "jdk.internal.vm.Continuation";
/// Virtual threads, at most.
const MAX_THREADS: usize = 1 << 24;
/// The lowest bits of the header of an object that was moved.
const MARK: u64 = 3;
/// A bit of the state: it is suspended.
const SUSPENDED: u64 = 1 << 8;
/// Names of numbers of the class that are states.
const STATES: [&str; 24] = [
    "NEW",
    "STARTED",
    "RUNNABLE",
    "RUNNING",
    "PARKING",
    "PARKED",
    "PINNED",
    "TIMED_PARKING",
    "TIMED_PARKED",
    "TIMED_PINNED",
    "UNPARKED",
    "YIELDING",
    "YIELDED",
    "BLOCKING",
    "BLOCKED",
    "UNBLOCKED",
    "WAITING",
    "WAIT",
    "TIMED_WAITING",
    "TIMED_WAIT",
    "TERMINATED",
    "RUNNABLE_SUSPENDED",
    "PARKED_SUSPENDED",
    "TIMED_PARKED_SUSPENDED",
];
/// That of one that has ended.
const TERMINATED: &str = "TERMINATED";
/// That of one that has not begun.
const NEW: &str = "NEW";

/// A virtual thread that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualThread {
    /// Its `java.lang.VirtualThread`.
    pub object: Addr,
    /// Its number, as `Thread.getId()` returns it.
    pub id: u64,
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
    /// Its state: the name of the constant of the class.
    pub state: Arc<str>,
    /// The thread that runs it.
    pub thread: Option<Tid>,
    /// What it is parked on.
    pub blocker: Option<Addr>,
    /// The newest chunk of its frames, if it has any.
    pub(super) chunk: Option<Addr>,
}

impl Java {
    /// The virtual threads that have not ended, by their numbers. They are looked for once. Objects that were moved may be
    /// left over at their old places: each number counts once, the one that a thread runs first.
    pub fn virtual_threads(&self, host: &dyn Host) -> &[Arc<VirtualThread>] {
        self.virtual_threads.get_or_init(|| self.find_virtual(host).unwrap_or_default())
    }

    fn find_virtual(&self, host: &dyn Host) -> Option<Vec<Arc<VirtualThread>>> {
        let heap = self.layout.heap.as_ref()?;
        let objects = self.objects_in(host.space())?;
        let class = heap.class_named(&objects, CLASS)?;
        let mirror = self.layout.klasses?.mirror(&objects.oops, objects.memory, class)?;
        let mut states = objects.static_numbers(class, mirror);
        states.retain(|(name, _)| STATES.contains(&&**name));
        let mut found = FxHashMap::default();
        let running = self.threads(host).all.iter();
        let running: FxHashMap<Addr, Option<Tid>> =
            running.filter_map(|thread| Some((thread.runs?, thread.tid))).collect();
        heap.each_of_class(host, &objects, class, &mut |at| {
            let thread = running.get(&at).copied().flatten();
            let is_new = |id: &u64| thread.is_some() || !found.contains_key(id);
            if found.len() < MAX_THREADS
                && let Some(read) = read(&objects, &states, at).filter(|read| is_new(&read.id))
            {
                found.insert(read.id, Arc::new(VirtualThread { thread, ..read }));
            }
        })?;
        let mut all: Vec<_> = found.into_values().collect();
        all.sort_by_key(|thread| thread.id);
        Some(all)
    }

    /// The tasks that virtual threads are.
    pub(super) fn virtual_tasks(&self, host: &dyn Host) -> Vec<Task> {
        let all = self.virtual_threads(host).iter();
        all.filter_map(|thread| self.virtual_task(host, thread)).collect()
    }

    /// The frames of a virtual thread that no thread runs, innermost first.
    pub(super) fn virtual_frames(
        &self,
        host: &dyn Host,
        thread: &VirtualThread,
    ) -> Vec<LanguageFrame> {
        let objects = self.objects_in(host.space());
        let frames = objects
            .zip(thread.chunk)
            .map(|(objects, chunk)| self.frames_of_chunks(&objects, chunk));
        frames.unwrap_or_default()
    }

    /// The frames of the virtual thread that a task is.
    pub(super) fn task_frames_of(&self, host: &dyn Host, task: &Task) -> Vec<LanguageFrame> {
        let all = self.virtual_threads(host);
        let index = all.binary_search_by_key(&task.id, |thread| thread.id).ok();
        let thread = index.and_then(|index| all.get(index));
        thread.map(|thread| self.virtual_frames(host, thread)).unwrap_or_default()
    }

    fn virtual_task(&self, host: &dyn Host, thread: &VirtualThread) -> Option<Task> {
        let objects = self.objects_in(host.space())?;
        let has_frames = || thread.chunk.is_some_and(|chunk| self.has_frames(&objects, chunk));
        let start = match thread.thread {
            Some(_) => TaskStart::Running,
            None if has_frames() => TaskStart::Kept,
            None => TaskStart::Unknown("it has no frames that can be read".into()),
        };
        let locks = self.layout.locks.as_ref();
        let monitor = || locks.and_then(|layout| layout.monitor_of(&objects, thread));
        let blocker = thread.blocker.or_else(monitor);
        let blocker = blocker.and_then(|at| Some((at, objects.class_of(at)?.1)));
        Some(Task {
            runtime: NAME,
            id: thread.id,
            name: thread.name.clone(),
            state: thread.state.to_lowercase().into(),
            waits_on: blocker.map(|(at, class)| format!("{class} {:x}", at.get()).into()),
            until: None,
            entry: None,
            thread: thread.thread,
            stack: None,
            start,
        })
    }
}

/// The virtual thread that begins at an address, if one does: what lies in the heap may be left over.
fn read(objects: &Objects<'_>, states: &[(Arc<str>, u64)], at: Addr) -> Option<VirtualThread> {
    // A collector that moved an object left a mark at the old place.
    (objects.memory.uint(at, 0, 1)? & MARK != MARK).then_some(())?;
    let number = objects.number(at, "state", 4)? & !SUSPENDED;
    let (state, _) = states.iter().find(|(_, value)| *value == number)?;
    (!matches!(&**state, TERMINATED | NEW)).then_some(())?;
    let continuation = objects.reference(at, "cont")?;
    objects.is_a(continuation, CONTINUATION).then_some(())?;
    let facts = threads::thread_object(objects, at)?;
    Some(VirtualThread {
        object: at,
        id: facts.id?,
        name: facts.name.filter(|name| !name.is_empty()),
        state: state.clone(),
        thread: None,
        blocker: facts.blocker,
        chunk: objects.reference(continuation, "tail"),
    })
}
