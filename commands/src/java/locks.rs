//! `::javalocks`: what threads of Java wait for, and who holds it.

use kcore::java::{self, JavaLock, LockThread};
use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec, View,
};

use super::subject;

/// Shows who waits for whom in Java.
pub struct Javalocks;

const HELP: &str = "\
A lock is a monitor (synchronized, Object.wait), or an object of java.util.concurrent that threads \
are parked on. A thread waits to enter a monitor, for somebody to notify it, or it is parked. The owner \
is known of monitors, and of locks that write it down: ReentrantLock and the write lock of \
ReentrantReadWriteLock do, Semaphore and CountDownLatch have none. Threads that hold a \
ReentrantReadWriteLock for reading are named as far as they tell. Locks that nobody waits for are not \
listed. Snapshots of live processes may lack what tells the owner: the line says so. Threads that wait for each other in a circle are named as a deadlock.\n\n\
Virtual threads stand with their number, which 0tNUMBER::stack takes, also while a thread runs \
them.";

/// Waiters of one lock that text shows: a hundred thousand virtual threads may wait for one.
const SHOWN: usize = 20;

const EXAMPLES: &[Example] = &[Example {
    line: "::javalocks",
    shows: "every lock that a thread waits for, with its owner, and deadlocks",
}];

impl Dcmd for Javalocks {
    fn spec(&self) -> Spec {
        Spec::new("javalocks", Group::Runtimes, "show who waits for whom in Java")
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        subject::note_damage(cx)?;
        for machine in subject::machines(core)? {
            let locks = machine.locks(core.as_ref());
            let locks =
                locks.ok_or_else(|| DcmdError::failed("locks of Java cannot be decoded here"))?;
            for lock in locks {
                cx.check_interrupt()?;
                cx.emit(&LockRecord(lock))?;
            }
            for circle in java::circles(locks) {
                cx.emit(&Deadlock(circle.into_iter().map(|(thread, _)| thread).collect()))?;
            }
        }
        Ok(())
    }
}

/// A lock with all that wait for it.
struct LockRecord<'a>(&'a JavaLock);

/// Threads that wait for each other.
struct Deadlock(Vec<LockThread>);

/// How a thread is called here.
fn named(thread: &LockThread) -> String {
    let name = thread.name().unwrap_or("?");
    match (thread.is_virtual(), thread.tid()) {
        (true, _) => format!("virtual {} \"{name}\"", thread.id().unwrap_or_default()),
        (false, Some(tid)) => format!("{} \"{name}\"", tid.get()),
        (false, None) => format!("\"{name}\""),
    }
}

/// A thread in JSON.
fn object(thread: &LockThread, more: Option<(&'static str, Cell<'static>)>) -> Cell<'static> {
    let name = thread.name().map(ToOwned::to_owned);
    let tid = thread.tid().map(|tid| u64::from(tid.get()));
    let parts = [
        ("id", Cell::or_null(thread.id(), Cell::Num)),
        ("thread", Cell::or_null(tid, Cell::Num)),
        ("name", Cell::or_null(name, Cell::text)),
        ("virtual", Cell::Bool(thread.is_virtual())),
    ];
    Cell::Object(parts.into_iter().chain(more).collect())
}

/// Who holds a lock for reading, in words; nothing where nobody does.
fn shown_readers(lock: &JavaLock) -> String {
    let names = lock.readers.iter().take(SHOWN).map(named);
    let others = lock.readers.len().saturating_sub(SHOWN);
    let others = (others > 0).then(|| format!("{others} more"));
    let unknown = lock.unknown_readers;
    let unknown = (unknown > 0).then(|| format!("{unknown} times by others that are not known"));
    let all: Vec<String> = names.chain(others).chain(unknown).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(", held for reading by {}", all.join(" and ")),
    }
}

impl Record for LockRecord<'_> {
    fn kind(&self) -> &'static str {
        "java_lock"
    }

    fn view(&self) -> View {
        View::Line("{object:x} {shown_class}{shown_owner}{shown_waiters*\n    {.}}")
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let lock = self.0;
        let waiters = || lock.waiters.iter();
        let shown = waiters().take(SHOWN).map(|waiter| {
            let why = match waiter.reason {
                java::WaitReason::Enter => "waits to enter it",
                java::WaitReason::Notify => "waits to be notified",
                java::WaitReason::Park => "is parked on it",
            };
            Cell::text(format!("{} {why}", named(&waiter.thread)))
        });
        let left = lock.waiters.len().saturating_sub(SHOWN);
        let more = (left > 0).then(|| Cell::text(format!("and {left} more")));
        let owner = lock.owner.as_ref();
        let shown_owner = match (owner, lock.owner_missing) {
            (Some(owner), _) => format!(", held by {}", named(owner)),
            (None, Some(why)) => format!(", {why}"),
            (None, None) => shown_readers(lock),
        };
        let reason = |waiter: &java::LockWaiter| {
            object(&waiter.thread, Some(("reason", Cell::text(waiter.reason.as_str()))))
        };
        out.addr("object", lock.object)
            .opt_text("class", lock.class.as_deref())
            .text("lock", if lock.is_monitor { "monitor" } else { "synchronizer" })
            .put("owner", Cell::or_null(owner, |owner| object(owner, None)))
            .opt_text("owner_missing", lock.owner_missing)
            .put("readers", Cell::List(lock.readers.iter().map(|it| object(it, None)).collect()))
            .num("unknown_readers", lock.unknown_readers)
            .put("waiters", Cell::List(waiters().map(reason).collect()))
            .display("shown_class", Cell::text(lock.class.as_deref().unwrap_or("?").to_owned()))
            .display("shown_owner", Cell::text(shown_owner))
            .display("shown_waiters", Cell::List(shown.chain(more).collect()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.object))
    }
}

impl Record for Deadlock {
    fn kind(&self) -> &'static str {
        "java_deadlock"
    }

    fn view(&self) -> View {
        View::Line("deadlock: {shown}")
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let threads = self.0.iter().map(|thread| object(thread, None)).collect();
        let names: Vec<String> = self.0.iter().map(named).collect();
        out.put("threads", Cell::List(threads))
            .display("shown", Cell::text(format!("{} wait for each other", names.join(" and "))));
    }
}
