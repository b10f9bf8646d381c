//! `::bthread`: one bthread.

use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{page, row::Row, subject};
use crate::names::Names;

/// Shows all that is known about a bthread.
pub struct Bthread;

impl Dcmd for Bthread {
    fn spec(&self) -> Spec {
        Spec::new("bthread", Group::Runtimes, "describe a bthread of bRPC")
            .addr(AddrUse::Required)
            .options(&[Opt {
                flag: 's',
                value: None,
                help: "also show its stack, as bRPC's own page prints it",
            }])
            .help(
                "The address is a bthread_t, as ::bthreads prints it, or the address of its \
                 bthread::TaskMeta. A thread from a pipe stands for the bthread that it runs. \
                 ID::stack prints the stack of a bthread, as for a thread.",
            )
            .examples(&[Example {
                line: "::bthreads | ::bthread -s",
                shows: "every bthread with its stack",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let bthread = subject::of_dot(cx)?;
        let core = cx.core();
        let names = Names::new(cx);
        cx.emit(&Row::new(core, &names, bthread.clone()).whole())?;
        if args.has('s') { page::emit(cx, &bthread) } else { Ok(()) }
    }
}
