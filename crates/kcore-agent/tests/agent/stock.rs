//! Programs of the system that know nothing of the agent: interpreters. Servers stand in `daemons`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    answers::{Group, groups, with},
    program::{Running, library},
};

/// Where a program is, by `PATH`; a skip is said aloud.
pub fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    // Where servers are, which the path of a user need not have.
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = folders.map(|folder| folder.join(name)).find(|it| it.exists());
    if found.is_none() {
        gen_cores::not_tested(format_args!("there is no {name}"));
    }
    found
}

fn with_agent(program: &Path, arguments: &[&str]) -> Running {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library()).stdin(Stdio::null()).args(arguments);
    Running::start(&mut command)
}

#[test]
fn a_python_program_shows_frames_of_its_language() {
    let Some(python) = found("python3") else { return };
    let program = "\
import sys, threading, time
def innermost(): time.sleep(1000)
def middle(): innermost()
for _ in range(3): threading.Thread(target=middle, daemon=True).start()
time.sleep(0.3)
print('ready', flush=True)
middle()
";
    let mut process = with_agent(&python, &["-c", program]);
    let text = process.stacks();
    let groups = groups(&text);
    assert_eq!(groups.iter().map(|group| group.count).sum::<usize>(), 4, "{text}");
    assert!(process.runs());
    // Which versions are decoded, and whether the interpreter tells of itself, is not the agent's business.
    if text.contains("[python]") {
        let threads = with(&groups, "innermost");
        let inner = threads.functions.iter().position(|name| name == "innermost").unwrap();
        assert_eq!(threads.functions[inner + 1], "middle", "{text}");
    } else {
        println!("this python is not decoded: {}", python.display());
    }
}

#[test]
fn a_node_program_is_profiled_by_the_signal_that_was_chosen_for_it() {
    let Some(node) = found("node") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = "\
function busy() { for (let i = 0; i < 1e6; i++) Math.sqrt(i); setImmediate(busy); }
require('fs').writeSync(1, 'ready\\n');
busy();
";
    // It takes SIGUSR1 for its debugger, and makes other signals what they are by default when it begins.
    let mut command = Command::new(node);
    command.env("LD_PRELOAD", library()).env("TMPDIR", folder.path()).args(["-e", program]);
    command.env("KCORE_AGENT_PROFILE_SIGNAL", "40").stdin(Stdio::null());
    let mut process = Running::start(&mut command);
    process.signal(40);
    std::thread::sleep(std::time::Duration::from_secs(1));
    process.signal(40);
    let said = process.line_with("kcore-agent: ");
    assert!(said.contains("profile of "), "{said}");
    assert!(process.runs());
}

#[test]
fn a_node_program_goes_on() {
    let Some(node) = found("node") else { return };
    let program = "setInterval(() => JSON.parse('[1,2,3]'), 1); console.log('ready')";
    let mut process = with_agent(&node, &["-e", program]);
    for _ in 0..3 {
        let text = process.stacks();
        with(&groups(&text), "uv_run");
    }
    assert!(process.runs());
}

#[test]
fn a_node_program_that_waits_shows_its_functions() {
    let Some(node) = found("node") else { return };
    let program = "\
const cell = new Int32Array(new SharedArrayBuffer(4));
function innermost() { Atomics.wait(cell, 0, 0); }
function middle() { innermost(); }
require('fs').writeSync(1, 'ready\\n');
middle();
";
    let mut process = with_agent(&node, &["-e", program]);
    // It says that it is ready before it waits.
    for _ in 0..50 {
        let text = process.stacks();
        if !text.contains("FutexEmulation") {
            continue;
        }
        if text.contains("[js]") {
            let groups = groups(&text);
            let main = with(&groups, "innermost").functions.join(" ");
            assert!(main.contains("innermost middle"), "{text}");
        } else {
            println!("this node is not decoded: {}", node.display());
        }
        return;
    }
    panic!("it does not wait");
}

#[test]
fn a_shell_has_it_and_so_have_its_children() {
    let Some(bash) = found("bash") else { return };
    let script = "echo ready; while :; do (:); /bin/true; done";
    let mut process = with_agent(&bash, &["-c", script]);
    for _ in 0..5 {
        let groups = groups(&process.stacks());
        assert_eq!(groups.iter().map(|group| group.count).sum::<usize>(), 1, "{groups:#?}");
    }
    assert!(process.runs());
}

/// A thread of its own that stands in the same functions as the first one, which a timer of C called there.
const WORKER: &str = "\
const { Worker, isMainThread, workerData } = require('worker_threads');
const stands = isMainThread ? new Int32Array(new SharedArrayBuffer(8)) : workerData;
function innermost() { Atomics.store(stands, 0, 1); Atomics.wait(stands, 1, 0); }
function middle() {
  if (isMainThread) {
    while (Atomics.load(stands, 0) === 0);
    require('fs').writeSync(1, 'ready\\n');
  }
  innermost();
}
if (isMainThread) {
  new Worker(__filename, { workerData: stands }).on('online', () => setTimeout(middle, 1));
} else {
  middle();
}
";

#[test]
fn a_worker_of_node_shows_its_functions_every_time_and_nothing_is_webassembly() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("worker.js");
    std::fs::write(&script, WORKER).unwrap();
    for word in ["node22", "node26"] {
        let node = match gen_cores::node(word) {
            Ok(node) => node,
            Err(error) => {
                gen_cores::not_tested(format_args!("{word}: {error}"));
                continue;
            }
        };
        let mut process = with_agent(&node, &[script.to_str().unwrap()]);
        // What the agent maps and learns for the first answer is there for the second one. They say that they are
        // ready before they wait.
        let mut answers = 0;
        for _ in 0..50 {
            let text = process.stacks();
            let groups = groups(&text);
            assert!(!text.contains("[wasm]"), "{word}: {text}");
            let is_called = |group: &&Group| group.functions.iter().any(|name| name == "innermost");
            let waits =
                |group: &&Group| group.functions.iter().any(|it| it.contains("FutexEmulation"));
            let count = |is_so: &dyn Fn(&&Group) -> bool| -> usize {
                groups.iter().filter(is_so).map(|group| group.count).sum()
            };
            if count(&waits) < 2 {
                continue;
            }
            assert_eq!(count(&is_called), 2, "{word}, answer {answers}: {text}");
            answers += 1;
            if answers == 2 {
                break;
            }
        }
        assert_eq!(answers, 2, "{word}");
    }
}
