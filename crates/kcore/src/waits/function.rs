//! The function of a library in which a thread waits.

use kcore_mem::Addr;
use kcore_unwind::Frame;

use super::lock::LockProof;
use crate::{Core, Stack, arch::facts};

/// What functions wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingFunction {
    MutexLock,
    ReadLock,
    WriteLock,
    ConditionWait,
    SemaphoreWait,
    BarrierWait,
    Once,
    Join,
    Stream,
    Allocator,
    StaticGuard,
    Future,
    RustMutex,
    RustReadLock,
    RustWriteLock,
    RustCondvar,
    RustOnce,
    RustPark,
}

use WaitingFunction as F;

/// Functions of C libraries, without underscores before their names and without versions behind them.
const OF_C: &[(&str, WaitingFunction)] = &[
    ("pthread_mutex_lock", F::MutexLock),
    ("pthread_mutex_lock_full", F::MutexLock),
    ("pthread_mutex_cond_lock", F::MutexLock),
    ("pthread_mutex_cond_lock_full", F::MutexLock),
    ("pthread_mutex_timedlock", F::MutexLock),
    ("pthread_mutex_clocklock", F::MutexLock),
    ("pthread_mutex_clocklock_common", F::MutexLock),
    ("pthread_rwlock_rdlock", F::ReadLock),
    ("pthread_rwlock_timedrdlock", F::ReadLock),
    ("pthread_rwlock_clockrdlock", F::ReadLock),
    ("pthread_rwlock_wrlock", F::WriteLock),
    ("pthread_rwlock_timedwrlock", F::WriteLock),
    ("pthread_rwlock_clockwrlock", F::WriteLock),
    ("pthread_cond_wait", F::ConditionWait),
    ("pthread_cond_timedwait", F::ConditionWait),
    ("pthread_cond_clockwait", F::ConditionWait),
    ("pthread_cond_wait_common", F::ConditionWait),
    ("sem_wait", F::SemaphoreWait),
    ("sem_timedwait", F::SemaphoreWait),
    ("sem_clockwait", F::SemaphoreWait),
    ("new_sem_wait", F::SemaphoreWait),
    ("new_sem_wait_slow64", F::SemaphoreWait),
    ("pthread_barrier_wait", F::BarrierWait),
    ("pthread_once", F::Once),
    ("pthread_once_slow", F::Once),
    ("pthread_join", F::Join),
    ("pthread_clockjoin_ex", F::Join),
    ("pthread_timedjoin_np", F::Join),
    ("pthread_clockjoin_np", F::Join),
    ("cxa_guard_acquire", F::StaticGuard),
    ("malloc", F::Allocator),
    ("libc_malloc", F::Allocator),
    ("free", F::Allocator),
    ("libc_free", F::Allocator),
    ("calloc", F::Allocator),
    ("libc_calloc", F::Allocator),
    ("realloc", F::Allocator),
    ("libc_realloc", F::Allocator),
    ("malloc_trim", F::Allocator),
    ("int_free", F::Allocator),
    ("flockfile", F::Stream),
    ("puts", F::Stream),
    ("fputs", F::Stream),
    ("printf", F::Stream),
    ("fprintf", F::Stream),
    ("vprintf", F::Stream),
    ("vfprintf", F::Stream),
    ("vfprintf_internal", F::Stream),
    ("fwrite", F::Stream),
    ("fread", F::Stream),
    ("putc", F::Stream),
    ("putchar", F::Stream),
    ("fputc", F::Stream),
    ("getc", F::Stream),
    ("fgetc", F::Stream),
    ("getchar", F::Stream),
    ("fgets", F::Stream),
    ("getdelim", F::Stream),
    ("fflush", F::Stream),
    ("fclose", F::Stream),
    ("fseek", F::Stream),
    ("ftell", F::Stream),
];

/// Parts of the names of functions of C++ and Rust.
const BY_PART: &[(&str, WaitingFunction)] = &[
    ("__atomic_futex_unsigned_base::_M_futex_wait_until", F::Future),
    ("mutex::futex::Mutex::lock_contended", F::RustMutex),
    ("futex_mutex::Mutex::lock_contended", F::RustMutex),
    ("rwlock::futex::RwLock::read_contended", F::RustReadLock),
    ("futex_rwlock::RwLock::read_contended", F::RustReadLock),
    ("rwlock::futex::RwLock::write_contended", F::RustWriteLock),
    ("futex_rwlock::RwLock::write_contended", F::RustWriteLock),
    ("condvar::futex::Condvar::wait", F::RustCondvar),
    ("futex_condvar::Condvar::wait", F::RustCondvar),
    ("once::futex::Once::call", F::RustOnce),
    ("once::futex::Once::wait", F::RustOnce),
    ("thread_parking::futex::Parker::park", F::RustPark),
];

/// Parts of the names of functions that wait for others.
const INSIDE: &[&str] = &["lll_lock_wait", "futex_abstimed_wait", "futex_wait", "syscall"];

/// Frames that lie between the system call and the function, at most.
pub const FRAMES: usize = 8;

/// The function in which a thread waits, by the names on its stack, or by the call that led into its library.
pub fn of(core: &Core, stack: &Stack) -> Option<(WaitingFunction, LockProof)> {
    let certain = stack.frames.iter().take_while(|frame| !frame.guess && !frame.signal_trampoline);
    let frames: Vec<&Frame> = certain.collect();
    let named = || Some((by_name(core, &frames)?, LockProof::Function));
    named().or_else(|| Some((by_call(core, &frames)?, LockProof::CallSite)))
}

/// By names: nothing but functions of the same module which wait for others may lie within.
fn by_name(core: &Core, frames: &[&Frame]) -> Option<WaitingFunction> {
    let mut module = module_of(core, frames.first()?);
    for frame in frames {
        if module_of(core, frame) != module {
            return None;
        }
        for name in names_at(core, frame) {
            if let Some(function) = known(&name) {
                return Some(function);
            }
            let plain = plain(&name);
            if !INSIDE.iter().any(|inside| plain.contains(inside)) {
                return None;
            }
            if plain == "syscall" {
                module = frames.get(1).and_then(|next| module_of(core, next));
            }
        }
    }
    None
}

/// By the call of the first frame outside of the module that waits.
fn by_call(core: &Core, frames: &[&Frame]) -> Option<WaitingFunction> {
    let module = module_of(core, frames.first()?);
    let outside = frames.iter().find(|frame| module_of(core, frame) != module)?;
    let callee = facts(core.target()).calls.as_ref()?.callee;
    let target = callee(outside.pc.addr(), core.space())?;
    let symbol = core.symbols().at(target).filter(|symbol| symbol.offset == 0)?;
    known(&symbol.name)
}

fn module_of(core: &Core, frame: &Frame) -> Option<Addr> {
    core.modules().at(frame.pc.lookup()).map(|module| module.base())
}

/// The functions of a frame, inlined ones first. A name counts only if its symbol covers the code.
fn names_at(core: &Core, frame: &Frame) -> Vec<String> {
    let is_covered = core.symbols().at(frame.pc.lookup()).is_some_and(|symbol| symbol.sized);
    let locations = core.symbols().locations(frame.pc);
    let names = locations.iter().filter(|it| it.inline || is_covered);
    names.filter_map(|it| it.function.as_deref().map(str::to_owned)).collect()
}

fn known(name: &str) -> Option<WaitingFunction> {
    let by_part = BY_PART.iter().find(|(part, _)| name.replace(['<', '>'], "").contains(part));
    let by_name = || {
        let plain = plain(name);
        OF_C.iter().find(|(known, _)| *known == plain)
    };
    by_part.or_else(by_name).map(|(_, function)| *function)
}

/// A name without what C libraries put around it.
fn plain(name: &str) -> &str {
    let name = name.split('@').next().unwrap_or(name).trim_start_matches('_');
    let name = name.strip_prefix("GI_").unwrap_or(name).trim_start_matches('_');
    let name = name.strip_prefix("IO_").unwrap_or(name);
    let name = name.split('.').next().unwrap_or(name);
    name.strip_suffix("_full64").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_all_their_forms() {
        for name in ["pthread_mutex_lock", "___pthread_mutex_lock", "__GI___pthread_mutex_lock"] {
            assert_eq!(known(name), Some(F::MutexLock));
        }
        assert_eq!(known("pthread_cond_wait@@GLIBC_2.3.2"), Some(F::ConditionWait));
        assert_eq!(known("__pthread_rwlock_rdlock_full64"), Some(F::ReadLock));
        assert_eq!(known("_IO_puts"), Some(F::Stream));
        assert_eq!(known("__new_sem_wait_slow64.constprop.0"), Some(F::SemaphoreWait));
        assert_eq!(
            known("<std::sys::sync::mutex::futex::Mutex>::lock_contended"),
            Some(F::RustMutex)
        );
    }

    #[test]
    fn names_of_a_program_are_not() {
        for name in ["my_malloc", "free_all", "pthread_mutex_lock_it", "wait", "Queue::free"] {
            assert_eq!(known(name), None);
        }
    }
}
