//! `::tokio`: all tasks of tokio that have not ended.

use kcore::{Core, Runtime, tokio::Tokio};
use kcore_dcmd::{Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use super::{row::TokioRecord, subject};

/// Lists the tasks of tokio.
pub struct TokioTasks;

const STATES: [&str; 5] = ["created", "running", "ready", "suspended", "cancelled"];

const OPTIONS: &[Opt] = &[Opt {
    flag: 's',
    value: Some("state"),
    help: "show only those in this state: `created`, `running`, `ready`, `suspended` or `cancelled`",
}];

const HELP: &str = "\
tokio runs asynchronous Rust. A task is a future that was spawned. It has no stack while it waits. \
Debug information says what its functions wait for.

TASK is its number, as tokio::task::Id prints it. LIST is the number of the list that holds it. \
Each runtime and each LocalSet has a list of its own. THREAD is the thread that runs the task now. \
WAITS says what it waits for in the end. A timer has its deadline, in seconds of the monotonic \
clock. `any of` and `all of` stand for several futures at once. A mutex comes with the \
task that holds it. AT is the innermost line that is not of tokio itself. FUTURE is the type \
that was spawned.

::tokio leaves out tasks that ended. It also leaves out the future that a thread runs by block_on, \
because that is no task. Without debug information, a task has its number and state alone. \
`debug = 1` adds the name of its future.

In a pipe, ::tokio passes the tasks themselves: ::tokio | ::stack. ::stacks groups them with \
threads.";

const EXAMPLES: &[Example] = &[
    Example { line: "::tokio", shows: "every task that has not ended" },
    Example { line: "::tokio -s suspended | ::stack", shows: "what those that wait await" },
];

impl Dcmd for TokioTasks {
    fn spec(&self) -> Spec {
        Spec::new("tokio", Group::Runtimes, "list the tasks of tokio")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let wanted = args.value('s').map(|arg| state(&arg.to_text())).transpose()?;
        let core = cx.core().clone();
        let all = subject::instances(&core)?;
        if all.iter().all(|found| found.known(core.as_ref()).is_empty()) {
            return Err(DcmdError::failed(none(&core, &all)));
        }
        for found in all {
            for task in found.known(core.as_ref()) {
                if wanted.is_none_or(|wanted| wanted == task.state) {
                    cx.check_interrupt()?;
                    cx.emit(&TokioRecord(task))?;
                }
            }
            note(cx, found)?;
        }
        Ok(())
    }
}

/// Why there is no task at all.
fn none(core: &Core, all: &[&Tokio]) -> String {
    match all.iter().map(|found| found.unread(core)).max() {
        Some(unread) if unread > 0 => {
            let what = "of the memory in which they lie are not in the core";
            format!("no tasks of tokio in the memory that is at hand: {unread:#x} bytes {what}")
        }
        _ => "tokio has no tasks: all ended, or none was spawned".to_owned(),
    }
}

/// Says what cannot be told of any task, or of some, and whether there may be more.
fn note(cx: &mut Cx<'_>, found: &Tokio) -> Result<()> {
    let core = cx.core().clone();
    let undecoded = &found.identity().undecoded;
    undecoded.iter().try_for_each(|it| cx.note(&format!("unknown: {}", it.why)))?;
    let unknown = found.unknown_futures(core.as_ref()).filter(|_| undecoded.is_empty());
    if let Some((why, count)) = unknown {
        let all = found.known(core.as_ref()).len();
        cx.note(&format!("unknown: what {count} of {all} tasks wait for: {why}"))?;
    }
    match found.unread(core.as_ref()) {
        0 => Ok(()),
        unread => cx.note(&format!("{unread:#x} bytes of memory are not in the core: {MORE}")),
    }
}

const MORE: &str = "there may be more tasks of tokio";

fn state(word: &str) -> Result<&'static str> {
    let found = STATES.into_iter().find(|state| *state == word);
    found.ok_or_else(|| DcmdError::usage(format!("no state `{word}`: {}", STATES.join(", "))))
}
