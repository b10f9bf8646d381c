//! The command line of `kcore tutorial`.

use clap::Parser;

use crate::args::Color;

const LONG_ABOUT: &str = "\
Learn kcore by ten questions about a core that comes with it. At the prompt you type
commands as in any session, until you know the answer.

  = ANSWER  answers the question
  hint      gives a hint
  skip      goes on to the next question
  quit      leaves the tutorial

kcore writes the core to a folder below TMPDIR, and removes the folder at the end. Lines may
also come from a pipe.";

/// Learn kcore by ten questions about a core that comes with it
#[derive(Parser, Debug)]
#[command(name = "kcore tutorial", bin_name = "kcore tutorial", long_about = LONG_ABOUT)]
pub(crate) struct TutorialArgs {
    /// When to use colour and underlining
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
}
