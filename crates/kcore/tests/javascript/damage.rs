//! Cores whose heap was cut away or overwritten: what the runtime cannot tell is marked, and never costs
//! the native stack.

use std::{fs, ops::Range};

use gen_cores::Case;
use kcore::{Core, End, FrameKind, MAX_FRAMES, MappingKind, NamedFrame, OpenOptions};
use tempfile::TempDir;

use crate::{CASES, open};

/// Where a program header has the length of what the file holds, and how long it is itself.
const FILE_SIZE: usize = 32;
const HEADER: usize = 56;
const HEADERS: usize = 64;

/// What happened to the memory that V8 had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// Its heap was not dumped.
    HeapCut,
    /// The code that it made was not dumped.
    CodeCut,
    /// Its heap is full of letters.
    Overwritten,
}

/// A damaged copy of a core, which lives as long as the core is open.
pub struct Damaged {
    _dir: TempDir,
    /// It.
    pub core: Core,
}

impl Damaged {
    /// A core with some memory cut away or overwritten.
    pub fn new(case: &Case, whole: &Core, damage: Damage) -> Self {
        let mut bytes = fs::read(&case.core).expect("a core");
        let headers = parts(whole, damage == Damage::CodeCut);
        assert!(!headers.is_empty(), "{}: nothing to damage", case.name());
        for (header, part) in headers {
            match damage {
                Damage::Overwritten => bytes[part].fill(b'A'),
                Damage::HeapCut | Damage::CodeCut => bytes[header + FILE_SIZE..][..8].fill(0),
            }
        }
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("core");
        fs::write(&path, bytes).expect("a core");
        let (core, exe) = (Some(path), Some(case.exe.clone()));
        let options = OpenOptions { core, exe, ..OpenOptions::default() };
        Self { _dir: dir, core: Core::open(&options).expect("the core opens") }
    }
}

/// The program headers and bytes of memory that belongs to no file and is no thread's stack: code, or
/// all else.
fn parts(core: &Core, code: bool) -> Vec<(usize, Range<usize>)> {
    let stacks: Vec<_> =
        core.tids().into_iter().filter_map(|tid| core.registers().stack_pointer(tid)).collect();
    let segments = core.file().expect("a core file").segments().iter().enumerate();
    let ours = segments.filter(|(_, segment)| {
        let mapping = core.mapping_at(segment.range.start);
        mapping.is_some_and(|mapping| {
            !matches!(mapping.kind, MappingKind::File { .. })
                && mapping.may_hold_code() == code
                && !stacks.iter().any(|stack| segment.range.contains(*stack))
        })
    });
    ours.filter(|(_, segment)| segment.file_size > 0)
        .map(|(index, segment)| {
            let start = segment.offset.get() as usize;
            (HEADERS + HEADER * index, start..start + segment.file_size as usize)
        })
        .collect()
}

/// All frames of the thread that died, natively and by name.
fn frames(core: &Core) -> (Vec<u64>, Vec<NamedFrame>, End) {
    let tid = *core.tids().first().expect("a thread");
    let stack = core.stacks().of_thread(tid, MAX_FRAMES);
    let pcs = stack.frames.iter().map(|frame| frame.pc.addr().get()).collect();
    (pcs, core.stacks().named_frames(&stack).collect(), stack.end)
}

fn damaged(damage: Damage, look: impl Fn(&Case, &[NamedFrame], &[NamedFrame])) {
    for (case, _) in CASES.iter().filter(|(case, _)| case.scenario == "node-stack") {
        let whole = open(case);
        let hurt = Damaged::new(case, &whole, damage);
        let (pcs, healthy, end) = frames(&whole);
        let (left, named, end_left) = frames(&hurt.core);
        assert_eq!((left, end_left), (pcs, end), "{}, {damage:?}: the native stack", case.name());
        look(case, &healthy, &named);
    }
}

fn is_js(frame: &&NamedFrame) -> bool {
    frame.location.kind == FrameKind::Js
}

/// That every frame of a script is shown as the address that it is, and says why. Those in which V8 calls
/// a function of C++ are native ones then.
fn assert_marked(case: &Case, healthy: &[NamedFrame], named: &[NamedFrame]) {
    let marked: Vec<_> = named.iter().filter(is_js).collect();
    for frame in healthy.iter().filter(is_js).filter(|frame| frame.location.file.is_some()) {
        let physical = frame.physical;
        let is_there = marked.iter().any(|marked| marked.physical == physical);
        assert!(is_there, "{}: frame {physical} is not there", case.name());
    }
    for frame in marked {
        let place = &frame.location;
        assert!(place.doubt.is_some(), "{}: {place:?} is not marked", case.name());
        assert!(place.file.is_none() && place.line.is_none(), "{}: {place:?}", case.name());
    }
}

#[test]
fn without_its_heap_frames_of_javascript_are_addresses() {
    damaged(Damage::HeapCut, assert_marked);
}

#[test]
fn with_its_heap_overwritten_frames_of_javascript_are_addresses() {
    damaged(Damage::Overwritten, assert_marked);
}

#[test]
fn without_the_code_that_it_made_functions_still_have_names() {
    damaged(Damage::CodeCut, |case, healthy, named| {
        let names = |frames: &[NamedFrame]| -> Vec<_> {
            let js = frames.iter().filter(is_js);
            js.filter(|frame| !frame.location.inline)
                .map(|frame| frame.location.function.clone())
                .collect()
        };
        assert_eq!(names(named), names(healthy), "{}", case.name());
    });
}
