//! `::threads`: the threads of the process.

use kcore::{Addr, Thread, ThreadFacts, signal};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, Dot, Example, Fields, Group, Record, Result, Spec, View,
};

use crate::names::Names;

/// Lists the threads, the crashed one first.
pub struct Threads;

const HELP: &str = "\
LWP ids are decimal. `>` marks the current thread, and `*` the thread that took the signal. WAITS \
IN is the system call whose instruction stands right before the pc. NAME and STATE are null in a \
core that the kernel wrote, because it does not hold them. If a language runtime knows them, they \
are shown.";

impl Dcmd for Threads {
    fn spec(&self) -> Spec {
        Spec::new("threads", Group::Stacks, "list the threads").help(HELP).examples(&[Example {
            line: "::threads",
            shows: "every thread, the crashed one first",
        }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        let current = cx.shell().current_thread();
        let crashed = core.crashed_thread().map(|thread| thread.tid);
        core.threads().iter().try_for_each(|thread| {
            let is = |tid| Some(thread.tid) == tid;
            cx.emit(&ThreadRow::new(Names::new(cx), thread, is(current), is(crashed)))
        })
    }
}

/// A thread in a table.
pub struct ThreadRow<'a> {
    names: Names<'a>,
    thread: &'a Thread,
    pc: Option<Addr>,
    waits_in: Option<String>,
    facts: ThreadFacts,
    current: bool,
    crashed: bool,
}

impl<'a> ThreadRow<'a> {
    /// A row for `thread`.
    pub fn new(names: Names<'a>, thread: &'a Thread, current: bool, crashed: bool) -> Self {
        let core = names.core();
        let pc = core.registers().of_thread(thread.tid).map(|regs| regs.pc());
        let waits_in = core.waits_in(thread.tid);
        let facts = core.thread_facts(thread.tid);
        Self { names, thread, pc, waits_in, facts, current, crashed }
    }

    fn marks(&self) -> &'static str {
        match (self.current, self.crashed) {
            (true, true) => ">*",
            (true, false) => "> ",
            (false, true) => " *",
            (false, false) => "  ",
        }
    }
}

const COLUMNS: &[Column] = &[
    Column::left("marks", "", 2),
    Column::right("tid", "LWP", 8),
    Column::left("signal_name", "SIGNAL", 9),
    Column::left("waits_in", "WAITS IN", 16),
    Column::left("symbol", "PC", 0),
];

/// The same where a runtime names threads.
const COLUMNS_WITH_NAMES: &[Column] = &[
    Column::left("marks", "", 2),
    Column::right("tid", "LWP", 8),
    Column::left("name", "NAME", 18),
    Column::left("state", "STATE", 16),
    Column::left("signal_name", "SIGNAL", 9),
    Column::left("waits_in", "WAITS IN", 12),
    Column::left("symbol", "PC", 0),
];

impl Record for ThreadRow<'_> {
    fn kind(&self) -> &'static str {
        "thread"
    }

    fn view(&self) -> View {
        let named = !self.names.core().runtimes().is_empty();
        View::Table(if named { COLUMNS_WITH_NAMES } else { COLUMNS })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let signal = (self.thread.signal != 0).then(|| signal::name(self.thread.signal));
        let shown = if self.crashed { signal.clone() } else { None };
        let symbol = self.pc.map(|pc| self.names.cell(pc));
        let sp = self.names.core().registers().stack_pointer(self.thread.tid);
        out.num("tid", u64::from(self.thread.tid.get()))
            .opt_text("name", self.facts.name.as_deref())
            .opt_text("state", self.facts.state.as_deref())
            .flag("current", self.current)
            .flag("crashed", self.crashed)
            .opt_text("signal", signal)
            .opt_text("waits_in", self.waits_in.as_deref())
            .addr("pc", self.pc)
            .addr("sp", sp)
            .opt_text("function", symbol.as_ref().and_then(|symbol| symbol.name.clone()))
            .display("marks", Cell::text(self.marks()))
            .display("signal_name", Cell::text(shown.unwrap_or_default()))
            .display("symbol", Cell::or_null(symbol, Cell::Symbol));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Thread(self.thread.tid))
    }
}
