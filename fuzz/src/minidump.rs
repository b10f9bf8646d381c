//! Minidumps.

use kcore_files::{CoreSource, open_core};

use crate::open::Held;

/// `data` is a minidump, read as a core. The core has no more memory than the minidump is long.
pub fn run(data: &[u8]) {
    let held = Held::new(data);
    let Ok(opened) = open_core(&CoreSource::Path(held.path()), &mut |_| {}) else { return };
    if let Ok(core) = kcore_elf::CoreFile::parse(opened.bytes) {
        assert!(!kcore_files::is_minidump(data) || core.damage().is_empty(), "it is whole");
    }
}
