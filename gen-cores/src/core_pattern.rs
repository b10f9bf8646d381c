//! The kernel's pattern of core files' names: used as it is, or borrowed and put back.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::AtPath;
use crate::lock::Lock;
use crate::{Result, paths};

/// Where the kernel keeps it.
const PATTERN: &str = "/proc/sys/kernel/core_pattern";

/// The pattern as this process has borrowed it, shared by all cases that are under way.
static SHARED: Mutex<Weak<Borrowed>> = Mutex::new(Weak::new());

/// What can be done about the pattern; to be kept until the core is written.
pub(crate) enum Pattern {
    /// It names a file in the process's folder.
    Usable,
    /// It was set to `core`, and is put back when the last case lets go of it.
    Borrowed { _back: Arc<Borrowed> },
    /// It sends cores elsewhere and cannot be changed.
    Elsewhere,
}

/// A changed pattern, for as long as this lives. One process at a time may hold it.
pub(crate) struct Borrowed {
    before: String,
    _lock: Lock,
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // Nothing can be done if the way back is barred; the record then stays for the next run.
        if std::fs::write(PATTERN, &self.before).is_ok() {
            let _ = std::fs::remove_file(record());
        }
    }
}

impl Pattern {
    /// Looks at the pattern, and changes it where it may.
    pub(crate) fn take() -> Result<Pattern> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(back) = shared.upgrade() {
            return Ok(Pattern::Borrowed { _back: back });
        }
        let path = Path::new(PATTERN);
        // Whoever has borrowed it holds the lock: what is read now is the machine's own pattern,
        // or what a killed process has left.
        let lock = Lock::wait(path)?;
        let now = std::fs::read_to_string(path).at(path)?;
        let before = std::fs::read_to_string(record()).unwrap_or_else(|_| now.clone());
        if is_plain(&before) {
            return Ok(Pattern::Usable);
        }
        Ok(borrow(before, lock).map_or(Pattern::Elsewhere, |back| {
            *shared = Arc::downgrade(&back);
            Pattern::Borrowed { _back: back }
        }))
    }
}

/// Sets the pattern, after what it was is safely recorded.
fn borrow(before: String, lock: Lock) -> Option<Arc<Borrowed>> {
    std::fs::write(record(), &before).ok()?;
    if std::fs::write(PATTERN, "core").is_err() {
        let _ = std::fs::remove_file(record());
        return None;
    }
    Some(Arc::new(Borrowed { before, _lock: lock }))
}

/// What the pattern was before it was borrowed, for the next run if this one is killed.
fn record() -> PathBuf {
    paths::cores_dir().join("core_pattern.before")
}

/// Whether a pattern names a file in the process's own folder that begins with `core`.
fn is_plain(pattern: &str) -> bool {
    let pattern = pattern.trim();
    pattern.starts_with("core") && !pattern.contains('/')
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn patterns_that_stay_in_the_folder() {
        assert!(is_plain("core\n") && is_plain("core.%p"));
        assert!(!is_plain("|/usr/lib/collector %p") && !is_plain("/var/core/%e.%p"));
        assert!(!is_plain("dumps/core"));
    }
}
