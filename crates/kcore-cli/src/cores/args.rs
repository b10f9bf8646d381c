//! The command line of `kcore cores`.

use std::path::PathBuf;

use clap::{Parser, ValueHint};

use crate::args::{Color, Json};

const LONG_ABOUT: &str = "\
List the cores that systemd-coredump keeps, the latest first: when the process died, by which
signal, its id and its program, and the bytes and the name of the file. 'kcore FILE' opens one as
it is, packed or not.

The signal is known where the file system keeps what systemd writes beside the core. A core that
you may not read is marked.";

const AFTER_LONG_HELP: &str = "\
Examples:
  kcore cores                        the cores in /var/lib/systemd/coredump
  kcore cores --folder image/var/lib/systemd/coredump

Environment:
  KCORE_COREDUMPS   the folder, in place of /var/lib/systemd/coredump

Exit status:
  0  listed, even where there are none
  2  wrong usage, or the folder cannot be read";

/// List the cores that systemd-coredump keeps
#[derive(Parser, Debug)]
#[command(
    name = "kcore cores",
    bin_name = "kcore cores",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_LONG_HELP,
    override_usage = "kcore cores [OPTIONS]"
)]
pub(crate) struct CoresArgs {
    /// The folder to look in
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(super) folder: Option<PathBuf>,

    /// Write each core as JSON Lines; `compact` leaves out what is null
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full"
    )]
    pub(super) json: Option<Json>,

    /// When to use colour and underlining
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub(super) color: Color,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_declaration_is_sound() {
        CoresArgs::command().debug_assert();
    }
}
