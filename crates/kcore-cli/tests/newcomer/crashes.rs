//! Cores of programs that died in known ways, and what is true of each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gen_cores::{Frame, Outcome, Program, Thread, Truth, core_of, ensure};
use tempfile::TempDir;

/// Functions of the program on a stack that an answer must name.
const FUNCTIONS: usize = 2;

/// A process that died.
pub struct Crash {
    /// What stands on kcore's command line: the core, and the executable if it must be named.
    pub target: String,
    /// What the program told, if it is one of gen-cores.
    truth: Option<Truth>,
    /// What it printed.
    printed: String,
    _folder: Option<TempDir>,
}

impl Crash {
    /// A case of gen-cores; `None` where it cannot be made here.
    pub fn scenario(name: &str, variant: &str) -> Option<Self> {
        let case = match ensure(name, variant).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                return None;
            }
        };
        let target = format!("-e {} {}", case.exe.display(), case.core.display());
        let truth = Some(case.truth().unwrap());
        Some(Self { target, truth, printed: String::new(), _folder: None })
    }

    /// A committed core.
    pub fn committed(name: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
        let folder = root.join(name).join("x86_64");
        let target = folder.join("core.zst").display().to_string();
        let truth = Some(Truth::load(&folder.join("truth.json")).unwrap());
        Self { target, truth, printed: String::new(), _folder: None }
    }

    /// `crashes.c`, which dies in the way that `way` names; `None` without a compiler.
    pub fn own(way: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let program = compile(folder.path())?;
        let started = Program { path: &program, args: &[way], stack_kib: 8192 };
        let core = core_of(&started, folder.path()).unwrap();
        let printed = fs::read_to_string(folder.path().join("output.txt")).unwrap();
        let target = core.display().to_string();
        Some(Self { target, truth: None, printed, _folder: Some(folder) })
    }

    /// The word that the program printed behind `key`.
    pub fn printed(&self, key: &str) -> &str {
        let mut words = self.printed.lines().filter_map(|line| line.split_once(' '));
        words.find(|(word, _)| *word == key).map(|(_, value)| value).unwrap_or_default()
    }

    /// What the first look must tell: the signal, the address, and the program's last words.
    pub fn verdict(&self) -> Vec<String> {
        let Some(truth) = &self.truth else { return Vec::new() };
        let facts = &truth.facts;
        let told = [
            &facts.signal,
            &facts.fault_address,
            &facts.abort_message,
            &facts.exception_type,
            &facts.exception_what,
            &facts.panic_message,
        ];
        told.into_iter().flatten().cloned().collect()
    }

    /// The innermost functions of the program on the stack of the thread that died.
    pub fn functions(&self) -> Vec<String> {
        let crashed = self.truth.as_ref().and_then(Truth::crashed);
        crashed.map(innermost).unwrap_or_default()
    }

    /// The same of each thread that waits.
    pub fn functions_of_all(&self) -> Vec<String> {
        let threads = self.truth.iter().flat_map(|truth| &truth.threads);
        threads.flat_map(innermost).collect()
    }
}

fn innermost(thread: &Thread) -> Vec<String> {
    let calls = thread.frames.iter().filter_map(|frame| match frame {
        Frame::Call(call) if call.mark.is_none() => call.function.clone(),
        _ => None,
    });
    calls.take(FUNCTIONS).collect()
}

fn compile(folder: &Path) -> Option<PathBuf> {
    let program = folder.join("crashes");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/newcomer/crashes.c");
    let mut compiler = Command::new("gcc");
    compiler.args(["-O0", "-g", "-pthread", "-o"]).arg(&program).arg(source);
    let Ok(status) = compiler.status() else {
        gen_cores::not_tested("there is no gcc");
        return None;
    };
    assert!(status.success());
    Some(program)
}
