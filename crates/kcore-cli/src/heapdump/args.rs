//! The command line of `kcore heapdump`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum, ValueHint};
use kcore::profile::Format;

use crate::files::FileArgs;

const LONG_ABOUT: &str = "\
Write what is in the heap of a core for the tools that analyze heaps.

Of a native heap, write the profile that its allocator keeps: which stacks allocated what is
in use, in pprof's format or as folded stacks. jemalloc and tcmalloc keep one where they are
told to sample, and AddressSanitizer always does. Samples are scaled to what they stand for.

Of Java, write the heap as a heap dump, in the format HPROF 1.0.2 that Java's own
tools write. Heap analyzers such as Eclipse MAT and VisualVM read it.

The dump has every object, those that are dead and not collected yet too, classes with their
static fields, the stacks of threads, and what keeps objects. Words of stacks that may be
references are roots of the frames that they lie in. Neither the virtual machine nor a JDK is
needed.

The file gets its name once it is complete. A message says what is missing in it.";

const AFTER_LONG_HELP: &str = "\
Examples:
  kcore heapdump core.4711 -o app.hprof
  kcore heapdump core.4711 -o app.pb.gz           who allocated what is in use, for 'pprof'
  kcore heapdump --sysroot image/ core -o app.hprof   with the files of a container

Exit status:
  0  written
  1  the dump could not be written, or the core has no heap that can be read
  2  wrong usage, or the core cannot be opened";

/// Write the heap of a core for the tools that analyze heaps
#[derive(Parser, Debug)]
#[command(
    name = "kcore heapdump",
    bin_name = "kcore heapdump",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_LONG_HELP,
    override_usage = "kcore heapdump [OPTIONS] CORE -o FILE"
)]
pub(crate) struct HeapdumpArgs {
    /// The core
    #[arg(value_name = "CORE", value_hint = ValueHint::FilePath)]
    pub(crate) core: PathBuf,

    /// Write to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// What to write; if not given, the name of the file tells, and else it is `hprof`
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<DumpFormat>,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}

/// What is written.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DumpFormat {
    /// The heap of Java.
    Hprof,
    /// What stacks allocated, in pprof's protobuf.
    Pprof,
    /// The same as a line for each stack, with bytes.
    Folded,
}

impl HeapdumpArgs {
    /// The format of a profile of a native heap; `None` where the heap of Java is wanted.
    pub(crate) fn profile_format(&self) -> Option<Format> {
        match self.format {
            Some(DumpFormat::Hprof) => None,
            Some(DumpFormat::Pprof) => Some(Format::Pprof),
            Some(DumpFormat::Folded) => Some(Format::Folded),
            None => Format::of_name(&self.output.to_string_lossy())
                .filter(|format| matches!(format, Format::Pprof | Format::Folded)),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_declaration_is_sound() {
        HeapdumpArgs::command().debug_assert();
    }

    #[test]
    fn a_file_is_needed() {
        let parsed = |words: &[&str]| HeapdumpArgs::try_parse_from(words);
        assert!(parsed(&["heapdump", "core"]).is_err());
        assert!(parsed(&["heapdump", "core", "-o", "a.hprof"]).is_ok());
    }

    #[test]
    fn the_file_or_the_option_tells_the_format() {
        let format = |words: &[&str]| {
            let words = ["heapdump", "core", "-o"].iter().chain(words);
            HeapdumpArgs::try_parse_from(words).expect("it parses").profile_format()
        };
        assert_eq!(format(&["a.hprof"]), None);
        assert_eq!(format(&["a.pb.gz"]), Some(Format::Pprof));
        assert_eq!(format(&["a", "--format", "folded"]), Some(Format::Folded));
        assert_eq!(format(&["a.pb.gz", "--format", "hprof"]), None);
    }
}
