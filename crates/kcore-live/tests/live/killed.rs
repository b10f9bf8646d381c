//! kcore is killed at random moments: whatever it looked at must go on.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use kcore_live::Pid;

use crate::target::{Target, capture_of};

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

#[test]
fn a_target_goes_on_whenever_kcore_is_killed() {
    let target = Target::start("threads");
    let mut random: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut last = target.count();
    for kill in 0..KILLS {
        let mut tracer = Command::new(env::current_exe().unwrap())
            .args(["--exact", "killed::takes_snapshots_until_it_is_killed", "--nocapture"])
            .env(VARIABLE, target.pid().to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(tracer.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        // xorshift: up to three milliseconds later, which is several snapshots.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        thread::sleep(Duration::from_micros(random % 3000));
        tracer.kill().unwrap();
        tracer.wait().unwrap();
        target.assert_runs();
        let now = target.count();
        crate::target::until(&format!("kill {kill}: the target counts no more"), || {
            target.count() > now && now >= last
        });
        last = now;
    }
}
