//! Where a bundle goes to: a file that has its name once it is complete, or a stream.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::{Result, bail};
use kcore::{NewFile, is_stream};

use crate::target::shown;

/// Bytes that are written at a time.
const BUFFER: usize = 1 << 20;
/// Ends of names that promise a packed archive.
const PACKED: &[&str] =
    &["gz", "tgz", "zst", "tzst", "xz", "txz", "bz2", "tbz", "tbz2", "lz4", "Z"];

/// What a bundle is written to.
pub(super) enum BundleOutput {
    /// A regular file.
    File(NewFile),
    /// Standard output, a pipe or a device.
    Stream(Box<dyn Write>),
}

impl BundleOutput {
    /// Opens what `path` names; `-` is standard output.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(match path {
            path if is_stdout(path) => Self::Stream(Box::new(io::stdout())),
            path if is_stream(path) => {
                Self::Stream(Box::new(File::options().write(true).open(path)?))
            }
            path => Self::File(NewFile::create(path)?),
        })
    }

    /// Writes all to it, and completes it.
    ///
    /// # Errors
    /// Those of `write` and of the system.
    pub(super) fn write<T>(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<T> {
        match self {
            Self::File(new) => {
                let written = buffered(new.file()?, write)?;
                new.finish().map(|()| written)
            }
            Self::Stream(to) => buffered(to, write),
        }
    }
}

fn buffered<T>(
    to: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> io::Result<T> {
    let mut to = BufWriter::with_capacity(BUFFER, to);
    let written = write(&mut to)?;
    to.flush()?;
    Ok(written)
}

/// Whether a path stands for standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses a name that promises what a bundle is not, and a terminal.
pub(super) fn check(path: &Path) -> Result<()> {
    if is_stdout(path) && io::stdout().is_terminal() {
        bail!("standard output is a terminal: a bundle is no text (-o FILE)");
    }
    let end = path.extension().and_then(|end| end.to_str());
    if let Some(end) = end.filter(|end| PACKED.contains(end)) {
        bail!(
            "{}: a bundle is a plain tar archive, and .{end} says that it is packed (-o - goes to a packer)",
            shown(path)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_promises_a_packed_file_is_refused() {
        for (name, fits) in [("a.tar", true), ("a", true), ("a.tar.gz", false), ("a.tzst", false)] {
            assert_eq!(check(Path::new(name)).is_ok(), fits, "{name}");
        }
    }
}
