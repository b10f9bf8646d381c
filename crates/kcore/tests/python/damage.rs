//! What is left where modules have no files, and where memory is missing.

use std::{
    fs,
    ops::{ControlFlow, Range},
};

use gen_cores::{Case, Truth};
use kcore::python::{
    Chain, PyFrame, PyTasks, Python,
    value::{Limits, ValueKind},
};
use kcore::{Addr, Core, MAX_FRAMES, MappingKind, OpenOptions, Probes, Tid};
use tempfile::TempDir;

use crate::{CASES, frames, open, told_lines};

fn cases(scenario: &str) -> impl Iterator<Item = &'static (Case, Truth)> {
    CASES.iter().filter(move |(case, _)| case.scenario == scenario)
}

/// A copy of a core in which no module has the name of a file that is there.
fn without_files(case: &Case) -> (TempDir, Core) {
    let mut bytes = fs::read(&case.core).expect("a core");
    for module in open(case).modules().all().iter().filter(|module| module.image().is_some()) {
        let path = module.path();
        let mut rest = bytes.as_mut_slice();
        while let Some(at) = find(rest, path.as_bytes()) {
            rest[at + 1..][..3].copy_from_slice(b"not");
            rest = &mut rest[at + path.len()..];
        }
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let core = dir.path().join("core");
    fs::write(&core, bytes).expect("a core");
    let options = OpenOptions { core: Some(core), ..OpenOptions::default() };
    (dir, Core::open(&options).expect("the core opens"))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted[0];
    let mut from = 0;
    while let Some(next) = bytes[from..].iter().position(|byte| *byte == first) {
        if bytes[from + next..].starts_with(wanted) {
            return Some(from + next);
        }
        from += next + 1;
    }
    None
}

#[test]
fn frames_need_no_file_of_a_module() {
    for (case, truth) in cases("python-stack") {
        let (_dir, core) = without_files(case);
        let python = |name: &str| name.contains("python");
        let modules = core.modules().all().iter().filter(|module| python(module.name()));
        assert!(modules.clone().count() > 0 && modules.clone().all(|it| it.image().is_none()));
        let version = core.runtimes().identities().next().expect("CPython").version.clone();
        let version = version.expect("a version");
        assert!(case.variant.contains(version.rsplit_once('.').unwrap().0), "{version}");
        for thread in &truth.threads {
            let stack = core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES);
            let shown = frames(&core, &stack);
            let shown: Vec<_> = shown
                .iter()
                .map(|it| (it.location.function.as_deref(), it.location.line))
                .collect();
            let told: Vec<_> =
                thread.calls().map(|call| (call.function.as_deref(), call.line)).collect();
            assert_eq!(shown, told, "{} {}", case.name(), thread.role);
        }
    }
}

#[test]
fn tasks_need_no_file_of_a_module() {
    let variants = ["python3.11", "python3.13", "debian3.14", "debian3.15"];
    for (case, _) in cases("python-async").filter(|(case, _)| variants.contains(&&*case.variant)) {
        let (_dir, core) = without_files(case);
        let python = core.runtimes().of::<Python>().next().expect("CPython");
        let PyTasks { tasks, unread } = python.py_tasks(&core).expect("tasks");
        assert_eq!(unread, 0, "{}", case.name());
        let chains = tasks.iter().filter_map(|task| task.awaiting.as_ref());
        let chained = chains.filter(|awaiting| !awaiting.frames.is_empty()).count();
        let told = told_lines(case).len();
        assert_eq!((tasks.len(), chained), (told, told), "{}", case.name());
    }
}

/// A copy of a core whose bytes were changed, and the same as it is seen by who knows no runtime.
pub struct Hurt {
    _dir: TempDir,
    pub core: Core,
    plain: Core,
}

pub fn changed(case: &Case, change: impl FnOnce(&Core, &mut Vec<u8>)) -> Hurt {
    let mut bytes = fs::read(&case.core).expect("a core");
    change(&open(case), &mut bytes);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let core = dir.path().join("core");
    fs::write(&core, bytes).expect("a core");
    let options = |probes| OpenOptions {
        core: Some(core.clone()),
        exe: Some(case.exe.clone()),
        probes,
        ..OpenOptions::default()
    };
    let open = |probes| Core::open(&options(probes)).expect("the core opens");
    Hurt { core: open(Probes::default()), plain: open(Probes::NONE), _dir: dir }
}

/// The bytes of memory that is no file's and no thread's stack, and where it lies.
pub fn heaps(core: &Core) -> Vec<(u64, Range<usize>)> {
    let stacks: Vec<_> =
        core.tids().into_iter().filter_map(|tid| core.registers().stack_pointer(tid)).collect();
    let segments = core.file().expect("a core file").segments().iter();
    let ours = segments.filter(|segment| {
        let mapping = core.mapping_at(segment.range.start);
        let is_nameless = mapping.is_some_and(|mapping| {
            !matches!(mapping.kind, MappingKind::File { .. }) && !mapping.may_hold_code()
        });
        let is_stack = stacks.iter().any(|stack| segment.range.contains(*stack));
        is_nameless && !is_stack && segment.file_size > 0
    });
    let bytes = ours.map(|segment| {
        let start = segment.offset.get() as usize;
        (segment.range.start.get(), start..start + segment.file_size as usize)
    });
    bytes.collect()
}

/// Where a program header has its address and the length of what the file holds, and how long it is.
const ADDRESS: usize = 16;
const FILE_SIZE: usize = 32;
const HEADER: usize = 56;
const HEADERS: usize = 64;

/// Makes a core hold nothing of the segment at an address.
fn cut(bytes: &mut [u8], address: u64) {
    let is_it = |header: &usize| bytes[header + ADDRESS..][..8] == address.to_le_bytes();
    let header = (HEADERS..).step_by(HEADER).find(is_it).expect("a program header");
    bytes[header + FILE_SIZE..][..8].fill(0);
}

/// The program counters of a thread's native stack.
fn native(core: &Core, tid: u32) -> Vec<u64> {
    let stack = core.stacks().of_thread(Tid::new(tid), MAX_FRAMES);
    stack.frames.iter().map(|frame| frame.pc.addr().get()).collect()
}

/// Asks all that there is to ask, and holds the native stacks to what they are without a runtime.
fn ask_all(case: &Case, truth: &Truth, hurt: &Hurt) {
    let (hurt, plain) = (&hurt.core, &hurt.plain);
    for thread in &truth.threads {
        let tid = Tid::new(thread.tid);
        assert_eq!(native(hurt, thread.tid), native(plain, thread.tid), "{}", case.name());
        let stack = hurt.stacks().of_thread(tid, MAX_FRAMES);
        let count = hurt.stacks().named_frames(&stack).count();
        assert!(count < 1_000_000, "{}: {count}", case.name());
        let _ = hurt.thread_facts(tid);
        for python in hurt.runtimes().of::<Python>() {
            for frame in frames_of(&python.chains(hurt, tid)) {
                for local in python.locals(hurt, frame.at).into_iter().flatten() {
                    let _ = python.value(hurt, local.at, LIMITS);
                }
            }
            for thread in python.thread_states(hurt, tid) {
                let _ = python.exceptions(hurt, thread);
            }
            if let Ok(census) = python.census(hurt, &mut |_, _| ControlFlow::Continue(())) {
                let _ = python.groups(hurt, &census);
            }
        }
    }
    let _ = hurt.crash().last_words();
}

/// Bytes of arguments, environment and auxiliary vector, at least.
const END_OF_STACK: u64 = 8192;
const LIMITS: Limits = Limits { depth: 3, entries: 32, characters: 256 };

#[test]
fn a_heap_that_is_gone_costs_the_frames_of_python_alone() {
    for (case, truth) in cases("python-stack") {
        let hurt = changed(case, |core, bytes| {
            for (address, _) in heaps(core) {
                cut(bytes, address);
            }
        });
        let known =
            hurt.core.runtimes().identities().count() + hurt.core.runtimes().damaged().len();
        let modules = hurt.core.modules().all().len();
        assert_eq!(known, 1, "{}: it is still named, {modules} modules", case.name());
        for python in hurt.core.runtimes().of::<Python>() {
            let tasks = python.py_tasks(&hurt.core);
            assert!(tasks.is_err() || tasks.is_ok_and(|found| found.unread > 0), "{}", case.name());
        }
        ask_all(case, truth, &hurt);
    }
}

#[test]
fn a_heap_of_letters_makes_no_frame() {
    for (case, truth) in cases("python-stack") {
        let hurt = changed(case, |core, bytes| {
            for (_, part) in heaps(core) {
                bytes[part].fill(b'A');
            }
        });
        ask_all(case, truth, &hurt);
        for thread in &truth.threads {
            let stack = hurt.core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES);
            let named = frames(&hurt.core, &stack);
            let is_told = |it: &kcore::NamedFrame| it.location.doubt.is_some();
            assert!(named.iter().all(is_told), "{}: {named:?}", case.name());
        }
    }
}

/// Where `args` stands in an exception, `Include/cpython/pyerrors.h`.
const ARGUMENTS: u64 = 24;

#[test]
fn arguments_that_are_not_there_are_not_taken_for_none() {
    for (case, _) in cases("python-flight") {
        let lines = told_lines(case);
        let raised = lines.iter().find(|line| line["name"] == "raised").expect("it is told");
        let raised = raised["at"].as_str().and_then(|at| u64::from_str_radix(&at[2..], 16).ok());
        let raised = raised.expect("an address");
        let hurt = changed(case, |core, bytes| {
            let heaps = heaps(core);
            let at = raised + ARGUMENTS;
            let of = |(start, part): &(u64, Range<usize>)| {
                let place = usize::try_from(at.checked_sub(*start)?).ok()?;
                (place < part.len()).then(|| part.start + place)
            };
            let place = heaps.iter().find_map(of).expect("it was dumped");
            bytes[place..place + 8].copy_from_slice(&0x1000_u64.to_le_bytes());
        });
        let python = hurt.core.runtimes().of::<Python>().next().expect("CPython");
        let value = python.value(&hurt.core, Addr::new(raised), LIMITS).expect("an exception");
        let ValueKind::Object { arguments: None, attributes, .. } = &value.kind else {
            panic!("{value:?}")
        };
        let told = attributes.iter().find(|(name, _)| &**name == "args").map(|it| &it.1.kind);
        assert!(matches!(told, Some(ValueKind::Unreadable(_))), "{}: {value:?}", case.name());
    }
}

#[test]
fn words_that_lie_lead_nowhere() {
    for (case, truth) in cases("python-stack") {
        for seed in 1..4_u64 {
            let hurt = changed(case, |core, bytes| {
                let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                for (_, part) in heaps(core) {
                    let words: Vec<[u8; 8]> = bytes[part.clone()].as_chunks::<8>().0.to_vec();
                    for at in (0..words.len()).step_by(8) {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        // Another word of the same heap: an address that is good somewhere else.
                        let other = words[random as usize % words.len()];
                        let place = part.start
                            + 8 * (at + (random >> 32) as usize % 8).min(words.len() - 1);
                        if random % 16 < seed {
                            bytes[place..place + 8].copy_from_slice(&other);
                        }
                    }
                }
            });
            ask_all(case, truth, &hurt);
        }
    }
}

#[test]
fn a_stack_of_zeros_is_said_to_be_missing() {
    let with_shims =
        |variant: &str| ["3.12", "3.13", "3.14", "3.15"].iter().any(|it| variant.ends_with(it));
    for (case, truth) in cases("python-stack").filter(|(case, _)| with_shims(&case.variant)) {
        let crashed = truth.crashed_tid.expect("it died");
        let hurt = changed(case, |core, bytes| {
            let stack = core.registers().stack_pointer(Tid::new(crashed)).expect("a stack");
            let segments = core.file().expect("a core file").segments().iter();
            let mut held = segments.filter(|segment| segment.range.contains(stack));
            let segment = held.next().expect("it was dumped");
            let start = segment.offset.get() as usize;
            let used = stack.get() - segment.range.start.get();
            // What the kernel laid at the end, names the program.
            let end = segment.file_size - END_OF_STACK;
            bytes[start + used as usize..start + end as usize].fill(0);
        });
        let python = hurt.core.runtimes().of::<Python>().next().expect("CPython");
        let chains = python.chains(&hurt.core, Tid::new(crashed));
        let broken = chains.iter().find_map(|chain| chain.broken).expect("a broken chain");
        assert!(broken.contains("reads as zeros"), "{}: {broken}", case.name());
        // What runs before the first call from C is on no stack of C, but in 3.12 what leads to it.
        let innermost = frames_of(&chains).next().map(|frame| &*frame.code.name);
        let expected = (!case.variant.ends_with("3.12")).then_some("last");
        assert_eq!(innermost, expected, "{}", case.name());
    }
}

fn frames_of(chains: &[Chain]) -> impl Iterator<Item = &PyFrame> {
    chains.iter().flat_map(|chain| &chain.groups).flat_map(|group| &group.frames)
}

/// What `_PyRuntime` begins with since 3.13, and where it says that a build is free-threaded.
const COOKIE: &[u8] = b"xdebugpy";
const FREE_THREADED: usize = 16;

#[test]
fn a_free_threaded_build_is_named_and_not_decoded() {
    let says_so = |variant: &str| ["3.13", "3.14", "3.15"].iter().any(|it| variant.ends_with(it));
    for (case, truth) in cases("python-stack").filter(|(case, _)| says_so(&case.variant)) {
        let hurt = changed(case, |_, bytes| {
            let (mut from, mut count) = (0, 0);
            while let Some(at) = find(&bytes[from..], COOKIE) {
                bytes[from + at + FREE_THREADED] = 1;
                (from, count) = (from + at + COOKIE.len(), count + 1);
            }
            assert!(count > 0, "{}: no table for debuggers", case.name());
        });
        let runtimes = hurt.core.runtimes();
        let [damage] = runtimes.damaged() else { panic!("{}: it is named", case.name()) };
        let version = damage.version.as_deref().expect("a version");
        assert!(case.variant.contains(version.rsplit_once('.').unwrap().0), "{version}");
        assert!(damage.why.contains("free-threaded"), "{}", damage.why);
        assert_eq!(runtimes.identities().count(), 0, "{}", case.name());
        for thread in &truth.threads {
            assert_eq!(native(&hurt.core, thread.tid), native(&hurt.plain, thread.tid));
            let stack = hurt.core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES);
            let named = frames(&hurt.core, &stack);
            // The loop of functions that call each other last, since 3.14, is no function of that name.
            assert!(!named.is_empty() || !case.variant.ends_with("3.13"), "{}", case.name());
            for frame in named {
                let doubt = frame.location.doubt.as_deref().unwrap_or_default();
                assert!(doubt.contains("free-threaded"), "{}: {doubt}", case.name());
                let function = frame.location.function.as_deref().unwrap_or_default();
                assert!(function.starts_with("_PyEval_EvalFrameDefault"), "{function}");
            }
        }
    }
}
