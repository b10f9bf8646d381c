//! The user's folders, by the XDG base directory rules.

use std::env;
use std::path::PathBuf;

/// The commands that are run first.
pub(crate) fn rc() -> Option<PathBuf> {
    base("XDG_CONFIG_HOME", ".config").map(|base| base.join("kcore/rc"))
}

/// Macro files.
pub(crate) fn macros() -> Option<PathBuf> {
    base("XDG_CONFIG_HOME", ".config").map(|base| base.join("kcore/macros"))
}

/// What is costly to work out, and is kept.
pub(crate) fn cache() -> Option<PathBuf> {
    base("XDG_CACHE_HOME", ".cache").map(|base| base.join("kcore"))
}

/// The lines that were typed.
pub(crate) fn history() -> Option<PathBuf> {
    base("XDG_STATE_HOME", ".local/state").map(|base| base.join("kcore/history"))
}

/// A relative path in the variable counts as none, as the rules want it.
fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| {
        let home = env::var_os("HOME").filter(|home| !home.is_empty())?;
        Some(PathBuf::from(home).join(below_home))
    })
}
