//! kcore is killed at random moments: whatever it looked at must go on.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use kcore_live::Pid;

use crate::target::{Target, capture_of, until};

const VARIABLE: &str = "KCORE_TEST_TRACE";
const KILLS: u64 = 200;

/// Is no test of its own: what it does, it does in a process that the test below starts and kills.
#[test]
fn takes_snapshots_until_it_is_killed() {
    let Ok(pid) = env::var(VARIABLE) else { return };
    let pid = Pid::new(pid.parse().unwrap());
    eprintln!("begun");
    loop {
        capture_of(pid, Duration::from_secs(1), false).unwrap();
    }
}

/// Starts taking snapshots of a process, and kills that `after` so many microseconds.
fn kill_a_tracer(pid: Pid, after: u64) {
    let mut tracer = Command::new(env::current_exe().unwrap())
        .args(["--exact", "killed::takes_snapshots_until_it_is_killed", "--nocapture"])
        .env(VARIABLE, pid.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(tracer.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    thread::sleep(Duration::from_micros(after));
    tracer.kill().unwrap();
    tracer.wait().unwrap();
}

/// Up to three milliseconds, which is several snapshots: xorshift.
fn moments() -> impl Iterator<Item = u64> {
    let mut random: u64 = 0x9e37_79b9_7f4a_7c15;
    std::iter::repeat_with(move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % 3000
    })
}

#[test]
fn a_target_goes_on_whenever_kcore_is_killed() {
    let target = Target::start("threads");
    let mut last = target.count();
    for (kill, after) in (0..KILLS).zip(moments()) {
        kill_a_tracer(target.pid(), after);
        target.assert_runs();
        let now = target.count();
        until(&format!("kill {kill}: the target counts no more"), || {
            target.count() > now && now >= last
        });
        last = now;
    }
}

#[test]
fn no_signal_is_lost_when_kcore_is_killed() {
    let target = Target::start("signals");
    let mut sent: u64 = 0;
    for after in moments().take(60) {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let mut sent: u64 = 0;
                // The system keeps only so many for a process that does not take them.
                while !done.load(Ordering::Relaxed) && sent < 2000 {
                    target.signal(libc::SIGRTMIN());
                    sent += 1;
                    thread::sleep(Duration::from_micros(20));
                }
                sent
            });
            kill_a_tracer(target.pid(), after);
            done.store(true, Ordering::Relaxed);
            sent += sender.join().unwrap();
        });
        until("all signals came", || target.count() >= sent);
    }
    assert_eq!(target.count(), sent);
}
