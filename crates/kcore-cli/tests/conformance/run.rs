//! Runs a case: in a session of the library, or as the script of the program.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use gen_cores::Outcome;
use kcore::{Core, OpenOptions};
use kcore_shell::Source;

use crate::case::{Case, Target};
use crate::support::{self, Answer};

/// What the lines of a case gave, one for each step; the program gives one for all.
pub fn answers(case: &Case) -> Vec<Answer> {
    if case.target.program {
        return vec![by_program(case)];
    }
    let mut session = support::session(core(&case.target));
    let source = if case.target.typed { Source::Terminal } else { Source::Text };
    case.steps.iter().map(|step| support::answer(&mut session, source, &step.input)).collect()
}

/// The opened core, which all cases share.
fn core(target: &Target) -> Arc<Core> {
    static CORES: OnceLock<Mutex<HashMap<PathBuf, Arc<Core>>>> = OnceLock::new();
    let mut cores = CORES.get_or_init(Mutex::default).lock().unwrap();
    let path = file(target);
    let core = cores.entry(path.clone()).or_insert_with(|| {
        let options = if target.executable_alone {
            OpenOptions { exe: Some(path), ..OpenOptions::default() }
        } else {
            OpenOptions { core: Some(path), ..OpenOptions::default() }
        };
        Arc::new(Core::open(&options).unwrap())
    });
    Arc::clone(core)
}

fn file(target: &Target) -> PathBuf {
    if let Some(variant) = &target.variant {
        return match gen_cores::ensure(&target.core, variant).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case.core,
            Outcome::Skipped(skipped) => panic!("this machine makes no cores: {}", skipped.reason),
        };
    }
    let name = if target.executable_alone { &target.core } else { "core.zst" };
    support::committed(&target.core, name)
}

fn by_program(case: &Case) -> Answer {
    let script: String = case.steps.iter().map(|step| format!("{}\n", step.input)).collect();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kcore"))
        .args(["--no-rc", "-f", "-"])
        .arg(file(&case.target))
        .env("SHELL", &case.target.shell)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that quits does not read the rest.
    let _ = child.stdin.take().unwrap().write_all(script.as_bytes());
    let output = child.wait_with_output().unwrap();
    Answer::new(output.stdout, output.stderr)
}
