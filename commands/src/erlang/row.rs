//! The record of a process of Erlang.

use std::sync::Arc;

use kcore::{
    Core,
    erlang::{Erlang, ErlangProcess, Missing},
};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use super::{missing, subject};

/// A name, or why it cannot be read.
type Name = Result<Arc<str>, Missing>;

/// A process in a table.
pub struct ProcessRecord {
    process: ErlangProcess,
    pid: String,
    registered: Option<Name>,
    current: Option<Name>,
    initial: Option<Name>,
    file: Option<Arc<str>>,
    line: Option<u32>,
}

impl ProcessRecord {
    /// A row of a table.
    pub fn new(core: &Core, erlang: &Erlang, process: ErlangProcess) -> Self {
        let place = erlang.current(core, &process).filter(|_| process.thread.is_none());
        Self {
            process,
            pid: process.pid.to_string(),
            registered: process.registered.map(|name| erlang.atom(core, name)),
            current: subject::current(core, erlang, &process),
            initial: process.initial.map(|mfa| erlang.function_name(core, mfa)),
            file: place.as_ref().filter(|it| it.line.is_some()).and_then(|it| it.file.clone()),
            line: place.and_then(|place| place.line),
        }
    }

    /// Why the name of a function or process could not be read; `None` where all names were.
    pub fn missing(&self) -> Option<Missing> {
        let names = [&self.registered, &self.current, &self.initial].into_iter().flatten();
        names.filter_map(|name| name.as_ref().err().copied()).min()
    }
}

fn known(name: &Option<Name>) -> Option<&str> {
    name.as_ref().and_then(|name| name.as_deref().ok())
}

fn shown(name: &Option<Name>) -> Cell<'_> {
    name.as_ref().map_or(Cell::Null, missing::cell)
}

const COLUMNS: &[Column] = &[
    Column::right("pid", "PID", 12),
    Column::left("shown_name", "NAME", 20),
    Column::left("state", "STATE", 9),
    Column::right("thread", "THREAD", 7),
    Column::right("messages", "QUEUE", 6),
    Column::right("reductions", "REDUCTIONS", 11),
    Column::right("heap_bytes", "HEAP", 10),
    Column::left("shown_current", "CURRENT", 28),
    Column::left("shown_initial", "INITIAL", 0),
];

impl Record for ProcessRecord {
    fn kind(&self) -> &'static str {
        "erlang_process"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let process = &self.process;
        out.text("pid", self.pid.as_str())
            .addr("address", process.at)
            .opt_text("registered", known(&self.registered))
            .display("shown_name", shown(&self.registered))
            .text("state", process.state.as_str())
            .num("thread", process.thread.map(|tid| u64::from(tid.get())))
            .num("messages", process.messages)
            .flag("messages_cut", process.is_cut)
            .put("timeout", Cell::Bool(process.has_timeout))
            .num("reductions", process.reductions)
            .num("heap_bytes", process.heap_bytes)
            .opt_text("current", known(&self.current))
            .display("shown_current", shown(&self.current))
            .opt_text("file", self.file.as_deref())
            .num("line", self.line.map(u64::from))
            .opt_text("initial", known(&self.initial))
            .display("shown_initial", shown(&self.initial))
            .opt_text("missing", self.missing().map(Missing::as_str))
            .opt_text("parent", process.parent.map(|pid| pid.to_string()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(subject::dot(&self.process))
    }
}
