//! Processes of Erlang that do the same.

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use kcore::erlang::{Erlang, ErlangProcess, ErlangState};
use kcore_dcmd::{Column, Cx, Dot, Fields, Record, Result, View};

use super::subject;

/// Processes between two looks at the clock.
const EVERY: usize = 1024;

/// Processes with the same state and functions.
struct Alike {
    state: ErlangState,
    current: Option<Arc<str>>,
    initial: Option<Arc<str>>,
    count: u64,
    messages: u64,
    first: ErlangProcess,
}

/// Shows processes grouped by state and functions, most common first.
pub fn show(cx: &mut Cx<'_>, erlang: &Erlang, processes: &[&ErlangProcess]) -> Result<()> {
    let core = cx.core().clone();
    let mut found: HashMap<_, Alike> = HashMap::new();
    for (index, process) in processes.iter().enumerate() {
        if index.is_multiple_of(EVERY) {
            cx.check_interrupt()?;
        }
        let current = subject::current(&core, erlang, process).and_then(|name| name.ok());
        let initial = process.initial.and_then(|mfa| erlang.function_name(core.as_ref(), mfa).ok());
        let key = (process.state, current.clone(), initial.clone());
        let alike = found.entry(key).or_insert_with(|| Alike {
            state: process.state,
            current,
            initial,
            count: 0,
            messages: 0,
            first: **process,
        });
        alike.count = alike.count.saturating_add(1);
        alike.messages = alike.messages.saturating_add(process.messages);
    }
    let mut all: Vec<Alike> = found.into_values().collect();
    all.sort_by_key(|alike| (Reverse(alike.count), alike.first.pid));
    all.iter().try_for_each(|alike| cx.emit(alike))
}

const COLUMNS: &[Column] = &[
    Column::right("count", "COUNT", 7),
    Column::left("state", "STATE", 9),
    Column::right("messages", "QUEUE", 7),
    Column::right("first", "FIRST", 12),
    Column::left("current", "CURRENT", 32),
    Column::left("initial", "INITIAL", 0),
];

impl Record for Alike {
    fn kind(&self) -> &'static str {
        "erlang_process_group"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        out.num("count", self.count)
            .text("state", self.state.as_str())
            .num("messages", self.messages)
            .text("first", self.first.pid.to_string())
            .opt_text("current", self.current.as_deref())
            .opt_text("initial", self.initial.as_deref());
    }

    fn dot(&self) -> Option<Dot> {
        Some(subject::dot(&self.first))
    }
}
