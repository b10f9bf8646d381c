//! Who holds a `ReentrantReadWriteLock` for reading (`src/java.base/share/classes/java/util/concurrent/locks/
//! ReentrantReadWriteLock.java`, `java/lang/ThreadLocal.java`, JDK 11 to 25).
//!
//! The lock knows how often it is held, and the first thread that read. Each other thread keeps its own count among its
//! thread-local values, by an object of the lock.

use kcore_mem::Addr;

use super::classes::Objects;

/// The class of what such locks are held by.
const SYNC: &str = "java.util.concurrent.locks.ReentrantReadWriteLock$Sync";
/// Values that one thread keeps, at most.
const MAX_VALUES: u64 = 1 << 16;

/// Who holds a lock for reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readers {
    /// The objects of threads that hold it, as far as they are known.
    pub threads: Vec<Addr>,
    /// How often it is held.
    pub holds: u64,
    /// How often by those that are known.
    pub known: u64,
}

/// Who holds a lock for reading among the threads of these objects; `None` of what is no such lock, or held by nobody
/// so.
pub fn of_lock(
    objects: &Objects<'_>,
    lock: Addr,
    threads: &mut dyn Iterator<Item = Addr>,
) -> Option<Readers> {
    objects.is_a(lock, SYNC).then_some(())?;
    let holds = holds(objects, lock)?;
    let mut readers = Readers { holds, ..Readers::default() };
    (holds > 0).then_some(())?;
    if let Some(first) = objects.reference(lock, "firstReader") {
        readers.add(first, objects.integer(lock, "firstReaderHoldCount"));
    }
    let key = objects.reference(lock, "readHolds");
    for thread in threads {
        if readers.known >= holds {
            break;
        }
        let count = key.and_then(|key| own_count(objects, thread, key));
        readers.add(thread, count);
    }
    Some(readers)
}

/// How often a lock is held for reading: the upper half of its state, which has 32 bits, or 64 in later releases.
fn holds(objects: &Objects<'_>, lock: Addr) -> Option<u64> {
    let state = objects.integer(lock, "state")?;
    Some(match &*objects.field_of(lock, "state")?.signature {
        "I" => u64::from((state as u32) >> 16),
        "J" => (state as u64) >> 32,
        _ => return None,
    })
}

impl Readers {
    fn add(&mut self, thread: Addr, count: Option<i64>) {
        let count = count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default();
        if count > 0 && !self.threads.contains(&thread) {
            self.threads.push(thread);
            self.known = self.known.saturating_add(count);
        }
    }
}

/// How often a thread holds the lock whose values have a key.
fn own_count(objects: &Objects<'_>, thread: Addr, key: Addr) -> Option<i64> {
    let table = objects.reference(objects.reference(thread, "threadLocals")?, "table")?;
    let oops = &objects.oops;
    let length = oops.length(objects.memory, table)?.min(MAX_VALUES);
    let entry = |index: u64| {
        let by = index.checked_mul(oops.reference_size())?;
        objects.referred_at(table, oops.elements_offset().checked_add(by)?).ok()?
    };
    let is_it = |entry: &Addr| objects.reference(*entry, "referent") == Some(key);
    let entry = (0..length).filter_map(entry).find(is_it)?;
    objects.integer(objects.reference(entry, "value")?, "count")
}
