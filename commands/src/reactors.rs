//! `::reactors`: what waits in loops of events.

use kcore::reactor::{ReactorWait, Reactors};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use crate::operand;

/// Lists what waits in reactors.
pub struct ListReactors;

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'f',
        value: Some("fd"),
        help: "only what waits for this file descriptor, in decimal",
    },
    Opt { flag: 'c', value: Some("text"), help: "only that whose function has this text" },
];

const HELP: &str = "\
Lists the operations that wait in a reactor: for file descriptors, for times, or for a thread that \
runs the loop (`posted`). Reactors of Asio with epoll are known, of Boost and by itself. They are \
searched in memory by the symbol of their table of virtual functions.

EVENT is what an operation waits for; connecting is `write`. DEADLINE is seconds of the monotonic \
clock. CALLBACK is the function that completes it. Its arguments name the handler of the program. \
Times of other clocks are left out.

It takes debug information: without, ::reactors says where a reactor lies and that what waits in it \
is unknown. Coroutines that wait so have it in ::tasks. ::jshandles lists those of Node.js.";

const EXAMPLES: &[Example] = &[
    Example { line: "::reactors", shows: "what waits in each reactor of Asio" },
    Example { line: "::reactors -f 6", shows: "what waits for file descriptor 6" },
];

const NONE: &str = "no reactor that is known (Asio's with epoll) in the memory that is at hand";

impl Dcmd for ListReactors {
    fn spec(&self) -> Spec {
        Spec::new("reactors", Group::Runtimes, "list what waits in loops of events")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let fd = args.value('f').map(operand::decimal).transpose()?;
        let fd = fd.map(|fd| i32::try_from(fd).unwrap_or(i32::MAX));
        let text = args.value('c').map(|value| value.to_text());
        let core = cx.core().clone();
        let reactors = Reactors::find(core.as_ref());
        if reactors.found.is_empty() {
            return Err(DcmdError::failed(NONE));
        }
        let has_text = |wait: &ReactorWait, text: &str| {
            wait.function.as_deref().is_some_and(|function| function.contains(text))
        };
        let wanted = reactors.waits.iter().filter(|wait| {
            fd.is_none_or(|fd| wait.fd == Some(fd))
                && text.as_deref().is_none_or(|text| has_text(wait, text))
        });
        for wait in wanted {
            cx.check_interrupt()?;
            cx.emit(&WaitRecord(wait))?;
        }
        reactors.unknown.iter().try_for_each(|why| cx.note(&format!("unknown: {why}")))
    }
}

struct WaitRecord<'r>(&'r ReactorWait);

const COLUMNS: &[Column] = &[
    Column::right("address", "OPERATION", 16),
    Column::right("reactor", "REACTOR", 16),
    Column::right("fd", "FD", 5),
    Column::left("event", "EVENT", 7),
    Column::right("deadline", "DEADLINE", 14),
    Column::left("function", "CALLBACK", 0),
];

impl Record for WaitRecord<'_> {
    fn kind(&self) -> &'static str {
        "reactor_wait"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let wait = self.0;
        out.addr("address", wait.at)
            .text("library", wait.library)
            .addr("reactor", wait.reactor)
            .put("fd", Cell::or_null(wait.fd, |fd| Cell::Int(fd.into())))
            .text("event", wait.event.as_str())
            .opt_text("deadline", wait.deadline.map(|deadline| deadline.to_string()))
            .opt_text("operation", wait.operation.as_deref())
            .opt_text("function", wait.function.as_deref())
            .addr("promise", wait.promise);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.at))
    }
}
