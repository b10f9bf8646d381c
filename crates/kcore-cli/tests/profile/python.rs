//! Programs in Python that know where they spend their time.

use std::process::Command;

use gen_cores::{Outcome, ensure};

use super::assert_shares;
use super::target::{Target, folded};

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
