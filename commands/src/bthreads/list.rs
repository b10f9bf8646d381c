//! `::bthreads`: all bthreads that have not ended.

use kcore::bthread::State;
use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{page, row::Row, subject};
use crate::names::Names;

/// Lists the bthreads of a process that uses bRPC.
pub struct Bthreads;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'r', value: None, help: "only those that run" },
    Opt { flag: 's', value: None, help: "with the stack of each, as bRPC's own page prints it" },
];

const HELP: &str = "\
bthreads are bRPC's threads in user mode: many of them share few threads of the system. Those that run \
are shown on the thread that runs them; the others wait on a butex (a mutex, a condition, the end of \
another bthread: by the functions on their stacks), sleep, are ready, or were created and have not run \
yet. One that was stopped in the midst of a switch is `switching`, on the thread whose stack pointer says \
that it runs it. ENTRY is the function that a bthread began with. In a pipe the bthreads themselves are handed \
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
        for bthread in subject::all(core)? {
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
