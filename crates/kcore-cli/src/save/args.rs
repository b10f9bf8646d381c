//! The command line of `kcore save`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Parser, ValueHint};
use kcore::SaveWhat;

use super::Saving;
use crate::{files::FileArgs, live::LiveArgs};

const LONG_ABOUT: &str = "\
Save a live process as a core that kcore, gdb and lldb read. The process stops while it is
copied, and then runs on.

kcore saves what the kernel would dump: the memory that /proc/PID/coredump_filter selects,
without the memory that the process marked with MADV_DONTDUMP. With --stacks-only or
--for-decoders the core is small, some kilobytes to a few megabytes. It holds registers,
stacks, headers, and what kcore needs to name their frames, and the process stands still for
about a millisecond.

kcore copies only pages that the process has, stacks first, so that saving creates none. It
looks for these pages before the stop, and checks them during the stop. After --stop-budget
the process runs on, and a message says what was not copied. Ctrl-C lets the process run on
at once.

The file gets its name once it is complete. kcore leaves out what it cannot read, and says
so.";

const AFTER_LONG_HELP: &str = "\
Examples:
  kcore save 4711 -o app.core                  as gcore does it
  kcore save 4711 -o app.core.zst              packed with zstd
  kcore save --for-decoders 4711 -o app.core   stacks of scripts too, in a few megabytes
  kcore save --stacks-only 4711 -o - | ssh host 'cat > app.core'

Exit status:
  0  saved
  1  the core could not be written
  2  wrong usage, or the process cannot be looked at";

/// Save a live process as a core
#[derive(Parser, Debug)]
#[command(
    name = "kcore save",
    bin_name = "kcore save",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_LONG_HELP,
    override_usage = "kcore save [OPTIONS] PID -o FILE"
)]
pub(crate) struct SaveArgs {
    /// The process: all of its threads, or those of these ids or one-letter states
    #[arg(value_name = "PID[/TID,..|/STATES]")]
    pub(crate) process: String,

    /// Write to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    what: WhatArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

/// What of a process is saved, and how.
#[derive(Args, Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "options of a command line")]
pub(crate) struct WhatArgs {
    /// Save only stacks, and what stacks of native code need
    #[arg(long, group = "what")]
    stacks_only: bool,

    /// Save only stacks, and what those of JavaScript, Python and other runtimes need
    #[arg(long, group = "what")]
    for_decoders: bool,

    /// Save all readable memory, even what the filter or the process leaves out
    #[arg(long, group = "what")]
    all: bool,

    /// Pack the core with zstd; a FILE that ends with .zst is always packed
    #[arg(long)]
    zstd: bool,
}

impl WhatArgs {
    /// What is saved.
    pub(crate) fn what(&self) -> SaveWhat {
        match self {
            Self { stacks_only: true, .. } => SaveWhat::Stacks,
            Self { for_decoders: true, .. } => SaveWhat::Decoders,
            Self { all: true, .. } => SaveWhat::Everything,
            _ => SaveWhat::Filtered,
        }
    }

    /// Whether a core in this file is packed.
    pub(crate) fn packs(&self, output: &Path) -> bool {
        self.zstd || output.extension().is_some_and(|end| end == "zst")
    }
}

impl SaveArgs {
    /// What is to be done.
    ///
    /// # Errors
    /// When no process is named so.
    pub(crate) fn saving(&self) -> Result<Saving<'_>> {
        Ok(Saving {
            live: self.live.named(&self.process)?,
            what: self.what.what(),
            output: &self.output,
            pack: self.what.packs(&self.output),
            files: self.files.options()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parsed(words: &[&str]) -> Result<SaveArgs, String> {
        let words = std::iter::once("kcore save").chain(words.iter().copied());
        SaveArgs::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_declaration_is_sound() {
        SaveArgs::command().debug_assert();
    }

    #[test]
    fn the_suffix_packs() {
        for (words, packs) in [
            (&["7", "-o", "a.core.zst"][..], true),
            (&["7", "-o", "-"], false),
            (&["7", "--zstd", "-o", "a"], true),
        ] {
            let args = parsed(words).unwrap();
            let saving = args.saving().unwrap();
            assert_eq!((saving.pack, saving.what), (packs, SaveWhat::Filtered), "{words:?}");
        }
    }

    #[test]
    fn one_kind_of_core_is_saved_to_one_file() {
        assert!(parsed(&["7"]).unwrap_err().contains("--output"));
        assert!(parsed(&["7", "-o", "a", "--all", "--stacks-only"]).is_err());
    }
}
