//! `::goroutine`: one goroutine.

use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{go_trace, goroutine_record::GoroutineRecord, subject};

/// Shows all that is known about a goroutine.
pub struct Goroutine;

const EXAMPLES: &[Example] = &[
    Example {
        line: "::goroutines | ::goroutine",
        shows: "every goroutine with all that is known about it",
    },
    Example {
        line: "::goroutines -s waiting | ::goroutine -t",
        shows: "the stacks of waiting goroutines, as Go prints them",
    },
];

const OPTIONS: &[Opt] = &[Opt {
    flag: 't',
    value: None,
    help: "show its stack as Go's own traces print it, with arguments as words",
}];

impl Dcmd for Goroutine {
    fn spec(&self) -> Spec {
        Spec::new("goroutine", Group::Runtimes, "describe a goroutine of Go")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(
                "The address is the number of a goroutine, as ::goroutines prints it in decimal, or the \
                 address of its runtime.g: 0t17::goroutine. A thread from a pipe stands for the \
                 goroutine that it runs. A mutex is known by the semaphore that its \
                 waiters are in a queue of; Go does not write down who holds it. With -t, a word with a \
                 question mark may have another value by now, as in Go's own traces. ID::stack prints the stack of a goroutine, as for a thread.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let goroutine = subject::of_dot(cx)?;
        if args.has('t') {
            return go_trace::emit(cx, &goroutine);
        }
        let core = cx.core();
        cx.emit(&GoroutineRecord::new(core, goroutine).whole())
    }
}
