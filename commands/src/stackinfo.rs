//! `::stackinfo` — how much of each stack is in use.

use kcore::{AddrRange, Core, Tid};
use kcore_dcmd::{
    AddrUse, Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result,
    Spec, View,
};

use crate::thread_operand::thread_of;

const COLUMNS: &[Column] = &[
    Column::right("tid", "THREAD", 8),
    Column::left("start", "START", 16).spec("x"),
    Column::left("limit", "END", 16).spec("x"),
    Column::right("size_in_hex", "SIZE", 10).spec("x"),
    Column::right("used_in_hex", "USED", 10).spec("x"),
    Column::right("percent_text", "PCT", 4),
];

/// Shows the stack of each thread and how much of it is in use.
pub struct Stackinfo;

impl Dcmd for Stackinfo {
    fn spec(&self) -> Spec {
        Spec::new("stackinfo", Group::Stacks, "print how much of each stack is in use")
            .addr(AddrUse::Optional)
            .help(
                "The stack is the mapping that holds the stack pointer. The part in use reaches \
                 from the stack pointer to the end of the mapping, or to the stack of another \
                 thread in the same mapping. The mapping of the main thread grows; its size so \
                 far is shown.",
            )
            .examples(&[Example { line: "::stackinfo", shows: "one line for each thread" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        if cx.addr().is_some() {
            let tid = thread_of(cx)?;
            let row = Row::new(core, tid);
            return cx.emit(&row.ok_or_else(|| lost(tid))?);
        }
        core.tids().into_iter().try_for_each(|tid| match Row::new(core, tid) {
            Some(row) => cx.emit(&row),
            None => cx.report(&lost(tid)),
        })
    }
}

fn lost(tid: Tid) -> DcmdError {
    DcmdError::failed(format!("the stack of thread {tid} is in no mapping"))
}

struct Row {
    tid: Tid,
    stack: AddrRange,
    used: u64,
}

impl Row {
    fn new(core: &Core, tid: Tid) -> Option<Self> {
        let used = core.stacks().range_of_thread(tid)?;
        let start = core.mapping_at(used.start)?.range.start;
        Some(Self { tid, stack: AddrRange::new(start, used.end), used: used.len() })
    }

    fn percent(&self) -> u64 {
        let percent = u128::from(self.used).saturating_mul(100);
        let percent = percent.checked_div(u128::from(self.stack.len())).unwrap_or(0);
        u64::try_from(percent).unwrap_or(u64::MAX)
    }
}

impl Record for Row {
    fn kind(&self) -> &'static str {
        "stack_use"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("tid", u64::from(self.tid.get()))
            .addr("start", self.stack.start)
            .addr("limit", self.stack.end)
            .num("size", self.stack.len())
            .num("used", self.used)
            .num("percent", self.percent())
            .display("size_in_hex", Cell::Hex(self.stack.len()))
            .display("used_in_hex", Cell::Hex(self.used))
            .display("percent_text", Cell::text(format!("{}%", self.percent())));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Thread(self.tid))
    }
}
