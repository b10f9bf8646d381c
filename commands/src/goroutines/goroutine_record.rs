//! The record of a goroutine.

use std::sync::Arc;

use kcore::{
    CodeAddr, Core, MAX_FRAMES, Runtime, Tid,
    go::{AwaitedIo, FaultSignal, Go, Goroutine, Semaphore},
};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use super::{
    gotimers::seconds,
    subject::{self, id},
};

/// A goroutine as a row of a table, or with all details.
pub struct GoroutineRecord {
    goroutine: Arc<Goroutine>,
    /// The thread that runs it.
    thread: Option<u64>,
    entry: Option<Arc<str>>,
    creator: Option<GoroutinePlace>,
    semaphore: Option<Semaphore>,
    io: Option<AwaitedIo>,
    /// Until when it sleeps, in nanoseconds of the monotonic clock.
    sleeps_until: Option<u64>,
    /// Seconds that it has waited at least.
    waits_for: Option<u64>,
    /// Whether it is exactly so many.
    is_exact: bool,
    /// The module of its runtime.
    module: Arc<str>,
    labels: Vec<(String, String)>,
    /// Whether only its bubble of `testing/synctest` can end its wait, and the reason does not say so.
    is_durable: bool,
    whole: bool,
}

/// A place in the code.
struct GoroutinePlace {
    function: Option<Arc<str>>,
    file: Option<Arc<str>>,
    line: Option<u32>,
}

impl GoroutinePlace {
    fn at(core: &Core, at: CodeAddr) -> Self {
        let all = core.symbols().locations(at);
        // The function that runs there, be it inlined.
        let location = all.first();
        Self {
            function: location.and_then(|location| location.function.clone()),
            file: location.and_then(|location| location.file.clone()),
            line: location.and_then(|location| location.line),
        }
    }

    fn shown(&self) -> Option<String> {
        let file = self.file.as_deref()?;
        Some(self.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
    }
}

impl GoroutineRecord {
    /// A row of a table.
    pub fn new(core: &Core, goroutine: Arc<Goroutine>) -> Self {
        let is_there = |tid: &Tid| core.threads().iter().any(|thread| thread.tid == *tid);
        let thread = goroutine.running_thread().filter(is_there);
        let owner = subject::owner(core, &goroutine);
        let labels = owner.and_then(|go| go.labels(core, &goroutine));
        Self {
            thread: thread.map(|tid| u64::from(tid.get())),
            entry: entry(core, owner, &goroutine),
            creator: goroutine.creator.map(|at| GoroutinePlace::at(core, at)),
            semaphore: subject::semaphore(core, &goroutine),
            io: owner.and_then(|go| go.awaited_io(core, &goroutine)),
            sleeps_until: owner.and_then(|go| go.sleeps_until(core, &goroutine)),
            waits_for: subject::waits_for(core, &goroutine),
            is_exact: subject::clock(core).is_some(),
            module: owner.map_or_else(|| "".into(), |go| go.identity().instance.clone()),
            labels: labels.unwrap_or_default(),
            is_durable: owner.is_some_and(|go| go.is_durable(&goroutine)),
            goroutine,
            whole: false,
        }
    }

    /// The same with all details.
    pub const fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    fn creator(&self) -> Option<&str> {
        self.creator.as_ref()?.function.as_deref()
    }
}

/// The function that a goroutine began with. Where that is a wrapper which does not tell what it calls, its stack does.
pub fn entry(core: &Core, owner: Option<&Go>, goroutine: &Goroutine) -> Option<Arc<str>> {
    let start = Some(goroutine.start).filter(|start| start.get() != 0)?;
    if let Some(name) = owner?.entry(core, start) {
        return Some(name);
    }
    let stack = core.stacks().of_task(core.tasks().by_id(id(goroutine))?, MAX_FRAMES);
    let functions =
        core.stacks().named_frames(&stack).filter_map(|frame| frame.location.function.clone());
    functions.filter(|function| &**function != OUTERMOST).last()
}

/// The signal of which the runtime made a panic, as Go prints it.
fn shown_signal(signal: FaultSignal) -> String {
    let FaultSignal { number, code, address, pc } = signal;
    format!("signal {number}, code {code:#x}, address {address:x}, pc {pc:x}")
}

/// What is shown of one that called C.
const IN_C: &str = "in C";
/// The function that all goroutines return to.
const OUTERMOST: &str = "runtime.goexit";

impl GoroutineRecord {
    fn shown_reason(&self) -> Option<String> {
        let reason = self.goroutine.reason.or(self.goroutine.in_c.then_some(IN_C))?;
        Some(format!("{reason}{}", if self.is_durable { " (durable)" } else { "" }))
    }

    fn shown_labels(&self) -> Option<String> {
        let labels: Vec<String> =
            self.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        (!labels.is_empty()).then(|| labels.join(" "))
    }

    /// What it waits for beside the reason, in words.
    fn shown_awaited(&self) -> Option<String> {
        let channel = self.goroutine.channel.map(|at| match self.goroutine.channels.len() {
            0 => format!("channel {at:x}"),
            count => format!("{count} channels: {}", self.goroutine.shown_channels()),
        });
        let sleeps = self.sleeps_until.map(|until| format!("until {}", seconds(until)));
        let io = self.io.map(|io| io.to_string());
        channel.or(sleeps).or(io).or_else(|| {
            let it = self.semaphore?;
            let left = it.not_done.map(|left| format!(", {left} not done")).unwrap_or_default();
            Some(format!("{} {:x}{left}", it.kind, it.at))
        })
    }

    /// The minutes, as Go shows them from one on.
    fn shown_minutes(&self) -> Option<String> {
        let minutes = self.waits_for? / 60;
        let least = if self.is_exact { "" } else { "at least " };
        (minutes > 0).then(|| format!("{least}{minutes} minutes"))
    }
}

const COLUMNS: &[Column] = &[
    Column::right("id", "GOROUTINE", 9),
    Column::left("state", "STATE", 9),
    Column::left("shown_reason", "REASON", 24),
    Column::right("shown_thread", "THREAD", 7),
    Column::left("shown_entry", "ENTRY", 32),
    Column::left("shown_creator", "CREATED BY", 0),
];

impl Record for GoroutineRecord {
    fn kind(&self) -> &'static str {
        "goroutine"
    }

    fn view(&self) -> View {
        if !self.whole {
            return View::Table(COLUMNS);
        }
        View::Line(
            "goroutine {id}: {state}{reason?, {reason}}{shown_awaited?, {shown_awaited}}\
             {shown_minutes?, {shown_minutes}}{shown_in_c?, {shown_in_c}}{thread?, on thread {thread}}{shown_locked?, {shown_locked}}\n\
             \x20   entry: {shown_entry}\
             {function?\n    created by: {function}{parent?, goroutine {parent}}{created_at?, {created_at}}}\n\
             {shown_signal?\x20   panics for: {shown_signal}\n}\
             {labels?\x20   labels: {labels}\n}\
             \x20   g: {g:x}, stack: {stack}, in {module}",
        )
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let goroutine = &self.goroutine;
        let creator = self.creator.as_ref();
        let stack = goroutine.stack;
        let channels = goroutine.channels.iter().copied();
        let text = |text: Option<&str>| Cell::text(text.unwrap_or_default().to_owned());
        let thread = self.thread.map(|thread| thread.to_string());
        // The runtime keeps the signal of a fault even after the program recovered from it.
        let signal = goroutine.signal.filter(|_| goroutine.panic.is_some());
        out.num("id", goroutine.id)
            .addr("g", goroutine.at)
            .text("state", goroutine.state.as_str())
            .opt_text("reason", goroutine.reason)
            .addr("channel", goroutine.channel)
            .put("channels", Cell::List(channels.map(Cell::Addr).collect()))
            .addr("semaphore", self.semaphore.map(|semaphore| semaphore.at))
            .opt_text("semaphore_kind", self.semaphore.map(|semaphore| semaphore.kind))
            .num("not_done", self.semaphore.and_then(|semaphore| semaphore.not_done))
            .num("fd", self.io.map(|io| io.descriptor))
            .opt_text("fd_side", self.io.map(AwaitedIo::side))
            .num("sleeps_until", self.sleeps_until)
            .num("waits_since", goroutine.since)
            .num("waits_seconds", self.waits_for)
            .flag("in_c", goroutine.in_c)
            .num("thread", self.thread)
            .put("locked", Cell::Bool(goroutine.locked))
            .addr("entry", goroutine.start)
            .opt_text("entry_function", self.entry.as_deref())
            .num("parent", goroutine.parent)
            .opt_text("function", self.creator())
            .opt_text("file", creator.and_then(|creator| creator.file.as_deref()))
            .num("line", creator.and_then(|creator| creator.line).map(u64::from))
            .addr("stack_start", stack.start)
            .addr("stack_end", stack.end)
            .num("signal", signal.map(|signal| u64::from(signal.number)))
            .addr("signal_address", signal.map(|signal| signal.address))
            .addr("signal_pc", signal.map(|signal| signal.pc))
            .opt_text("labels", self.shown_labels())
            .text("module", &*self.module)
            .display("stack", Cell::text(format!("{:x}-{:x}", stack.start, stack.end)))
            .display("shown_reason", Cell::or_null(self.shown_reason(), Cell::text))
            .display("shown_signal", Cell::or_null(signal.map(shown_signal), Cell::text))
            .display("shown_in_c", Cell::or_null(goroutine.in_c.then_some(IN_C), Cell::text))
            .display("shown_awaited", Cell::or_null(self.shown_awaited(), Cell::text))
            .display("shown_minutes", Cell::or_null(self.shown_minutes(), Cell::text))
            .display("shown_thread", text(thread.as_deref()))
            .display("shown_entry", text(self.entry.as_deref()))
            .display("shown_creator", text(self.creator()))
            .display(
                "created_at",
                Cell::or_null(creator.and_then(GoroutinePlace::shown), Cell::text),
            )
            .display(
                "shown_locked",
                Cell::or_null(goroutine.locked.then_some("locked to its thread"), Cell::text),
            );
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Task(id(&self.goroutine)))
    }
}
