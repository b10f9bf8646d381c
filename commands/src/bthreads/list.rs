//! `::bthreads`: all bthreads that have not ended.

use kcore::bthread::State;
use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{page, row::Row, subject};
use crate::names::Names;

/// Lists the bthreads of a process that uses bRPC.
pub struct Bthreads;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'r', value: None, help: "show only bthreads that run" },
    Opt {
        flag: 'w',
        value: None,
        help: "show the stacks that workers left to run a bthread, instead of bthreads",
    },
    Opt {
        flag: 's',
        value: None,
        help: "also show the stack of each, as bRPC's own page prints it",
    },
];

const HELP: &str = "\
bthreads are bRPC's user-mode threads: many of them share a few threads of the system. A running \
bthread is shown with the thread that runs it. The others wait on a butex, sleep, are ready, or \
were created and did not run yet. The functions on the stack show what a butex stands for: a \
mutex, a condition, or the end of another bthread. `switching` marks a bthread that a thread was \
about to enter or to leave when the thread was stopped.

A worker that runs a bthread left its own stack for that of the bthread. -w lists these stacks as \
`parked`, by their ids in bRPC, and ID::stack prints them. ENTRY is the function with which a \
bthread began. In a pipe, ::bthreads passes the bthreads themselves: ::bthreads | ::stack.";

const EXAMPLES: &[Example] = &[
    Example { line: "::bthreads", shows: "every bthread that has not ended" },
    Example { line: "::bthreads -r | ::stack", shows: "the stacks of the bthreads that run" },
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
