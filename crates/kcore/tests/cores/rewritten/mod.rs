//! Real cores as other kernels and collectors write them, or as a full disk leaves them: the same
//! stacks, or those that can still be had, and a word on what is missing.

mod rewriter;

use std::{fs, ops::Deref, path::PathBuf};

use gen_cores::{Case, Outcome};
use kcore::{Core, End, FpRegisters, MAX_FRAMES, OpenOptions, Stack};
use tempfile::TempDir;

use crate::{
    facts::texts_of_doubts,
    known::{open, variant},
};
use rewriter::{Rewriter, Written, notes};

const NT_FILE: u32 = 0x4649_4c45;
const NT_FPREGSET: u32 = 2;
const NT_ARM_TLS: u32 = 0x401;
const NT_ARM_SVE: u32 = 0x405;
const NT_ARM_PAC_MASK: u32 = 0x406;

/// Programs with threads, with signal frames, with libraries, static, in Rust, of another CPU.
const CASES: [(&str, &str); 6] = [
    ("threads-12", "O2-pie"),
    ("signal-handler", "O2-nopie"),
    ("many-libs", "O2-pie"),
    ("abort", "O2-static"),
    ("rust-threads", "release-pie"),
    ("threads-12", "O2-aarch64-pie"),
];

/// What is compared: of each thread pcs, names and the reason of the end.
type Stacks = Vec<(u32, Vec<(u64, Option<String>)>, String)>;

/// A core in the folder of its program, which lives as long as the core is open.
struct Rewritten {
    _dir: TempDir,
    core: Core,
}

impl Deref for Rewritten {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl Rewritten {
    fn new(case: &Case, bytes: &[u8]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let home = fs::canonicalize(&case.dir).expect("the folder of a case");
        for file in fs::read_dir(&home).expect("the folder of a case") {
            let file = file.expect("a file").path();
            if file.is_file() && file.file_name() != case.core.file_name() {
                let link = dir.path().join(file.file_name().expect("a name"));
                std::os::unix::fs::symlink(&file, link).expect("a link");
            }
        }
        let path = dir.path().join("core");
        fs::write(&path, bytes).expect("a core");
        let sysroot = variant(case).sysroot().map(PathBuf::from);
        let options = OpenOptions { core: Some(path), sysroot, ..OpenOptions::default() };
        Self { _dir: dir, core: Core::open(&options).expect("a core") }
    }
}

fn case(scenario: &str, variant: &str) -> Case {
    match gen_cores::ensure(scenario, variant).expect("a case") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => panic!("{scenario}/{variant}: {}", skipped.reason),
    }
}

fn frames(core: &Core, stack: &Stack) -> Vec<(u64, Option<String>)> {
    let frames = core.stacks().named_frames(stack);
    let seen = |name: Option<std::sync::Arc<str>>| name.map(|name| name.to_string());
    frames
        .filter_map(|frame| Some((frame.pc()?.addr().get(), seen(frame.location.function.clone()))))
        .collect()
}

fn stacks(core: &Core) -> Stacks {
    let threads = core.tids().into_iter().map(|tid| {
        let stack = core.stacks().of_thread(tid, MAX_FRAMES);
        (tid.get(), frames(core, &stack), stack.end.to_string())
    });
    threads.collect()
}

/// Changes each core, and asks for the stacks that it had before.
fn same_stacks_after(change: impl Fn(&mut Rewriter) -> Box<dyn Fn(Written) -> Vec<u8>>) {
    for (scenario, variant) in CASES {
        let case = case(scenario, variant);
        let mut rewriter = Rewriter::new(&fs::read(&case.core).expect("a core"));
        let bytes = change(&mut rewriter)(rewriter.write());
        let core = Rewritten::new(&case, &bytes);
        assert_eq!(stacks(&core), stacks(&open(&case)), "{}", case.name());
    }
}

fn whole(written: Written) -> Vec<u8> {
    written.bytes
}

#[test]
fn segments_may_stand_in_any_order() {
    same_stacks_after(|core| {
        core.segments.reverse();
        let middle = core.segments.len() / 2;
        core.segments.rotate_left(middle / 2);
        Box::new(whole)
    });
}

#[test]
fn more_segments_than_a_header_can_count_are_read() {
    same_stacks_after(|core| {
        core.add_empty(70_000);
        Box::new(whole)
    });
}

#[test]
fn the_count_of_many_segments_may_be_lost() {
    same_stacks_after(|core| {
        core.add_empty(70_000);
        Box::new(|written| {
            let end = written.bytes.len() - 64;
            written.bytes[..end].to_vec()
        })
    });
    let case = case("threads-12", "O2-pie");
    let mut rewriter = Rewriter::new(&fs::read(&case.core).expect("a core"));
    rewriter.add_empty(70_000);
    let Written { bytes, .. } = rewriter.write();
    let core = Rewritten::new(&case, &bytes[..bytes.len() - 64]);
    let doubts = texts_of_doubts(&core).join("\n");
    assert!(doubts.contains("the number of program headers is lost"), "{doubts}");
}

#[test]
fn without_a_list_of_files_the_link_map_tells_the_modules() {
    same_stacks_after(|core| {
        core.hide_notes(NT_FILE);
        Box::new(whole)
    });
}

#[test]
fn without_headers_of_modules_their_files_tell_what_they_are() {
    same_stacks_after(|core| {
        core.leave_out(|segment| segment.bytes.starts_with(b"\x7fELF") && segment.flags & 2 == 0);
        Box::new(whole)
    });
}

#[test]
fn without_a_list_of_files_and_without_headers_the_link_map_and_the_files_tell_all() {
    same_stacks_after(|core| {
        core.hide_notes(NT_FILE);
        let vdso = |segment: &rewriter::Segment| segment.bytes.len() > 0x1000;
        core.leave_out(|segment| {
            segment.bytes.starts_with(b"\x7fELF") && segment.flags & 2 == 0 && !vdso(segment)
        });
        Box::new(whole)
    });
}

/// What the kernel writes and qemu does not: where thread-local storage lies, and which bits of an
/// address hold its authentication code.
#[test]
fn notes_of_an_aarch64_kernel_are_understood() {
    let case = case("abort", "O2-aarch64-pac");
    let mut rewriter = Rewriter::new(&fs::read(&case.core).expect("a core"));
    let masks = [0x7f_u64 << 48, 0x7f << 48].map(u64::to_le_bytes).concat();
    rewriter.add_note(NT_ARM_PAC_MASK, &masks);
    rewriter.add_note(NT_ARM_TLS, &0x55_0000_1000_u64.to_le_bytes());
    let core = Rewritten::new(&case, &rewriter.write().bytes);
    assert_eq!(core.file().and_then(|file| file.code_mask()), Some(0x7f << 48));
    assert_eq!(stacks(&core), stacks(&open(&case)));
    let tid = core.tids()[0];
    assert_eq!(core.registers().named(tid, 0, "tpidr"), Ok(Some(0x55_0000_1000)));
    assert_eq!(
        core.registers().named(tid, 2, "tpidr"),
        Ok(Some(0x55_0000_1000)),
        "the same in every frame"
    );
    assert_eq!(core.registers().named(tid, 0, "lr"), core.registers().named(tid, 0, "x30"));
}

/// Vectors of SVE, of 32 bytes: a header, z0 to z31, p0 to p15, ffr, then fpsr and fpcr.
#[test]
fn a_note_of_scalable_vectors_has_more_than_that_of_simd() {
    let case = case("abort", "O2-aarch64-pac");
    let mut rewriter = Rewriter::new(&fs::read(&case.core).expect("a core"));
    let mut simd = vec![0; 528];
    simd[512] = 1;
    rewriter.add_note_of(*b"CORE\0\0\0\0", NT_FPREGSET, &simd);
    let mut vectors = [[0; 8], [32, 0, 0, 1, 1, 0, 0, 0]].concat();
    (0..32).for_each(|z: u8| vectors.extend([z; 32]));
    (0..17).for_each(|p: u8| vectors.extend([p + 0x80; 4]));
    rewriter.add_note(NT_ARM_SVE, &vectors);
    let core = Rewritten::new(&case, &rewriter.write().bytes);
    let read = core.registers().floating_point(core.tids()[0]);
    let Some(FpRegisters::Aarch64(read)) = read else { panic!("{read:?}") };
    assert_eq!(read.fpsr, 1);
    let scalable = read.scalable.expect("what the second note has");
    assert_eq!((scalable.vector_length, &scalable.vectors[7].0[..]), (32, &[7; 32][..]));
    assert_eq!(
        (&scalable.predicates[15].0[..], &scalable.first_fault.0[..]),
        (&[0x8f; 4][..], &[0x90; 4][..])
    );
}

#[test]
fn without_memory_each_thread_shows_where_it_stood_and_the_core_says_why_no_more() {
    for (scenario, variant) in CASES {
        let case = case(scenario, variant);
        let mut rewriter = Rewriter::new(&fs::read(&case.core).expect("a core"));
        rewriter.leave_out(|_| true);
        let core = Rewritten::new(&case, &rewriter.write().bytes);
        let before = open(&case);
        for (tid, (_, now, _)) in core.tids().into_iter().zip(stacks(&core)) {
            let frames = frames(&before, &before.stacks().of_thread(tid, MAX_FRAMES));
            let (pc, name) = now.first().expect("a frame");
            let (true_pc, true_name) = frames.first().expect("a frame");
            assert_eq!(pc, true_pc, "{}: {tid}", case.name());
            // Without a list of files only memory tells of libraries.
            let is_lost = name.is_none() && core.file().is_some_and(|file| file.files().is_none());
            assert!(is_lost || name == true_name, "{}: {tid}: {name:?}", case.name());
        }
        let threads = core.threads().len();
        let doubts = texts_of_doubts(&core).join("\n");
        let said = format!("stacks of {threads} of {threads} threads were not dumped");
        assert!(doubts.contains(&said), "{}: {doubts}", case.name());
    }
}

#[test]
fn a_core_cut_behind_its_notes_names_the_first_frames_and_counts_what_is_hurt() {
    for (scenario, variant) in CASES {
        let case = case(scenario, variant);
        let written = Rewriter::new(&fs::read(&case.core).expect("a core")).write();
        let core = Rewritten::new(&case, &written.bytes[..written.notes.end]);
        let before = open(&case);
        assert_eq!(core.tids(), before.tids(), "{}", case.name());
        let threads = core.threads().len();
        let doubts = texts_of_doubts(&core).join("\n");
        let said = format!("stacks of {threads} of {threads} threads may be incomplete");
        assert!(doubts.contains(&said), "{}: {doubts}", case.name());
        for tid in core.tids() {
            let (now, full) = (
                core.stacks().of_thread(tid, MAX_FRAMES),
                before.stacks().of_thread(tid, MAX_FRAMES),
            );
            let first = |stack: &Stack| stack.frames.first().map(|frame| frame.pc);
            assert_eq!(first(&now), first(&full), "{}: {tid}", case.name());
            assert_ne!(now.end, End::Outermost, "{}: {tid}", case.name());
        }
    }
}

#[test]
fn a_core_cut_in_a_note_has_the_threads_before_it() {
    let case = case("threads-12", "O2-pie");
    let written = Rewriter::new(&fs::read(&case.core).expect("a core")).write();
    let whole = open(&case).tids();
    let places = notes(&written.bytes[written.notes.clone()]);
    let mut fewer = 0;
    for note in places {
        let cut = written.notes.start + note.end - 2;
        let core = Rewritten::new(&case, &written.bytes[..cut]);
        let tids = core.tids();
        assert!(whole.starts_with(&tids), "{tids:?} at {cut:#x}");
        fewer += usize::from(tids.len() < whole.len());
        let doubts = texts_of_doubts(&core).join("\n");
        assert!(doubts.contains("truncated: the notes end at offset"), "{doubts}");
    }
    assert!(fewer > whole.len(), "cuts before the last thread: {fewer}");
}

#[test]
fn a_core_cut_in_its_program_headers_says_how_many_are_left() {
    let case = case("threads-12", "O2-pie");
    let written = Rewriter::new(&fs::read(&case.core).expect("a core")).write();
    let all = written.table.len() / 56;
    for left in [0, 1, all / 2, all - 1] {
        let cut = written.table.start + left * 56 + 30;
        let core = Rewritten::new(&case, &written.bytes[..cut]);
        let doubts = texts_of_doubts(&core).join("\n");
        let said = format!("truncated: {left} of {all} program headers are there");
        assert!(doubts.contains(&said), "{doubts}");
        assert!(core.threads().is_empty(), "no notes, no threads");
    }
}

#[test]
fn a_core_cut_in_half_shows_every_stack_that_is_in_the_half() {
    for (scenario, variant) in CASES {
        let case = case(scenario, variant);
        let bytes = fs::read(&case.core).expect("a core");
        let half = &bytes[..bytes.len() / 2];
        let core = Rewritten::new(&case, half);
        let before = open(&case);
        let mut hurt = 0;
        for tid in before.tids() {
            let (now, full) = (
                core.stacks().of_thread(tid, MAX_FRAMES),
                before.stacks().of_thread(tid, MAX_FRAMES),
            );
            assert!(!now.frames.is_empty(), "{}: {tid}", case.name());
            let same = frames(&core, &now) == frames(&before, &full);
            hurt += usize::from(!same);
            assert!(same || now.end != End::Outermost, "{}: {tid}: {}", case.name(), now.end);
        }
        let doubts = texts_of_doubts(&core).join("\n");
        assert!(doubts.contains("bytes are missing in all"), "{}: {doubts}", case.name());
        let told = doubts.contains("threads may be incomplete");
        assert_eq!(told, hurt > 0, "{}: {hurt} hurt, {doubts}", case.name());
    }
}
