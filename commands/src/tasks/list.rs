//! `::tasks`: the tasks of all runtimes.

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use kcore::{
    Core, Task,
    python::{Python, trio::Trio},
    tokio::Tokio,
    v8::V8,
};
use kcore_dcmd::{Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use super::{
    filter::TaskFilter,
    row::{TaskGroup, TaskRecord, function, kind_of_wait},
};

/// Lists the tasks of all runtimes.
pub struct Tasks;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'u', value: None, help: "count those that are alike" },
    Opt { flag: 'r', value: Some("runtime"), help: "only those of this runtime" },
    Opt { flag: 's', value: Some("state"), help: "only those in this state" },
    Opt { flag: 'w', value: Some("text"), help: "only those that wait for what has this text" },
    Opt { flag: 'c', value: Some("text"), help: "only those whose function has this text" },
];

const HELP: &str = "\
A task is a stack, or a chain of waiting functions, that belongs to no thread. ::tasks lists those \
of all runtimes: bthreads, fibers, goroutines, virtual threads, greenlets, coroutines, trio, tokio \
and processes of Erlang.

TASK is the number that its runtime gave it, or its address. THREAD is the thread that runs it \
now. WAITS says what it waits for, where its runtime tells. UNTIL is when that ends at the latest, \
in seconds: of goroutines that sleep, fibers, tokio and trio. A live process shows how far away that is, a core the time \
of the monotonic clock. FUNCTION is the name of the task, or \
the function that it began with. Each word of STATE is the runtime's own.

-u counts tasks of one runtime with the same STATE, kind of WAITS and FUNCTION, most common first. \
The names of virtual threads are no functions, and do not tell them apart. FIRST is one of them. ::stacks groups tasks by their whole stacks.

::tasks leaves out tasks of asyncio, which ::pytasks shows, and promises of JavaScript, which \
::jsawaiting shows.

In a pipe, ::tasks passes the tasks themselves: ::tasks -s waiting | ::stack.";

const EXAMPLES: &[Example] = &[
    Example { line: "::tasks", shows: "every task of every runtime" },
    Example { line: "::tasks -u", shows: "how many tasks do the same" },
    Example { line: "::tasks -s waiting | ::stack", shows: "the stacks of those that wait" },
];

impl Dcmd for Tasks {
    fn spec(&self) -> Spec {
        Spec::new("tasks", Group::Stacks, "list the tasks of all runtimes")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core().clone();
        let filter = TaskFilter::new(args);
        filter.check(core.tasks().all())?;
        let mut count = 0_usize;
        let admitted = core.tasks().all().iter().filter(|task| filter.admits(task));
        let known = admitted.map(|task| (task, function(&core, task)));
        let shown = known.filter(|(_, function)| filter.admits_function(function.as_deref()));
        let shown = shown.inspect(|_| count = count.saturating_add(1));
        match args.has('u') {
            true => groups(shown).iter().try_for_each(|group| cx.emit(group))?,
            false => {
                for (task, _) in shown {
                    cx.check_interrupt()?;
                    cx.emit(&TaskRecord::new(&core, task))?;
                }
            }
        }
        if count == 0 && !core.tasks().all().is_empty() {
            cx.note(&format!("none of {} tasks is like that", core.tasks().all().len()))?;
        }
        problems(cx, &core)
    }
}

/// Runtimes whose names of tasks are those of single ones, and not of functions.
const IS_NAMED_ALONE: [&str; 1] = ["java"];

/// Tasks that are alike, most common first.
fn groups<'t>(tasks: impl Iterator<Item = (&'t Arc<Task>, Option<Arc<str>>)>) -> Vec<TaskGroup> {
    let mut groups: Vec<TaskGroup> = Vec::new();
    let mut places = HashMap::new();
    for (task, function) in tasks {
        let (state, waits_for) = (task.state.to_string(), kind_of_wait(task));
        let function = function.filter(|_| !IS_NAMED_ALONE.contains(&task.runtime));
        let key = (task.runtime, state.clone(), waits_for.clone(), function.clone());
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.count = group.count.saturating_add(1),
            None => groups.push(TaskGroup {
                count: 1,
                runtime: task.runtime,
                state,
                waits_for,
                function,
                first: task.clone(),
            }),
        }
    }
    groups.sort_by_key(|group| Reverse(group.count));
    groups
}

/// Says of which runtimes no tasks can be read. Without any task that is an error: there may be some.
fn problems(cx: &mut Cx<'_>, core: &Core) -> Result<()> {
    let damaged: Vec<Arc<str>> =
        core.tasks().runtimes().damaged().iter().map(|damage| damage.why.clone()).collect();
    damaged.iter().try_for_each(|why| cx.note(why))?;
    let unread = core.tasks().runtimes().of::<Tokio>().map(|found| found.unread(core)).max();
    if let Some(unread) = unread.filter(|unread| *unread > 0) {
        cx.note(&format!("{unread:#x} bytes of memory are not in the core: {MORE}"))?;
    }
    let cut = core.tasks().runtimes().of::<Trio>().map(|found| found.known(core).unread);
    let cut = cut.fold(0, u64::saturating_add);
    if cut > 0 {
        cx.note(&format!("{cut} tasks of trio, or sets of them, cannot be read: {MORE_OF_TRIO}"))?;
    }
    let others = left_out(core);
    others.iter().try_for_each(|text| cx.note(text))?;
    let is_known = damaged.is_empty() && others.is_empty();
    match core.tasks().all().is_empty() && is_known && unread.is_none_or(|unread| unread == 0) {
        true => Err(DcmdError::failed("no tasks of a runtime in this process")),
        false => Ok(()),
    }
}

const MORE: &str = "there may be more tasks of tokio";
const MORE_OF_TRIO: &str = "there may be more";

/// Where tasks are shown that are not listed here.
fn left_out(core: &Core) -> Vec<&'static str> {
    let runtimes = core.runtimes();
    let python = runtimes.of::<Python>().next();
    let python = python.map(|_| "tasks of asyncio are not listed here: see ::pytasks");
    let v8 = runtimes.of::<V8>().next();
    let v8 = v8.map(|_| "promises of JavaScript are not listed here: see ::jsawaiting");
    python.into_iter().chain(v8).collect()
}
