//! The printers that come with kcore, each a file in the form that users write.

use std::sync::{Arc, OnceLock};

use super::PrinterFile;

/// All files: their names, and what is in them.
const SETS: &[(&str, &str)] = &[
    ("abseil (built in)", include_str!("abseil.kcore")),
    ("boost (built in)", include_str!("boost.kcore")),
    ("eigen (built in)", include_str!("eigen.kcore")),
    ("glib (built in)", include_str!("glib.kcore")),
    ("libuv (built in)", include_str!("libuv.kcore")),
    ("llvm (built in)", include_str!("llvm.kcore")),
    ("openssl (built in)", include_str!("openssl.kcore")),
    ("protobuf (built in)", include_str!("protobuf.kcore")),
    ("qt (built in)", include_str!("qt.kcore")),
    ("rust-crates (built in)", include_str!("rust-crates.kcore")),
];

/// The files, read once.
pub fn all() -> &'static [Arc<PrinterFile>] {
    static ALL: OnceLock<Vec<Arc<PrinterFile>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let read = |(name, text): &(&str, &str)| PrinterFile::parse(name, text).ok();
        let files = SETS.iter().filter_map(read);
        files.map(|file| Arc::new(PrinterFile { is_shipped: true, ..file })).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_comes_with_kcore_can_be_read() {
        for (name, text) in SETS {
            assert!(
                PrinterFile::parse(name, text).is_ok_and(|file| !file.printers.is_empty()),
                "{name}"
            );
        }
    }
}
