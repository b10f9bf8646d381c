//! Threads of Java (`src/hotspot/share/runtime/{javaThread,osThread,threadSMR,javaFrameAnchor}`, JDK 11 to 25; states as
//! `jdk.internal.misc.VM.toThreadState`).

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Tid;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{classes::Objects, memory::Memory, vm_structs::VmStructs};

/// Threads, at most.
const MAX_THREADS: u64 = 1 << 20;
/// The class of all threads.
const THREAD: &str = "java.lang.Thread";

/// Bits of the state of a thread, of JVMTI.
const TERMINATED: u64 = 0x2;
const ALIVE: u64 = 0x1;
const RUNNABLE: u64 = 0x4;
const WAITING: u64 = 0x10;
const TIMED_WAITING: u64 = 0x20;
const BLOCKED: u64 = 0x400;

/// Where the fields of threads lie.
#[derive(Clone, Copy, Debug)]
pub struct ThreadLayout {
    list: List,
    system_thread: u64,
    tid: u64,
    object: u64,
    /// Whether `object` leads to a pointer to the object: to JDK 15 it is the object itself.
    is_handle: bool,
    state: u64,
    pending_exception: Option<u64>,
    virtual_thread: Option<u64>,
}

/// How threads are listed.
#[derive(Clone, Copy, Debug)]
enum List {
    /// `ThreadsSMRSupport._java_thread_list`, an array.
    Array { at: Addr, length: u64, threads: u64 },
    /// `Threads._thread_list`, each with the next one, to JDK 13.
    Linked { at: Addr, next: u64 },
}

/// A thread of Java.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaThread {
    /// Its `JavaThread`.
    pub at: Addr,
    /// The thread of the system that runs it.
    pub tid: Option<Tid>,
    /// Its `java.lang.Thread`.
    pub object: Option<Addr>,
    /// What that says of it.
    pub facts: ThreadObject,
    /// What the virtual machine says that it does.
    pub activity: Option<Activity>,
    /// An exception that was thrown in it, and that nothing has handled yet.
    pub pending_exception: Option<Addr>,
    /// The `java.lang.VirtualThread` that it runs, or its own object where it runs none; since JDK 21.
    pub runs: Option<Addr>,
}

/// What a `java.lang.Thread` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadObject {
    /// Its number, as `Thread.getId()` returns it.
    pub id: Option<u64>,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its state.
    pub state: Option<ThreadState>,
    /// Whether the process may end while it runs.
    pub daemon: Option<bool>,
    /// Its priority, 1 to 10.
    pub priority: Option<u32>,
    /// What it waits for while it is parked (`parkBlocker`).
    pub blocker: Option<Addr>,
}

/// The state of a thread in the words of `java.lang.Thread.State`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadState {
    /// Not started yet.
    New,
    /// It runs, or waits for the system.
    Runnable,
    /// It wants to enter a monitor.
    Blocked,
    /// It waits until somebody wakes it.
    Waiting,
    /// It waits for a time at most.
    TimedWaiting,
    /// It has ended.
    Terminated,
}

/// What the virtual machine says that a thread does (`JavaThreadState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It runs Java.
    Java,
    /// It runs native code that Java called.
    Native,
    /// It runs code of the virtual machine.
    Machine,
    /// It waits in the virtual machine.
    Blocked,
    /// It begins.
    New,
}

impl ThreadState {
    /// Java's own word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "NEW",
            Self::Runnable => "RUNNABLE",
            Self::Blocked => "BLOCKED",
            Self::Waiting => "WAITING",
            Self::TimedWaiting => "TIMED_WAITING",
            Self::Terminated => "TERMINATED",
        }
    }

    const fn of(status: u64) -> Self {
        match status {
            _ if status & RUNNABLE != 0 => Self::Runnable,
            _ if status & BLOCKED != 0 => Self::Blocked,
            _ if status & WAITING != 0 => Self::Waiting,
            _ if status & TIMED_WAITING != 0 => Self::TimedWaiting,
            _ if status & TERMINATED != 0 => Self::Terminated,
            _ if status & ALIVE == 0 => Self::New,
            _ => Self::Runnable,
        }
    }
}

impl Activity {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Java => "java",
            Self::Native => "native",
            Self::Machine => "vm",
            Self::Blocked => "blocked",
            Self::New => "new",
        }
    }

    /// An odd number is on the way to the state of the even one before it.
    const fn of(state: u64) -> Option<Self> {
        Some(match state {
            2 | 3 => Self::New,
            4 | 5 => Self::Native,
            6 | 7 => Self::Machine,
            8 | 9 => Self::Java,
            10 | 11 => Self::Blocked,
            _ => return None,
        })
    }
}

/// Threads, and why there may be more.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// They, in the order of the virtual machine.
    pub all: Vec<Arc<JavaThread>>,
    /// What could not be read.
    pub why: Option<Arc<str>>,
    /// Their places among all, by the threads of the system and by their objects.
    by_tid: FxHashMap<Tid, usize>,
    by_object: FxHashMap<Addr, usize>,
}

impl Threads {
    fn new(all: Vec<Arc<JavaThread>>, why: Option<Arc<str>>) -> Self {
        let places = || all.iter().enumerate();
        let by_tid = places().filter_map(|(place, thread)| Some((thread.tid?, place))).collect();
        let by_object = places().filter_map(|(place, it)| Some((it.object?, place))).collect();
        Self { all, why, by_tid, by_object }
    }

    /// The one that a thread of the system runs.
    pub fn on_thread(&self, tid: Tid) -> Option<&Arc<JavaThread>> {
        self.all.get(*self.by_tid.get(&tid)?)
    }

    /// The one whose `java.lang.Thread` lies at an address.
    pub fn of_object(&self, object: Addr) -> Option<&Arc<JavaThread>> {
        self.all.get(*self.by_object.get(&object)?)
    }
}

impl ThreadLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something.
    pub fn of(tables: &VmStructs) -> Result<Self, String> {
        Ok(Self {
            list: List::of(tables)?,
            system_thread: tables.need_one(&["JavaThread._osthread", "Thread._osthread"])?,
            tid: tables.need("OSThread._thread_id")?,
            object: tables.need("JavaThread._threadObj")?,
            is_handle: tables.offset("OopHandle._obj").is_some(),
            state: tables.need("JavaThread._thread_state")?,
            pending_exception: tables.offset("ThreadShadow._pending_exception"),
            virtual_thread: tables.offset("JavaThread._vthread"),
        })
    }

    /// All threads. What is damaged of one costs no other.
    pub fn threads(&self, memory: Memory<'_>, objects: Option<&Objects<'_>>) -> Threads {
        let (at, why) = self.list.all(memory);
        let read = |at: Addr| Arc::new(self.thread(memory, objects, at));
        Threads::new(at.into_iter().map(read).collect(), why.map(Into::into))
    }

    fn thread(&self, memory: Memory<'_>, objects: Option<&Objects<'_>>, at: Addr) -> JavaThread {
        let tid = || {
            let system = memory.pointer(at, self.system_thread)?;
            let tid = u32::try_from(memory.uint(system, self.tid, 4)?).ok()?;
            (tid != 0).then(|| Tid::new(tid))
        };
        // A collector may mark what is in handles.
        let plain = |word| match objects {
            Some(objects) => objects.oops.referred_in_full(memory, word),
            None => Some(Addr::new(word)).filter(|at| at.get() != 0),
        };
        let in_field = |field, is_handle| {
            let word = match is_handle {
                true => memory.uint(memory.pointer(at, field)?, 0, 8),
                false => memory.uint(at, field, 8),
            };
            plain(word?)
        };
        let object = in_field(self.object, self.is_handle);
        let exception = self.pending_exception.and_then(|field| in_field(field, false));
        let facts =
            objects.zip(object).and_then(|(objects, object)| thread_object(objects, object));
        JavaThread {
            at,
            tid: tid(),
            object,
            facts: facts.unwrap_or_default(),
            activity: memory.uint(at, self.state, 4).and_then(Activity::of),
            pending_exception: exception,
            runs: self.virtual_thread.and_then(|field| in_field(field, true)),
        }
    }
}

/// What an object says of the thread that it is; `None` of one that is none.
pub fn thread_object(objects: &Objects<'_>, object: Addr) -> Option<ThreadObject> {
    objects.is_a(object, THREAD).then_some(())?;
    // Since JDK 19 a part of it is an object of its own: virtual threads have none.
    let holder = objects.reference(object, "holder").unwrap_or(object);
    let number = |name, size| objects.number(holder, name, size);
    Some(ThreadObject {
        id: objects.number(object, "tid", 8),
        name: objects.text(object, "name"),
        state: number("threadStatus", 4).map(ThreadState::of),
        daemon: number("daemon", 1).map(|daemon| daemon != 0),
        priority: number("priority", 4).and_then(|priority| u32::try_from(priority).ok()),
        blocker: objects.reference(object, "parkBlocker"),
    })
}

impl List {
    fn of(tables: &VmStructs) -> Result<Self, String> {
        if let Some(at) = tables.variable("ThreadsSMRSupport._java_thread_list") {
            let (length, threads) =
                (tables.need("ThreadsList._length")?, tables.need("ThreadsList._threads")?);
            return Ok(Self::Array { at, length, threads });
        }
        let at = tables.variable("Threads._thread_list");
        let at = at.ok_or("the virtual machine does not describe its list of threads")?;
        Ok(Self::Linked { at, next: tables.need("JavaThread._next")? })
    }

    /// The threads that can be reached, and why not all.
    fn all(self, memory: Memory<'_>) -> (Vec<Addr>, Option<String>) {
        match self {
            Self::Array { at, length, threads } => of_array(memory, at, length, threads),
            Self::Linked { at, next } => linked(memory, at, next),
        }
    }
}

fn of_array(
    memory: Memory<'_>,
    at: Addr,
    length: u64,
    threads: u64,
) -> (Vec<Addr>, Option<String>) {
    let head = || {
        let list = memory.pointer(at, 0)?;
        Some((memory.uint(list, length, 4)?, memory.pointer(list, threads)?))
    };
    let Some((count, first)) = head() else {
        return (Vec::new(), Some("the list of threads cannot be read".to_owned()));
    };
    let numbers = 0..count.min(MAX_THREADS);
    let all: Vec<Addr> =
        numbers.map_while(|number| memory.pointer(first, number.checked_mul(8)?)).collect();
    let missing = count.saturating_sub(all.len() as u64);
    (all, (missing > 0).then(|| format!("{missing} threads of the list cannot be read")))
}

fn linked(memory: Memory<'_>, at: Addr, next: u64) -> (Vec<Addr>, Option<String>) {
    let mut all: Vec<Addr> = Vec::new();
    let mut link = memory.0.read_addr(at).ok();
    let mut seen = FxHashSet::default();
    loop {
        match link {
            Some(thread) if thread.get() == 0 => return (all, None),
            Some(thread) if seen.insert(thread) && (all.len() as u64) < MAX_THREADS => {
                all.push(thread);
                link = thread.checked_add(next).and_then(|at| memory.0.read_addr(at).ok());
            }
            _ => {
                return (
                    all,
                    Some("the list of threads goes on where it cannot be read".to_owned()),
                );
            }
        }
    }
}
