//! `::fibers`: all fibers that have not ended.

use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{row::Row, subject};
use crate::names::Names;

/// Lists the fibers of a process that uses Boost.Fiber.
pub struct Fibers;

const OPTIONS: &[Opt] = &[Opt { flag: 'r', value: None, help: "only those that run" }];

const HELP: &str = "\
Fibers are Boost.Fiber's threads in user mode, each kept by the scheduler of a thread (SCHED): those that a program \
made, what a thread did on its own stack when it first used them (main), and the scheduler's own (dispatcher). \
One that runs is shown on its thread; the others are ready, sleep, wait for something (by the functions on their \
stacks) or were created and have not run yet. One is `switching` that a thread was about to leave or to enter when it \
was stopped, and `suspended` if its thread has a scheduling algorithm of the program's own, which alone knows whether \
it is ready. Until when one sleeps, or waits at most, is in seconds of the monotonic clock. ENTRY is the function \
that a fiber was made with, or the type of what it was made with. Ready ones that several schedulers share have none. \
In a pipe the fibers themselves are handed on: ::fibers | ::stack.";

const EXAMPLES: &[Example] = &[
    Example { line: "::fibers", shows: "every fiber that has not ended" },
    Example { line: "::fibers -r | ::stack", shows: "the stacks of those that run" },
];

impl Dcmd for Fibers {
    fn spec(&self) -> Spec {
        Spec::new("fibers", Group::Runtimes, "list the fibers of Boost.Fiber")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        for thread in subject::damaged(core)? {
            cx.note(&format!(
                "the list of fibers of thread {thread} is damaged: some are missing"
            ))?;
        }
        let names = Names::new(cx);
        for fiber in subject::all(core)? {
            cx.check_interrupt()?;
            if !args.has('r') || fiber.state.thread().is_some() {
                cx.emit(&Row::new(core, &names, fiber))?;
            }
        }
        Ok(())
    }
}
