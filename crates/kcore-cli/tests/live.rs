//! `-p`: snapshots of live processes by the program, as a user has them.

#![allow(clippy::unwrap_used)]

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
                println!("not tested: {release}: {}", skipped.reason);
                continue;
            }
        };
        let target = Target::start(Command::new(case.exe).args(["-e", SCRIPT]));
        target.until(release, |text| {
            ["spin", "Worker.step", "tick"].iter().all(|name| text.contains(name))
        });
    }
}
