//! The thread pool that parallel work runs on.

use std::{cell::OnceCell, error::Error, sync::OnceLock};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Whether the pool that all threads share could be made.
static SHARED: OnceLock<bool> = OnceLock::new();

thread_local! {
    /// A pool of this thread alone, where the shared one could not be made.
    static ALONE: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
}

/// Makes sure that a pool exists for parallel work of this thread: the one it belongs to, else the shared one, else,
/// where the threads of that cannot be made, a pool of this thread alone.
pub fn ready() {
    if rayon::current_thread_index().is_none() && !*SHARED.get_or_init(is_shared) {
        ALONE.with(|alone| {
            alone.get_or_init(alone_here);
        });
    }
}

/// Makes the shared pool, unless the embedding program has made it already.
fn is_shared() -> bool {
    ThreadPoolBuilder::new().build_global().as_ref().map_or_else(was_made, |()| true)
}

fn was_made(error: &ThreadPoolBuildError) -> bool {
    // The error has a source only when the system refused to make a thread.
    error.source().is_none()
}

/// A pool of this thread alone; the thread belongs to it as long as it lives.
fn alone_here() -> Option<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok()
}
