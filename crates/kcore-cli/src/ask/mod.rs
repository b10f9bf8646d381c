//! `kcore ask`: a process that has the agent shows its stacks itself.

mod args;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use kcore::Pid;
use kcore::agent::{Agent, AskError, Form, ask};
use kcore_render::io_reason;

pub(crate) use args::AskArgs;

use crate::args::USAGE;

/// Exit status when there was no answer, or it could not be written.
const FAILED: u8 = 1;

/// Asks, and writes the answer to standard output.
pub(crate) fn run(args: &AskArgs) -> ExitCode {
    let agent = match Agent::find(Pid::new(args.pid), args.signal, args.unseen) {
        Ok(agent) => agent,
        Err(error) => return said(&error, USAGE),
    };
    let form = if args.json { Form::Json } else { Form::Text };
    let answer = ask(agent, form, args.timeout);
    match answer.and_then(|answer| answer.write_to(&mut io::stdout().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        // Who reads no further has had enough.
        Err(AskError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error @ AskError::NotPermitted(_)) => said(&error, USAGE),
        Err(error) => said(&error, FAILED),
    }
}

/// Says what is wrong; nobody may read it any more.
fn said(error: &AskError, status: u8) -> ExitCode {
    let reason = match error {
        AskError::Write(error) => format!("standard output: {}", io_reason(error)),
        other => other.to_string(),
    };
    let _ = writeln!(io::stderr(), "kcore: {reason}");
    ExitCode::from(status)
}
