//! `::bthreads`: all bthreads that have not ended.

use kcore::bthread::State;
use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{page, row::Row, subject};
use crate::names::Names;

/// Lists the bthreads of a process that uses bRPC.
pub struct Bthreads;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'r', value: None, help: "only those that run" },
    Opt {
        flag: 'w',
        value: None,
        help: "what workers left to run a bthread, in place of bthreads",
    },
    Opt { flag: 's', value: None, help: "with the stack of each, as bRPC's own page prints it" },
];

const HELP: &str = "\
bthreads are bRPC's threads in user mode: many of them share few threads of the system. Those that run \
are shown on the thread that runs them; the others wait on a butex (a mutex, a condition, the end of \
another bthread: by the functions on their stacks), sleep, are ready, or were created and have not run \
yet. One is `switching` that a thread was about to leave or to enter when it was stopped. A worker that \
runs a bthread left its own stack for that of the bthread: -w lists these as `parked`, by the id that bRPC has \
for them, and ID::stack prints them. ENTRY is the function that a bthread began with. In a pipe the bthreads themselves are handed \
on: ::bthreads | ::stack.";

const EXAMPLES: &[Example] = &[
    Example { line: "::bthreads", shows: "every bthread that has not ended" },
    Example { line: "::bthreads -r | ::stack", shows: "the stacks of those that run" },
];

impl Dcmd for Bthreads {
    fn spec(&self) -> Spec {
        Spec::new("bthreads", Group::Runtimes, "list the bthreads of bRPC")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let bthreads = if args.has('w') { subject::workers(core)? } else { subject::all(core)? };
        for bthread in bthreads {
            cx.check_interrupt()?;
            if args.has('r') && !matches!(bthread.state, State::Running(_)) {
                continue;
            }
            let names = Names::new(cx);
            let row = Row::new(core, &names, bthread.clone());
            if !args.has('s') {
                cx.emit(&row)?;
                continue;
            }
            cx.emit(&row.whole())?;
            page::emit(cx, &bthread)?;
        }
        Ok(())
    }
}
