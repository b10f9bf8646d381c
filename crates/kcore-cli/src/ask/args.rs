//! The command line of `kcore ask`.

use std::time::Duration;

use clap::Parser;

const LONG_ABOUT: &str = "\
Ask a process that has kcore's agent for the unique stacks of all its threads. The process
shows them itself. kcore traces and stops nothing, so this works where tracing is refused, and
needs no --stop-budget.

kcore asks the agent by a signal, which would end a process without the agent. So it first
checks that the process has the agent and handles the signal, and sends nothing otherwise. The
answer comes back through a socket that only root and the user of the process can reach.

The page about the agent in the book (docs/book) says how a process gets the agent, and what
the agent does there.";

const AFTER_LONG_HELP: &str = "\
Examples:
  kcore ask 4711                what its threads do, most common first
  kcore ask --json 4711 | jq    the same facts for a program

Exit status:
  0  answered
  1  there was no answer, or it could not be written
  2  wrong usage, or the process cannot be asked";

/// Ask a process that has kcore's agent for its stacks, without tracing it
#[derive(Parser, Debug)]
#[command(
    name = "kcore ask",
    bin_name = "kcore ask",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_LONG_HELP,
    override_usage = "kcore ask [OPTIONS] PID"
)]
pub(crate) struct AskArgs {
    /// The process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) pid: i32,

    /// Write JSON Lines, as 'kcore --json -c ::stacks' does
    #[arg(long)]
    pub(crate) json: bool,

    /// Wait at most SECONDS for the answer
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub(crate) timeout: Duration,

    /// The agent's signal, if kcore cannot see it (KCORE_AGENT_SIGNAL, 35 unless set)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(34..=64))]
    pub(crate) signal: Option<i32>,

    /// Ask the process if it handles the signal, even if kcore may not read its mappings to see the agent
    #[arg(long)]
    pub(crate) unseen: bool,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds < 1e6);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "a number of seconds, such as 30 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_declaration_is_sound() {
        AskArgs::command().debug_assert();
    }

    #[test]
    fn numbers_have_bounds() {
        let parsed = |words: &[&str]| AskArgs::try_parse_from([&["kcore ask"], words].concat());
        assert_eq!(parsed(&["7"]).unwrap().timeout, Duration::from_secs(30));
        for wrong in
            [&["0"][..], &["-1"], &["x"], &["7", "--signal", "9"], &["7", "--timeout", "0"]]
        {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
