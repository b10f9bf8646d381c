//! Bundles: a tar archive with a core and the files that its answers need.
//!
//! Its first file is [`README`], which says what it is to people; then comes the core, then the files of the target, at
//! their recorded paths below [`ROOT`] ([`member_path`]).

use std::{
    fs::File,
    io,
    ops::Range,
    os::unix::fs::FileExt,
    path::{Component, Path, PathBuf},
};

use crate::{
    open_regular,
    tar::{self, TarEntry},
};

/// The first file of a bundle.
pub const README: &str = "kcore-bundle.txt";
/// The core.
pub const CORE: &str = "core";
/// The folder of the files of the target.
pub const ROOT: &str = "root/";

/// Whether bytes that begin a file begin a bundle; [`BUNDLE_MAGIC`] of them are looked at.
pub fn is_bundle(bytes: &[u8]) -> bool {
    let name = bytes.get(..README.len().saturating_add(1));
    tar::is_tar(bytes) && name == Some([README.as_bytes(), b"\0"].concat().as_slice())
}

/// Bytes that tell a bundle from other files.
pub const BUNDLE_MAGIC: usize = tar::MAGIC_END;

/// Whether the file at a path is a bundle.
pub fn is_bundle_file(path: &Path) -> bool {
    let mut head = [0; BUNDLE_MAGIC];
    let read = open_regular(path).and_then(|file| file.read_exact_at(&mut head, 0));
    read.is_ok() && is_bundle(&head)
}

/// The core of a bundle.
#[derive(Debug)]
pub struct BundledCore {
    /// Where it lies, as far as it is there.
    pub bytes: Range<u64>,
    /// What the bundle lost, in words, if it is cut off or damaged behind the core.
    pub note: Option<String>,
}

/// Where the core lies in a bundle. Of a bundle that is cut within the core, the rest of it counts.
///
/// # Errors
/// When the file cannot be read, or has no core.
pub fn core_in_bundle(file: &File) -> io::Result<BundledCore> {
    let len = file.metadata()?.len();
    let listed = tar::list(file, 0..len);
    let is_core = |entry: &&TarEntry| entry.name == CORE.as_bytes();
    if let Some(core) = listed.entries.iter().find(is_core) {
        let note = listed.error.map(|_| {
            "truncated: the bundle is cut off or damaged, and not all of its files are there"
                .to_owned()
        });
        return Ok(BundledCore { bytes: core.bytes.clone(), note });
    }
    match (listed.cut.as_ref().filter(is_core), listed.error) {
        (Some(core), _) if !core.bytes.is_empty() => {
            Ok(BundledCore { bytes: core.bytes.clone(), note: None })
        }
        (_, Some(_)) => Err(io::Error::other("the bundle is cut off or damaged before its core")),
        // A cut that falls between two files leaves no other trace.
        (_, None) => Err(io::Error::other("the bundle has no core, or is cut off before it")),
    }
}

/// The path that a file of the target has below [`ROOT`]: without `.` and `..`, which tools refuse to unpack. A relative
/// path, whose folder the core does not tell, stands there as if it began at the root.
pub fn member_path(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::ParentDir => drop(clean.pop()),
            _ => {}
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_bundle_lead_nowhere_else() {
        for (path, member) in [
            ("/usr/bin/app", "usr/bin/app"),
            ("../../app", "app"),
            ("./build/app", "build/app"),
            ("/opt/bin/../lib/./libx.so", "opt/lib/libx.so"),
            ("/..", ""),
        ] {
            assert_eq!(member_path(Path::new(path)), Path::new(member), "{path}");
        }
    }
}
