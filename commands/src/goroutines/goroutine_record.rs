//! The record of a goroutine.

use std::sync::Arc;

use kcore::{Addr, CodeAddr, Core, go::Goroutine};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use super::subject::id;

/// A goroutine as a row of a table, or with all details.
pub struct GoroutineRecord {
    goroutine: Arc<Goroutine>,
    /// The thread that runs it.
    thread: Option<u64>,
    entry: Option<Arc<str>>,
    creator: Option<GoroutinePlace>,
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
        let all = core.locations(at);
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
        let thread = core.task(id(&goroutine)).and_then(|task| task.thread);
        let start = Some(goroutine.start).filter(|start| start.get() != 0);
        let function = |at: Addr| core.locations(CodeAddr::Pc(at)).last()?.function.clone();
        Self {
            thread: thread.map(|tid| u64::from(tid.get())),
            entry: start.and_then(function),
            creator: goroutine.creator.map(|at| GoroutinePlace::at(core, at)),
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
            "goroutine {id}: {state}{reason?, {reason}}{channel?, channel {channel:x}}\
             {thread?, on thread {thread}}{shown_locked?, {shown_locked}}\n\
             \x20   entry: {shown_entry}\
             {function?\n    created by: {function}{parent?, goroutine {parent}}{created_at?, {created_at}}}\n\
             \x20   g: {g:x}, stack: {stack}",
        )
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let goroutine = &self.goroutine;
        let creator = self.creator.as_ref();
        let stack = goroutine.stack;
        let text = |text: Option<&str>| Cell::text(text.unwrap_or_default().to_owned());
        let thread = self.thread.map(|thread| thread.to_string());
        out.num("id", goroutine.id)
            .addr("g", goroutine.at)
            .text("state", goroutine.state.as_str())
            .opt_text("reason", goroutine.reason)
            .addr("channel", goroutine.channel)
            .num("waits_since", goroutine.since)
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
            .display("stack", Cell::text(format!("{:x}-{:x}", stack.start, stack.end)))
            .display("shown_reason", text(goroutine.reason))
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
