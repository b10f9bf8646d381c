//! The record of a thread of Java.

use std::sync::Arc;

use kcore::{Core, FrameKind, MAX_FRAMES, NamedFrame, java::JavaThread};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

/// A thread as a row of a table.
pub struct JavaThreadRecord {
    thread: Arc<JavaThread>,
    /// The innermost frame of Java.
    frame: Option<NamedFrame>,
}

impl JavaThreadRecord {
    /// The record of a thread, whose stack is walked.
    pub fn new(core: &Core, thread: Arc<JavaThread>) -> Self {
        let frame = thread.tid.and_then(|tid| {
            let stack = core.stacks().of_thread(tid, MAX_FRAMES);
            core.stacks().named_frames(&stack).find(|frame| frame.location.kind == FrameKind::Java)
        });
        Self { thread, frame }
    }

    fn shown_frame(&self) -> String {
        let Some(frame) = &self.frame else { return String::new() };
        let location = &frame.location;
        let function = location.function.as_deref().unwrap_or("<unknown>");
        match (location.file.as_deref(), location.line) {
            (Some(file), Some(line)) => format!("{function} at {file}:{line}"),
            (Some(file), None) => format!("{function} at {file}"),
            (None, _) => function.to_owned(),
        }
    }
}

const COLUMNS: &[Column] = &[
    Column::right("shown_id", "ID", 4),
    Column::right("shown_thread", "THREAD", 7),
    Column::left("state", "STATE", 13),
    Column::left("activity", "IN", 7),
    Column::left("shown_daemon", "DAEMON", 6),
    Column::left("name", "NAME", 24),
    Column::left("shown_frame", "FRAME", 0),
];

impl Record for JavaThreadRecord {
    fn kind(&self) -> &'static str {
        "java_thread"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let (thread, facts) = (&self.thread, &self.thread.facts);
        let location = self.frame.as_ref().map(|frame| &frame.location);
        let number =
            |number: Option<u64>| Cell::text(number.map_or_else(String::new, |it| it.to_string()));
        let tid = thread.tid.map(|tid| u64::from(tid.get()));
        let daemon = facts.daemon.is_some_and(|daemon| daemon);
        out.num("id", facts.id)
            .num("thread", tid)
            .opt_text("name", facts.name.as_deref())
            .opt_text("state", facts.state.map(|state| state.as_str()))
            .opt_text("activity", thread.activity.map(|activity| activity.as_str()))
            .put("daemon", Cell::or_null(facts.daemon, Cell::Bool))
            .num("priority", facts.priority.map(u64::from))
            .addr("object", thread.object)
            .addr("java_thread", thread.at)
            .addr("blocker", facts.blocker)
            .opt_text("function", location.and_then(|location| location.function.as_deref()))
            .opt_text("file", location.and_then(|location| location.file.as_deref()))
            .num("line", location.and_then(|location| location.line).map(u64::from))
            .display("shown_id", number(facts.id))
            .display("shown_thread", number(tid))
            .display("shown_daemon", Cell::text(if daemon { "daemon" } else { "" }))
            .display("shown_frame", Cell::text(self.shown_frame()));
    }

    fn dot(&self) -> Option<Dot> {
        let thread = &self.thread;
        Some(thread.tid.map_or(Dot::Addr(thread.at), Dot::Thread))
    }
}
