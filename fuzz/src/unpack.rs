//! Compressed cores.

use kcore_files::{CoreSource, open_core};

use crate::open::Held;

/// `data` is a core, compressed in whatever way its first bytes say.
pub fn run(data: &[u8]) {
    let held = Held::new(data);
    let Ok(opened) = open_core(&CoreSource::Path(held.path()), &mut |_| {}) else { return };
    let _ = kcore_elf::CoreFile::parse(opened.bytes);
}
