//! The command line of `kcore heapdump`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

use crate::files::FileArgs;

const LONG_ABOUT: &str = "\
Write the heap of Java in a core as a heap dump, in the format HPROF 1.0.2 that Java's own
tools write. Heap analyzers such as Eclipse MAT and VisualVM read it.

The dump has every object, those that are dead and not collected yet too, classes with their
static fields, the stacks of threads, and what keeps objects. Words of stacks that may be
references are roots of the frames that they lie in. Neither the virtual machine nor a JDK is
needed.

The file gets its name once it is complete. A message says what is missing in it.";

const AFTER_LONG_HELP: &str = "\
Examples:
  kcore heapdump core.4711 -o app.hprof
  kcore heapdump --sysroot image/ core -o app.hprof   with the files of a container

Exit status:
  0  written
  1  the dump could not be written, or the core has no heap that can be read
  2  wrong usage, or the core cannot be opened";

/// Write the heap of Java in a core as a heap dump
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

    #[command(flatten)]
    pub(crate) files: FileArgs,
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
}
