//! Callers by random stops: a program is stopped at random instants, and each caller that kcore names is held to
//! what then happens: where does the function return to, and with which stack pointer?
//!
//! All programs of [`programs::PROGRAMS`] that are installed are tried on demand, and a table is printed:
//! `KCORE_STOPS_COUNT=600 cargo test -p kcore --test stops -- --ignored --nocapture programs`.
//! `KCORE_STOPS=x26` takes those alone whose name begins so; `KCORE_STOPS_COMMAND='exec ffmpeg -i …'` another program. With
//! `KCORE_STOPS_PEERS=10` gdb, lldb, eu-stack and framehop are asked at every tenth stop.

#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

mod claim;
#[path = "../support/framehop.rs"]
mod framehop_of_core;
mod hop;
mod peers;
mod programs;
mod tally;
mod target;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use claim::{Claim, Truth};
use peers::PEERS;
use programs::{PROGRAMS, Program};
use tally::{Tally, Verdict};
use target::{Said, Target};

/// Stops of the program that is always tried.
const STOPS: u64 = 100;
/// Stops of another one, unless more are asked for.
const USUAL_STOPS: u64 = 200;
/// Until a program is at work.
const WARM_UP: Duration = Duration::from_millis(700);
/// Until a program that hardly runs is given up.
const PATIENCE: Duration = Duration::from_secs(240);
/// Instants to wait between two stops, in microseconds: none of them divides another.
const PAUSES: [u64; 5] = [311, 1_709, 733, 2_909, 97];

/// The verdicts about one program.
#[derive(Default)]
struct Verdicts {
    /// By the way that kcore found the caller.
    own: Tally,
    /// By debugger, at stops at which all were asked; kcore is one of them.
    peers: Tally,
}

/// What others say of a stop, by their names.
type PeerClaims = Vec<(&'static str, Vec<Claim>)>;

/// How a program is tried.
struct Trial<'a> {
    step: &'a Path,
    stops: u64,
    /// Peers are asked at each stop whose number this divides.
    peers: Option<u64>,
}

impl Trial<'_> {
    /// Stops a program again and again while it runs, until enough threads that run were met.
    fn run(&self, command: &mut Command) -> Verdicts {
        let mut verdicts = Verdicts::default();
        let target = Target::start(command);
        std::thread::sleep(WARM_UP);
        let start = Instant::now();
        for (number, pause) in (1_u64..).zip(PAUSES.into_iter().cycle()) {
            std::thread::sleep(Duration::from_micros(pause));
            let is_enough = verdicts.own.count() >= self.stops || start.elapsed() > PATIENCE;
            if is_enough || !target.stop() {
                break;
            }
            let is_asked = self.peers.is_some_and(|every| number.is_multiple_of(every));
            self.judge(&target, is_asked, &mut verdicts);
            target.go_on();
        }
        verdicts
    }

    fn judge(&self, target: &Target, is_asked: bool, verdicts: &mut Verdicts) {
        let Some(core) = target.core() else { return };
        let said = target::said(&core);
        let claims: PeerClaims = match is_asked && !said.is_empty() {
            true => {
                let others = PEERS.iter().map(|(name, ask)| (*name, ask(&target.pid())));
                others.chain([("framehop", hop::claims(&core))]).collect()
            }
            false => Vec::new(),
        };
        for said in said {
            let truth = Truth::of(said.tid, self.step);
            let own = own_verdict(&said, truth);
            verdicts.own.add(said.trust.as_str(), own);
            if !claims.is_empty() {
                verdicts.peers.add("kcore", own);
            }
            for (name, claims) in &claims {
                let claim = claims.iter().find(|claim| claim.tid == said.tid);
                verdicts.peers.add(name, verdict(claim, truth));
            }
        }
    }
}

/// What becomes of a claim that is not marked.
fn verdict(claim: Option<&Claim>, truth: Option<Truth>) -> Verdict {
    match (claim, truth) {
        (_, None) => Verdict::Undecided,
        (None, Some(_)) => Verdict::Silent,
        (Some(claim), Some(truth)) if truth.is(claim) => Verdict::Right,
        (Some(_), Some(_)) => Verdict::Wrong,
    }
}

fn own_verdict(said: &Said, truth: Option<Truth>) -> Verdict {
    match (verdict(said.claim.as_ref(), truth), truth) {
        (Verdict::Right, _) if said.is_guess => Verdict::GuessRight,
        (Verdict::Wrong, _) if said.is_guess => Verdict::GuessWrong,
        (Verdict::Wrong, Some(truth)) => {
            println!("wrong: {:#x} {:#x} is right of {:x?}", truth.pc, truth.sp, said.stack);
            Verdict::Wrong
        }
        (verdict, _) => verdict,
    }
}

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

#[test]
fn code_without_unwind_information_has_no_wrong_caller_that_is_not_marked() {
    let dir = tempfile::tempdir().unwrap();
    let step = target::build(dir.path(), "step.c", &[]);
    let program = target::build(dir.path(), "assembly.c", &["-fomit-frame-pointer", "-lm"]);
    let trial = Trial { step: &step, stops: STOPS, peers: None };
    let tally = trial.run(&mut Command::new(program)).own;
    println!("{tally}");
    assert_eq!(tally.of(Verdict::Wrong), 0, "{tally}");
    assert!(tally.of(Verdict::Right) > STOPS / 4, "too few are sure:\n{tally}");
}

#[test]
#[ignore = "takes long, and needs programs that are not installed everywhere"]
fn programs_of_the_distribution_have_no_wrong_caller_that_is_not_marked() {
    let dir = tempfile::tempdir().unwrap();
    let step = target::build(dir.path(), "step.c", &[]);
    let stops = number_of("KCORE_STOPS_COUNT").unwrap_or(USUAL_STOPS);
    let trial = Trial { step: &step, stops, peers: number_of("KCORE_STOPS_PEERS") };
    let (mut programs, mut total) = (Tally::default(), Verdicts::default());
    for program in wanted() {
        let verdicts = trial.run(&mut program.command(dir.path()));
        println!("{}\n{}", program.name, verdicts.own);
        programs.add_all(program.name, &verdicts.own);
        total.own.merge(&verdicts.own);
        total.peers.merge(&verdicts.peers);
    }
    println!("\n{programs}\n{}\n{}", total.own, total.peers);
    assert_eq!(programs.of(Verdict::Wrong), 0);
}

/// The programs to try.
fn wanted() -> Vec<Program> {
    if let Ok(script) = std::env::var("KCORE_STOPS_COMMAND") {
        return vec![Program { name: "command", needs: "true", script: script.leak() }];
    }
    let begins = std::env::var("KCORE_STOPS").unwrap_or_default();
    let programs = PROGRAMS.iter().filter(|program| program.name.starts_with(&begins));
    programs.filter(|program| program.is_installed()).copied().collect()
}
