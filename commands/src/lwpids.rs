//! `$L` — the ids of all threads, in one sentence.

use kcore::Tid;
use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

const EXAMPLES: &[Example] = &[Example { line: "$L", shows: "the LWP ids, the crashed one first" }];

/// Lists the ids of all threads.
pub struct Lwpids;

impl Dcmd for Lwpids {
    fn spec(&self) -> Spec {
        Spec::new("$L", Group::Stacks, "print the LWP ids of all threads")
            .help(
                "The ids are decimal, and the crashed thread comes first. ::threads tells more \
                 about each thread.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        let tids = core.tids();
        if tids.is_empty() {
            return Err(DcmdError::failed("no process active"));
        }
        cx.emit(&LwpidsRecord { tids, pid: core.process().pid() })
    }
}

struct LwpidsRecord {
    tids: Vec<Tid>,
    pid: Option<u32>,
}

impl LwpidsRecord {
    fn cell(tid: &Tid) -> Cell<'static> {
        Cell::Num(u64::from(tid.get()))
    }
}

impl Record for LwpidsRecord {
    fn kind(&self) -> &'static str {
        "lwpids"
    }

    fn view(&self) -> View {
        View::Line(
            "{others?lwpids {others} and {last} are}{others^lwpid {last} is the only lwp} \
             in core of process{pid? {pid}}.",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let (last, others) = match self.tids.split_last() {
            Some((last, others)) => (Self::cell(last), others),
            None => (Cell::Null, [].as_slice()),
        };
        out.put("lwpids", Cell::List(self.tids.iter().map(Self::cell).collect()))
            .num("pid", self.pid.map(u64::from))
            .display("others", Cell::List(others.iter().map(Self::cell).collect()))
            .display("last", last);
    }
}
