//! Tasks of `asyncio`: `Lib/asyncio/tasks.py`, `Modules/_asynciomodule.c`.
//!
//! To 3.13 a weak set in `asyncio.tasks` has them; since 3.14 lists of each thread and interpreter, whose
//! places the module says in a section for debuggers.

use std::sync::Arc;

use kcore_mem::{Addr, Fault};

use super::{
    Python,
    coroutine::{Awaiting, CoroutineState},
    dict::Entries,
    heap::{DICT, Heap, Object, STR},
    search,
};
use crate::Host;

/// Tasks of a process, at most.
const MAX_TASKS: usize = 1 << 22;
const MODULE: &str = "asyncio.tasks";
/// What the sets of tasks are called: the first to 3.11, the others since 3.12.
const SETS: [&str; 3] = ["_all_tasks", "_scheduled_tasks", "_eager_tasks"];
/// `wr_object` of a weak reference.
const REFERENT: u64 = 16;
/// The future that an iterator over one has: `futureiterobject`.
const ITERATED: u64 = 16;
/// `ma_used` of a dict, `used` of a set: how many it has.
const USED: u64 = 16;
const SET_USED: u64 = 24;
/// Slots of a set that are looked at, at most.
const MAX_SLOTS: u64 = 1 << 24;
/// Where a debugger finds `Py_AsyncioModuleDebugOffsets`, and words of it.
const SECTION: &str = ".AsyncioDebug";
const TASK_NAME: u64 = 8;
const TASK_CORO: u64 = 40;
const TASK_NODE: u64 = 48;
const INTERPRETER_TASKS: u64 = 64;
const THREAD_TASKS: u64 = 96;
/// Words of it to the size of an interpreter, and what the modules are called that may hold it.
const WORDS: usize = 8;
const MODULES: [&str; 2] = ["_asyncio", "python"];
/// Bytes of a task, at most.
const MAX_TASK: u64 = 4096;
/// No structure is so big.
const MAX_OFFSET: u64 = 1 << 20;

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PyTask {
    /// Where it lies.
    pub at: Addr,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its coroutine, and those that it awaits.
    pub awaiting: Option<Awaiting>,
    /// What it awaits in the end, by the name of its type, and where that lies.
    pub waits_on: Option<(Arc<str>, Addr)>,
}

/// The tasks of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PyTasks {
    /// Those that are not done.
    pub tasks: Vec<PyTask>,
    /// How many tasks, or lists and sets of them, cannot be read, or not as a whole.
    pub unread: u64,
}

/// Why nothing is known of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTasks {
    /// Where they are says a module whose file is missing.
    #[error("the file of _asyncio is missing, which says where tasks are")]
    NoFile,
    /// The module's memory that says it has no bytes.
    #[error("{0}: it says where tasks are")]
    Fault(Fault),
    /// The module says what cannot be.
    #[error("what says where tasks are, at {0}, is damaged")]
    Damaged(Addr),
}

/// Addresses of tasks, as they are found.
#[derive(Default)]
pub(super) struct TaskAddresses {
    /// Those that were read.
    pub(super) tasks: Vec<Addr>,
    /// How many more there are, or lists and sets of them.
    pub(super) unread: u64,
}

/// Where a task of the module in C has its name and coroutine.
#[derive(Clone, Copy)]
struct TaskOffsets {
    name: u64,
    coro: u64,
}

/// Where lists of tasks lie, since 3.14.
#[derive(Clone, Copy)]
struct ListOffsets {
    task: TaskOffsets,
    node: u64,
    interpreter: u64,
    thread: u64,
}

impl Python {
    /// The tasks of the process, those of all its loops.
    ///
    /// # Errors
    /// Since 3.14, when nothing says where they are.
    pub fn py_tasks(&self, host: &dyn Host) -> Result<PyTasks, NoTasks> {
        let heap = self.heap(host);
        let mut found = TaskAddresses::default();
        let offsets = match self.layout.minor {
            ..=13 => old_offsets(self.layout.minor),
            _ => {
                let lists = self.list_offsets(host)?;
                self.of_lists(host, &heap, lists, &mut found);
                lists.task
            }
        };
        // Since 3.14 those that are not of the module in C are in a set still.
        self.of_sets(host, &heap, &mut found);
        let TaskAddresses { tasks: mut places, mut unread } = found;
        places.sort_unstable();
        places.dedup();
        let mut tasks = Vec::new();
        for at in places {
            let task = self.task(host, &heap, at, offsets);
            let is_read = task.as_ref().is_some_and(|it| it.awaiting.is_some())
                || heap.word(at, offsets.coro) == Some(0);
            unread = unread.saturating_add(u64::from(!is_read));
            tasks.extend(task.filter(|task| !is_done(task)));
        }
        Ok(PyTasks { tasks, unread })
    }

    fn task(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        at: Addr,
        offsets: TaskOffsets,
    ) -> Option<PyTask> {
        let object = heap.object(at)?;
        let attribute = |name| self.attribute(heap, object, name);
        let of_c = heap.pointer(at, offsets.coro).and_then(|coro| self.awaiting(host, coro));
        let awaiting = of_c.clone().or_else(|| self.awaiting(host, attribute("_coro")?.at));
        let name = match of_c.is_some() {
            true => heap.field(at, offsets.name),
            false => attribute("_name"),
        };
        let name = name.and_then(|name| match name.is(STR) {
            true => heap.name(name).map(Arc::from),
            // One that nobody asked for is a number yet.
            false => heap.small_int(name).map(|number| format!("Task-{number}").into()),
        });
        let waits_on = awaiting.as_ref().and_then(|it| self.awaited(host, heap, it.waits_on?));
        Some(PyTask { at, name, awaiting, waits_on })
    }

    /// What an awaitable stands for: an iterator for its future.
    fn awaited(&self, host: &dyn Host, heap: &Heap<'_>, at: Addr) -> Option<(Arc<str>, Addr)> {
        let object = heap.object(at)?;
        let name = self.class_name(host, object.class)?;
        let object = match &*name {
            "FutureIter" => heap.field(at, ITERATED).unwrap_or(object),
            _ => object,
        };
        Some((self.class_name(host, object.class)?, object.at))
    }

    fn of_sets(&self, host: &dyn Host, heap: &Heap<'_>, found: &mut TaskAddresses) {
        let Some(module) = self.module_of_tasks(heap, found) else { return };
        for set in SETS.iter().filter_map(|name| heap.lookup(module, name)) {
            // A weak set keeps a set of weak references; that of eager tasks is a plain one.
            let is_plain = self.builtin_name(host, set.class).is_some_and(|name| &*name == "set");
            let data = if is_plain { Some(set) } else { self.attribute(heap, set, "data") };
            let Some(members) = data.and_then(|data| members(heap, data)) else {
                found.add_unread(1);
                continue;
            };
            found.add_unread(members.unread);
            for member in members.tasks {
                match if is_plain { Some(member) } else { heap.pointer(member, REFERENT) } {
                    Some(task) if found.tasks.len() < MAX_TASKS => found.tasks.push(task),
                    _ => found.add_unread(1),
                }
            }
        }
    }

    /// The dict of the module that has sets of tasks, if it was imported.
    fn module_of_tasks(&self, heap: &Heap<'_>, found: &mut TaskAddresses) -> Option<Object> {
        let modules = heap.field_of(self.main, heap.layout.interpreter.modules, DICT);
        let is_imported = modules.is_some_and(|modules| heap.lookup(modules, MODULE).is_some());
        let dict = self.module_dict(heap, self.main, MODULE);
        let is_whole = |dict: Option<Object>| dict.is_some_and(|dict| has_all_keys(heap, dict));
        let is_known = if is_imported { is_whole(dict) } else { is_whole(modules) };
        found.add_unread(u64::from(!is_known));
        dict
    }

    /// Whether the names of all modules that were imported can be read.
    pub fn knows_modules(&self, host: &dyn Host) -> bool {
        let heap = self.heap(host);
        let modules = heap.field_of(self.main, heap.layout.interpreter.modules, DICT);
        modules.is_some_and(|modules| has_all_keys(&heap, modules))
    }

    fn of_lists(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        offsets: ListOffsets,
        found: &mut TaskAddresses,
    ) {
        let state = self.state(host);
        let threads = state.threads.iter().filter_map(|it| it.at.checked_add(offsets.thread));
        let interpreters =
            state.interpreters.iter().filter_map(|it| it.at.checked_add(offsets.interpreter));
        for head in threads.chain(interpreters) {
            let mut node = head;
            loop {
                let next = heap.pointer(node, 0).filter(|next| *next != node || node == head);
                if next == Some(head) {
                    break;
                }
                let task = next.and_then(|next| next.get().checked_sub(offsets.node));
                let Some((next, task)) = next.zip(task).filter(|_| found.tasks.len() < MAX_TASKS)
                else {
                    found.add_unread(1);
                    break;
                };
                found.tasks.push(Addr::new(task));
                node = next;
            }
        }
    }

    fn list_offsets(&self, host: &dyn Host) -> Result<ListOffsets, NoTasks> {
        let by_section = host.modules().into_iter().find_map(|module| {
            let section = module.image()?.section(SECTION)?.svma;
            module.addr(section)
        });
        let table = by_section.or_else(|| self.searched_offsets(host)).ok_or(NoTasks::NoFile)?;
        let at = |place: u64| {
            let at = table.checked_add(place).ok_or(NoTasks::Damaged(table))?;
            let offset = host.space().read_word(at).map_err(NoTasks::Fault)?;
            if offset < MAX_OFFSET { Ok(offset) } else { Err(NoTasks::Damaged(at)) }
        };
        Ok(ListOffsets {
            task: TaskOffsets { name: at(TASK_NAME)?, coro: at(TASK_CORO)? },
            node: at(TASK_NODE)?,
            interpreter: at(INTERPRETER_TASKS)?,
            thread: at(THREAD_TASKS)?,
        })
    }
}

impl Python {
    /// Where the table lies in a module whose file is not at hand: eight words that fit each other, the last of
    /// which is the size of an interpreter.
    fn searched_offsets(&self, host: &dyn Host) -> Option<Addr> {
        let size = self.layout.interpreter.size?;
        let modules = host.modules().into_iter().filter(|module| module.image().is_none());
        let may_hold =
            modules.filter(|module| MODULES.iter().any(|name| module.name().contains(name)));
        let pieces = may_hold.flat_map(|module| search::data_pieces(host, module));
        { pieces }.find_map(|(at, bytes)| {
            let mut windows = bytes.as_chunks::<8>().0.windows(WORDS);
            let place = windows.position(|words| is_table(words, size))?;
            at.checked_add(u64::try_from(place).ok()?.checked_mul(8)?)
        })
    }
}

/// Whether words are the first ones of the table: the size of a task, its fields, which lie within, and the size of
/// an interpreter.
fn is_table(words: &[[u8; 8]], interpreter: u64) -> bool {
    let [task, fields @ .., last] = words else { return false };
    let task = u64::from_le_bytes(*task);
    u64::from_le_bytes(*last) == interpreter
        && (1..MAX_TASK).contains(&task)
        && fields.iter().all(|field| u64::from_le_bytes(*field) < task)
}

/// `TaskObj` of 3.8 to 3.13.
const fn old_offsets(minor: u8) -> TaskOffsets {
    let (coro, name) = match minor {
        ..=8 => (112, 120),
        9 => (152, 160),
        10 => (160, 168),
        11 | 12 => (136, 144),
        _ => (120, 128),
    };
    TaskOffsets { name, coro }
}

/// A task is done as soon as its coroutine ended; to 3.13 the set has those too that are referred to yet.
fn is_done(task: &PyTask) -> bool {
    task.awaiting.as_ref().is_some_and(|it| it.state == CoroutineState::Finished)
}

/// Whether all keys of a dict are there to be read.
fn has_all_keys(heap: &Heap<'_>, dict: Object) -> bool {
    let keys = Entries::of(heap, dict).into_iter().flatten().map(|entry| entry.key);
    let read = keys.filter(|key| heap.object(*key).is_some_and(|key| heap.name(key).is_some()));
    heap.word(dict.at, USED) == Some(read.count() as u64)
}

/// The members of a set; `None` when it cannot be read.
pub(super) fn members(heap: &Heap<'_>, set: Object) -> Option<TaskAddresses> {
    if set.is(DICT) {
        let tasks = Entries::of(heap, set)?.map(|entry| entry.key).collect();
        return Some(TaskAddresses { tasks, unread: 0 });
    }
    let (used, mask) = (heap.word(set.at, SET_USED)?, heap.word(set.at, 32)?);
    let table = heap.pointer(set.at, 40)?;
    let mut tasks = Vec::new();
    for slot in 0..mask.saturating_add(1).min(MAX_SLOTS) {
        let Some(at) = slot.checked_mul(16).and_then(|slot| table.checked_add(slot)) else { break };
        let Some(hash) = heap.word(at, 8) else { break };
        tasks.extend(heap.pointer(at, 0).filter(|_| hash != u64::MAX));
    }
    let unread = used.min(MAX_SLOTS).saturating_sub(tasks.len() as u64);
    Some(TaskAddresses { tasks, unread })
}

impl TaskAddresses {
    const fn add_unread(&mut self, count: u64) {
        self.unread = self.unread.saturating_add(count);
    }
}
