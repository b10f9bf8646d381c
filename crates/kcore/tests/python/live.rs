//! Snapshots of live processes: the frames of all threads at one instant.

use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use gen_cores::Case;
use kcore::python::{
    PyTask, Python,
    value::{Limits, ValueKind},
};
use kcore::{Core, LiveOptions, LiveProcess, MAX_FRAMES, OpenOptions, Pid, Tid};

use crate::{CASES, frames};

/// Threads that wait, which tell their ids when all are where they stay.
const PROGRAM: &str = "
import threading, time
ready, never = [], threading.Lock()
never.acquire()

def inner(number):
    ready.append((threading.get_native_id(), threading.current_thread().name)); never.acquire()

def outer(number):
    inner(number)

for number in range(5):
    threading.Thread(target=outer, args=(number,), name='worker %d' % number, daemon=True).start()
while len(ready) < 5:
    time.sleep(0.01)
for thread in ready:
    print(*thread)
print('done', flush=True)
time.sleep(1000)
";

/// Tasks that wait for each other, and variables; nothing runs once it is told.
const TASKS: &str = "
import asyncio

async def waiting(depth):
    held = [depth, 'a text of depth %d' % depth]
    await (waiting(depth - 1) if depth else asyncio.sleep(1000))

async def main():
    global kept
    kept = [asyncio.ensure_future(waiting(3)) for _ in range(20)]
    await asyncio.sleep(0.1)
    local = {'key': (1, 2)}
    print('done', flush=True)
    import time; time.sleep(1000)

asyncio.run(main())
";

/// A process that is killed when the test is done with it.
pub struct Target {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Target {
    /// The interpreter of a case.
    pub fn start(case: &Case, program: &str) -> Self {
        let mut child = Command::new(&case.exe)
            .args(["-c", program])
            .current_dir(&case.dir)
            .env("LD_LIBRARY_PATH", "lib")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = child.stdout.take().expect("its output");
        Self { child, lines: BufReader::new(output).lines() }
    }

    /// The ids and names of its threads.
    pub fn threads(&mut self) -> Vec<(u32, String)> {
        let lines = self.lines.by_ref().map(|line| line.expect("a line"));
        let told = lines.take_while(|line| line != "done").map(|line| {
            let (tid, name) = line.split_once(' ').expect("an id and a name");
            (tid.parse().expect("an id"), name.to_owned())
        });
        told.collect()
    }

    /// Its first thread.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal of this name.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.expect("it is there").success());
    }

    pub fn snapshot(&self) -> Core {
        let pid = Pid::new(i32::try_from(self.child.id()).expect("a pid"));
        let live = LiveOptions { stop_timeout: Duration::from_secs(20), ..LiveOptions::default() };
        LiveProcess::of(pid).snapshot(&live, &OpenOptions::default()).expect("a snapshot")
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The functions of a thread without what qualifies them, innermost first.
fn functions(core: &Core, tid: u32) -> Vec<String> {
    let stack = core.stacks().of_thread(Tid::new(tid), MAX_FRAMES);
    let named = frames(core, &stack).into_iter();
    let name = |function: &str| function.rsplit('.').next().unwrap_or(function).to_owned();
    named
        .inspect(|frame| assert_eq!(frame.location.doubt, None))
        .map(|frame| frame.location.function.as_deref().map(name).expect("a function"))
        .collect()
}

#[test]
fn a_snapshot_has_the_frames_of_all_threads() {
    for (case, _) in CASES.iter().filter(|(case, _)| case.scenario == "python-threads") {
        let mut target = Target::start(case, PROGRAM);
        let told = target.threads();
        assert_eq!(told.len(), 5, "{}", case.name());
        let core = target.snapshot();
        for (tid, name) in told {
            let below = ["inner", "outer", "run", "_bootstrap_inner", "_bootstrap"];
            assert_eq!(functions(&core, tid), below, "{} {name}", case.name());
            let known = core.thread_facts(Tid::new(tid)).name;
            assert_eq!(known.as_deref(), Some(name.as_str()), "{}", case.name());
        }
        assert_eq!(functions(&core, target.child.id()), ["<module>"], "{}", case.name());
    }
}

#[test]
fn a_snapshot_has_tasks_and_variables() {
    for (case, _) in CASES.iter().filter(|(case, _)| case.scenario == "python-threads") {
        let mut target = Target::start(case, TASKS);
        target.threads();
        let core = target.snapshot();
        let python = core.runtimes().of::<Python>().next().expect("CPython");
        let found = python.py_tasks(&core).expect("tasks");
        assert_eq!((found.tasks.len(), found.unread), (21, 0), "{}", case.name());
        let frames = |task: &PyTask| task.awaiting.as_ref().map_or(0, |it| it.frames.len());
        let deep = found.tasks.iter().filter(|task| frames(task) >= 4).count();
        assert_eq!(deep, 20, "{}: {:?}", case.name(), found.tasks);
        let chains = python.chains(&core, Tid::new(target.child.id()));
        let innermost = chains.iter().flat_map(|it| &it.groups).flat_map(|it| &it.frames).next();
        let locals = python.locals(&core, innermost.expect("a frame").at).expect("variables");
        let local = locals.iter().find(|local| &*local.name == "local").expect("it is known");
        let limits = Limits { depth: 3, entries: 9, characters: 99 };
        let value = python.value_or_why(&core, local.at, limits);
        let ValueKind::Dict { entries, .. } = &value.kind else { panic!("{value:?}") };
        let ValueKind::Items { items, .. } = &entries[0].1.kind else { panic!("{value:?}") };
        let numbers = ["1", "2"].map(|digits| ValueKind::Int(digits.into()));
        assert!(items.iter().map(|item| &item.kind).eq(&numbers), "{}: {value:?}", case.name());
    }
}
