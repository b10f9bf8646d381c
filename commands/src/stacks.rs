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
        let mut groups = core.stack_groups(&tids, &tasks, MAX_GROUP_FRAMES);
        if let (Some(wanted), None) = (cx.addr(), &cx.input().list) {
            retain(cx, &mut groups, wanted)?;
        }
        let before = groups.len();
        groups.retain(|group| filter.admits(core, group));
        if groups.is_empty() && before > 0 {
            cx.note("no thread passes what was asked for")?;
        }
        sort_groups(core, &mut groups);
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
    for frame in core.named_frames(&group.stack) {
        cx.emit(&names.frame_line(group.first(), frame, Layout::Indented))?;
    }
    cx.end(&StackEnd::new(core, &group.stack, Layout::Indented))
}
