//! Snapshots of live processes that run trio.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use gen_cores::Case;
use kcore::{LiveOptions, LiveProcess, OpenOptions, Pid};

use crate::{cases, harness};

/// Tasks that wait for each other; nothing runs once that is told.
const PROGRAM: &str = "
import sys
sys.path.insert(0, 'packages')
import trio

async def waits(depth, event):
    await (waits(depth - 1, event) if depth else event.wait())

async def main():
    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(waits, 3, trio.Event())
        await trio.sleep(0.2)
        print('done', flush=True)
        await trio.sleep(1000)

trio.run(main)
";

/// A process that is killed when the test is done with it.
struct Target(Child);

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn started(case: &Case) -> Target {
    let mut child = Command::new(&case.exe)
        .args(["-c", PROGRAM])
        .current_dir(&case.dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = child.stdout.take().expect("its output");
    let line = BufReader::new(output).lines().next().expect("a line").expect("text");
    assert_eq!(line, "done", "{}", case.name());
    Target(child)
}

#[test]
fn a_snapshot_has_all_tasks_with_their_chains() {
    // Debian's minimal ones have no OpenSSL, which trio imports.
    for case in cases().iter().filter(|case| case.variant.starts_with("python")) {
        let target = started(case);
        let pid = Pid::new(i32::try_from(target.0.id()).expect("a pid"));
        let live = LiveOptions { stop_timeout: Duration::from_secs(20), ..LiveOptions::default() };
        let core = LiveProcess::of(pid).snapshot(&live, &OpenOptions::default());
        let core = Arc::new(core.expect("a snapshot"));
        let rows = harness::json_on(&core, "::trio");
        let waiting: Vec<_> = rows
            .iter()
            .filter(|row| row["waits_for"] == "Event" && row["name"] != "<init>")
            .collect();
        assert_eq!(waiting.len(), 20, "{}: {rows:#?}", case.name());
        let address = waiting[0]["address"].as_str().expect("an address");
        let stack = harness::json_on(&core, &format!("{address}::stack")).remove(0);
        let frames = stack["frames"].as_array().expect("frames");
        let own = frames.iter().filter(|frame| frame["function"] == "waits").count();
        assert_eq!(own, 4, "{}: {stack:#}", case.name());
    }
}
