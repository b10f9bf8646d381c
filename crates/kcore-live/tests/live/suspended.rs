//! kcore is stopped or ended by a key or a signal: it lets its target go first.

use std::{
    env,
    io::{BufRead, BufReader},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use kcore_live::Pid;

use crate::target::{Target, capture_of, state_of, until};

const STOPPING: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGHUP, libc::SIGTERM, libc::SIGQUIT];
const VARIABLE: &str = "KCORE_TEST_SUSPEND";

/// Is no test of its own: what it does, it does in a process that the tests below start and stop.
#[test]
fn takes_snapshots_until_it_is_stopped() {
    let Ok(pid) = env::var(VARIABLE) else { return };
    let pid = Pid::new(pid.parse().unwrap());
    eprintln!("begun");
    loop {
        capture_of(pid, Duration::from_secs(1), false).unwrap();
    }
}

/// A process that takes snapshots, and is killed when the test is done with it.
struct Tracer(Child);

impl Tracer {
    fn send(&self, signal: i32) {
        // SAFETY: a signal to a process of this test.
        assert_eq!(unsafe { libc::kill(self.0.id().cast_signed(), signal) }, 0);
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts taking snapshots. The process is a group of its own, since one without a parent in the session
/// cannot be stopped by a key.
fn tracer_of(target: &Target) -> Tracer {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "suspended::takes_snapshots_until_it_is_stopped", "--nocapture"])
        .env(VARIABLE, target.pid().to_string())
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // Tests that run in the background may ignore some of them, which a child inherits.
    // SAFETY: the child calls nothing but signal(2).
    unsafe {
        command.pre_exec(|| {
            for signal in STOPPING.iter().chain(&ENDING) {
                libc::signal(*signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    let mut tracer = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(tracer.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    Tracer(tracer)
}

#[test]
fn a_key_that_stops_kcore_does_not_stop_its_target() {
    let target = Target::start("threads");
    let tracer = tracer_of(&target);
    let pid = Pid::new(tracer.0.id().cast_signed());
    for round in 0..100_u64 {
        thread::sleep(Duration::from_micros(round * 37 % 2000));
        tracer.send(STOPPING[round as usize % 3]);
        until("kcore is stopped", || state_of(pid) == Some('T'));
        target.assert_runs();
        tracer.send(libc::SIGCONT);
        until("kcore goes on", || state_of(pid) != Some('T'));
    }
}

#[test]
fn a_signal_that_ends_kcore_ends_it_and_lets_its_target_go() {
    let target = Target::start("threads");
    for signal in ENDING {
        let mut tracer = tracer_of(&target);
        tracer.send(signal);
        assert_eq!(tracer.0.wait().unwrap().signal(), Some(signal));
        target.assert_runs();
    }
}
