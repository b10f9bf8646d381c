//! Targets that do not hold still: threads come and go, children, other programs, signals, stops.

use std::{thread, time::Duration};

use kcore_live::LiveError;

use crate::consistency::{stack_pointer, word};
use crate::target::{Target, until};

const TIMEOUT: Duration = Duration::from_secs(5);

#[test]
fn threads_that_are_made_meanwhile_are_stopped_too() {
    for way in ["churn", "forks"] {
        let target = Target::start(way);
        for _ in 0..200 {
            let snapshot = target.capture(TIMEOUT, false).unwrap();
            assert!(snapshot.threads.iter().any(|thread| thread.tid == target.pid().get()));
            assert!(snapshot.threads.iter().all(|thread| thread.registers.is_some()));
        }
        let before = target.count();
        until("the target goes on", || target.count() > before);
        target.assert_runs();
    }
}

#[test]
fn a_program_that_starts_another_one_is_one_of_both_or_gone() {
    let target = Target::start("execs");
    let mut whole: usize = 0;
    for _ in 0..200 {
        match target.capture(TIMEOUT, false) {
            Ok(_) => whole += 1,
            Err(LiveError::Gone(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(whole > 0);
    target.assert_runs();
}

#[test]
fn no_signal_is_lost_or_comes_twice() {
    const SIGNALS: u64 = 5000;
    let target = Target::start("signals");
    let pid = target.pid().get();
    let sender = thread::spawn(move || {
        for sent in 0..SIGNALS {
            // SAFETY: a signal to a process of this test.
            assert_eq!(unsafe { libc::kill(pid, libc::SIGRTMIN()) }, 0);
            if sent % 50 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
    });
    while !sender.is_finished() {
        target.capture(TIMEOUT, false).unwrap();
        target.capture(TIMEOUT, true).unwrap();
    }
    sender.join().unwrap();
    until("all signals came", || target.count() >= SIGNALS);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(target.count(), SIGNALS);
}

#[test]
fn a_process_that_was_stopped_stays_so() {
    let target = Target::start("threads");
    target.signal(libc::SIGSTOP);
    until("the target stops", || target.state() == 'T');
    for rolling in [false, true] {
        let snapshot = target.capture(TIMEOUT, rolling).unwrap();
        assert_eq!(snapshot.threads.len(), 22);
        until("the target is stopped again", || target.state() == 'T');
        thread::sleep(Duration::from_millis(20));
        assert_eq!(target.state(), 'T');
    }
    target.signal(libc::SIGCONT);
    target.assert_runs();
    let before = target.count();
    until("the target goes on", || target.count() > before);
}

#[test]
fn a_process_whose_first_thread_has_ended_has_the_others() {
    let target = Target::start("leaderless");
    until("the first thread ends", || target.state() == 'Z');
    let snapshot = target.capture(TIMEOUT, false).unwrap();
    assert_eq!(snapshot.threads.len(), 1);
    assert_ne!(snapshot.threads[0].tid, target.pid().get());
}

#[test]
fn a_thread_that_cannot_stop_is_left_out_and_goes_on() {
    let target = Target::start("vfork");
    until("the thread waits for its child", || target.state() == 'D');
    for rolling in [false, true] {
        let snapshot = target.capture(Duration::from_millis(50), rolling).unwrap();
        let (with, without): (Vec<_>, Vec<_>) =
            snapshot.threads.iter().partition(|thread| thread.registers.is_some());
        assert_eq!((with.len(), without.len()), (1, 1));
        assert_eq!(without[0].tid, target.pid().get());
        // What could not stop takes nothing from those that did.
        let sp = stack_pointer(with[0].registers.as_ref().unwrap());
        assert!(word(&snapshot, sp).is_some() && !snapshot.late);
        target.assert_runs();
    }
}
