//! `kcore watch`: what threads of a live process did, as they know themselves.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

use process::{Running, compiled};
use serde_json::Value;

#[path = "../support/process.rs"]
mod process;

static TARGET: LazyLock<PathBuf> = LazyLock::new(|| compiled("watch/target.c"));

/// A process with six threads.
struct Target {
    running: Running,
    input: ChildStdin,
    /// Of each kind of thread, the id.
    tids: HashMap<String, u64>,
    /// Open, so that it may tell of more threads.
    _output: BufReader<ChildStdout>,
}

impl Target {
    fn start() -> Self {
        let (running, mut input, output) = Running::start(&mut Command::new(TARGET.as_path()));
        let mut output = BufReader::new(output);
        let mut tids = HashMap::from([told(&mut output)]);
        input.write_all(b"g").unwrap();
        tids.extend((0..4).map(|_| told(&mut output)));
        Self { running, input, tids, _output: output }
    }

    fn make(&mut self, letter: u8) {
        self.input.write_all(&[letter]).unwrap();
    }

    fn watched(&self, words: &[&str]) -> Watching {
        Watching::start(&self.running.pid(), words)
    }
}

/// The kind of a thread, and its id.
fn told(output: &mut impl BufRead) -> (String, u64) {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let (kind, tid) = line.trim().split_once(' ').unwrap();
    (kind.to_owned(), tid.parse().unwrap())
}

/// A kcore that watches.
struct Watching {
    kcore: Child,
    errors: BufReader<ChildStderr>,
    /// What it said first: from then on the process may end.
    first: String,
}

/// What it answered.
struct Answer {
    code: Option<i32>,
    said: String,
    records: Vec<Value>,
}

impl Watching {
    fn start(pid: &str, words: &[&str]) -> Self {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.args(["watch", "--json", pid]).args(words);
        kcore.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut kcore = kcore.spawn().unwrap();
        let mut errors = BufReader::new(kcore.stderr.take().unwrap());
        let mut first = String::new();
        errors.read_line(&mut first).unwrap();
        Self { kcore, errors, first }
    }

    fn answer(self) -> Answer {
        let Self { kcore, mut errors, first: mut said } = self;
        errors.read_to_string(&mut said).unwrap();
        let output = kcore.wait_with_output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let records = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Answer { code: output.status.code(), said, records }
    }
}

impl Answer {
    fn of(&self, kind: &str) -> Vec<&Value> {
        self.records.iter().filter(|record| record["type"] == kind).collect()
    }

    fn outcome(&self) -> &str {
        let watch = self.of("watch");
        watch.first().and_then(|watch| watch["outcome"].as_str()).unwrap_or_default()
    }

    /// What was seen of a thread.
    fn thread(&self, tid: u64) -> &Value {
        let mut stacks = self.of("watched_stack").into_iter();
        stacks.find(|stack| stack["tids"].as_array().unwrap().contains(&tid.into())).unwrap()
    }
}

fn functions(stack: &Value) -> Vec<&str> {
    let frames = stack["frames"].as_array().unwrap();
    frames.iter().map(|frame| frame["function"].as_str().unwrap_or("?")).collect()
}

#[test]
fn threads_are_told_apart_by_what_they_did() {
    let target = Target::start();
    let answer = target.watched(&["-i", "1", "-n", "2"]).answer();
    assert_eq!((answer.code, answer.outcome()), (Some(0), "watched"), "{}", answer.said);
    let watch = answer.of("watch")[0];
    assert_eq!((&watch["intervals"], &watch["snapshots"]), (&2.into(), &3.into()));
    assert_eq!((&watch["threads_before"], &watch["threads"]), (&6.into(), &6.into()));
    assert!(watch["rss"].as_u64() > Some(4096), "{watch}");
    for (kind, function) in
        [("holds", "hold_for_ever"), ("sleeps", "sleep_for_ever"), ("waits", "wait_for_mutex")]
    {
        let stack = answer.thread(target.tids[kind]);
        assert_eq!(stack["verdict"], "stood_still", "{kind}: {stack}");
        assert!(functions(stack).contains(&function), "{stack}");
    }
    let waits = answer.thread(target.tids["waits"])["waits_for"].as_str().unwrap();
    let holder = format!("held by thread {}", target.tids["holds"]);
    assert!(waits.contains("mutex") && waits.contains(&holder), "{waits}");
    for (kind, function) in [("spins", "spin_here"), ("ticks", "tick_here")] {
        let stack = answer.thread(target.tids[kind]);
        let verdict = stack["verdict"].as_str().unwrap();
        assert!(["same_frames", "common_frames"].contains(&verdict), "{kind}: {stack}");
        assert!(functions(stack).contains(&function), "{stack}");
    }
    let used = &answer.thread(target.tids["spins"])["cpu_millis"];
    assert!(used.as_u64() > Some(0), "{used}");
}

#[test]
fn a_condition_is_waited_for() {
    let mut target = Target::start();
    let waiting = target.watched(&["--until", "threads=16", "--until", "fds=100000", "-i", "0.1"]);
    assert!(waiting.first.contains("waiting for threads=16, fds=100000"), "{}", waiting.first);
    target.make(b't');
    let answer = waiting.answer();
    assert_eq!((answer.code, answer.outcome()), (Some(0), "held"), "{}", answer.said);
    assert!(answer.said.contains("threads=16 holds: 16 threads"), "{}", answer.said);
    assert_eq!(answer.of("watch")[0]["condition"], "threads=16");
    assert!(functions(answer.thread(target.tids["spins"])).contains(&"spin_here"));
}

#[test]
fn an_idle_process_is_one_of_which_no_thread_runs() {
    let mut target = Target::start();
    let busy = target.watched(&["--until", "idle=0.3s", "--within", "1", "-i", "0.1"]).answer();
    assert_eq!((busy.code, busy.outcome()), (Some(1), "time_over"), "{}", busy.said);
    target.make(b'i');
    let answer = target.watched(&["--until", "idle=0.5s", "--within", "60", "-i", "0.1"]).answer();
    assert_eq!((answer.code, answer.outcome()), (Some(0), "held"), "{}", answer.said);
    for kind in target.tids.keys() {
        let stack = answer.thread(target.tids[kind]);
        let verdict = stack["verdict"].as_str().unwrap();
        assert!(["stood_still", "stands_still"].contains(&verdict), "{kind}: {stack}");
        assert!(stack["still_millis"].as_u64() >= Some(500), "{stack}");
    }
}

#[test]
fn commands_run_on_a_snapshot_of_then() {
    let target = Target::start();
    let answer = target.watched(&["--until", "cpu=1%", "-i", "0.5", "-c", "::threads"]).answer();
    assert_eq!((answer.code, answer.outcome()), (Some(0), "held"), "{}", answer.said);
    assert_eq!(answer.of("thread").len(), 6);
    assert!(answer.of("watched_stack").is_empty());
    let wrong = target.watched(&["--until", "threads=1", "-c", "::nosuch"]).answer();
    assert_eq!(wrong.code, Some(1), "{}", wrong.said);
}

#[test]
fn a_core_of_then_is_saved() {
    let target = Target::start();
    let core = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched.core");
    let words = ["--until", "threads=6", "--stacks-only", "-o", core.to_str().unwrap()];
    let answer = target.watched(&words).answer();
    assert_eq!(answer.code, Some(0), "{}", answer.said);
    assert!(answer.said.contains("saved process"), "{}", answer.said);
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    let output = kcore.args(["--json", "-c", "::status"]).arg(&core).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let status: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(status["threads"], 6, "{status}");
    fs::remove_file(core).unwrap();
}

#[test]
fn a_process_that_ends_or_starts_another_program_is_told() {
    for (letter, outcome, said) in [
        (b'x', "ended", "ended: the rest is of the time before"),
        (b'e', "other_program", "started another program: the rest is of the one before"),
    ] {
        let mut target = Target::start();
        let watching = target.watched(&["-i", "0.2", "-n", "100000"]);
        target.make(letter);
        let answer = watching.answer();
        assert_eq!((answer.code, answer.outcome()), (Some(1), outcome), "{}", answer.said);
        assert!(answer.said.contains(said), "{}", answer.said);
        let mut target = Target::start();
        let saving = target.watched(&["--until", "idle=100000", "-o", "/nosuch/core", "-i", "0.1"]);
        target.make(b'x');
        let answer = saving.answer();
        assert_eq!((answer.code, answer.records.len()), (Some(1), 0), "{}", answer.said);
    }
}

#[test]
fn frames_of_one_program_are_never_told_of_another() {
    let mut target = Target::start();
    let waiting = target.watched(&["--until", "idle=0.5", "--within", "60", "-i", "0.1"]);
    target.make(b'e');
    let answer = waiting.answer();
    assert_eq!((answer.code, answer.outcome()), (Some(0), "held"), "{}", answer.said);
    assert!(answer.said.contains("from now on that one is watched"), "{}", answer.said);
    let stacks = answer.of("watched_stack");
    assert_eq!((stacks.len(), &answer.of("watch")[0]["threads_before"]), (1, &1.into()));
    let is_old = stacks[0].to_string().contains("target");
    assert!(!is_old, "{}", stacks[0]);
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let target = Target::start();
    let one = format!("{}/{}", target.running.pid(), target.tids["spins"]);
    for (process, words, said) in [
        (one.as_str(), &[][..], "give the id of a process alone"),
        ("x", &[], "no process id"),
        (&target.running.pid(), &["--until", "load=3"], "idle=30s"),
    ] {
        let answer = Watching::start(process, words).answer();
        assert!(answer.code == Some(2) && answer.said.contains(said), "{}", answer.said);
    }
}
