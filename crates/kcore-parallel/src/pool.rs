//! Who does parallel work.

use std::{cell::OnceCell, error::Error, sync::OnceLock};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Whether threads that all share were made.
static SHARED: OnceLock<bool> = OnceLock::new();

thread_local! {
    /// What this thread does alone, where no others could be made.
    static ALONE: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
}

/// Sees that parallel work of this thread is done by somebody: by the pool that it is of, or by one that all
/// threads share, or, where its threads cannot be made, by this thread.
pub fn ready() {
    if rayon::current_thread_index().is_none() && !*SHARED.get_or_init(is_shared) {
        ALONE.with(|alone| {
            alone.get_or_init(alone_here);
        });
    }
}

/// Makes the threads that all share, unless whoever embeds this has made them.
fn is_shared() -> bool {
    ThreadPoolBuilder::new().build_global().as_ref().map_or_else(was_made, |()| true)
}

fn was_made(error: &ThreadPoolBuildError) -> bool {
    // Only what the system refused has a cause.
    error.source().is_none()
}

/// A pool of this thread alone, which it is of as long as it lives.
fn alone_here() -> Option<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok()
}
