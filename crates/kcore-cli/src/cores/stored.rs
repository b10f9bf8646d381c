//! Cores that the system keeps: the folder of systemd-coredump (systemd 252, `coredump.c`), whose files are called
//! `core.NAME.UID.BOOT.PID.MICROSECONDS`, and an ending that tells how they are packed. Attributes of a file tell more of its
//! process, where the file system has them.

use std::cmp::Reverse;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::target::shown;

/// The folder of systemd-coredump.
const FOLDER: &str = "/var/lib/systemd/coredump";
/// The variable that names another folder.
const VARIABLE: &str = "KCORE_COREDUMPS";
/// Files of the folder that are looked at, at most.
const MAX_FILES: usize = 100_000;
/// Bytes of an attribute that are read, at most.
const MAX_ATTRIBUTE: usize = 4096;

/// A stored core.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StoredCore {
    pub(super) path: PathBuf,
    /// The name of the program, as the kernel has it.
    pub(super) program: String,
    pub(super) pid: u32,
    pub(super) uid: Option<u32>,
    /// When the process died, in microseconds since 1970.
    pub(super) died: u64,
}

impl StoredCore {
    /// The number of the signal by which it died, by the attribute of the file.
    pub(super) fn signal(&self) -> Option<u16> {
        self.attribute("user.coredump.signal")?.trim().parse().ok()
    }

    /// The path of its program, by the attribute of the file.
    pub(super) fn exe(&self) -> Option<String> {
        self.attribute("user.coredump.exe")
    }

    fn attribute(&self, name: &str) -> Option<String> {
        let mut value = vec![0; MAX_ATTRIBUTE];
        let len = rustix::fs::getxattr(&self.path, name, value.as_mut_slice()).ok()?;
        value.truncate(len);
        Some(String::from_utf8_lossy(&value).into_owned())
    }

    /// Bytes of the file, packed as it is.
    pub(super) fn size(&self) -> Option<u64> {
        fs::metadata(&self.path).ok().map(|file| file.len())
    }

    /// Whether who runs kcore may read it.
    pub(super) fn is_readable(&self) -> bool {
        fs::File::open(&self.path).is_ok()
    }
}

/// The latest core that may be read, in words that say how to open it.
pub(crate) fn latest() -> Option<String> {
    let core = in_folder(&folder()).ok()?.into_iter().find(StoredCore::is_readable)?;
    let (program, path) = (shown(Path::new(&core.program)), shown(&core.path));
    let what = format!("the latest stored core is of {program}, process {}", core.pid);
    Some(format!("{what}: kcore {path} ('kcore cores' lists all)"))
}

/// The folder that is looked in where none is named.
pub(super) fn folder() -> PathBuf {
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    named.map_or_else(|| PathBuf::from(FOLDER), PathBuf::from)
}

/// The cores in a folder, the latest first.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn in_folder(folder: &Path) -> std::io::Result<Vec<StoredCore>> {
    let entries = fs::read_dir(folder)?.flatten().take(MAX_FILES);
    let mut cores: Vec<StoredCore> =
        entries.filter_map(|entry| parse(folder, &entry.file_name())).collect();
    cores.sort_by(|one, two| {
        Reverse(one.died).cmp(&Reverse(two.died)).then_with(|| one.path.cmp(&two.path))
    });
    Ok(cores)
}

fn parse(folder: &Path, name: &OsString) -> Option<StoredCore> {
    let text = std::str::from_utf8(name.as_bytes()).ok()?;
    let packed = [".zst", ".lz4", ".xz"].iter().find_map(|end| text.strip_suffix(end));
    let mut parts = packed.unwrap_or(text).strip_prefix("core.")?.rsplitn(5, '.');
    let died = parts.next()?.parse().ok()?;
    let pid = parts.next()?.parse().ok()?;
    let (_, uid) = (parts.next()?, parts.next()?.parse().ok());
    let program = unescaped(parts.next()?);
    Some(StoredCore { path: folder.join(name), program, pid, uid, died })
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
    fn the_latest_comes_first_by_the_time_in_its_name() {
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
        let cores = in_folder(folder.path()).unwrap();
        let shown: Vec<_> = cores.iter().map(|core| (core.program.as_str(), core.pid)).collect();
        assert_eq!(shown, [("a.out", 4711), ("old", 7), ("plain", 8)]);
        assert_eq!((cores[0].uid, cores[1].uid), (Some(1000), Some(0)));
        assert!(cores[0].is_readable() && cores[0].size() == Some(0));
    }

    #[test]
    fn a_folder_without_cores_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(in_folder(folder.path()).unwrap(), []);
        assert!(in_folder(&folder.path().join("missing")).is_err());
    }
}
