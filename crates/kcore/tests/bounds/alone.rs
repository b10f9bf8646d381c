//! One test at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a test does between its measured parts would be counted for another one that runs beside it.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
