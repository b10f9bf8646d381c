//! Opening cores by path.

use std::{fs, io::Write, process::Command};

use kcore_files::{CoreSource, FilesError, Format, Progress, open_core};
#[cfg(not(feature = "compression"))]
use kcore_files::{CoreTarget, NewCore};

/// The header of an x86-64 core without segments.
fn core() -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend_from_slice(&[4, 0, 62, 0, 1, 0, 0, 0]);
    bytes.resize(32, 0);
    bytes.extend_from_slice(&64_u64.to_le_bytes());
    bytes.resize(52, 0);
    bytes.extend_from_slice(&[64, 0, 56, 0, 0, 0]);
    bytes.resize(64, 0);
    bytes
}

fn open(path: &std::path::Path) -> Result<kcore_files::OpenedCore, FilesError> {
    open_core(&CoreSource::Path(path.to_owned()), &mut |_: Progress| {})
}

#[test]
fn a_plain_file_is_mapped_whatever_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zst");
    fs::write(&path, core()).unwrap();
    let opened = open(&path).unwrap();
    assert_eq!((&opened.bytes[..], opened.compressed), (&core()[..], None));
    fs::write(&path, "short").unwrap();
    assert_eq!(&open(&path).unwrap().bytes[..], b"short");
    fs::write(&path, "").unwrap();
    assert_eq!(open(&path).unwrap().bytes.len(), 0);
}

/// A core that is packed with gzip, under a name that does not say so.
fn packed_core(dir: &std::path::Path) -> std::path::PathBuf {
    let path = dir.join("plain.core");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&core()).unwrap();
    fs::write(&path, encoder.finish().unwrap()).unwrap();
    path
}

#[cfg(feature = "compression")]
#[test]
fn the_magic_counts_and_not_the_name() {
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&packed_core(dir.path())).unwrap();
    assert_eq!((&opened.bytes[..], opened.compressed), (&core()[..], Some(Format::Gzip)));
}

#[cfg(not(feature = "compression"))]
#[test]
fn without_compression_a_packed_core_is_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let path = packed_core(dir.path());
    let error = open(&path).unwrap_err();
    assert!(matches!(error, FilesError::NoCompression { format: Format::Gzip, .. }));
    let words = "is packed with gzip, and this build has no compression";
    assert_eq!(error.to_string(), format!("{}: {words}", path.display()));
}

#[cfg(not(feature = "compression"))]
#[test]
fn without_compression_no_packed_core_is_begun() {
    let dir = tempfile::tempdir().unwrap();
    let target = CoreTarget::Path(dir.path().join("app.core.zst"));
    let error = NewCore::create(&target, true).map(drop).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left");
    NewCore::create(&target, false).unwrap().finish().unwrap();
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let writer = std::thread::spawn({
        let path = path.clone();
        move || fs::write(path, core()).unwrap()
    });
    let opened = open(&path).unwrap();
    writer.join().unwrap();
    assert_eq!((&opened.bytes[..], opened.compressed, opened.note), (&core()[..], None, None));
}

#[test]
fn errors_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(open(dir.path()), Err(FilesError::Directory(_))));
    let gone = dir.path().join("gone.core");
    let error = open(&gone).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: ", gone.display())), "{error}");
}
