//! `::cat` — shows files.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use kcore_dcmd::{
    Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Result, Spec, io_reason, user_file,
};

use crate::text_line::TextLine;

/// Bytes of a line; a longer one goes on below.
const MAX_LINE: u64 = 1 << 20;

const EXAMPLES: &[Example] =
    &[Example { line: "::cat /dev/null", shows: "nothing; for other files, their lines" }];

/// Shows files, line by line.
pub struct Cat;

impl Dcmd for Cat {
    fn spec(&self) -> Spec {
        Spec::new("cat", Group::Language, "show files, or feed their lines into a pipe")
            .for_users()
            .operands("file...", 1, usize::MAX)
            .help(
                "In a pipe, each line is an expression, and its value goes to the next dcmd. So \
                 ::cat file | ::whatis reads addresses from a file. Files are those of this \
                 machine, not of the core.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        args.operands().iter().map(Arg::to_text).try_for_each(|name| show(cx, &name))
    }
}

/// Shows one file. A file that cannot be read does not stop the others.
fn show(cx: &mut Cx<'_>, name: &str) -> Result<()> {
    let failed = |error: &io::Error| {
        DcmdError::failed(format!("failed to read {name}: {}", io_reason(error)))
    };
    let path = Path::new(name);
    let mut lines = match user_file::open(cx.core(), path) {
        Ok(file) => BufReader::new(file),
        Err(error) => return cx.report(&failed(&error)),
    };
    loop {
        cx.check_interrupt()?;
        let mut line = Vec::new();
        match lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => cx.emit(&TextLine(text(&line)))?,
            Err(error) => return cx.report(&failed(&error)),
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line)).into_owned()
}
