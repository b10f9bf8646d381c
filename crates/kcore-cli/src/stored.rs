//! Cores that the system keeps: the folder of systemd-coredump (systemd 252, `coredump.c`), whose files are called
//! `core.NAME.UID.BOOT.PID.MICROSECONDS`, and an ending that tells how they are packed.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::target::shown;

/// The folder of systemd-coredump.
const FOLDER: &str = "/var/lib/systemd/coredump";
/// Files of the folder that are looked at, at most.
const MAX_FILES: usize = 100_000;

/// A stored core.
#[derive(Debug, PartialEq, Eq)]
struct StoredCore {
    path: PathBuf,
    program: String,
    pid: u32,
    /// When the process died, in microseconds since 1970.
    died: u64,
}

/// The latest core that may be read, in words that say how to open it.
pub(crate) fn latest() -> Option<String> {
    let core = latest_in(Path::new(FOLDER))?;
    let (program, path) = (shown(Path::new(&core.program)), shown(&core.path));
    Some(format!("the latest stored core is of {program}, process {}: kcore {path}", core.pid))
}

fn latest_in(folder: &Path) -> Option<StoredCore> {
    let entries = fs::read_dir(folder).ok()?.flatten().take(MAX_FILES);
    let mut cores: Vec<StoredCore> =
        entries.filter_map(|entry| parse(folder, &entry.file_name())).collect();
    cores.sort_by_key(|core| Reverse(core.died));
    cores.into_iter().find(|core| fs::File::open(&core.path).is_ok())
}

fn parse(folder: &Path, name: &OsString) -> Option<StoredCore> {
    let text = std::str::from_utf8(name.as_bytes()).ok()?;
    let packed = [".zst", ".lz4", ".xz"].iter().find_map(|end| text.strip_suffix(end));
    let mut parts = packed.unwrap_or(text).strip_prefix("core.")?.rsplitn(5, '.');
    let died = parts.next()?.parse().ok()?;
    let pid = parts.next()?.parse().ok()?;
    let (_boot, _user) = (parts.next()?, parts.next()?);
    let program = unescaped(parts.next()?);
    Some(StoredCore { path: folder.join(name), program, pid, died })
}

/// systemd writes `/` and `.` of a name as `\x2f` and `\x2e`.
fn unescaped(name: &str) -> String {
    name.replace("\\x2f", "/").replace("\\x2e", ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn the_latest_is_found_by_the_time_in_its_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            &format!("core.old.0.{BOOT}.7.1700000000000000.zst"),
            &format!("core.a\\x2eout.1000.{BOOT}.4711.1800000000000000.lz4"),
            &format!("core.plain.1000.{BOOT}.8.1600000000000000"),
            "core.none",
            "other",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let latest = latest_in(folder.path()).unwrap();
        assert_eq!((latest.program.as_str(), latest.pid), ("a.out", 4711));
        assert!(latest.path.is_file());
    }

    #[test]
    fn a_folder_without_cores_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(latest_in(folder.path()), None);
        assert_eq!(latest_in(&folder.path().join("missing")), None);
    }
}
