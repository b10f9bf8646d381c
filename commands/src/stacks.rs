//! `::stacks`: the unique stacks of all threads, coroutines and green threads, most common first.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use kcore::{Addr, Core, StackGroup, Task, TaskId, ThreadFacts, Tid};
use kcore_dcmd::{
    AddrUse, Args, Cell, Column, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec,
    View,
};

use crate::{
    element::Element,
    frame_line::{FrameLine, Layout},
    names::Names,
    stack_filter::StackFilter,
    stack_record::StackEnd,
    stack_start::{StackStart, known_task},
    thread_operand::thread_of_dot,
};

/// Frames of a stack that are compared and shown, as in MDB.
const MAX_FRAMES: usize = 254;

/// Groups threads that have the same stack.
pub struct Stacks;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "one row for each thread of a group" },
    Opt { flag: 'f', value: None, help: "recompute; they always are" },
    Opt { flag: 'i', value: None, help: "interesting threads: those that wait in no system call" },
    Opt { flag: 'v', value: None, help: "say how many stacks and threads there are" },
    Opt { flag: 'c', value: Some("func[+off]"), help: "only stacks that contain this function" },
    Opt { flag: 'C', value: Some("func[+off]"), help: "only stacks that do not" },
    Opt { flag: 'L', value: None, help: "threads alone: no coroutines or green threads" },
    Opt { flag: 'm', value: Some("module"), help: "only stacks with a pc in this module" },
    Opt { flag: 'M', value: Some("module"), help: "only stacks without" },
    Opt { flag: 's', value: Some("call"), help: "only threads that wait in this system call; ALL" },
    Opt { flag: 'S', value: Some("call"), help: "only threads that do not" },
    Opt { flag: 't', value: Some("state"), help: "only threads in this state: SLEEP or RUN" },
    Opt { flag: 'T', value: Some("state"), help: "only threads that are not" },
];

const HELP: &str = "\
Threads are grouped that have the same pcs and wait in the same system call, and with them coroutines and \
green threads that no thread runs, by their ids in hexadecimal (-L leaves these out); the largest group \
comes first. SOBJ is the system call that a thread waits in, by the instruction before its pc; restart_syscall \
is one that goes on after a stop, where the code does not tell which. STATE \
follows from it, as the star says: a core does not hold the state of a thread. Of a live process it is \
the letter that the system had for it right before it was stopped. With an address, or \
fed by a pipe: only the group of that thread, or only those threads. Into a pipe go the ids of all \
threads that are shown, so that filters chain. A stack is shown down to its 254th frame.";

const EXAMPLES: &[Example] = &[
    Example { line: "::stacks", shows: "every stack once, with the number of its threads" },
    Example { line: "::stacks -c main", shows: "stacks in which main takes part" },
    Example { line: "::stacks -s futex | ::stack", shows: "the stack of each thread on a futex" },
];

impl Dcmd for Stacks {
    fn spec(&self) -> Spec {
        Spec::new("stacks", Group::Stacks, "print the unique stacks of all threads")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
            .takes_list()
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let filter = StackFilter::new(cx, args)?;
        let (tids, tasks) = holders_of(cx, args.has('L'))?;
        let mut groups = core.stack_groups(&tids, &tasks, MAX_FRAMES);
        if let (Some(wanted), None) = (cx.addr(), &cx.input().list) {
            retain(cx, &mut groups, wanted)?;
        }
        let before = groups.len();
        groups.retain(|group| filter.admits(core, group));
        if groups.is_empty() && before > 0 {
            cx.note("no thread passes what was asked for")?;
        }
        sort(core, &mut groups);
        if args.has('v') {
            cx.note(&counted(&groups))?;
        }
        groups.iter().try_for_each(|group| show(cx, group, args.has('a')))
    }
}

/// The threads and tasks that take part: those of the pipe, else all of them.
fn holders_of(cx: &Cx<'_>, threads_alone: bool) -> Result<(Vec<Tid>, Vec<Arc<Task>>)> {
    let core = cx.core();
    let Some(list) = &cx.input().list else {
        let tasks = if threads_alone { &[] } else { core.tasks() };
        return Ok((core.tids(), tasks.to_vec()));
    };
    let (mut tids, mut tasks) = (Vec::new(), Vec::new());
    for value in list {
        match value.dot {
            Dot::Task(id) => tasks.push(known_task(core, id)?.clone()),
            dot => tids.push(thread_of_dot(cx, dot)?),
        }
    }
    // The stack of a task that runs is that of its thread.
    tids.extend(tasks.iter().filter_map(|task| task.thread));
    // Frames of one thread are one thread.
    let mut seen = HashSet::new();
    tids.retain(|tid| seen.insert(*tid));
    Ok((tids, tasks))
}

/// Leaves the group alone that the wanted thread or task is in.
fn retain(cx: &Cx<'_>, groups: &mut Vec<StackGroup>, wanted: Dot) -> Result<()> {
    match StackStart::of(cx)? {
        StackStart::Task(task) if task.thread.is_none() => {
            groups.retain(|group| group.tasks.iter().any(|own| own.id == task.id));
        }
        _ => {
            let tid = thread_of_dot(cx, wanted)?;
            groups.retain(|group| group.tids.contains(&tid));
        }
    }
    Ok(())
}

/// How many stacks, threads and tasks there are.
fn counted(groups: &[StackGroup]) -> String {
    let threads: usize = groups.iter().map(|group| group.tids.len()).sum();
    let tasks: usize = groups.iter().map(|group| group.tasks.len()).sum();
    let counted = format!("{} unique stacks / {threads} threads", groups.len());
    if tasks > 0 { format!("{counted} / {tasks} suspended tasks") } else { counted }
}

/// By count, the largest first; then by the names of the frames.
fn sort(core: &Core, groups: &mut [StackGroup]) {
    groups.sort_by_cached_key(|group| {
        let named = core.named_frames(&group.stack);
        let names: Vec<_> = named.map(|frame| frame.location.function.clone()).collect();
        (std::cmp::Reverse(group.count()), state(core, group), names)
    });
}

fn show(cx: &mut Cx<'_>, group: &StackGroup, each: bool) -> Result<()> {
    if cx.input().pipe_out {
        let tasks = group.tasks.iter().map(|task| Dot::Task(TaskId::of(task)));
        let mut dots = group.tids.iter().map(|tid| Dot::Thread(*tid)).chain(tasks);
        return dots.try_for_each(|dot| cx.emit(&Element::from(dot)));
    }
    let core = cx.core();
    let named = !core.runtimes().is_empty()
        || !core.task_runtimes().is_empty()
        || core.live_facts().is_some();
    let names = if named { names_of(core, group) } else { Vec::new() };
    let begin = GroupBegin {
        state: state(core, group),
        live_states: live_states(core, group),
        group,
        each,
        named,
        names,
        instant: core.instant(),
        show_sp: cx.shell().settings().show_stack_pointer,
        show_state: cx.shell().settings().show_state,
        threads: group.tids.iter().map(|tid| Member::of(core, *tid)).collect(),
    };
    cx.begin(&begin, "frames")?;
    let names = Names::new(cx);
    for frame in core.named_frames(&group.stack) {
        cx.emit(&FrameLine::new(&names, group.first(), frame, Layout::Indented))?;
    }
    cx.end(&StackEnd::new(core, &group.stack, Layout::Indented))
}

/// The state that follows from the system call, with the star that says so; `None` where the code
/// is not there to tell whether it is one.
pub fn state(core: &Core, group: &StackGroup) -> Option<&'static str> {
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

/// What runtimes, or the system, call the threads of a group, each name once.
fn names_of(core: &Core, group: &StackGroup) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    let threads = group.tids.iter().filter_map(|tid| core.thread_facts(*tid).name);
    let tasks = group.tasks.iter().filter_map(|task| task.name.clone());
    for name in threads.chain(tasks) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The first row of a group.
struct GroupBegin<'a> {
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

/// A thread of a group.
struct Member {
    tid: Tid,
    facts: ThreadFacts,
    sp: Option<Addr>,
}

impl Member {
    fn of(core: &Core, tid: Tid) -> Self {
        Self { tid, facts: core.thread_facts(tid), sp: core.stack_pointer(tid) }
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
            .display("shown_names", Cell::text(self.names.join(", ")))
            .display("shown_state", Cell::text(self.shown_state()))
            .display("shown_sp", Cell::text(self.shown_sp()))
            .display("shown_wait", Cell::text(waits_in.unwrap_or(no_wait)));
    }
}

impl GroupBegin<'_> {
    /// The first thread, or task, of the group; all of them where each is to be shown.
    fn shown_holders(&self) -> String {
        let tids = self.group.tids.iter().map(Tid::to_string);
        let tasks = self.group.tasks.iter().map(|task| format!("{:x}", task.id));
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
