//! The records of a task, and of tasks that are alike.

use std::sync::Arc;

use kcore::{
    Addr, CodeAddr, Core, Task, TaskId, TaskStart,
    coroutine::{self, Coroutines},
    tokio::Deadline,
};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use crate::{
    goroutines::{goroutine_record::entry, subject},
    short_text::short,
    until::until_text,
};

/// A task in a table.
pub struct TaskRecord {
    task: Arc<Task>,
    function: Option<Arc<str>>,
    doubt: Option<&'static str>,
    until: Option<String>,
}

impl TaskRecord {
    /// A row of a table.
    pub fn new(core: &Core, task: &Arc<Task>) -> Self {
        Self {
            task: task.clone(),
            function: function(core, task),
            doubt: doubt(core, task),
            until: task.until.map(|until| until_text(core, until)),
        }
    }
}

/// Why it is not certain that a task is there, or what it does.
fn doubt(core: &Core, task: &Task) -> Option<&'static str> {
    let is_coroutine = task.runtime == coroutine::NAME;
    let mut found = is_coroutine.then(|| core.tasks().runtimes().of::<Coroutines>())?;
    found.find_map(|found| found.at(core, Addr::new(task.id))?.doubt_of_state())
}

/// The function that a task began with, or the name that it has.
pub fn function(core: &Core, task: &Task) -> Option<Arc<str>> {
    let symbol = || Some(core.symbols().at(CodeAddr::Pc(task.entry?).lookup())?.name);
    task.name.clone().or_else(|| go_entry(core, task)).or_else(symbol)
}

/// The function that a goroutine began with, as `::goroutines` shows it: not the wrapper around it.
fn go_entry(core: &Core, task: &Task) -> Option<Arc<str>> {
    if task.runtime != GO {
        return None;
    }
    let schedulers = subject::schedulers(core).ok()?.into_iter();
    let mut found = schedulers.filter_map(|go| {
        let goroutine = go.goroutines(core).numbered(task.id)?;
        Some((go, goroutine)).filter(|(_, goroutine)| goroutine.task == task.id)
    });
    let (go, goroutine) = found.next()?;
    entry(core, Some(go), &goroutine)
}

const GO: &str = "go";

/// What stands before a number that tells one wait from another: `select of 3 channels`, `IO wait fd 7 read`.
const BEFORE_NUMBERS: [&str; 2] = [" of", " fd"];

/// What a task waits for, without which one it is: the words before the first that has a digit.
pub fn kind_of_wait(task: &Task) -> Option<String> {
    let waits_on = task.waits_on.as_deref()?;
    let mut words =
        waits_on.split(' ').take_while(|word| !word.contains(|c: char| c.is_ascii_digit()));
    let first = words.next().map_or_else(|| waits_on.to_owned(), str::to_owned);
    let kind = words.fold(first, |all, word| format!("{all} {word}"));
    let cut = BEFORE_NUMBERS.iter().find_map(|before| kind.strip_suffix(before));
    Some(cut.map_or(kind.clone(), str::to_owned))
}

/// A function, and why it is not certain that it is one.
pub fn with_doubt<'c>(function: Option<&str>, doubt: Option<&str>) -> Cell<'c> {
    let doubt = doubt.map(|doubt| format!(" [{doubt}]")).unwrap_or_default();
    Cell::or_null(function, |function| Cell::text(format!("{function}{doubt}")))
}

/// The width of a column.
const WAITS: usize = 40;

const COLUMNS: &[Column] = &[
    Column::left("runtime", "RUNTIME", 9),
    Column::right("shown_id", "TASK", 16),
    Column::left("state", "STATE", 10),
    Column::right("thread", "THREAD", 7),
    Column::left("shown_waits", "WAITS", WAITS),
    Column::right("shown_until", "UNTIL", 10),
    Column::left("shown_function", "FUNCTION", 0),
];

impl Record for TaskRecord {
    fn kind(&self) -> &'static str {
        "task"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let task = &self.task;
        out.text("runtime", task.runtime)
            .hex("id", task.id)
            .text("shown_id", task.shown_id())
            .text("state", &*task.state)
            .num("thread", task.thread.map(|tid| u64::from(tid.get())))
            .opt_text("waits_on", task.waits_on.as_deref())
            .num("until", task.until.and_then(Deadline::nanos))
            .opt_text("name", task.name.as_deref())
            .addr("entry", task.entry)
            .opt_text("function", self.function.as_deref())
            .opt_text("doubt", self.doubt)
            .display("shown_function", with_doubt(self.function.as_deref(), self.doubt))
            .display("shown_until", Cell::or_null(self.until.as_deref(), Cell::text))
            .display(
                "shown_waits",
                Cell::or_null(task.waits_on.as_deref(), |text| Cell::text(short(text, WAITS))),
            );
    }

    fn dot(&self) -> Option<Dot> {
        let runs = matches!(self.task.start, TaskStart::Running);
        Some(match self.task.thread.filter(|_| runs) {
            Some(thread) => Dot::Thread(thread),
            None => Dot::Task(TaskId::of(&self.task)),
        })
    }
}

/// Tasks that are alike.
pub struct TaskGroup {
    /// How many there are.
    pub count: u64,
    /// Their runtime.
    pub runtime: &'static str,
    /// Their state.
    pub state: String,
    /// What kind of thing they wait for.
    pub waits_for: Option<String>,
    /// Their function.
    pub function: Option<Arc<str>>,
    /// One of them.
    pub first: Arc<Task>,
}

const GROUP_COLUMNS: &[Column] = &[
    Column::right("count", "COUNT", 7),
    Column::left("runtime", "RUNTIME", 9),
    Column::left("state", "STATE", 10),
    Column::left("waits_for", "WAITS", 20),
    Column::right("first", "FIRST", 16),
    Column::left("function", "FUNCTION", 0),
];

impl Record for TaskGroup {
    fn kind(&self) -> &'static str {
        "task_group"
    }

    fn view(&self) -> View {
        View::Table(GROUP_COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        out.num("count", self.count)
            .text("runtime", self.runtime)
            .text("state", self.state.as_str())
            .opt_text("waits_for", self.waits_for.as_deref())
            .opt_text("function", self.function.as_deref())
            .hex("first_id", self.first.id)
            .display("first", Cell::text(self.first.shown_id()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Task(TaskId::of(&self.first)))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn kind(waits_on: &str) -> Option<String> {
        kind_of_wait(&Task {
            runtime: "made",
            id: 1,
            name: None,
            state: Cow::Borrowed("suspended"),
            waits_on: Some(waits_on.into()),
            until: None,
            entry: None,
            thread: None,
            stack: None,
            start: TaskStart::Kept,
        })
    }

    #[test]
    fn the_kind_of_a_wait_has_no_numbers() {
        assert_eq!(kind("timer 12.5").as_deref(), Some("timer"));
        assert_eq!(kind("chan receive").as_deref(), Some("chan receive"));
        assert_eq!(kind("end of bthread 7f01").as_deref(), Some("end of bthread"));
        assert_eq!(kind("select of 3 channels: c1, c2, c3").as_deref(), Some("select"));
        assert_eq!(kind("IO wait fd 7 read").as_deref(), Some("IO wait"));
        assert_eq!(kind("fd 7 read").as_deref(), Some("fd"));
        assert_eq!(kind("7f01").as_deref(), Some("7f01"));
    }
}
