//! Cores whose files are missing, elsewhere, or of another build.
//!
//! A core is made to look as if it came from another machine by changing, in a copy, the folders
//! that it names.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use gen_cores::{Case, Outcome, Seen, compare};
use kcore::{Core, End, FileState, MAX_FRAMES, OpenOptions, Stack, Tid, Trust};
use tempfile::TempDir;

use crate::facts::texts_of_doubts;

/// Folders of the system's libraries on Debian.
const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

/// One core in a folder of its own.
struct Moved {
    dir: TempDir,
    core: PathBuf,
}

impl Moved {
    /// The core of a case without any of its files.
    fn new(case: &Case) -> Self {
        Self::copy(&case.core, &case.dir)
    }

    /// A copy of `core` in which the files in `home` and the system's libraries are elsewhere.
    fn copy(core: &Path, home: &Path) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut bytes = fs::read(core).expect("a core");
        let home = fs::canonicalize(home).expect("the folder of a case");
        for folder in [home.to_str().expect("UTF-8"), LIBRARIES] {
            hide(&mut bytes, folder);
        }
        let core = dir.path().join("core");
        fs::write(&core, bytes).expect("a copy of the core");
        Self { dir, core }
    }

    /// Puts a file beside the core.
    fn put(&self, file: &Path, name: &str) {
        fs::copy(file, self.dir.path().join(name)).expect("a copy of a file");
    }

    fn open(&self, options: OpenOptions) -> Core {
        Core::open(&OpenOptions { core: Some(self.core.clone()), ..options }).expect("a core")
    }
}

/// Replaces a folder by one of the same length that does not exist.
fn hide(bytes: &mut [u8], folder: &str) {
    let gone = format!("/{}", "x".repeat(folder.len() - 1));
    let starts: Vec<usize> = bytes
        .windows(folder.len())
        .enumerate()
        .filter(|(_, window)| *window == folder.as_bytes())
        .map(|(at, _)| at)
        .collect();
    for start in starts {
        bytes[start..start + folder.len()].copy_from_slice(gone.as_bytes());
    }
}

fn case(scenario: &str, variant: &str) -> Case {
    match gen_cores::ensure(scenario, variant).expect("a case") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => panic!("{scenario}/{variant}: {}", skipped.reason),
    }
}

fn crashed_stack(core: &Core) -> Stack {
    let tid = core.crashed_thread().expect("a crashed thread").tid;
    core.stacks().of_thread(tid, MAX_FRAMES)
}

fn names(core: &Core, stack: &Stack) -> Vec<Option<String>> {
    let frames = core.stacks().named_frames(stack);
    frames.map(|frame| frame.location.function.as_deref().map(str::to_owned)).collect()
}

fn pcs(stack: &Stack) -> Vec<u64> {
    stack.frames.iter().map(|frame| frame.pc.addr().get()).collect()
}

/// Holds the stack of the crashed thread against the truth.
fn assert_true(core: &Core, case: &Case) {
    let truth = case.truth().expect("a truth");
    let thread = truth.crashed().expect("a crashed thread");
    let stack = core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES);
    let seen: Vec<Seen> = core
        .stacks()
        .named_frames(&stack)
        .map(|frame| Seen {
            function: frame.location.function.as_deref().map(str::to_owned),
            file: frame.location.file.as_deref().map(str::to_owned),
            line: frame.location.line,
            inline: frame.location.inline,
            pc: frame.pc().map(|pc| pc.addr().get()),
        })
        .collect();
    compare(thread, &seen).expect("the true stack");
}

#[test]
fn without_its_executable_a_core_shows_pcs_and_says_what_is_missing() {
    let case = case("leaf", "O2-pie");
    let core = Moved::new(&case).open(OpenOptions::default());
    let stack = crashed_stack(&core);
    assert_eq!(names(&core, &stack).first(), Some(&None), "a name from nowhere");
    let pc = core.registers().of_thread(stack.tid.expect("a thread's")).expect("registers").pc();
    assert_eq!(pcs(&stack).first(), Some(&pc.get()));
    let doubts = texts_of_doubts(&core).join("\n");
    assert!(doubts.contains("not found: ") && doubts.contains("leaf"), "{doubts}");
    let exe = core.modules().exe().expect("an executable");
    let FileState::Missing(tried) = exe.file_state() else { panic!("{:?}", exe.file_state()) };
    assert!(tried.iter().any(|tried| tried.contains("/xxx")), "the recorded path: {tried:?}");
}

#[test]
fn an_executable_given_by_option_or_beside_the_core_is_used() {
    let case = case("leaf", "O2-pie");
    let moved = Moved::new(&case);
    let given = OpenOptions { exe: Some(case.exe.clone()), ..OpenOptions::default() };
    assert_true(&moved.open(given), &case);
    moved.put(&case.exe, "leaf");
    assert_true(&moved.open(OpenOptions::default()), &case);
}

#[test]
fn a_missing_library_is_said_and_the_program_around_it_is_shown() {
    let case = case("dlopen", "O2fp-pie");
    let moved = Moved::new(&case);
    moved.put(&case.exe, "dlopen");
    let core = moved.open(OpenOptions::default());
    let names = names(&core, &crashed_stack(&core));
    assert_eq!(names[0].as_deref(), Some("on_plug"));
    assert_eq!(names[1].as_deref(), Some("plug_run"), "the core holds its dynamic symbols");
    assert!(names.contains(&Some("main".to_owned())), "{names:?}");
    let doubts = texts_of_doubts(&core).join("\n");
    assert!(doubts.contains("libplug.so"), "{doubts}");
}

#[test]
fn a_file_of_another_build_is_refused_and_said() {
    let (case, other) = (case("leaf", "O2-pie"), case("abort", "O2-pie"));
    let moved = Moved::new(&case);
    moved.put(&other.exe, "leaf");
    let given = OpenOptions { exe: Some(other.exe.clone()), ..OpenOptions::default() };
    for options in [OpenOptions::default(), given] {
        let core = moved.open(options);
        assert_eq!(names(&core, &crashed_stack(&core)).first(), Some(&None));
        let doubts = texts_of_doubts(&core).join("\n");
        assert!(doubts.contains("is another build"), "{doubts}");
    }
}

#[test]
fn a_sysroot_stands_before_the_files_of_this_machine_or_instead_of_them() {
    let case = case("dlopen", "O2-pie");
    let empty = tempfile::tempdir().expect("a temporary folder");
    let before = OpenOptions {
        core: Some(case.core.clone()),
        sysroot: Some(empty.path().to_owned()),
        host_files: true,
        ..OpenOptions::default()
    };
    assert_true(&Core::open(&before).expect("a core"), &case);
    let instead = OpenOptions { host_files: false, ..before };
    let core = Core::open(&instead).expect("a core");
    let system = core.modules().all().iter().find(|module| module.name().starts_with("libc.so"));
    let system = system.expect("the C library");
    assert_eq!(system.file_path(), None);
    let refused = system.tried().iter().map(|tried| tried.why.to_string());
    assert!(refused.clone().any(|why| why.contains("--host-files")), "{:?}", system.tried());
    assert!(core.modules().exe().is_some_and(|exe| exe.file_path().is_some()), "beside the core");
}

/// A core that holds the code of all modules (bit 2 of the filter), by gdb, which may always write
/// one and keeps to the filter as the kernel does.
fn core_with_code(case: &Case, to: &Path) -> PathBuf {
    let core = to.join("core");
    let line = "echo 0x7f > /proc/self/coredump_filter && exec gdb -batch -nx \
                -ex 'set debuginfod enabled off' -ex run -ex \"generate-core-file $1\" \"$0\"";
    let status = Command::new("sh")
        .args(["-c", line])
        .arg(&case.exe)
        .arg(&core)
        .current_dir(&case.dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("gdb runs");
    assert!(status.success() && core.exists(), "gdb wrote no core: {status}");
    core
}

#[test]
fn what_the_core_holds_of_its_modules_is_enough_for_pcs_and_exported_names() {
    let case = case("abort", "O2-pie");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let full = core_with_code(&case, dir.path());
    let with_files = OpenOptions { core: Some(full.clone()), ..OpenOptions::default() };
    let with_files = crashed_stack(&Core::open(&with_files).expect("a core"));

    let alone = Moved::copy(&full, &case.dir).open(OpenOptions::default());
    let stack = crashed_stack(&alone);
    assert_eq!(pcs(&stack), pcs(&with_files));
    assert_eq!(stack.end, End::Outermost);
    let by_rules = |trust: Trust| matches!(trust, Trust::Context | Trust::Cfi);
    assert!(stack.frames.iter().all(|frame| by_rules(frame.trust)), "{:?}", stack.frames);
    let names = names(&alone, &stack);
    for exported in ["abort", "__libc_start_main"] {
        assert!(names.contains(&Some(exported.to_owned())), "{exported}: {names:?}");
    }
    assert!(!names.contains(&Some("main".to_owned())), "main is exported by nobody: {names:?}");
}
