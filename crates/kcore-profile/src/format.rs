//! The formats, by their names and by suffixes of files.

use std::io::Write;

use crate::{Profile, firefox, flamegraph, folded, pprof};

/// A format of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line each: frames from the outermost on with semicolons between them, and a number.
    Folded,
    /// A flame graph.
    Svg,
    /// pprof's protobuf, packed with gzip.
    Pprof,
    /// JSON of the Firefox profiler.
    Firefox,
}

/// Why a profile could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The profile has no samples, of which there is no picture.
    #[error("there are no samples to draw")]
    Empty,
    /// The format is one of stacks in time.
    #[error("the format has no place for a heap: pprof and folded stacks have")]
    NoHeap,
}

impl Format {
    /// The format of a file of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        const SUFFIXES: [(&str, Format); 8] = [
            (".folded", Format::Folded),
            (".txt", Format::Folded),
            (".svg", Format::Svg),
            (".pb.gz", Format::Pprof),
            (".pprof", Format::Pprof),
            (".pb", Format::Pprof),
            (".json", Format::Firefox),
            (".json.gz", Format::Firefox),
        ];
        SUFFIXES.iter().find(|(suffix, _)| name.ends_with(suffix)).map(|(_, format)| *format)
    }
}

/// Writes a profile; JSON is packed with gzip if `pack` is set.
///
/// # Errors
/// When it cannot be written.
pub fn write(
    profile: &Profile,
    format: Format,
    pack: bool,
    to: &mut dyn Write,
) -> Result<(), WriteError> {
    match format {
        Format::Folded => folded::write(profile, to)?,
        Format::Svg => flamegraph::write(profile, to)?,
        Format::Pprof => pprof::write(profile, to)?,
        Format::Firefox => firefox::write(profile, pack, to)?,
    }
    Ok(to.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_tell() {
        assert_eq!(Format::of_name("a.svg"), Some(Format::Svg));
        assert_eq!(Format::of_name("/x/a.pb.gz"), Some(Format::Pprof));
        assert_eq!(Format::of_name("a.json.gz"), Some(Format::Firefox));
        assert_eq!(Format::of_name("a"), None);
    }
}
