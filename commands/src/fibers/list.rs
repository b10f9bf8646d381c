//! `::fibers`: all fibers that have not ended.

use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{row::Row, subject};
use crate::names::Names;

/// Lists the fibers of a process that uses Boost.Fiber.
pub struct Fibers;

const OPTIONS: &[Opt] = &[Opt { flag: 'r', value: None, help: "show only fibers that run" }];

const HELP: &str = "\
Fibers are Boost.Fiber's user-mode threads. The scheduler of a thread (SCHED) keeps each fiber. A \
ready fiber in a queue that several schedulers share has no SCHED. KIND is `main` for what a \
thread runs on its own stack, `dispatcher` for the scheduler's own fiber, and `worker` for one \
that the program made.

A running fiber is shown with its thread. The others are ready, sleep, wait for something, or \
were created and did not run yet. The functions on the stack show what a fiber waits for. \
`switching` marks a fiber that a thread was about to enter or to leave when the thread was \
stopped. `suspended` marks a fiber of a thread whose scheduling algorithm belongs to the program; \
only that algorithm knows whether the fiber is ready.

The time until which a fiber sleeps or waits is in seconds of the monotonic clock. ENTRY is the \
function that a fiber was made with, or the type of the callable. In a pipe, ::fibers passes the \
fibers themselves: ::fibers | ::stack.";

const EXAMPLES: &[Example] = &[
    Example { line: "::fibers", shows: "every fiber that has not ended" },
    Example { line: "::fibers -r | ::stack", shows: "the stacks of the fibers that run" },
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
                "the list of fibers of thread {thread} is damaged: some fibers are missing"
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
