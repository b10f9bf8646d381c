//! `::goroutine`: one goroutine.

use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, Example, Group, Result, Spec};

use super::{goroutine_record::GoroutineRecord, subject};

/// Shows all that is known about a goroutine.
pub struct Goroutine;

impl Dcmd for Goroutine {
    fn spec(&self) -> Spec {
        Spec::new("goroutine", Group::Runtimes, "describe a goroutine of Go")
            .addr(AddrUse::Required)
            .help(
                "The address is the number of a goroutine, as ::goroutines prints it in decimal, or the \
                 address of its runtime.g: 0t17::goroutine. A thread from a pipe stands for the \
                 goroutine that it runs. A mutex is known by the semaphore that its \
                 waiters are in a queue of; Go does not write down who holds it. ID::stack prints the stack of a goroutine, as for a thread.",
            )
            .examples(&[Example {
                line: "::goroutines | ::goroutine",
                shows: "every goroutine with all that is known about it",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let goroutine = subject::of_dot(cx)?;
        let core = cx.core();
        cx.emit(&GoroutineRecord::new(core, goroutine).whole())
    }
}
