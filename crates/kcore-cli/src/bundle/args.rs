//! The command line of `kcore bundle`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

use crate::files::FileArgs;

const LONG_ABOUT: &str = "\
Pack a core with the files that its answers need: the executable, libraries, and their debug
files. The result is a plain tar archive.

kcore opens it as a core, on any machine. For gdb, unpack it: the file kcore-bundle.txt in it
has the command. It also lists the files, and the modules whose files were not found.

A core may hold secrets: all memory of the process is in it. --no-env blots out the environment
that the program was started with. Copies that the program made itself stay.

--stacks-only leaves out the environment, and all memory that stacks do not need: of threads, of
coroutines and other tasks, in every language. Add what else you want to look at by -c: what these
commands read stays, too. Memory is kept in whole pages, and some tasks, such as coroutines of Lua
and fibers of Ruby, are found by a search through the heap, which stays then. So the bundle is small,
but it is no proof that a secret is gone.";

const AFTER_LONG_HELP: &str = "\
Examples:
  kcore bundle core.4711 -o app.tar
  kcore bundle --debuginfod core -o app.tar     fetch missing files first
  kcore bundle --no-env core -o app.tar         without the environment
  kcore bundle --stacks-only core -o app.tar    small, for stacks alone
  kcore bundle --stacks-only -c '::print config' core -o app.tar
  kcore bundle core -o - | zstd > app.tar.zst   packed: unpack it before kcore opens it
  kcore -c ::stack app.tar                      as any core

Exit status:
  0  written, perhaps without files that were not found
  1  the archive could not be written
  2  wrong usage, or the core cannot be opened";

/// Pack a core with the files that its answers need
#[derive(Parser, Debug)]
#[command(
    name = "kcore bundle",
    bin_name = "kcore bundle",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_LONG_HELP,
    override_usage = "kcore bundle [OPTIONS] CORE -o FILE"
)]
pub(crate) struct BundleArgs {
    /// The core
    #[arg(value_name = "CORE", value_hint = ValueHint::FilePath)]
    pub(crate) core: PathBuf,

    /// Write to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// Leave out the environment with which the program was started
    #[arg(long)]
    pub(crate) no_env: bool,

    /// Leave out the environment, and all memory that stacks do not need
    #[arg(long)]
    pub(crate) stacks_only: bool,

    /// With --stacks-only: keep the memory that COMMANDS read, too
    #[arg(short, long = "command", value_name = "COMMANDS", requires = "stacks_only")]
    pub(crate) commands: Vec<String>,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_declaration_is_sound() {
        BundleArgs::command().debug_assert();
    }

    #[test]
    fn a_file_is_needed() {
        let parsed = |words: &[&str]| BundleArgs::try_parse_from(words);
        assert!(parsed(&["bundle", "core"]).is_err());
        assert!(parsed(&["bundle", "core", "-o", "a.tar", "--no-env"]).unwrap().no_env);
    }

    #[test]
    fn commands_add_to_stacks() {
        let parsed = |words: &[&str]| {
            BundleArgs::try_parse_from([&["bundle", "core", "-o", "a"], words].concat())
        };
        assert!(parsed(&["-c", "::print x"]).is_err());
        let args = parsed(&["--stacks-only", "-c", "::print x", "-c", "::regs"]).unwrap();
        assert_eq!((args.stacks_only, args.commands.len()), (true, 2));
    }
}
