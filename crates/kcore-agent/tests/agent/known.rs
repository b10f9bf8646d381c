//! Threads that know their stacks.

use std::process::{Command, Stdio};

use crate::{
    answers::{groups, with},
    program::{Running, known, with_agent},
};

/// The functions of a thread that waits, which it knows, from the one that waits on.
const WAITER: [&str; 8] = [
    "known_wait",
    "known_leaf",
    "known_recursive",
    "known_recursive",
    "known_recursive",
    "known_recursive",
    "known_alloca",
    "known_compare",
];

/// Asserts that a stack has the functions of a thread that waits, without a gap, and ends where threads begin.
fn assert_waits(functions: &[String]) {
    let begin = functions.iter().position(|name| name == WAITER[0]).expect("known_wait");
    let own = &functions[begin..begin + WAITER.len()];
    assert_eq!(own, WAITER);
    let outer = &functions[begin + WAITER.len()..];
    assert!(outer.iter().any(|name| name.starts_with("qsort")), "{outer:?}");
    assert!(outer.iter().any(|name| name == "waiter"), "{outer:?}");
    assert!(outer.last().is_some_and(|name| name.starts_with("clone")), "{outer:?}");
}

#[test]
fn a_signal_writes_the_stacks_of_all_threads() {
    let mut process = Running::start(with_agent(&known()).args(["wait", "6"]));
    for _ in 0..3 {
        let text = process.stacks();
        let groups = groups(&text);
        let waiters = with(&groups, "known_wait");
        assert_eq!((waiters.count, waiters.waits_in.as_str()), (6, "futex"), "{text}");
        assert_waits(&waiters.functions);
        assert_eq!(with(&groups, "runner").count, 1);
        assert_eq!(with(&groups, "main").count, 1);
        assert_eq!(groups.iter().map(|group| group.count).sum::<usize>(), 8);
        assert!(text.contains(" of 8 threads"), "{text}");
    }
    assert!(process.runs());
}

/// Bytes of the mapping, its guard included, as `docs/book/src/agent.md` says.
const MAPPING: u64 = (2 << 20) + (64 << 10);

/// Bytes of the mappings that have no name.
fn anonymous_bytes(maps: &str) -> u64 {
    let nameless = maps.lines().filter(|line| line.split_whitespace().count() == 5);
    let sizes = nameless.map(|line| {
        let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let number = |digits| u64::from_str_radix(digits, 16).unwrap();
        number(end) - number(start)
    });
    sizes.sum()
}

#[test]
fn until_it_is_asked_it_costs_one_mapping_and_no_thread() {
    let with = Running::start(with_agent(&known()).args(["wait", "2"]));
    assert_eq!(with.threads(), 4, "those of the program");
    let without = Running::start(Command::new(known()).args(["wait", "2"]).stdin(Stdio::null()));
    // What no file is behind: the mapping may lie next to others, and then be one with them in the list.
    let [with, without] = [with.maps(), without.maps()].map(|maps| anonymous_bytes(&maps));
    let more = with.checked_sub(without).expect("more than without");
    // Besides, pages of variables of the library, and what allocators and the loader have for it.
    assert!(more.abs_diff(MAPPING) < 2 << 20, "{more} bytes");
}

#[test]
fn it_has_no_thread_again_after_it_was_asked() {
    let mut process = Running::start(with_agent(&known()).args(["wait", "2"]));
    process.stacks();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while process.threads() != 4 {
        assert!(std::time::Instant::now() < deadline, "{} threads", process.threads());
        std::thread::yield_now();
    }
}

#[test]
fn threads_that_block_the_signal_are_reported() {
    let command = &mut with_agent(&known());
    let command = command.args(["blocked", "3"]).env("KCORE_AGENT_TIMEOUT_MS", "300");
    let mut process = Running::start(command);
    for _ in 0..2 {
        let text = process.stacks();
        // With the name of the program, as they have none of their own.
        let blocks =
            |line: &&str| line.contains("(agent-known") && line.ends_with("blocks the signal");
        assert_eq!(text.lines().filter(blocks).count(), 3, "{text}");
        assert!(text.contains(" of 2 threads"), "{text}");
        assert_eq!(with(&groups(&text), "runner").count, 1);
    }
}

#[test]
fn errno_is_kept() {
    let mut process = Running::start(with_agent(&known()).args(["errno", "1"]));
    for _ in 0..20 {
        process.stacks();
    }
    assert!(process.runs(), "it found another errno");
}

fn output(arguments: &[&str]) -> String {
    let output = with_agent(&known()).args(arguments).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_child_of_a_fork_has_an_agent_of_its_own() {
    let text = output(&["fork", "3"]);
    let (child, parent) = text.split_once("\n\nkcore-agent:").expect("two answers");
    let (child, parent) = (groups(child), groups(&format!("kcore-agent:{parent}")));
    assert_eq!(with(&child, "known_wait").count, 3);
    assert_waits(&with(&child, "known_wait").functions);
    assert_eq!(with(&parent, "known_wait").count, 2);
    assert_eq!(
        with(&child, "main").functions.iter().filter(|it| *it == "say_own_stacks").count(),
        1
    );
}

#[test]
fn threads_that_ask_together_are_answered_one_after_the_other() {
    assert_eq!(output(&["together", "8"]), "answered 160\n");
}

#[test]
fn handlers_of_the_program_are_kept() {
    let text = output(&["own", "35"]);
    assert!(text.contains("no stacks\nhandled 1"), "its signal is the program's: {text}");
    let text = output(&["own", "12"]);
    assert!(text.contains("main") && text.contains("handled 1"), "{text}");
}

#[test]
fn where_reading_by_a_call_is_refused_it_is_done_by_a_file() {
    // Three threads of which alone it is so, and a whole process.
    for number in ["3", "0"] {
        let mut process = Running::start(with_agent(&known()).args(["refused", number]));
        for _ in 0..3 {
            let text = process.stacks();
            let groups = groups(&text);
            let waiters = with(&groups, "known_wait");
            assert_eq!(waiters.count, 3, "{text}");
            assert_waits(&waiters.functions);
            assert_eq!(with(&groups, "main").count, 1, "{text}");
        }
        assert!(process.runs());
    }
}
