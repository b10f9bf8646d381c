//! The records of a coroutine, and of coroutines that are alike.

use std::sync::Arc;

use kcore::coroutine::{AwaitedBy, Coroutine};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use super::subject::dot;
use crate::{short_text::short, tasks::with_doubt};

/// A coroutine in a table.
pub struct CoroutineRecord<'c>(pub &'c Coroutine);

/// Widths of columns.
const PLACE: usize = 20;
const AWAITS: usize = 24;

const COLUMNS: &[Column] = &[
    Column::right("address", "FRAME", 12),
    Column::left("state", "STATE", 11),
    Column::right("thread", "THREAD", 7),
    Column::left("place", "AT", PLACE),
    Column::left("shown_awaits", "AWAITS", AWAITS),
    Column::left("shown_by", "AWAITED BY", 13),
    Column::left("shown_function", "FUNCTION", 0),
];

/// The last part of a path, and a line.
fn place(file: Option<&str>, line: Option<u32>) -> Option<String> {
    let file = file?.rsplit('/').next()?;
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    Some(format!("{file}{line}"))
}

fn placed(file: Option<&str>, line: Option<u32>) -> Cell<'static> {
    Cell::or_null(place(file, line), |place| Cell::text(short(&place, PLACE)))
}

fn shown_by(by: AwaitedBy) -> String {
    format!("{:x}{}", by.at.get(), if by.is_guess { "?" } else { "" })
}

impl Record for CoroutineRecord<'_> {
    fn kind(&self) -> &'static str {
        "coroutine"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let one = self.0;
        let by = one.awaited_by;
        out.addr("address", one.at)
            .text("function", &*one.function)
            .text("state", one.state.as_str())
            .num("thread", one.thread.map(|tid| u64::from(tid.get())))
            .opt_text("file", one.file.as_deref())
            .num("line", one.line.map(u64::from))
            .num("index", one.index)
            .addr("promise", one.promise)
            .opt_text("promise_type", one.promise_type.as_deref())
            .opt_text("frame_type", one.frame_type.as_deref())
            .num("size", one.size)
            .opt_text("awaits", one.awaits.as_deref())
            .addr("awaited_by", by.map(|by| by.at))
            .flag("is_guess", by.is_some_and(|by| by.is_guess))
            .flag("is_leaf", one.is_leaf)
            .opt_text("doubt", one.doubt)
            .display("shown_function", with_doubt(Some(&*one.function), one.doubt_of_state()))
            .display("place", placed(one.file.as_deref(), one.line))
            .display(
                "shown_awaits",
                Cell::or_null(one.awaits.as_deref(), |text| Cell::text(short(text, AWAITS))),
            )
            .display("shown_by", Cell::or_null(by.map(shown_by), Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        Some(dot(self.0))
    }
}

/// Coroutines that are alike.
pub struct CoroutineGroup<'c> {
    /// How many there are.
    pub count: u64,
    /// One of them.
    pub first: &'c Coroutine,
}

/// What those that are alike have in common.
pub type Likeness = (Arc<str>, &'static str, Option<Arc<str>>, Option<u32>, Option<Arc<str>>);

/// What a coroutine has in common with those that are like it.
pub fn likeness(one: &Coroutine) -> Likeness {
    let (function, file, awaits) = (one.function.clone(), one.file.clone(), one.awaits.clone());
    (function, one.state.as_str(), file, one.line, awaits)
}

const GROUP_COLUMNS: &[Column] = &[
    Column::right("count", "COUNT", 7),
    Column::left("state", "STATE", 11),
    Column::left("place", "AT", PLACE),
    Column::left("shown_awaits", "AWAITS", AWAITS),
    Column::right("first", "FIRST", 12),
    Column::left("function", "FUNCTION", 0),
];

impl Record for CoroutineGroup<'_> {
    fn kind(&self) -> &'static str {
        "coroutine_group"
    }

    fn view(&self) -> View {
        View::Table(GROUP_COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let first = self.first;
        out.num("count", self.count)
            .text("function", &*first.function)
            .text("state", first.state.as_str())
            .opt_text("file", first.file.as_deref())
            .num("line", first.line.map(u64::from))
            .opt_text("awaits", first.awaits.as_deref())
            .addr("first", first.at)
            .display("place", placed(first.file.as_deref(), first.line))
            .display(
                "shown_awaits",
                Cell::or_null(first.awaits.as_deref(), |text| Cell::text(short(text, AWAITS))),
            );
    }

    fn dot(&self) -> Option<Dot> {
        Some(dot(self.first))
    }
}
