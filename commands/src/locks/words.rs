//! What is known of a lock, in words.

use kcore::waits::{Holder, Lock, LockKind, LockProof, LockWaiter, WaitPurpose};

/// Who holds it, as the end of a line.
pub fn held(lock: &Lock) -> String {
    match (lock.kind, lock.holder) {
        (LockKind::Join, Holder::Thread(tid)) => format!("the end of thread {tid}"),
        (_, Holder::Thread(tid)) if !lock.records_holder() => {
            format!("likely held by thread {tid}, whose code took it")
        }
        (_, Holder::Thread(tid)) => format!("held by thread {tid}{}", for_writing(lock)),
        (_, Holder::Absent(id)) => format!("held by thread {id}, which is not in the core"),
        (_, Holder::Readers(1)) => "held by 1 reader, which is not recorded".to_owned(),
        (_, Holder::Readers(count)) => format!("held by {count} readers, which are not recorded"),
        (LockKind::Once | LockKind::StaticGuard | LockKind::RustOnce, Holder::NotRecorded) => {
            "a thread runs it, which one is not recorded".to_owned()
        }
        (_, Holder::NotRecorded) => "held, owner not recorded".to_owned(),
        (LockKind::Mutex(_) | LockKind::ReadWriteLock, Holder::Nobody) => "free by now".to_owned(),
        (_, Holder::Nobody) => String::new(),
        (_, _) => lock.value.map_or_else(
            || "its word is not in the core".to_owned(),
            |value| format!("its value is {value:#x}"),
        ),
    }
}

fn for_writing(lock: &Lock) -> &'static str {
    if lock.kind == LockKind::ReadWriteLock { " for writing" } else { "" }
}

/// What the waiters do, with a subject before it.
pub fn wait(lock: &Lock, waiter: &LockWaiter) -> &'static str {
    let is_rwlock = matches!(lock.kind, LockKind::ReadWriteLock | LockKind::RustRwLock);
    match (is_rwlock, waiter.purpose) {
        (true, WaitPurpose::Read) => "to read",
        (true, _) => "to write",
        _ => "",
    }
}

/// What proves the kind of a lock.
pub fn proof(proof: LockProof) -> &'static str {
    match proof {
        LockProof::Words => "recognized by its words",
        LockProof::Function => "recognized by the function that waits there",
        LockProof::Runtime => "recognized by the runtime of its language",
        LockProof::CallSite => "recognized by the call of the function that waits there",
        _ => "not recognized",
    }
}
