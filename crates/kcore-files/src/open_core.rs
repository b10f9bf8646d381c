//! Opening a core by its path or from standard input, whatever it is packed in.

use std::{
    fs::File,
    io::{self, Read},
    os::{fd::AsFd, unix::fs::FileExt},
    path::{Path, PathBuf},
};

use kcore_elf::FileBytes;

use crate::{
    FilesError, Format, Progress, bundle,
    format::skip_to_format,
    minidumps,
    packed_stream::PackedStream,
    unpack::{Stream, unpack},
};

/// Where a core is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoreSource {
    /// A file, or a named pipe.
    Path(PathBuf),
    /// Standard input.
    Stdin,
}

/// The bytes of a core, ready to be parsed.
#[derive(Clone, Debug)]
pub struct OpenedCore {
    /// The bytes, unpacked.
    pub bytes: FileBytes,
    /// How the core was compressed.
    pub compressed: Option<Format>,
    /// What is missing because the compressed stream is cut off or damaged, or which bytes behind it were left
    /// out, in one line.
    pub note: Option<String>,
    /// What its format has no place for, if it is none of a core.
    pub lacks: Option<&'static str>,
}

/// Opens a core. A plain file is mapped; a compressed one, by its magic and not by its name, and
/// one that comes through a pipe, is first unpacked to an unlinked sparse file in `$TMPDIR`.
/// `progress` is called now and then while unpacking.
///
/// # Errors
/// When the file cannot be read; when what comes out of a stream is no core, or is longer than its
/// program headers claim; when there is no room to unpack it; when it is compressed, and this build lacks the
/// feature `compression`.
pub fn open_core(
    source: &CoreSource,
    progress: &mut dyn FnMut(Progress),
) -> Result<OpenedCore, FilesError> {
    let (file, path) = open(source)?;
    let failed = |error| FilesError::Open { path: path.clone(), error };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(FilesError::Directory(path));
    }
    let regular = metadata.is_file();
    let mut bytes = stream_of(file.try_clone().map_err(failed)?, regular);
    let format = skip_to_format(&mut bytes).map_err(failed)?;
    if regular && format.is_none() {
        let bytes = FileBytes::map_sparse(&file).map_err(failed)?;
        if bundle::is_bundle(&bytes) {
            return core_of_bundle(&file, &path, progress);
        }
        if let Some(core) = core_of_minidump(&bytes, &path)? {
            let (bytes, lacks) = (FileBytes::from(core.bytes), Some(core.lacks));
            return Ok(OpenedCore { bytes, compressed: None, note: None, lacks });
        }
        return Ok(OpenedCore { bytes, compressed: None, note: None, lacks: None });
    }
    let name = path.display().to_string();
    let total = regular.then_some(metadata.len());
    let stream = Stream { name: &name, bytes: Box::new(bytes), format, total };
    let unpacked = unpack(stream, &std::env::temp_dir(), progress)?;
    Ok(OpenedCore { bytes: unpacked.bytes, compressed: format, note: unpacked.note, lacks: None })
}

/// The core in a bundle.
fn core_of_bundle(
    file: &File,
    path: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<OpenedCore, FilesError> {
    let failed = |error| FilesError::Open { path: path.to_owned(), error };
    let core = bundle::core_in_bundle(file).map_err(failed)?;
    let len = core.bytes.end.saturating_sub(core.bytes.start);
    let from = FromStart { file: file.try_clone().map_err(failed)?, at: core.bytes.start };
    let name = path.display().to_string();
    let bytes = Box::new(from.take(len));
    let stream = Stream { name: &name, bytes, format: None, total: Some(len) };
    let unpacked = unpack(stream, &std::env::temp_dir(), progress)?;
    let note = unpacked.note.or(core.note);
    Ok(OpenedCore { bytes: unpacked.bytes, compressed: None, note, lacks: None })
}

/// A minidump as a core; `None` of anything else.
fn core_of_minidump(
    bytes: &FileBytes,
    path: &Path,
) -> Result<Option<minidumps::Converted>, FilesError> {
    if !minidumps::is_minidump(bytes) {
        return Ok(None);
    }
    let refused = |why| FilesError::Minidump { name: path.display().to_string(), why };
    minidumps::to_core(bytes).map(Some).map_err(refused)
}

fn open(source: &CoreSource) -> Result<(File, PathBuf), FilesError> {
    let (file, path) = match source {
        CoreSource::Path(path) => (File::open(path), path.clone()),
        CoreSource::Stdin => {
            let stdin = io::stdin().as_fd().try_clone_to_owned();
            (stdin.map(File::from), PathBuf::from("standard input"))
        }
    };
    match file {
        Ok(file) => Ok((file, path)),
        Err(error) => Err(FilesError::Open { path, error }),
    }
}

/// A reader of a file from its first byte on. The place in a regular file is not moved and does not
/// count: standard input may have been read from before.
fn stream_of(file: File, regular: bool) -> PackedStream<'static> {
    if regular { PackedStream::new(FromStart { file, at: 0 }) } else { PackedStream::new(file) }
}

/// Reads a file from its start, wherever its descriptor stands.
struct FromStart {
    file: File,
    at: u64,
}

impl Read for FromStart {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buf, self.at)?;
        self.at = self.at.saturating_add(read as u64);
        Ok(read)
    }
}
