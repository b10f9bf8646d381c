//! `::stacks`: the unique stacks of all threads, coroutines and green threads, most common first.

use std::{collections::HashSet, sync::Arc};

use kcore::{StackGroup, Task, TaskId, Tid};
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, Dot, Example, Group, Opt, Result, Spec,
    stack::{GroupBegin, Layout, MAX_GROUP_FRAMES, StackEnd, sort_groups},
};

use crate::{
    element::Element,
    names::Names,
    stack_filter::StackFilter,
    stack_start::{StackStart, known_task},
    thread_operand::thread_of_dot,
};

/// Groups threads that have the same stack.
pub struct Stacks;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show one row for each thread of a group" },
    Opt { flag: 'f', value: None, help: "recompute the stacks, as ::stacks always does" },
    Opt {
        flag: 'i',
        value: None,
        help: "only interesting threads: those that do not wait in a system call",
    },
    Opt { flag: 'v', value: None, help: "also print the number of stacks and threads" },
    Opt { flag: 'c', value: Some("func[+off]"), help: "only stacks that contain this function" },
    Opt { flag: 'C', value: Some("func[+off]"), help: "only stacks that do not contain it" },
    Opt { flag: 'L', value: None, help: "only threads, without coroutines and green threads" },
    Opt { flag: 'm', value: Some("module"), help: "only stacks with a pc in this module" },
    Opt { flag: 'M', value: Some("module"), help: "only stacks without such a pc" },
    Opt {
        flag: 's',
        value: Some("call"),
        help: "only threads that wait in this system call; ALL means any",
    },
    Opt { flag: 'S', value: Some("call"), help: "only threads that do not wait in it" },
    Opt { flag: 't', value: Some("state"), help: "only threads in this state: SLEEP or RUN" },
    Opt { flag: 'T', value: Some("state"), help: "only threads that are not in this state" },
];

const HELP: &str = "\
A group holds the threads that have the same pcs and wait in the same system call. Coroutines and \
green threads that no thread runs are grouped too, by their ids in hexadecimal; -L leaves them \
out. The largest group comes first. A stack is shown down to its 254th frame.

SOBJ is the system call that a thread waits in. kcore reads it from the instruction before the \
pc. restart_syscall stands for a call that the kernel restarted after a stop, if the code does \
not show which call it is.

STATE follows from SOBJ, as the star says, because a core does not hold the state of a thread. \
For a live process it is the letter that the system showed right before the process was stopped.

With an address, only the group of that thread is shown. After a pipe, only the threads of the \
pipe are shown. ::stacks passes the ids of all threads that it shows to the next dcmd, so you can \
chain filters.";

const EXAMPLES: &[Example] = &[
    Example { line: "::stacks", shows: "every stack once, with the number of its threads" },
    Example { line: "::stacks -c main", shows: "stacks that contain main" },
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
        let mut groups = core.stacks().groups(&tids, &tasks, MAX_GROUP_FRAMES);
        if let (Some(wanted), None) = (cx.addr(), &cx.input().list) {
            retain(cx, &mut groups, wanted)?;
        }
        let before = groups.len();
        groups.retain(|group| filter.admits(core, group));
        if groups.is_empty() && before > 0 {
            cx.note("no thread matches")?;
        }
        sort_groups(core, &mut groups);
        if args.has('v') {
            cx.note(&counted(&groups))?;
        }
        groups.iter().try_for_each(|group| show(cx, group, args.has('a')))
    }
}

/// The threads and tasks to group: those of the pipe, or else all.
fn holders_of(cx: &Cx<'_>, threads_alone: bool) -> Result<(Vec<Tid>, Vec<Arc<Task>>)> {
    let core = cx.core();
    let Some(list) = &cx.input().list else {
        let tasks = if threads_alone { &[] } else { core.tasks().all() };
        return Ok((core.tids(), tasks.to_vec()));
    };
    let (mut tids, mut tasks) = (Vec::new(), Vec::new());
    for value in list {
        match value.dot {
            Dot::Task(id) | Dot::TaskFrame { task: id, .. } => {
                tasks.push(known_task(core, id)?.clone());
            }
            dot => tids.push(thread_of_dot(cx, dot)?),
        }
    }
    // The stack of a task that runs is that of its thread.
    tids.extend(tasks.iter().filter_map(|task| task.thread));
    let mut seen = HashSet::new();
    tasks.retain(|task| seen.insert(TaskId::of(task)));
    // Frames of one thread are one thread.
    let mut seen = HashSet::new();
    tids.retain(|tid| seen.insert(*tid));
    Ok((tids, tasks))
}

/// Keeps only the group of the wanted thread or task.
fn retain(cx: &Cx<'_>, groups: &mut Vec<StackGroup>, wanted: Dot) -> Result<()> {
    match StackStart::of(cx)? {
        StackStart::Task(task) | StackStart::AboveInTask { task, .. } if task.thread.is_none() => {
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

fn show(cx: &mut Cx<'_>, group: &StackGroup, each: bool) -> Result<()> {
    if cx.input().pipe_out {
        let tasks = group.tasks.iter().map(|task| Dot::Task(TaskId::of(task)));
        let mut dots = group.tids.iter().map(|tid| Dot::Thread(*tid)).chain(tasks);
        return dots.try_for_each(|dot| cx.emit(&Element::from(dot)));
    }
    let core = cx.core();
    let begin = GroupBegin::new(core, group).each(each).showing(cx.shell().settings());
    cx.begin(&begin, "frames")?;
    let names = Names::new(cx);
    for frame in core.stacks().named_frames(&group.stack) {
        cx.emit(&names.frame_line(group.first(), frame, Layout::Indented))?;
    }
    cx.end(&StackEnd::new(core, &group.stack, Layout::Indented))
}
