//! Programs in which there are no files for the agent, or whose threads a profile does not see: see `scarce.c`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use crate::{
    answers::{groups, with},
    program::{Running, built, library, library_folder, run_for, with_agent},
};

/// The program, linked with the library.
fn scarce() -> PathBuf {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let (include, library) = (format!("-I{}", include.display()), library());
    built(
        "scarce.c",
        "scarce",
        &["-O1", "-rdynamic", &include, library.to_str().unwrap(), "-pthread"],
    )
}

/// Runs it without preloading.
fn linked(word: &str) -> Output {
    Command::new(scarce()).arg(word).env("LD_LIBRARY_PATH", library_folder()).output().unwrap()
}

/// Starts it with the agent, which writes profiles into that folder.
fn preloaded(words: &[&str], folder: &Path) -> Running {
    let mut command = with_agent(&scarce());
    command.args(words).env("LD_LIBRARY_PATH", library_folder()).env("TMPDIR", folder);
    Running::start(command.env("KCORE_AGENT_SECONDS", "600"))
}

/// What is said of a profile of it, while which it ran for a second.
fn profiled(words: &[&str], folder: &Path, wanted: &str) -> String {
    let mut process = preloaded(words, folder);
    process.signal(12);
    run_for(&process, Duration::from_secs(1));
    process.signal(12);
    process.line_with(wanted)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn no_file_is_kept_that_a_program_could_close() {
    let output = linked("closes");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let groups = groups(&text);
    let asker = &with(&groups, "kcore_agent_stacks_text").functions;
    assert!(asker.contains(&"closes".to_owned()), "{text}");
    assert!(asker.contains(&"main".to_owned()), "{text}");
}

#[test]
fn that_there_are_no_more_files_is_said() {
    let output = linked("without-files");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "kcore-agent: files for a request: Too many open files (os error 24)\n");
}

#[test]
fn a_thread_that_blocks_the_signal_of_profiles_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = profiled(&["deaf"], folder.path(), "profile of ");
    let wanted = "profile of 0 samples, which stand for 0.00 of ";
    assert!(said.contains(wanted), "{said}");
    assert!(said.contains(", without 1 thread that blocks the signal: "), "{said}");
    assert!(said.contains(" (deaf)"), "{said}");
    // There is no other reason.
    assert!(said.contains(" s that threads ran,"), "{said}");
}

#[test]
fn it_is_said_how_much_of_the_time_the_samples_stand_for() {
    let folder = tempfile::tempdir().unwrap();
    let said = profiled(&["brief"], folder.path(), "profile of ");
    assert!(said.contains(" samples, which stand for 0."), "{said}");
    assert!(said.contains(" s that threads ran (timers run out only at ticks"), "{said}");
}

#[test]
fn of_a_profile_that_cannot_be_written_nothing_is_left() {
    // Neither file, and the second one.
    for most in ["8", "2048"] {
        let folder = tempfile::tempdir().unwrap();
        let said = profiled(&["full", most], folder.path(), "writing a profile: ");
        assert!(said.contains("File too large"), "{said}");
        assert!(files(folder.path()).is_empty(), "{most} bytes");
    }
}

#[test]
fn a_program_that_reads_the_signal_of_profiles_gets_none_of_the_agent() {
    for word in ["urgent", "urgent-later"] {
        let folder = tempfile::tempdir().unwrap();
        let mut process = preloaded(&[word], folder.path());
        process.signal(12);
        process.line_with("profile of ");
        let folded = files(folder.path())
            .into_iter()
            .find(|path| path.extension().is_some_and(|it| it == "folded"))
            .unwrap();
        let folded = fs::read_to_string(folded).unwrap();
        assert!(folded.contains(";burn "), "{word}: {folded}");
    }
}
