//! `::help` without a core: what it says depends on none.

use std::path::PathBuf;

use anyhow::Result;
use kcore_dcmd::DcmdError;
use kcore_shell::Status;

use crate::args::{Args, Batch};
use crate::output;

/// Bytes of a word of the target, where there is none.
const WORD: usize = 8;

/// What `::help` is asked about, if no target is named and nothing else is asked: names, or nothing for all.
pub(crate) fn asked(
    files: &[PathBuf],
    args: &Args,
    is_live: bool,
    commands: &[Batch],
) -> Option<Vec<Option<String>>> {
    let has_target = !files.is_empty() || args.exe.is_some() || is_live;
    if has_target || commands.is_empty() {
        return None;
    }
    let mut names = Vec::new();
    for command in commands {
        let Batch::Text(text) = command else { return None };
        let statements = text.to_str()?.split([';', '\n']).map(str::trim);
        for statement in statements.filter(|statement| !statement.is_empty()) {
            names.push(name(statement)?);
        }
    }
    (!names.is_empty()).then_some(names)
}

/// The name behind `::help`; `None` if the statement is another one.
fn name(statement: &str) -> Option<Option<String>> {
    let mut words = statement.split_whitespace();
    let is_help = words.next() == Some("::help");
    let name = words.next().map(|word| word.trim_matches(['\'', '"']).to_owned());
    (is_help && words.next().is_none()).then_some(name)
}

/// Shows it.
///
/// # Errors
/// When it cannot be shown.
pub(crate) fn show(names: &[Option<String>], args: &Args) -> Result<Status> {
    let format = output::format(args.json, args.color, WORD);
    let mut sink = match output::sink(format, args.color, None, None) {
        Ok(sink) => sink,
        Err(DcmdError::Closed) => return Ok(Status::DONE),
        Err(error) => return Err(error.into()),
    };
    let mut status = Status::DONE;
    for name in names {
        let shown = kcore_commands::show_help(name.as_deref(), sink.as_mut());
        if let Err(error @ DcmdError::Failed { .. }) = shown {
            let _ = sink.error("::help", &error);
            status = Status::FAILED;
        }
        // What nobody reads is no failure.
        let _ = sink.finish();
    }
    Ok(status)
}
