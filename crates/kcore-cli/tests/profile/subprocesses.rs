//! A server and its workers in one profile: `forking.c` says what each of its processes is.

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use gen_cores::{Outcome, ensure};

use super::process::compiled;
use super::target::{Target, count, kcore, parsed, profile};

/// Longer than a busy machine takes to do what is waited for.
const LONG: Duration = Duration::from_secs(120);
const PROGRAM: &str = "profile-forking";

/// The server, and what its processes were when it began.
struct Server {
    target: Target,
    roles: BTreeMap<String, String>,
}

impl Server {
    /// Starts it, and waits until it has one process of each kind.
    fn start() -> Self {
        let target = Target::of(&mut Command::new(compiled("profile/forking.c")));
        let mut server = Self { target, roles: BTreeMap::new() };
        let kinds = ["server", "foster", "orphan", "staying", "traced", "other", "passing"];
        while kinds.iter().any(|kind| !server.roles.values().any(|role| role == kind)) {
            server.listen();
        }
        server
    }

    /// Hears of another process.
    fn listen(&mut self) {
        let line = self.target.told();
        let (role, pid) = line.trim().split_once(' ').expect("a kind and an id");
        self.roles.insert(pid.to_owned(), role.to_owned());
    }

    /// Hears of processes until `pid` is one.
    fn listen_for(&mut self, pid: &str) -> &str {
        while !self.roles.contains_key(pid) {
            self.listen();
        }
        &self.roles[pid]
    }

    fn one(&self, role: &str) -> &str {
        self.roles.iter().find(|(_, it)| *it == role).expect("one of each kind").0
    }
}

/// The process whose name and id are the first frame of a stack.
fn process_of(stack: &[String]) -> (&str, &str) {
    let (name, rest) = stack[0].rsplit_once(" [").expect("a process");
    (name, rest.strip_suffix(']').expect("its id"))
}

/// The functions that a process of this kind may be in, of all that say where it works.
fn function_of(role: &str) -> &'static str {
    match role {
        "server" => "supervise",
        "orphan" => "work_without_parent",
        "staying" => "work_for_good",
        "passing" => "work_and_go",
        // That program has no function of this one.
        _ => "",
    }
}

#[test]
fn each_process_has_its_own_samples_in_its_own_functions() {
    const WORK: [&str; 3] = ["work_for_good", "work_and_go", "work_without_parent"];
    let mut server = Server::start();
    let pid = server.target.pid();
    let begun = Instant::now();
    let sampling =
        thread::spawn(move || profile(&["--subprocesses", "-d", "12", "--hold", "100", &pid]));
    thread::sleep(Duration::from_secs(6));
    let killed = Command::new("kill").args(["-KILL", server.one("foster")]).status().unwrap();
    assert!(killed.success());
    let (written, said) = sampling.join().unwrap();
    let most = (begun.elapsed().as_secs_f64() * 100.0) as u64;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, count) in parsed(&written) {
        let (name, pid) = process_of(&stack);
        let role = server.listen_for(pid).to_owned();
        assert_eq!(name, if role == "other" { "sleep" } else { PROGRAM }, "{role}: {stack:?}");
        // Before it works, and after, it is in none of them.
        let work = stack.iter().find(|name| WORK.contains(&name.as_str()));
        assert!(work.is_none_or(|work| work == function_of(&role)), "{role}: {stack:?}");
        let is_there = stack.iter().any(|name| name == function_of(&role)) || role == "other";
        *counts.entry(pid.to_owned()).or_default() += if is_there { count } else { 0 };
    }
    for role in ["server", "orphan", "staying", "other"] {
        let count = counts.get(server.one(role)).copied().unwrap_or_default();
        assert!(count > 10 && count <= most, "{role}: {count} of {most}\n{counts:?}\n{said}");
    }
    let passing: Vec<u64> = counts
        .iter()
        .filter(|(pid, count)| server.roles[*pid] == "passing" && **count > 0)
        .map(|(_, count)| *count)
        .collect();
    assert!(passing.len() > 1, "workers come and go: {counts:?}\n{said}");
    assert_summary(&server, &said, counts.len());
}

/// Each process has its line, and the one that another one traces has the reason.
fn assert_summary(server: &Server, said: &str, processes: usize) {
    let first = said.lines().next().unwrap();
    let (told, _) = first.split_once(" processes in 12.").unwrap_or_else(|| panic!("{said}"));
    let told: usize = told.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(told >= processes, "{processes}: {said}");
    for role in ["server", "orphan", "staying"] {
        let line = format!("process {} ({PROGRAM}): ", server.one(role));
        let line = said.lines().find(|it| it.contains(&line)).unwrap_or_else(|| panic!("{said}"));
        assert!(line.contains("held for ") && !line.contains("ended"), "{line}");
    }
    assert!(said.contains(&format!("process {} (sleep): ", server.one("other"))), "{said}");
    let traced = server.one("traced");
    let refused =
        format!("process {traced} ({PROGRAM}) was not sampled: process {traced} is traced");
    assert!(said.contains(&refused), "{said}");
    let foster = format!("process {} ({PROGRAM}): ", server.one("foster"));
    let foster = said.lines().find(|line| line.contains(&foster)).unwrap();
    assert!(foster.contains(", until it ended after "), "{foster}");
}

#[test]
fn a_server_whose_workers_are_left_when_it_ends_is_followed_until_the_last_one_ends() {
    let mut server = Server::start();
    let pid = server.target.pid();
    let begun = Instant::now();
    let sampling =
        thread::spawn(move || profile(&["--subprocesses", "-d", "600", "--hold", "100", &pid]));
    thread::sleep(Duration::from_secs(6));
    server.target.process.0.kill().unwrap();
    server.target.process.0.wait().unwrap();
    let (written, said) = sampling.join().unwrap();
    assert!(begun.elapsed() < LONG, "{said}");
    let is_staying = |stack: &[String]| process_of(stack).1 == server.one("staying");
    assert!(parsed(&written).iter().any(|(stack, _)| is_staying(stack)), "{said}");
}

#[test]
fn of_a_process_that_cannot_be_sampled_and_has_none_that_can_the_reason_is_said() {
    let server = Server::start();
    let output = kcore(&["--subprocesses", "-d", "60", server.one("traced")]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("is traced already, by process "), "{said}");
    let output = kcore(&["--subprocesses", "2147483647"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no process has the id 2147483647"), "{said}");
}

/// A server in Python that works in its workers alone; each says which it is.
const PREFORK: &str = "
import os, time
first = os.getpid()

def serve(role):
    os.write(1, f'{role.__name__} {os.getpid()}\\n'.encode())
    while os.getppid() == first:
        role()

def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass

def even():
    spin(0.01)

def odd():
    spin(0.01)

def supervise():
    for role in (even, odd):
        if os.fork() == 0:
            serve(role)
            os._exit(0)
    os.wait()

supervise()
";

#[test]
fn workers_in_python_have_functions_of_python_each_its_own() {
    let case = match ensure("python-stack", "python3.11").unwrap() {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => {
            gen_cores::not_tested(skipped);
            return;
        }
    };
    let mut target = Target::of(Command::new(case.exe).args(["-c", PREFORK]));
    let workers: Vec<String> = (0..2).map(|_| target.told().trim().to_owned()).collect();
    let (written, said) = profile(&["--subprocesses", "-d", "5", "--hold", "100", &target.pid()]);
    let stacks = parsed(&written);
    let of = |pid: &str| -> Vec<(Vec<String>, u64)> {
        stacks.iter().filter(|(stack, _)| process_of(stack).1 == pid).cloned().collect()
    };
    for (worker, other) in [("even", "odd"), ("odd", "even")] {
        let told = workers.iter().find_map(|line| line.strip_prefix(worker)).expect("its line");
        let own = of(told.trim());
        let samples = count(&own, &format!("{worker} [python]"));
        assert!(samples > 10, "{worker}: {own:?}\n{said}");
        assert_eq!(count(&own, &format!("{other} [python]")), 0, "{own:?}");
    }
    let server = of(&target.pid());
    assert!(count(&server, "supervise [python]") > 10, "{server:?}\n{said}");
    assert_eq!(count(&server, "spin [python]"), 0, "{server:?}");
}
