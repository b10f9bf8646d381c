//! A thread that is stopped at each instruction with which the evaluation loop begins and ends: `step.c` lets it go on by
//! one, and a snapshot is taken of the process that is stopped meanwhile.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use gen_cores::{Case, Outcome, ensure};
use kcore::{Core, FrameKind, MAX_FRAMES, Tid};

use crate::live::Target;

/// Its loops are called by C alone: those of `a`, `b` and `gen` by that of `leaf1` or `leaf2`. They differ from time to
/// time, so that what one leaves on the stack and in frames is wrong for the next one.
const PROGRAM: &str = "
def a(x): return x
def b(x): return -x
def gen(count):
    for number in range(count): yield number
def leaf1(): return list(map(a, gen(2)))
def leaf2(): return list(map(b, gen(1)))
def outer():
    while True: leaf1(); leaf2()
print('done', flush=True)
outer()
";

/// Activations that are looked at, of `a`, `b` and `gen`. A short run has one alone.
const ACTIVATIONS: usize = 3;
/// Instructions of each that are looked at, at most.
const MOST: usize = 900;
/// Bytes of the loop's code, about: what lies elsewhere is passed without a look.
const LOOP_SIZE: u64 = 0xc000;

/// What is seen at one instruction.
struct Seen {
    /// Functions of Python, innermost first, and `-` for native frames before, between and behind them.
    shape: Vec<String>,
    doubt: Option<Arc<str>>,
}

/// How often what was seen was right, with the function that the activation runs or without it, marked as doubtful, or
/// wrong.
#[derive(Debug, Default)]
struct Tally {
    right: usize,
    without: usize,
    doubtful: Vec<String>,
    wrong: Vec<String>,
}

fn build(dir: &Path) -> PathBuf {
    let program = dir.join("step");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/step.c");
    let status = Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(source).status();
    assert!(status.expect("a compiler").success());
    program
}

fn step(program: &Path, tid: u32, pc: u64, count: usize) -> u64 {
    let words = [tid.to_string(), format!("{pc:#x}"), count.to_string()];
    let output = Command::new(program).args(words).output().expect("it runs");
    assert!(output.status.success(), "{:?}", output.status);
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a pc")
}

fn see(core: &Core, tid: u32) -> Seen {
    let stack = core.stacks().of_thread(Tid::new(tid), MAX_FRAMES);
    let (mut shape, mut doubt): (Vec<String>, _) = (Vec::new(), None);
    for frame in core.stacks().named_frames(&stack) {
        let function = frame.location.function.as_deref().unwrap_or("?");
        let name = match frame.location.kind {
            FrameKind::Python => function.rsplit('.').next().unwrap_or(function),
            _ => "-",
        };
        if name != "-" {
            doubt = doubt.or(frame.location.doubt.clone());
        }
        if name != "-" || shape.last().is_none_or(|last| last != "-") {
            shape.push(name.to_owned());
        }
    }
    Seen { shape, doubt }
}

/// The function that the innermost activation runs, where one is shown, and the one that called it through C; `None` where
/// the rest is not as it must be.
fn judge(shape: &[String]) -> Option<(Option<&str>, &str)> {
    let shape: Vec<&str> = shape.iter().map(String::as_str).collect();
    let shape = shape.strip_prefix(&["-"]).unwrap_or(&shape);
    let (inner, rest) = match shape {
        [inner @ ("a" | "b" | "gen"), "-", rest @ ..] => (Some(*inner), rest),
        rest => (None, rest),
    };
    let [leaf @ ("leaf1" | "leaf2"), "outer", "<module>", "-"] = rest else { return None };
    let other = if *leaf == "leaf1" { "b" } else { "a" };
    (inner != Some(other)).then_some((inner, leaf))
}

/// Whether `outer` runs, and nothing that it called.
fn is_outer_alone(shape: &[String]) -> bool {
    let shape: Vec<&str> = shape.iter().map(String::as_str).collect();
    shape.strip_prefix(&["-"]).unwrap_or(&shape) == ["outer", "<module>", "-"]
}

/// What is known of one activation, which runs one function, for one caller.
#[derive(Default)]
struct Activation {
    function: Option<String>,
    caller: Option<String>,
    /// Its caller has returned as well: up to the next activation `outer` runs, and calls the next one.
    is_over: bool,
}

impl Activation {
    fn add(&mut self, seen: &Seen, offset: u64, tally: &mut Tally) {
        let told = format!("{offset:#x}: {:?} {:?}", seen.shape, seen.doubt);
        match judge(&seen.shape) {
            _ if seen.doubt.is_some() => tally.doubtful.push(told),
            None if is_outer_alone(&seen.shape) => {
                self.is_over = true;
                tally.without += 1;
            }
            Some((None, _)) if self.is_over => tally.without += 1,
            _ if self.is_over => tally.wrong.push(told),
            Some((inner, leaf)) if self.has(inner, leaf) && inner.is_some() => tally.right += 1,
            Some((inner, leaf)) if self.has(inner, leaf) => tally.without += 1,
            _ => tally.wrong.push(told),
        }
    }

    fn has(&mut self, function: Option<&str>, caller: &str) -> bool {
        self.caller.get_or_insert(caller.to_owned()) == caller
            && function.is_none_or(|it| self.function.get_or_insert(it.to_owned()) == it)
    }
}

/// Looks at the instructions of one activation, up to the beginning of the next one.
fn look(target: &Target, program: &Path, entry: u64, tally: &mut Tally) {
    let tid = target.id();
    let mut pc = step(program, tid, entry, 0);
    let mut activation = Activation::default();
    for _ in 0..MOST {
        let offset = pc.wrapping_sub(entry);
        if offset < LOOP_SIZE {
            activation.add(&see(&target.snapshot(), tid), offset, tally);
        }
        pc = step(program, tid, 0, 1);
        if pc == entry {
            break;
        }
    }
}

fn stops(case: &Case, program: &Path) {
    let mut target = Target::start(case, PROGRAM);
    target.threads();
    target.signal("STOP");
    let entry = target.snapshot().symbols().lookup(None, "_PyEval_EvalFrameDefault").expect("it");
    let mut tally = Tally::default();
    let activations = if gen_cores::is_short_run() { 1 } else { ACTIVATIONS };
    for _ in 0..activations {
        look(&target, program, entry.get(), &mut tally);
    }
    let all = tally.right + tally.without + tally.doubtful.len();
    assert!(tally.wrong.is_empty(), "{}: {tally:?}", case.name());
    assert!(
        tally.doubtful.len() * 10 <= all && tally.right * 4 >= all,
        "{}: {tally:?}",
        case.name()
    );
}

#[test]
fn where_an_evaluation_begins_or_ends_no_frame_is_in_a_wrong_place() {
    let dir = tempfile::tempdir().expect("a folder");
    let program = build(dir.path());
    let releases = ["python3.11", "debian3.11", "python3.12", "python3.13", "debian3.14"];
    std::thread::scope(|scope| {
        for release in releases {
            let program = &program;
            scope.spawn(move || match ensure("python-stack", release).expect("a case") {
                Outcome::Made(case) | Outcome::Fresh(case) => stops(&case, program),
                Outcome::Skipped(skipped) => gen_cores::not_tested(skipped),
            });
        }
    });
}
