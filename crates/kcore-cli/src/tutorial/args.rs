//! The command line of `kcore tutorial`.

use clap::Parser;

use crate::args::Color;

const LONG_ABOUT: &str = "\
Learn kcore by ten questions about a core that comes with it. At the prompt you type
commands as in any session, until you know the answer.

  = ANSWER  answers the question
  hint      helps with it
  skip      goes on to the next one
  quit      leaves

The core is written to a folder below TMPDIR, which is removed at the end. Lines may
come from a pipe too.";

/// Learn kcore by ten questions about a core that comes with it
#[derive(Parser, Debug)]
#[command(name = "kcore tutorial", bin_name = "kcore tutorial", long_about = LONG_ABOUT)]
pub(crate) struct TutorialArgs {
    /// When to use colour and underlining
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
}
