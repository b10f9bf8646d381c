//! What kind of object a suspended bthread waits for. The functions on its stack show it, because a
//! butex is only a word.

use kcore::{
    Core,
    bthread::{Bthread, State, Wait},
};

use super::subject::task;

/// Frames that are looked at: the scheduler's own come first.
const FRAMES: usize = 24;

/// What bRPC's functions wait for, by their names without namespaces and parameters.
const WAITS: &[(&str, &str)] = &[
    ("bthread_mutex_lock", "mutex"),
    ("bthread_mutex_timedlock", "mutex"),
    ("bthread_cond_wait", "condition"),
    ("bthread_cond_timedwait", "condition"),
    ("bthread_join", "join"),
    ("bthread_sem_wait", "semaphore"),
    ("bthread_sem_timedwait", "semaphore"),
    ("bthread_rwlock_rdlock", "rwlock"),
    ("bthread_rwlock_wrlock", "rwlock"),
    ("bthread_rwlock_timedrdlock", "rwlock"),
    ("bthread_rwlock_timedwrlock", "rwlock"),
    ("bthread_id_join", "id"),
    ("bthread_id_lock_and_reset_range", "id"),
    ("bthread_fd_wait", "fd"),
    ("bthread_fd_timedwait", "fd"),
    ("bthread::CountdownEvent::wait", "countdown"),
    ("bthread::CountdownEvent::timed_wait", "countdown"),
];

/// What a bthread waits for, in a word.
pub fn kind(core: &Core, bthread: &Bthread) -> Option<&'static str> {
    match (bthread.state, bthread.waits_on) {
        (State::Sleeping, _) => Some("timer"),
        (State::Waiting, Some(Wait { joins: Some(_), .. })) => Some("join"),
        // Waiters move only from a condition to its mutex.
        (State::Waiting, Some(Wait { moved: true, .. })) => Some("mutex"),
        (State::Waiting, _) => by_stack(core, bthread).or(Some("butex")),
        _ => None,
    }
}

fn by_stack(core: &Core, bthread: &Bthread) -> Option<&'static str> {
    let stack = core.stacks().of_task(task(core, bthread)?, FRAMES);
    core.stacks().named_frames(&stack).find_map(|frame| {
        let name = frame.location.function.clone()?;
        WAITS.iter().find(|(function, _)| **function == *name).map(|(_, kind)| *kind)
    })
}
