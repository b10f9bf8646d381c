//! Real cores, cut and overwritten at random places: always an answer or a clear error.

use std::{env, fs, ops::Range, path::PathBuf};

use gen_cores::{Outcome, workspace_dir};
use kcore::{Addr, Core, OpenOptions};
use kcore_elf::{CoreSpace, Image, link_map};
use kcore_files::{CoreSource, open_core};

use crate::{
    ask::{ask, ask_for_tasks},
    damage,
    measure::measure,
    random::Random,
};

/// Rounds for each core, unless `KCORE_HURT_ROUNDS` says otherwise.
const ROUNDS: u64 = 120;
/// Bytes around a place in memory that count as one with it.
const AROUND: u64 = 2048;
/// What a round may allocate at one time, beside what the files are long.
const FIXED: usize = 64 << 20;

/// A core that is well, its executable, and where it hurts most to be hurt.
struct Patient {
    name: &'static str,
    core: Vec<u8>,
    exe: Vec<u8>,
    tender: Vec<Range<usize>>,
    tender_exe: Vec<Range<usize>>,
}

impl Patient {
    fn new(name: &'static str, core: PathBuf, exe: PathBuf) -> Self {
        let bytes = open_core(&CoreSource::Path(core.clone()), &mut |_| {}).expect("a core").bytes;
        let image = fs::read(&exe).expect("an executable");
        let options = OpenOptions { core: Some(core), exe: Some(exe), ..OpenOptions::default() };
        let opened = Core::open(&options).expect("a core");
        let tender = tender_places(&opened);
        Self { name, core: bytes.to_vec(), tender_exe: tender_sections(&image), exe: image, tender }
    }

    /// One round, which follows from its seed; gives the number of frames.
    fn round(&self, seed: u64) -> usize {
        let told = Told(format!("{} with seed {seed:#x}", self.name));
        let mut random = Random::new(seed);
        let (mut core, mut exe) = (self.core.clone(), self.exe.clone());
        let part = random.below(4);
        if part != 0 {
            damage::hurt(&mut core, &self.tender, &mut random);
        }
        if part < 2 {
            damage::hurt(&mut exe, &self.tender_exe, &mut random);
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (core_path, exe_path) = (folder.path().join("core"), folder.path().join("exe"));
        fs::write(&core_path, &core).expect("a core");
        fs::write(&exe_path, &exe).expect("an executable");
        let asked = || {
            ask_for_tasks(&core_path, Some(&exe_path));
            ask(&core_path, Some(&exe_path))
        };
        let (frames, allocated) = measure(&told.0, asked);
        let most = FIXED + 16 * (core.len() + exe.len());
        assert!(allocated.peak <= most, "{allocated:?} of {most}");
        frames.unwrap_or_default()
    }
}

/// Says which round it was that failed.
struct Told(String);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed: {}", self.0);
        }
    }
}

/// Headers, notes, stacks, the link map.
fn tender_places(core: &Core) -> Vec<Range<usize>> {
    let file = core.file().expect("a core file");
    let space = CoreSpace::new(file);
    let headers = 64 + 56 * file.segments().len();
    let mut places = vec![0..64, 64..headers];
    let notes = file.segments().iter().filter(|segment| segment.is_note());
    places.extend(notes.map(|notes| {
        let start = notes.offset.get() as usize;
        start..start + notes.file_size as usize
    }));
    // The note of the crashed thread comes first, and matters most.
    places.extend(
        file.threads()
            .first()
            .map(|thread| thread.registers.start as usize - 200..thread.registers.end as usize),
    );
    let stacks = core.tids().into_iter().filter_map(|tid| core.registers().stack_pointer(tid));
    places.extend(stacks.filter_map(|at| offsets(&space, at)));
    let exe = core.modules().all().iter().find(|module| module.is_exe());
    let base = exe.map(|exe| exe.base()).unwrap_or_default();
    if let Some(image) = kcore_elf::MemoryImage::load(&space, base) {
        places.extend(offsets(&space, base));
        places.extend(image.dynamic().and_then(|at| offsets(&space, image.addr(at))));
        let entries = link_map(&space, &image);
        places.extend(entries.iter().filter_map(|entry| offsets(&space, entry.dynamic)));
    }
    places
}

/// Where the memory at `at` lies in the file.
fn offsets(space: &CoreSpace, at: Addr) -> Option<Range<usize>> {
    let segment = space.segment_at(at)?;
    let into = at.offset_from(segment.range.start)?;
    let start = segment.offset.get() + into;
    let len = AROUND.min(segment.file_size.checked_sub(into)?);
    (len > 0).then_some(start as usize..(start + len) as usize)
}

/// The headers of an executable, and the sections that an answer is made of.
fn tender_sections(bytes: &[u8]) -> Vec<Range<usize>> {
    const READ: [&str; 9] = [
        ".eh_frame",
        ".eh_frame_hdr",
        ".symtab",
        ".strtab",
        ".dynsym",
        ".debug_info",
        ".debug_abbrev",
        ".debug_line",
        ".debug_rnglists",
    ];
    let image = Image::parse(bytes.to_vec().into()).expect("ELF");
    let sections = image.sections().iter().filter(|section| READ.contains(&&*section.name));
    let ranges = sections.filter_map(|section| section.file_range());
    let range = |start: u64, len: u64| start as usize..(start + len) as usize;
    let headers = [0..64, 64..1024, bytes.len() - image.sections().len() * 64..bytes.len()];
    ranges.map(|(start, len)| range(start.get(), len)).chain(headers).collect()
}

fn committed(name: &'static str) -> Patient {
    let folder = workspace_dir().join("testdata").join(name).join("x86_64");
    Patient::new(name, folder.join("core.zst"), folder.join(name))
}

fn made(scenario: &'static str, variant: &str) -> Patient {
    match gen_cores::ensure(scenario, variant).expect("a case") {
        Outcome::Made(case) | Outcome::Fresh(case) => Patient::new(scenario, case.core, case.exe),
        Outcome::Skipped(skipped) => panic!("{scenario}/{variant}: {}", skipped.reason),
    }
}

/// All rounds. Most wounds must leave something to tell: the others test little.
fn rounds(patient: &Patient) {
    let rounds = env::var("KCORE_HURT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS);
    let telling = (0..rounds).filter(|seed| patient.round(*seed) > 1).count() as u64;
    assert!(telling * 2 > rounds, "{telling} of {rounds} rounds have a stack");
}

#[test]
fn a_hurt_core_of_one_thread_is_answered() {
    rounds(&committed("abort"));
}

#[test]
fn a_hurt_core_of_many_threads_is_answered() {
    rounds(&committed("workers"));
}

#[test]
fn a_hurt_core_with_a_link_map_is_answered() {
    rounds(&made("dlopen", "O2-pie"));
}

#[test]
fn a_hurt_core_of_another_machine_is_answered() {
    rounds(&made("leaf", "O0-aarch64-static"));
}

#[test]
fn a_hurt_core_of_contexts_is_answered() {
    rounds(&made("contexts", "O2-pie"));
}

#[test]
fn a_hurt_core_of_contexts_beside_their_stacks_is_answered() {
    rounds(&made("beside", "O2-pie"));
}
