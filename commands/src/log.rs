//! `::log` — a copy of the session in a file.

use std::path::{Path, PathBuf};

use kcore_dcmd::{
    Args, Cx, Dcmd, DcmdError, Example, Group, LogRequest, LogState, Message, Opt, Result, Spec,
};

const OPTIONS: &[Opt] = &[
    Opt { flag: 'd', value: None, help: "stop the log" },
    Opt { flag: 'e', value: None, help: "continue the log, in this file or the previous one" },
];

const EXAMPLES: &[Example] = &[
    Example { line: "::log", shows: "whether there is a log" },
    Example { line: "::log /dev/null", shows: "a log in that file, from the next command on" },
];

/// Starts, stops and shows the log.
pub struct Log;

impl Dcmd for Log {
    fn spec(&self) -> Spec {
        Spec::new("log", Group::Language, "copy what is typed and shown to a file")
            .for_users()
            .aliases(&["$>"])
            .options(OPTIONS)
            .operands("[file]", 0, 1)
            .help(
                "kcore appends to the file. The log does not contain what shell commands print. \
                 Start and stop the log with a command of its own, not in a macro or a pipe.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let path = args.first().map(|word| PathBuf::from(word.to_text()));
        let request = request(args, path.as_deref())?;
        if cx.input().pipe_out || cx.input().has_addr {
            return Err(DcmdError::failed("log may not be manipulated in this context"));
        }
        let state = cx.shell_mut().log(request)?;
        match told(request, &state) {
            Some(text) => cx.emit(&Message(text)),
            None => Ok(()),
        }
    }
}

fn request<'a>(args: &Args, path: Option<&'a Path>) -> Result<LogRequest<'a>> {
    match (args.has('d'), args.has('e'), path) {
        (true, false, None) => Ok(LogRequest::Stop),
        (false, true, None) => Ok(LogRequest::Resume),
        (false, false, None) => Ok(LogRequest::Show),
        (false, _, Some(path)) => Ok(LogRequest::Append(path)),
        (true, ..) => Err(DcmdError::usage("-d takes no file and no other option")),
    }
}

/// The message for the user; none after the log was stopped.
fn told(request: LogRequest<'_>, state: &LogState) -> Option<String> {
    let path = state.path.as_ref().filter(|_| state.enabled).map(|path| path.display());
    match (request, path) {
        (LogRequest::Stop, _) => None,
        (LogRequest::Show, Some(path)) => {
            Some(format!("kcore: logging to \"{path}\" is currently enabled"))
        }
        (_, Some(path)) => Some(format!("kcore: logging to \"{path}\"")),
        (_, None) => Some("kcore: no log is active".to_owned()),
    }
}
