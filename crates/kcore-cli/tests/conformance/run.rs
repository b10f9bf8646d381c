//! Runs a case: in a session of the library, or as the script of the program.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use kcore::{Core, OpenOptions};
use kcore_commands::{DCMDS, WALKERS};
use kcore_dcmd::Sink;
use kcore_render::{Format, Numbers, TextOptions, TextSink};
use kcore_shell::{Session, SessionOptions, Source};

use crate::case::{Case, Step, Target};

const TEXT: TextOptions =
    TextOptions { styled: false, live: false, numbers: Numbers { radix: 16, word_size: 8 } };

/// What the lines of a case gave, one for each step; the program gives one for all.
pub fn answers(case: &Case) -> Vec<Step> {
    if case.target.program {
        return vec![by_program(case)];
    }
    let mut session = session(&case.target);
    let source = if case.target.typed { Source::Terminal } else { Source::Text };
    case.steps.iter().map(|step| answer(&mut session, source, &step.input)).collect()
}

fn answer(session: &mut Session, source: Source<'_>, input: &str) -> Step {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    {
        let mut sink = TextSink::new(&mut out, &mut errors, TEXT);
        session.eval_from(source, input, &mut sink);
        sink.finish().unwrap();
    }
    step(input, out, errors)
}

fn step(input: &str, out: Vec<u8>, errors: Vec<u8>) -> Step {
    let errors = String::from_utf8(errors).unwrap();
    Step {
        input: input.to_owned(),
        out: String::from_utf8(out).unwrap(),
        errors: errors.lines().map(ToOwned::to_owned).collect(),
    }
}

fn session(target: &Target) -> Session {
    Session::new(
        core(target),
        SessionOptions {
            dcmds: DCMDS,
            walkers: WALKERS,
            format: Format::Text(TEXT),
            interrupt: Arc::new(AtomicBool::new(false)),
            terminal_width: || None,
        },
    )
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
    let name = if target.executable_alone { &target.core } else { "core.zst" };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    root.join(&target.core).join("x86_64").join(name)
}

fn by_program(case: &Case) -> Step {
    let script: String = case.steps.iter().map(|step| format!("{}\n", step.input)).collect();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kcore"))
        .args(["--no-rc", "-f", "-"])
        .arg(file(&case.target))
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that quits does not read the rest.
    let _ = child.stdin.take().unwrap().write_all(script.as_bytes());
    let output = child.wait_with_output().unwrap();
    step(script.trim_end(), output.stdout, output.stderr)
}
