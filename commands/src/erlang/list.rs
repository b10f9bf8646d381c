//! `::erlprocesses`: all processes of Erlang.

use kcore::erlang::{ErlangProcess, Missing};
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{filter::Filter, groups, missing, row::ProcessRecord, subject};

/// Lists the processes of Erlang.
pub struct Erlprocesses;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'u', value: None, help: "group processes with the same state and functions" },
    Opt {
        flag: 's',
        value: Some("state"),
        help: "only processes in this state: `waiting`, `running`, `runnable`, `suspended`, `exiting` or `garbage_collecting`",
    },
    Opt {
        flag: 'n',
        value: Some("name"),
        help: "only the process that is registered by this name",
    },
    Opt {
        flag: 'f',
        value: Some("function"),
        help: "only processes with this function, or one of this module, on the stack",
    },
    Opt {
        flag: 'm',
        value: Some("count"),
        help: "only processes with at least so many messages in their queue, in decimal",
    },
];

const HELP: &str = "\
Lists the processes of Erlang and Elixir. STATE has the words of erlang:process_info. THREAD is the \
thread that runs the process now. QUEUE is the number of messages that it has not received. HEAP is \
the size of its heaps in bytes, with the messages beside them. CURRENT is the function that the \
process executes or goes on with. INITIAL is the one that it began with.

The files may be stripped: names and lines come from the code that the virtual machine loaded. \
With an address, ::erlprocesses shows one process: 0t87::erlprocesses is <0.87.0>. Type 0t87::stack \
for its stack. In a pipe, ::erlprocesses passes the processes \
themselves: ::erlprocesses | ::stack. ::stacks groups them with threads.";

const EXAMPLES: &[Example] = &[
    Example { line: "::erlprocesses", shows: "every process of Erlang" },
    Example { line: "0t0::erlprocesses", shows: "process <0.0.0>, which is `init`" },
    Example { line: "::erlprocesses -u", shows: "what most processes do, most common first" },
    Example {
        line: "::erlprocesses -m 1 | ::erlmessages",
        shows: "the messages of the processes that have some",
    },
];

impl Dcmd for Erlprocesses {
    fn spec(&self) -> Spec {
        Spec::new("erlprocesses", Group::Runtimes, "list the processes of Erlang")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core().clone();
        if let Some(dot) = cx.addr() {
            let (erlang, process) = subject::of_dot(&core, dot)?;
            return show(cx, &ProcessRecord::new(&core, erlang, process));
        }
        let filter = Filter::of(args)?;
        let mut least: Option<Missing> = None;
        for erlang in subject::instances(&core)? {
            let all = erlang.processes(core.as_ref()).all.iter();
            let wanted = all.filter(|process| filter.admits(&core, erlang, process));
            if args.has('u') && !cx.input().pipe_out {
                let wanted: Vec<&ErlangProcess> = wanted.collect();
                groups::show(cx, erlang, &wanted)?;
            } else {
                for process in wanted {
                    cx.check_interrupt()?;
                    let row = ProcessRecord::new(&core, erlang, *process);
                    least = least.into_iter().chain(row.missing()).min();
                    cx.emit(&row)?;
                }
            }
        }
        missing::note(cx, least)?;
        subject::unread(&core).map_or(Ok(()), |unread| cx.note(&unread))
    }
}

/// Shows one process.
fn show(cx: &mut Cx<'_>, row: &ProcessRecord) -> Result<()> {
    cx.emit(row)?;
    missing::note(cx, row.missing())
}
