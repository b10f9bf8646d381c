//! `::trio`: all tasks of trio that have not ended.

use kcore::python::trio::TrioState;
use kcore_dcmd::{Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use super::{row::TrioRecord, subject};

/// Lists the tasks of trio.
pub struct TrioTasks;

const STATES: [TrioState; 3] = [TrioState::Running, TrioState::Runnable, TrioState::Blocked];

const OPTIONS: &[Opt] = &[Opt {
    flag: 's',
    value: Some("state"),
    help: "show only those in this state: `running`, `runnable` or `blocked`",
}];

const HELP: &str = "\
trio runs asynchronous Python. A task is a coroutine that a nursery holds. ::trio lists the tasks \
of every call of trio.run, on all threads, with those that trio itself needs.

THREAD is the thread that runs the task now. PARENT is the task that opened the nursery which \
holds this one. WAITS says what a blocked task waits for: a file descriptor, a timer, an object of \
trio with the task that owns it, a nursery, or a thread. UNTIL is when the cancel scopes around it \
end the wait at the latest, in seconds. A live process shows how far away that is, a core the time \
of the monotonic clock. AT is the innermost line that is \
not of trio itself.

In a pipe, ::trio passes the tasks themselves: ::trio | ::stack. ::stacks groups them with \
threads.";

const EXAMPLES: &[Example] = &[
    Example { line: "::trio", shows: "every task that has not ended" },
    Example { line: "::trio -s blocked | ::stack", shows: "what those that wait await" },
];

impl Dcmd for TrioTasks {
    fn spec(&self) -> Spec {
        Spec::new("trio", Group::Runtimes, "list the tasks of trio")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let wanted = args.value('s').map(|arg| state(&arg.to_text())).transpose()?;
        let core = cx.core().clone();
        for found in subject::instances(&core)? {
            let known = found.known(core.as_ref());
            let is_wanted = |state| wanted.is_none_or(|wanted| wanted == state);
            for task in known.all.iter().filter(|task| is_wanted(task.state)) {
                cx.check_interrupt()?;
                cx.emit(&TrioRecord::new(&core, task))?;
            }
            if known.unread > 0 {
                let what = "tasks of trio, or sets of them, cannot be read";
                cx.note(&format!("{} {what}: there may be more", known.unread))?;
            }
        }
        Ok(())
    }
}

fn state(word: &str) -> Result<TrioState> {
    let found = STATES.into_iter().find(|state| state.as_str() == word);
    found.ok_or_else(|| DcmdError::usage(format!("no state `{word}`: running, runnable, blocked")))
}
