//! `-p`: snapshots of live processes by the program, as a user has them.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use gen_cores::{Outcome, ensure};
use serde_json::Value;

/// A process that is killed when the test is done with it.
struct Target(Child);

impl Target {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// `cat`, which waits for what nobody writes.
    fn waiting() -> Self {
        let target = Self::start(&mut Command::new("cat"));
        target.until("cat reads", |text| text.contains("\"waits_in\":\"read\""));
        target
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Waits until its stacks as JSON are as they should be.
    fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let text = stdout(&kcore(&["--json", "-p", &self.pid(), "-c", "::stacks"]));
            if is_so(&text) {
                return text;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{what}: {text}");
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kcore(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kcore"))
        .args(["--no-rc"])
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn stacks_of_a_live_process_say_that_they_are_a_snapshot() {
    let target = Target::waiting();
    let pid = target.pid();
    for (options, instant) in [(&[][..], "snapshot"), (&["--rolling"][..], "rolling")] {
        let words = [options, &["--json", "-p", &pid, "-c", "::status", "-c", "::stack"]].concat();
        let output = kcore(&words);
        assert!(output.status.success(), "{}", stderr(&output));
        let records = records(&stdout(&output));
        assert_eq!(records[0]["target"], format!("process {pid}"));
        let of = |kind: &str| records.iter().find(|record| record["type"] == kind).unwrap();
        assert_eq!(of("status")["pid"].to_string(), pid);
        assert_eq!(of("status")["instant"], instant);
        assert!(of("status")["stopped_ns"].as_u64().is_some_and(|time| time > 0));
        let stack = of("stack");
        assert_eq!((&stack["instant"], &stack["name"]), (&instant.into(), &"cat".into()));
        assert_eq!((&stack["state"], &stack["waits_in"]), (&"S".into(), &"read".into()));
        assert_eq!(stack["end"]["reason"], "outermost");
    }
}

/// The system call by whose number the kernel lets a thread go on, and its state: `/proc/PID/syscall` and `stat`.
fn is_restarted(pid: &str) -> bool {
    const RESTART_SYSCALL: &str = if cfg!(target_arch = "x86_64") { "219 " } else { "128 " };
    let call = std::fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    call.starts_with(RESTART_SYSCALL)
}

#[test]
fn a_call_that_goes_on_after_a_stop_has_its_own_name() {
    let target = Target::start(Command::new("sleep").arg("1000"));
    let pid = target.pid();
    target.until("sleep sleeps", |text| text.contains("\"waits_in\":\"clock_nanosleep\""));
    let signal = |name| Command::new("kill").args(["-s", name, &pid]).status().unwrap().success();
    let start = Instant::now();
    while !is_restarted(&pid) {
        assert!(signal("STOP") && signal("CONT"));
        assert!(start.elapsed() < Duration::from_secs(60), "the call is never restarted");
        std::thread::sleep(Duration::from_millis(10));
    }
    let stack = stdout(&kcore(&["--json", "-p", &pid, "-c", "::stack"]));
    assert!(stack.contains("\"waits_in\":\"clock_nanosleep\""), "{stack}");
    assert!(is_restarted(&pid), "it still goes on by the other number");
}

#[test]
fn the_time_that_a_process_stood_still_is_a_note() {
    let target = Target::waiting();
    let output = kcore(&["stacks", &target.pid()]);
    assert!(stderr(&output).contains(&format!("process {} stood still for ", target.pid())));
    assert!(stdout(&output).lines().next().unwrap().ends_with("NAME"));
    let text = stdout(&kcore(&["-p", &target.pid(), "-c", "::status"]));
    assert!(text.starts_with("debugging snapshot of cat "), "{text}");
    assert!(text.contains("status: running, stood still for "), "{text}");
}

#[test]
fn memory_that_was_not_copied_is_said_to_be_so_unless_it_is_read_live() {
    let target = Target::waiting();
    let pid = target.pid();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let heap = maps.lines().find(|line| line.ends_with("[heap]")).unwrap();
    let end = heap.split(['-', ' ']).nth(1).unwrap();
    let word = format!("{end}-8/J");
    let output = kcore(&["-p", &pid, "-c", &word]);
    assert!(stderr(&output).contains("was not copied"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(1));
    let output = kcore(&["--live-memory", "-p", &pid, "-c", &word]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn threads_are_chosen_by_id_and_by_state() {
    let target = Target::waiting();
    let pid = target.pid();
    for chosen in [format!("{pid}/{pid}"), format!("{pid}/SD")] {
        let text = stdout(&kcore(&["--json", "-p", &chosen, "-c", "::threads"]));
        assert_eq!(records(&text).iter().filter(|record| record["type"] == "thread").count(), 1);
    }
    let output = kcore(&["-p", &format!("{pid}/Z"), "-c", "::threads"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("has no thread in state Z"), "{}", stderr(&output));
}

/// The program of kcore-live's tests, in one of its ways.
fn target_of(way: &str) -> Target {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kcore-live/tests/target.c");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("target");
    let built =
        Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(source).status();
    assert!(built.unwrap().success());
    let mut child = Command::new(&program)
        .arg(way)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(!line.is_empty());
    Target(child)
}

#[test]
fn a_thread_that_does_not_stop_takes_no_stack_from_the_others_and_stops_them_once() {
    let target = target_of("vfork");
    let pid = target.pid();
    let status = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = Instant::now();
    while !status().contains(") D ") {
        assert!(start.elapsed() < Duration::from_secs(20), "{}", status());
    }
    let words = ["--json", "--stop-timeout", "50", "-p", &pid, "-c", "::status", "-c", "::stacks"];
    let output = kcore(&words);
    let records = records(&stdout(&output));
    let of = |kind: &str| records.iter().find(|record| record["type"] == kind).unwrap();
    let status = of("status");
    assert_eq!(status["stopped_before_ns"].as_array().unwrap().len(), 0, "{status}");
    let said = format!("1 thread did not stop in time, and has no stack: {pid}");
    assert!(status["doubts"].as_array().unwrap().contains(&said.into()), "{status}");
    let group = of("stack_group");
    assert_eq!((&group["count"], &group["end"]["reason"]), (&1.into(), &"outermost".into()));
    assert!(stdout(&output).contains("1 of its threads did not stop in time"));
}

/// Where a process may write, by its mappings.
fn writable(pid: &str) -> Vec<Range<u64>> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let hex = |word| u64::from_str_radix(word, 16).unwrap();
    let lines = maps.lines().filter(|line| line.contains(" rw"));
    lines
        .map(|line| {
            let (start, rest) = line.split_once('-').unwrap();
            hex(start)..hex(rest.split_once(' ').unwrap().0)
        })
        .collect()
}

#[test]
fn every_thread_is_shown_with_its_state_and_its_stack_pointer() {
    let target = target_of("threads");
    let pid = target.pid();
    let writable = writable(&pid);
    let is_in_memory = |word: &str| {
        let at = u64::from_str_radix(word.trim_start_matches("0x"), 16);
        at.is_ok_and(|at| writable.iter().any(|range| range.contains(&at)))
    };
    let text = stdout(&kcore(&["--json", "stacks", &pid]));
    let mut seen = Vec::new();
    for group in records(&text).iter().filter(|record| record["type"] == "stack_group") {
        assert_eq!(group["instant"], "snapshot");
        for thread in group["threads"].as_array().unwrap() {
            assert!(["S", "R"].contains(&thread["state"].as_str().unwrap()), "{thread}");
            assert!(is_in_memory(thread["sp"].as_str().unwrap()), "{thread}");
            assert_eq!(thread["name"], "target");
            seen.push(thread["tid"].as_u64().unwrap());
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 22);
    let text = stdout(&kcore(&["--show-state", "--show-rsp", "-p", &pid, "-c", "::stacks -a"]));
    assert!(text.lines().next().unwrap().contains(" RSP "), "{text}");
    // One group has the twenty that wait, with a state and a stack pointer each.
    let waiting = text.lines().find(|line| line.contains("pause")).unwrap();
    assert_eq!(waiting.split_whitespace().filter(|word| *word == "S").count(), 20, "{waiting}");
    assert!(waiting.split_whitespace().filter(|word| is_in_memory(word)).count() >= 20);
    let text = stdout(&kcore(&["--show-state", "--show-rsp", "-p", &pid, "-c", "::stack"]));
    let told = text.strip_prefix(&format!("stack pointer for thread {pid} (target): "));
    assert!(is_in_memory(told.unwrap().split(',').next().unwrap()), "{text}");
    assert!(text.lines().next().unwrap().ends_with("in pause, state S"), "{text}");
}

#[test]
fn chosen_threads_are_not_said_to_be_the_whole_process() {
    let target = target_of("threads");
    let pid = target.pid();
    let chosen = format!("{pid}/{pid}");
    let output = kcore(&["--json", "-p", &chosen, "-c", "::status", "-c", "::stack"]);
    let text = stdout(&output);
    assert!(text.contains("1 of its threads, as chosen, stood still for"), "{text}");
    assert!(text.contains("the others ran on"), "{text}");
    for record in records(&text).iter().filter(|it| it["type"] == "status" || it["type"] == "stack")
    {
        assert_eq!(record["instant"], "chosen", "{record}");
    }
    let text = stdout(&kcore(&["--rolling", "-p", &pid, "-c", "::status"]));
    assert!(text.contains("running, each thread stood still by itself, for "), "{text}");
}

#[test]
fn what_is_read_later_is_said_to_be() {
    let target = target_of("relay");
    let pid = target.pid();
    let said = "was read from the live process just now";
    // `beside` is a variable of a megabyte, of which no stack has need.
    for (options, dcmd, is_said) in [
        (&["--live-memory"][..], "beside/B", true),
        (&["--live-memory"][..], "::threads", false),
        (&[][..], "::threads", false),
    ] {
        let output = kcore(&[options, &["-p", &pid, "-c", dcmd]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains(said), is_said, "{dcmd}: {}", stderr(&output));
    }
    let output = kcore(&["-p", &pid, "-c", "beside/B"]);
    assert!(stderr(&output).contains("was not copied"), "{}", stderr(&output));
    let text = stdout(&kcore(&["--live-memory", "-p", &pid, "-c", "::status"]));
    assert!(text.contains("doubt: memory that was not copied is read from the live"), "{text}");
}

#[test]
fn a_process_where_a_core_is_expected_is_hinted_at() {
    let output = kcore(&["4711471"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("kcore -p 4711471"), "{}", stderr(&output));
    let target = Target::waiting();
    let output = kcore(&["-p", &target.pid(), "-c", "::gcore"]);
    let said = format!("kcore save {} -o FILE", target.pid());
    assert!(stderr(&output).contains(&said) || stdout(&output).contains(&said));
}

/// A process in pid and mount namespaces of its own is looked at from outside: threads have kcore's ids,
/// and are found by those of their own namespace too.
#[test]
fn a_process_of_a_container_is_looked_at_from_outside() {
    let mut command = Command::new("unshare");
    command.args(["-r", "-pfm", "--mount-proc", "sh", "-c", "cat; true"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let Some(inner) = descendant(child.id(), "cat") else {
        child.kill().unwrap();
        let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
        gen_cores::not_tested(format_args!("no namespaces here: {said}"));
        return;
    };
    let _target = Target(child);
    let records = records(&stdout(&kcore(&["--json", "-p", &inner, "-c", "::stack; ::objects"])));
    let stack = records.iter().find(|record| record["type"] == "stack").unwrap();
    assert_eq!((stack["tid"].to_string(), &stack["waits_in"]), (inner.clone(), &"read".into()));
    assert_eq!(stack["end"]["reason"], "outermost");
    let status = std::fs::read_to_string(format!("/proc/{inner}/status")).unwrap();
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap();
    let own = ids.split_whitespace().last().unwrap();
    assert_ne!(own, inner);
    let chosen = format!("{inner}/{own}");
    let text = stdout(&kcore(&["--json", "-p", &chosen, "-c", "::threads"]));
    assert!(text.contains(&format!("\"tid\":{inner}")), "{text}");
}

/// The process below `ancestor` that has this name, once it waits for its input.
fn descendant(ancestor: u32, name: &str) -> Option<String> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        let mut found = vec![ancestor.to_string()];
        while let Some(pid) = found.pop() {
            let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
            let stat = read("stat").unwrap_or_default();
            if stat.contains(&format!("({name}) S")) {
                return Some(pid);
            }
            if pid == ancestor.to_string() && (stat.is_empty() || stat.contains(") Z")) {
                return None;
            }
            let children = read(&format!("task/{pid}/children")).unwrap_or_default();
            found.extend(children.split_whitespace().map(str::to_owned));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

#[test]
fn what_cannot_be_opened_is_usage() {
    for (pid, said) in [("x", "no process id"), ("2147483647", "no process has the id")] {
        let output = kcore(&["-p", pid, "-c", "::status"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    let output = kcore(&["--rolling", "-c", "::status"]);
    assert!(stderr(&output).contains("-p PID"), "{}", stderr(&output));
}

/// A program that calls itself all the while, with objects that are made anew each time.
const SCRIPT: &str = "
class Worker { step(depth) { if (depth > 0) return this.step(depth - 1); return spin(20); } }
function spin(time) { const end = Date.now() + time; while (Date.now() < end); }
setInterval(function tick() { new Worker().step(4); }, 1);";

#[test]
fn functions_of_javascript_have_their_names() {
    for release in ["node16", "node18", "node20", "node22", "node24", "node26"] {
        let case = match ensure("node-waiting", release).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                continue;
            }
        };
        let target = Target::start(Command::new(case.exe).args(["-e", SCRIPT]));
        target.until(release, |text| {
            ["spin", "Worker.step", "tick"].iter().all(|name| text.contains(name))
        });
        heap_is_there_only_if_it_is_read_later(&target, release);
    }
}

/// The heap is not copied, and that is said; what is read of it later is said to be.
fn heap_is_there_only_if_it_is_read_later(target: &Target, release: &str) {
    let pid = target.pid();
    for dcmd in ["::findjsobjects", "::jshandles", "::jsheap"] {
        let output = kcore(&["-p", &pid, "-c", dcmd]);
        assert!(
            stderr(&output).contains("the heap was not copied"),
            "{release} {dcmd}: {}",
            stderr(&output)
        );
        assert!(!stderr(&output).contains("dumped"), "{release} {dcmd}: {}", stderr(&output));
    }
    let output = kcore(&["--live-memory", "-p", &pid, "-c", "::findjsobjects"]);
    assert!(stderr(&output).contains("read from the live process just now"), "{release}");
    assert!(stdout(&output).contains("Timeout"), "{release}: {}", stdout(&output));
}

#[test]
fn functions_of_python_have_their_names_while_it_runs_and_while_it_waits() {
    const PROGRAM: &str = "
import threading
class Waiter:
    def wait_for_good(self):
        threading.Event().wait()
def spin():
    while True:
        list(map(str, range(100)))
def outer():
    spin()
threading.Thread(target=lambda: Waiter().wait_for_good()).start()
outer()";
    for release in ["python3.9", "python3.11", "python3.12", "python3.13"] {
        let case = match ensure("python-stack", release).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                continue;
            }
        };
        let target = Target::start(Command::new(case.exe).args(["-c", PROGRAM]));
        // A snapshot that lacks memory says so, and that one more may have it.
        let waits = |text: &str| {
            let names = ["wait_for_good", "\"spin\""].iter().all(|name| text.contains(name));
            names && !text.contains("was not copied: some frames may have no name")
        };
        let text = target.until("its threads are where they stay", waits);
        let stacks = records(&text);
        let in_order = |names: &[&str]| {
            stacks.iter().any(|stack| {
                let Some(frames) = stack["frames"].as_array() else { return false };
                let mut frames = frames.iter().filter(|frame| frame["kind"] == "python");
                let is = |frame: &Value, name: &str| {
                    frame["function"].as_str().is_some_and(|function| function.ends_with(name))
                };
                names.iter().all(|name| frames.any(|frame| is(frame, name)))
            })
        };
        assert!(in_order(&["spin", "outer", "<module>"]), "{release}: {text}");
        assert!(in_order(&["wait", "wait_for_good", "<lambda>", "run"]), "{release}: {text}");
        for native in ["Py_RunMain", "start_thread"] {
            assert!(text.contains(native), "{release}: no {native}: {text}");
        }
    }
}
