//! The record of threads that have the same stack.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use kcore::{Addr, Core, StackGroup, ThreadFacts, Tid};

use crate::{Cell, Column, Fields, Record, Settings, View};

/// Frames of a stack that are compared and shown, as in MDB.
pub const MAX_GROUP_FRAMES: usize = 254;

/// Sorts groups: by count, the largest first; then by the names of the frames.
pub fn sort_groups(core: &Core, groups: &mut [StackGroup]) {
    groups.sort_by_cached_key(|group| {
        let named = core.stacks().named_frames(&group.stack);
        let names: Vec<_> = named.map(|frame| frame.location.function.clone()).collect();
        (std::cmp::Reverse(group.count()), state_of_group(core, group), names)
    });
}

/// The state of a group that follows from the system call, with the star that says so; `None` where the code
/// is not there to tell whether it is one.
pub fn state_of_group(core: &Core, group: &StackGroup) -> Option<&'static str> {
    match group.waits_in {
        Some(_) => Some("SLEEP*"),
        None => core.has_code_at_pc(group.first()?).then_some("RUN*"),
    }
}

/// The letters of the states of the threads of a group, each once, as the system told of them when
/// the process was live.
fn live_states(core: &Core, group: &StackGroup) -> Option<String> {
    let live = |tid: &Tid| core.thread(*tid)?.live.as_ref()?.state;
    let letters: BTreeSet<char> = group.tids.iter().filter_map(live).collect();
    (!letters.is_empty()).then(|| letters.into_iter().collect())
}

/// Names of one group that text shows: a million virtual threads may do the same.
const SHOWN_NAMES: usize = 32;

/// Names as text shows them.
fn shown_names(names: &[Arc<str>]) -> String {
    let (shown, left) = names.split_at_checked(SHOWN_NAMES).unwrap_or((names, &[]));
    match left.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// What runtimes, or the system, call the threads of a group, each name once.
fn names_of(core: &Core, group: &StackGroup) -> Vec<Arc<str>> {
    let mut seen = HashSet::new();
    let threads = group.tids.iter().filter_map(|tid| core.thread_facts(*tid).name);
    let tasks = group.tasks.iter().filter_map(|task| task.name.clone());
    threads.chain(tasks).filter(|name| seen.insert(name.clone())).collect()
}

/// The first row of a group.
pub struct GroupBegin<'a> {
    state: Option<&'static str>,
    /// The letters of the states that the system told of, of a live process.
    live_states: Option<String>,
    group: &'a StackGroup,
    each: bool,
    /// Whether a runtime or the system may name threads.
    named: bool,
    names: Vec<Arc<str>>,
    instant: &'static str,
    show_sp: bool,
    show_state: bool,
    threads: Vec<Member>,
}

impl<'a> GroupBegin<'a> {
    /// The row of a group, which names its first thread.
    pub fn new(core: &Core, group: &'a StackGroup) -> Self {
        let named = !core.runtimes().is_empty()
            || !core.tasks().runtimes().is_empty()
            || core.snapshot().facts().is_some();
        Self {
            state: state_of_group(core, group),
            live_states: live_states(core, group),
            group,
            each: false,
            named,
            names: if named { names_of(core, group) } else { Vec::new() },
            instant: core.snapshot().instant(),
            show_sp: false,
            show_state: false,
            threads: group.tids.iter().map(|tid| Member::of(core, *tid)).collect(),
        }
    }

    /// The same, which names all threads or the first one.
    #[must_use]
    pub fn each(self, each: bool) -> Self {
        Self { each, ..self }
    }

    /// The same with what the user wants to be told of every thread.
    #[must_use]
    pub fn showing(self, settings: &Settings) -> Self {
        let (show_sp, show_state) = (settings.show_stack_pointer, settings.show_state);
        Self { show_sp, show_state, ..self }
    }
}

/// A thread of a group.
struct Member {
    tid: Tid,
    facts: ThreadFacts,
    sp: Option<Addr>,
}

impl Member {
    fn of(core: &Core, tid: Tid) -> Self {
        Self { tid, facts: core.thread_facts(tid), sp: core.registers().stack_pointer(tid) }
    }

    fn cell(&self) -> Cell<'_> {
        Cell::Object(vec![
            ("tid", Cell::Num(u64::from(self.tid.get()))),
            ("name", Cell::or_null(self.facts.name.as_deref(), Cell::text)),
            ("state", Cell::or_null(self.facts.state.as_deref(), Cell::text)),
            ("sp", Cell::or_null(self.sp, Cell::Addr)),
        ])
    }
}

const COLUMNS: &[Column] = &[
    Column::left("thread", "THREAD", 16),
    Column::left("shown_state", "STATE", 8),
    Column::left("shown_wait", "SOBJ", 16),
    Column::right("count", "COUNT", 8),
];

/// The same where threads have names.
const COLUMNS_WITH_NAMES: &[Column] = &[
    Column::left("thread", "THREAD", 16),
    Column::left("shown_state", "STATE", 8),
    Column::left("shown_wait", "SOBJ", 16),
    Column::right("count", "COUNT", 8),
    Column::left("shown_names", "NAME", 0),
];

/// The same with the stack pointers of the threads that are named.
const COLUMNS_WITH_SP: &[Column] = &[
    Column::left("thread", "THREAD", 16),
    Column::left("shown_state", "STATE", 8),
    Column::left("shown_wait", "SOBJ", 16),
    Column::right("count", "COUNT", 8),
    Column::left("shown_sp", "RSP", 16),
    Column::left("shown_names", "NAME", 0),
];

impl GroupBegin<'_> {
    /// The threads that are named: one, or each of them.
    fn named_threads(&self) -> &[Member] {
        if self.each { &self.threads } else { self.threads.get(..1).unwrap_or_default() }
    }

    /// The states of the threads that are named, if the user wants each; else those of the group, each
    /// once.
    fn shown_state(&self) -> String {
        if !self.show_state || self.threads.is_empty() {
            let state = self.live_states.clone().or(self.state.map(str::to_owned));
            return state.or_else(|| self.task_states()).unwrap_or_else(|| "-".to_owned());
        }
        let state = |thread: &Member| {
            thread.facts.state.as_deref().or(self.state).unwrap_or("-").to_owned()
        };
        self.named_threads().iter().map(state).collect::<Vec<_>>().join(" ")
    }

    fn shown_sp(&self) -> String {
        let sp = |thread: &Member| {
            thread.sp.map_or_else(|| "-".to_owned(), |sp| format!("{:x}", sp.get()))
        };
        self.named_threads().iter().map(sp).collect::<Vec<_>>().join(" ")
    }
}

impl Record for GroupBegin<'_> {
    fn kind(&self) -> &'static str {
        "stack_group"
    }

    fn view(&self) -> View {
        View::Table(match (self.show_sp, self.named) {
            (true, _) => COLUMNS_WITH_SP,
            (false, true) => COLUMNS_WITH_NAMES,
            (false, false) => COLUMNS,
        })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let tids = self.group.tids.iter().map(|tid| Cell::Num(u64::from(tid.get())));
        let names = self.names.iter().map(|name| Cell::text(&**name));
        let ids = self.group.tasks.iter().map(|task| Cell::Hex(task.id));
        let shown = self.shown_holders();
        let waits_in = self.group.waits_in.as_deref();
        let no_wait = if self.state.is_some() { "<none>" } else { "-" };
        out.num("count", self.group.count() as u64)
            .put("tids", Cell::List(tids.collect()))
            .put("tasks", Cell::List(ids.collect()))
            .put("names", Cell::List(names.collect()))
            .put("threads", Cell::List(self.threads.iter().map(Member::cell).collect()))
            .opt_text("state", self.live_states.as_deref())
            .opt_text("waits_in", waits_in)
            .text("instant", self.instant)
            .display("thread", Cell::text(shown))
            .display("shown_names", Cell::text(shown_names(&self.names)))
            .display("shown_state", Cell::text(self.shown_state()))
            .display("shown_sp", Cell::text(self.shown_sp()))
            .display("shown_wait", Cell::text(waits_in.unwrap_or(no_wait)));
    }
}

impl GroupBegin<'_> {
    /// The first thread, or task, of the group; all of them where each is to be shown.
    fn shown_holders(&self) -> String {
        let tids = self.group.tids.iter().map(Tid::to_string);
        let tasks = self.group.tasks.iter().map(|task| task.shown_id());
        let count = if self.each { usize::MAX } else { 1 };
        tids.chain(tasks).take(count).collect::<Vec<_>>().join(" ")
    }

    /// The states of the tasks of a group without threads, each once.
    fn task_states(&self) -> Option<String> {
        let states: BTreeSet<&str> = self.group.tasks.iter().map(|task| &*task.state).collect();
        let states: Vec<&str> = states.into_iter().collect();
        (!states.is_empty()).then(|| states.join(","))
    }
}
