//! Programs in Python that know where they spend their time.

use std::process::Command;

use gen_cores::{Outcome, ensure};

use super::assert_shares;
use super::target::{Target, count, folded, parsed, profile};

/// As `target.c`: it spends its time in three functions, and answers each line with what it spent in each.
const PROGRAM: &str = "
import select, sys, threading, time

def spin_until(end):
    while time.perf_counter() < end:
        pass

def seventy():
    spin_until(time.perf_counter() + 0.007)

def twenty():
    spin_until(time.perf_counter() + 0.002)

def ten():
    spin_until(time.perf_counter() + 0.001)

def work():
    functions, sums = (seventy, twenty, ten), [0.0, 0.0, 0.0]
    while True:
        for index, function in enumerate(functions):
            start = time.perf_counter()
            function()
            sums[index] += time.perf_counter() - start
        if select.select([sys.stdin], [], [], 0)[0]:
            sys.stdin.readline()
            print(*sums, flush=True)

threading.Thread(target=threading.Event().wait, daemon=True).start()
work()
";

/// Functions that C calls, and threads that begin while others run.
const CALLED: &str = "
import threading
def leaf(): return sum(number for number in (1, 2))
def outer():
    for _ in range(2000): leaf()
def root():
    while True: outer()
print('runs', flush=True)
for _ in range(2):
    threading.Thread(target=root, name='worker', daemon=True).start()
root()
";

/// What is wrong with the places of Python's functions in a stack, if anything.
fn fault(stack: &[String]) -> Option<&'static str> {
    let names: Vec<&str> = stack.iter().map(String::as_str).collect();
    let at = |name: &str| names.iter().position(|it| *it == format!("{name} [python]"));
    let first = names.iter().position(|name| name.ends_with(" [python]"));
    let start = names.iter().position(|name| matches!(*name, "_start" | "clone3"));
    let sum = |from: usize| names[from..].iter().position(|name| !name.ends_with(" [python]"));
    match (first, start, at("leaf"), at("leaf.<locals>.<genexpr>")) {
        (Some(first), Some(start), ..) if first < start => Some("outside of the thread's start"),
        (_, _, None, Some(_)) => Some("a generator without the function that made it"),
        (_, _, Some(leaf), Some(inner)) if sum(leaf).is_none_or(|sum| leaf + sum > inner) => {
            Some("no native function between what it called and what that calls")
        }
        (_, _, Some(leaf), _) if at("outer").is_none_or(|outer| outer + 1 != leaf) => {
            Some("a function without its caller")
        }
        _ => None,
    }
}

#[test]
fn functions_of_python_that_use_a_processor_stand_where_they_are_called() {
    for release in ["python3.11", "python3.12", "python3.13"] {
        let case = match ensure("python-stack", release).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                continue;
            }
        };
        let mut target = Target::of(Command::new(case.exe).args(["-c", CALLED]));
        assert_eq!(target.told(), "runs\n");
        let (stacks, said) =
            profile(&["--cpu", "-d", "2", "-F", "300", "--hold", "100", &target.pid()]);
        // What is marked as read late has its place all the same.
        let stacks = String::from_utf8(stacks).unwrap().replace(" (?)", "");
        let stacks = parsed(stacks.as_bytes());
        assert!(said.contains("since frames of cpython lie in memory"), "{said}");
        assert!(count(&stacks, "leaf [python]") > 20, "{release}: {stacks:?}");
        let wrong = stacks.iter().find_map(|(stack, _)| Some((fault(stack)?, stack)));
        assert_eq!(wrong, None, "{release}");
        let all: u64 = stacks.iter().map(|(_, count)| count).sum();
        let raw = count(&stacks, "_PyEval_EvalFrameDefault");
        assert!(
            raw * 4 < all,
            "{release}: {raw} of {all} loops stand for what they run: {stacks:?}"
        );
        let (stacks, said) = profile(&["--cpu", "--native", "-d", "1", &target.pid()]);
        let stacks = parsed(&stacks);
        assert!(said.contains("was never stopped") || said.contains("counts for nobody"), "{said}");
        assert_eq!(count(&stacks, "[python]"), 0, "{stacks:?}");
    }
}

#[test]
fn functions_of_python_have_their_shares_among_native_ones() {
    for release in ["python3.9", "python3.11", "python3.13"] {
        let case = match ensure("python-stack", release).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                continue;
            }
        };
        let mut target = Target::of(Command::new(case.exe).args(["-c", PROGRAM]));
        target.sums();
        assert_shares(&mut target, &["--hold", "100"]);
        let stacks = folded(&["-d", "1", "--hold", "100", &target.pid()]);
        let wanted = ["Py_RunMain", "work [python]", "y [python]", "spin_until [python]"];
        let in_order = |stack: &[String]| {
            let mut names = stack.iter();
            wanted.iter().all(|wanted| names.any(|name| name.contains(wanted)))
        };
        assert!(stacks.iter().any(|(stack, _)| in_order(stack)), "{release}: {stacks:?}");
    }
}
