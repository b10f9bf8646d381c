//! The user's folders, by the XDG base directory rules.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The commands that are run first.
pub(crate) fn rc() -> Option<PathBuf> {
    base("XDG_CONFIG_HOME", ".config").map(|base| base.join("kcore/rc"))
}

/// Macro files.
pub(crate) fn macros() -> Option<PathBuf> {
    base("XDG_CONFIG_HOME", ".config").map(|base| base.join("kcore/macros"))
}

/// Printers of one's own.
pub(crate) fn printers() -> Option<PathBuf> {
    base("XDG_CONFIG_HOME", ".config").map(|base| base.join("kcore/printers"))
}

/// What is costly to work out, and is kept.
pub(crate) fn cache() -> Option<PathBuf> {
    base("XDG_CACHE_HOME", ".cache").map(|base| base.join("kcore"))
}

/// Files that were fetched: the folder of the usual client (elfutils, `debuginfod_find_debuginfo(3)`, «CACHE»).
#[cfg(feature = "debuginfod")]
pub(crate) fn debuginfod() -> Option<PathBuf> {
    let named = env::var_os("DEBUGINFOD_CACHE_PATH").map(PathBuf::from);
    let old = || Some(PathBuf::from(env::var_os("HOME")?).join(".debuginfod_client_cache"));
    let usual = || base("XDG_CACHE_HOME", ".cache").map(|base| base.join("debuginfod_client"));
    named
        .filter(|named| named.is_absolute())
        .or_else(|| old().filter(|old| old.is_dir()))
        .or_else(usual)
}

/// The lines that were typed.
pub(crate) fn history() -> Option<PathBuf> {
    base("XDG_STATE_HOME", ".local/state").map(|base| base.join("kcore/history"))
}

fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    folder(env::var_os(variable), env::var_os("HOME"), below_home)
}

/// The folder that a variable names, else the one below the user's own. A relative path counts as none, as the rules
/// want it; so does a folder in one that is not there, as the home of a service is not: kcore would make it when it
/// keeps something.
fn folder(named: Option<OsString>, home: Option<OsString>, below_home: &str) -> Option<PathBuf> {
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|it| it.is_absolute());
    match absolute(named) {
        Some(named) => named.parent().is_none_or(Path::is_dir).then_some(named),
        None => Some(absolute(home).filter(|home| home.is_dir())?.join(below_home)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_folder_is_made_for_a_user_without_a_home() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| Some(dir.path().join(name).into_os_string());
        let home = Some(dir.path().as_os_str().to_owned());
        let state = |named, home| folder(named, home, ".local/state");
        assert_eq!(state(None, home.clone()), Some(dir.path().join(".local/state")));
        assert_eq!(state(None, path("missing")), None);
        assert_eq!(state(None, None), None);
        assert_eq!(state(path("state"), path("missing")), Some(dir.path().join("state")));
        assert_eq!(state(path("missing/state"), home.clone()), None);
        assert_eq!(state(Some("state".into()), home), Some(dir.path().join(".local/state")));
    }
}
