//! `::javathreads`: the threads of Java.

use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{java_thread_record::JavaThreadRecord, subject};

/// Lists the threads of Java.
pub struct Javathreads;

const OPTIONS: &[Opt] = &[
    Opt { flag: 's', value: Some("state"), help: "only threads in this state" },
    Opt { flag: 'n', value: Some("name"), help: "only threads whose name contains this text" },
];

const HELP: &str = "\
ID is Java's own number of a thread, THREAD that of the system. STATE is Java's word: NEW, RUNNABLE, \
BLOCKED, WAITING, TIMED_WAITING or TERMINATED. IN is what the virtual machine says: the thread runs \
java, native code that Java called, or code of the vm, or it is blocked in that. FRAME is the \
innermost frame of Java.

Threads of the virtual machine that run no Java, such as those of the collector, are in ::threads. \
In a pipe, ::javathreads passes the threads: ::javathreads | ::stack.";

const EXAMPLES: &[Example] = &[
    Example { line: "::javathreads", shows: "every thread of Java" },
    Example {
        line: "::javathreads -s BLOCKED | ::stack",
        shows: "the stacks of the threads that wait to enter a monitor",
    },
];

impl Dcmd for Javathreads {
    fn spec(&self) -> Spec {
        Spec::new("javathreads", Group::Runtimes, "list the threads of Java")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        subject::note_damage(cx)?;
        let text = |flag| args.value(flag).map(|value| value.to_text());
        let (state, name) = (text('s'), text('n'));
        for thread in subject::threads(core)? {
            cx.check_interrupt()?;
            let facts = &thread.facts;
            let own_state = facts.state.map(|state| state.as_str());
            let has_state = state.as_deref().is_none_or(|state| own_state == Some(state));
            let own_name = facts.name.as_deref().unwrap_or_default();
            if has_state && name.as_deref().is_none_or(|name| own_name.contains(name)) {
                cx.emit(&JavaThreadRecord::new(core, thread))?;
            }
        }
        Ok(())
    }
}
