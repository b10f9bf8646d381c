//! `::goroutines`: all goroutines that have not ended.

use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{filter::Filter, goroutine_record::GoroutineRecord, groups, subject};

/// Lists the goroutines of a process that runs Go.
pub struct Goroutines;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'u', value: None, help: "group goroutines with the same stack, state and reason" },
    Opt { flag: 's', value: Some("state"), help: "only goroutines in this state" },
    Opt {
        flag: 'r',
        value: Some("reason"),
        help: "only goroutines that wait for a reason that contains this text, in capitals or not",
    },
    Opt {
        flag: 'f',
        value: Some("function"),
        help: "only goroutines with this function, or one of this package, on the stack",
    },
    Opt {
        flag: 'm',
        value: Some("minutes"),
        help: "only goroutines that have waited for at least so many minutes",
    },
    Opt {
        flag: 'w',
        value: Some("address"),
        help: "only goroutines that wait for this channel, mutex or semaphore",
    },
];

const HELP: &str = "\
STATE and REASON are the words of Go's own traces: a goroutine is running, runnable, in a syscall \
(or in C), waiting for the reason, or preempted. Goroutines that have ended are not listed; those \
of the runtime itself are. THREAD is the thread that runs the goroutine, or is in the system call.

How long a goroutine waits is known once the garbage collector has seen it wait. A core has no clock: \
the time is that up to the last instant that the runtime wrote down, and may be longer. That of a live process is exact.

Files may be stripped: names and lines come from the tables that Go's linker always makes. \
Goroutines have decimal numbers; type 0t17::stack for the stack of goroutine 17. In a pipe, \
::goroutines passes the goroutines themselves: ::goroutines | ::stack.";

const EXAMPLES: &[Example] = &[
    Example { line: "::goroutines", shows: "every goroutine that has not ended" },
    Example { line: "::goroutines -u", shows: "every stack once, with the number of goroutines" },
    Example {
        line: "::goroutines -s waiting -r chan | ::stack",
        shows: "the stacks of the goroutines that wait on channels",
    },
];

impl Dcmd for Goroutines {
    fn spec(&self) -> Spec {
        Spec::new("goroutines", Group::Runtimes, "list the goroutines of Go")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        subject::note_damage(cx)?;
        let filter = Filter::of(args)?;
        let all = subject::all(core)?;
        let mut goroutines = all.filter(|goroutine| filter.admits(core, goroutine)).peekable();
        if filter.is_any() && goroutines.peek().is_none() {
            return cx.note("no goroutine is as the options say");
        }
        if args.has('u') && !cx.input().pipe_out {
            return groups::show(cx, goroutines);
        }
        for goroutine in goroutines {
            cx.check_interrupt()?;
            cx.emit(&GoroutineRecord::new(core, goroutine))?;
        }
        Ok(())
    }
}
