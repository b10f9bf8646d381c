//! Callers by random stops: a program is stopped at random instants, and each caller that kcore names is held to
//! what then happens, one instruction at a time: does the thread come back there, with that stack pointer?
//!
//! A program of the distribution is tried on demand:
//! `KCORE_STOPS='ffmpeg -i …' KCORE_STOPS_COUNT=500 cargo test -p kcore-cli --test stops -- --ignored --nocapture`.
//! With `KCORE_STOPS_PEERS=10` gdb and eu-stack are asked at every tenth stop; they count where what kcore said
//! turned out to be right.

#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

mod peers;
mod target;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use peers::{Claim, PEERS};
use serde_json::Value;
use target::Target;

/// Stops of the program that is always tried.
const STOPS: u64 = 100;
/// Stops of another one, unless more are asked for.
const USUAL_STOPS: u64 = 200;
/// Instants to wait between two stops, in microseconds: none of them divides another.
const PAUSES: [u64; 5] = [311, 1_709, 733, 2_909, 97];

/// What came of claims, by the way that the caller was found.
#[derive(Default)]
struct Tally(BTreeMap<(String, &'static str), u64>);

impl Tally {
    fn add(&mut self, trust: &str, verdict: &'static str) {
        let count = self.0.entry((trust.to_owned(), verdict)).or_default();
        *count = count.checked_add(1).unwrap();
    }

    fn of(&self, verdict: &str) -> u64 {
        self.0.iter().filter(|((_, own), _)| *own == verdict).map(|(_, count)| count).sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((trust, verdict), count) in &self.0 {
            writeln!(f, "{count:6} {verdict:20} by {trust}")?;
        }
        Ok(())
    }
}

/// Stops a program so many times, while it runs; the claims about the caller of its innermost frame. Peers are asked at
/// each stop whose number `peers` divides.
fn stop(command: &mut Command, step: &Path, stops: u64, peers: Option<u64>) -> Tally {
    let mut tally = Tally::default();
    let target = Target::start(command);
    for (number, pause) in (1..=stops).zip(PAUSES.into_iter().cycle()) {
        std::thread::sleep(Duration::from_micros(pause));
        if !target.stop() {
            break;
        }
        let is_asked = peers.is_some_and(|every| number.is_multiple_of(every));
        let stacks = target.stacks();
        let peers = PEERS.iter().filter(|_| is_asked);
        let claims: Vec<_> = peers.map(|(name, ask)| (*name, ask(&target.pid()))).collect();
        for stack in stacks {
            judge(&stack, step, &claims, &mut tally);
        }
        target.go_on();
    }
    tally
}

/// Lets a thread of a stopped process come to where its stack says, or not.
fn judge(stack: &Value, step: &Path, peers: &[(&str, Vec<Claim>)], tally: &mut Tally) {
    let frames = stack["frames"].as_array().unwrap().iter();
    // Behind the calls that are inlined where it stands; what ended by a jump has nothing to come back to.
    let mut callers = frames.skip_while(|frame| frame["inline"] == true).skip(1);
    let Some(outer) = callers.find(|frame| frame["trust"] != "tail_call") else {
        let reason = stack["end"]["reason"].as_str().unwrap();
        return tally.add(reason, "no claim");
    };
    let (Some(pc), Some(sp)) = (outer["pc"].as_str(), outer["sp"].as_str()) else { return };
    // One that waits in the kernel need not come back soon.
    if !stack["waits_in"].is_null() {
        return;
    }
    let tid = stack["tid"].to_string();
    let output = Command::new(step).args([&tid, pc, sp]).output().unwrap();
    let verdict = match (output.stdout.as_slice(), outer["guess"] == true) {
        (b"right\n", false) => "right",
        (b"right\n", true) => "marked guess right",
        (b"wrong\n", true) => "marked guess wrong",
        (b"wrong\n", false) => {
            println!("wrong: {stack}");
            "unmarked wrong"
        }
        _ => "undecided",
    };
    tally.add(outer["trust"].as_str().unwrap(), verdict);
    if verdict.ends_with("right") {
        compare(stack["tid"].as_u64().unwrap(), (pc, sp), peers, tally);
    }
}

/// What peers said of a thread whose caller is known to be this one.
fn compare(tid: u64, caller: (&str, &str), peers: &[(&str, Vec<Claim>)], tally: &mut Tally) {
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let (pc, sp) = (number(caller.0), number(caller.1));
    for (name, claims) in peers {
        let claim = claims.iter().find(|claim| claim.tid == tid);
        let is_right = |it: &Claim| it.pc == pc && it.sp.is_none_or(|own| own == sp);
        let verdict = match claim {
            Some(claim) if is_right(claim) => "peer right",
            Some(_) => "peer wrong",
            None => "peer tells none",
        };
        tally.add(name, verdict);
    }
}

#[test]
fn code_without_unwind_information_has_no_wrong_caller_that_is_not_marked() {
    let dir = tempfile::tempdir().unwrap();
    let step = target::build(dir.path(), "step.c", &[]);
    let program = target::build(dir.path(), "assembly.c", &["-fomit-frame-pointer", "-lm"]);
    let tally = stop(&mut Command::new(program), &step, STOPS, None);
    println!("{tally}");
    assert_eq!(tally.of("unmarked wrong"), 0, "{tally}");
    assert!(tally.of("right") > STOPS / 4, "too few are sure:\n{tally}");
}

#[test]
#[ignore = "tries the program that KCORE_STOPS names"]
fn a_program_of_the_distribution_has_no_wrong_caller_that_is_not_marked() {
    let command = std::env::var("KCORE_STOPS").unwrap();
    let stops = std::env::var("KCORE_STOPS_COUNT").ok();
    let stops = stops.map_or(USUAL_STOPS, |count| count.parse().unwrap());
    let peers = std::env::var("KCORE_STOPS_PEERS").ok().map(|every| every.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let step = target::build(dir.path(), "step.c", &[]);
    let mut program = Command::new("sh");
    program.args(["-c", &format!("exec {command}")]);
    let tally = stop(&mut program, &step, stops, peers);
    println!("{tally}");
    assert_eq!(tally.of("unmarked wrong"), 0, "{tally}");
}
