//! `::greenlets`: all greenlets that have not ended.

use kcore::python::greenlet::GreenletState;
use kcore_dcmd::{Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use super::{row::GreenletRecord, subject};

/// Lists the greenlets of a Python process.
pub struct Greenlets;

const STATES: [GreenletState; 3] =
    [GreenletState::Created, GreenletState::Running, GreenletState::Suspended];

const OPTIONS: &[Opt] = &[Opt {
    flag: 's',
    value: Some("state"),
    help: "show only those in this state: `created`, `running` or `suspended`",
}];

const HELP: &str = "\
Greenlets are the coroutines of Python's package greenlet. gevent, eventlet and SQLAlchemy's \
asyncio build on them. All greenlets of a thread share its one stack. The stack of a suspended \
greenlet is partly in the heap, and kcore reads it from there.

THREAD is the thread on whose stack a greenlet was left, or the one that runs it. PARENT is the \
greenlet that goes on when this one ends; it did not call it. A greenlet without a PARENT is what \
a thread ran before it had greenlets. WAITS says what a greenlet of gevent or eventlet waits for, \
as the functions on its stack show. AT is its innermost line of Python, and FUNCTION the function \
that it was made for. Greenlets that ended, and those of threads that ended, are not shown.

In a pipe, ::greenlets passes the greenlets themselves: ::greenlets | ::stack. ::stacks groups \
them with threads.";

const EXAMPLES: &[Example] = &[
    Example { line: "::greenlets", shows: "every greenlet that has not ended" },
    Example {
        line: "::greenlets -s suspended | ::stack",
        shows: "the stacks of those that were left",
    },
];

impl Dcmd for Greenlets {
    fn spec(&self) -> Spec {
        Spec::new("greenlets", Group::Runtimes, "list the greenlets of Python")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let wanted = args.value('s').map(|arg| state(&arg.to_text())).transpose()?;
        let core = cx.core().clone();
        for found in subject::instances(&core)? {
            let known = found.known(core.as_ref());
            if known.broken > 0 {
                cx.note("lists of Python's collector are damaged: some greenlets may be missing")?;
            }
            let is_wanted = |state| wanted.is_none_or(|wanted| wanted == state);
            for greenlet in known.all.iter().filter(|greenlet| is_wanted(greenlet.state)) {
                cx.check_interrupt()?;
                cx.emit(&GreenletRecord::new(&core, found, *greenlet))?;
                if let Some(why) = found.why_without_frames(core.as_ref(), greenlet) {
                    let at = greenlet.at;
                    cx.note(&format!("no AT and FUNCTION of the running greenlet {at:x}: {why}"))?;
                }
            }
        }
        Ok(())
    }
}

fn state(word: &str) -> Result<GreenletState> {
    let found = STATES.into_iter().find(|state| state.as_str() == word);
    found.ok_or_else(|| DcmdError::usage(format!("no state `{word}`: created, running, suspended")))
}
