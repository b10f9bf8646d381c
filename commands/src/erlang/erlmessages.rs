//! `::erlmessages`: the messages that a process of Erlang has not received.

use kcore::{
    Addr,
    erlang::{Missing, PrintedTerm},
};
use kcore_dcmd::{
    AddrUse, Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result,
    Spec, View,
};

use super::{
    erlprint::{LIMITS, limits},
    missing, subject,
};

/// Lists the messages of a process of Erlang.
pub struct Erlmessages;

/// Messages of one process, at most.
const MAX_MESSAGES: usize = 1 << 20;

const HELP: &str = "\
Lists the messages in the queue of a process, the oldest first. The address is the second number \
of the process, as 0t87 for <0.87.0>, or a process from a pipe. TERM is the word that stands for \
the message: ::erlprint takes it. Messages that were sent and did not arrive yet are not shown. \
Those of other nodes that were not unpacked yet are marked `packed`.";

impl Dcmd for Erlmessages {
    fn spec(&self) -> Spec {
        Spec::new("erlmessages", Group::Runtimes, "list the messages of a process of Erlang")
            .addr(AddrUse::Required)
            .options(&LIMITS)
            .help(HELP)
            .examples(&[Example {
                line: "::erlprocesses -m 1 | ::erlmessages",
                shows: "the messages of the processes that have some",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let dot = cx.addr().ok_or_else(|| DcmdError::usage("::erlmessages needs a process"))?;
        let limits = limits(args)?;
        let core = cx.core().clone();
        let (erlang, process) = subject::of_dot(&core, dot)?;
        let pid = process.pid.to_string();
        let messages = erlang.messages(core.as_ref(), &process, MAX_MESSAGES);
        let mut least: Option<Missing> = None;
        let mut rows = Vec::with_capacity(messages.len().min(1024));
        for (at, term) in messages {
            // The word of one that is still packed stands for nothing.
            let printed = (term != 0).then(|| erlang.print(core.as_ref(), term, limits));
            let why = printed.as_ref().and_then(|printed: &PrintedTerm| printed.missing);
            least = least.into_iter().chain(why).min();
            rows.push(MessageRecord { pid: pid.clone(), at, term, printed });
            if rows.len() == 1024 {
                cx.check_interrupt()?;
                rows.drain(..).try_for_each(|row| cx.emit(&row))?;
            }
        }
        rows.iter().try_for_each(|row| cx.emit(row))?;
        missing::note(cx, least)
    }
}

struct MessageRecord {
    pid: String,
    at: Addr,
    term: u64,
    printed: Option<PrintedTerm>,
}

const COLUMNS: &[Column] = &[
    Column::right("pid", "PID", 12),
    Column::right("term", "TERM", 16),
    Column::left("value", "MESSAGE", 0),
];

impl Record for MessageRecord {
    fn kind(&self) -> &'static str {
        "erlang_message"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let printed = self.printed.as_ref();
        let missing = printed.and_then(|printed| printed.missing);
        let text = printed.map_or("packed", |printed| printed.text.as_str());
        out.text("pid", self.pid.as_str())
            .addr("address", self.at)
            .hex("term", self.term)
            .put("value", Cell::text(text))
            .flag("packed", printed.is_none())
            .flag("cut", printed.is_some_and(|printed| printed.is_cut))
            .flag("damaged", missing.is_some())
            .opt_text("missing", missing.map(Missing::as_str));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(Addr::new(self.term)))
    }
}
