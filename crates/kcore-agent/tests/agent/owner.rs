//! Programs with rules of their own, for their rights and for signals, and what users may set: see `owner.c`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{
    answers::{groups, with},
    program::{Running, built, library, library_folder, with_agent},
};

/// The program, linked with the library.
fn owner() -> PathBuf {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let (include, library) = (format!("-I{}", include.display()), library());
    // Its own names are in memory too: a process that dropped its rights may not read files of others.
    built(
        "owner.c",
        "owner",
        &["-O1", "-rdynamic", &include, library.to_str().unwrap(), "-pthread"],
    )
}

/// Runs it without preloading.
fn linked(word: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(owner());
    command.arg(word).env("LD_LIBRARY_PATH", library_folder());
    command.envs(variables.iter().copied()).output().unwrap()
}

/// The command that runs it, preloaded.
fn preloaded(word: &str) -> Command {
    let mut command = with_agent(&owner());
    command.arg(word).env("LD_LIBRARY_PATH", library_folder());
    command
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_process_that_dropped_its_rights_answers() {
    let mut process = Running::start(&mut preloaded("drops"));
    for _ in 0..2 {
        let text = process.stacks();
        let groups = groups(&text);
        assert!(with(&groups, "wait_in_owner").functions.contains(&"main".to_owned()), "{text}");
    }
    let output = linked("asks-dropped", &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", errors(&output));
    assert!(with(&groups(&text), "kcore_agent_stacks_text").functions.contains(&"main".to_owned()));
}

#[test]
fn a_wrong_setting_is_said() {
    for (name, value) in [
        ("KCORE_AGENT_SIGNAL", "SIGRTMIN+6"),
        ("KCORE_AGENT_PROFILE_SIGNAL", "11"),
        ("KCORE_AGENT_PROFILE_SIGNAL", "35"),
        ("KCORE_AGENT_SECONDS", "soon"),
    ] {
        let output = linked("installed", &[(name, value)]);
        assert_eq!(output.status.code(), Some(22), "EINVAL of {name}={value}: {output:?}");
        let output = preloaded("one").env(name, value).output().unwrap();
        let said = errors(&output);
        let wanted = format!("kcore-agent: not installed: {name} is {value}, and has to be ");
        assert!(said.starts_with(&wanted), "{said}");
    }
    let output = with_agent(Path::new("/bin/true")).env("KCORE_AGENT", "no").output().unwrap();
    assert_eq!(
        errors(&output),
        "kcore-agent: KCORE_AGENT is no, and has to be 0 or 1: not installed\n"
    );
}

#[test]
fn a_signal_that_all_threads_block_is_refused() {
    let output = linked("blocked", &[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "all 1 none 0\n");
}

#[test]
fn who_asks_does_not_wait_for_an_allocator_that_hangs() {
    let output = linked("hanging", &[("KCORE_AGENT_ANSWER_SECONDS", "2.5")]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_library_of_another_name_is_preloaded_too() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("agent.so");
    symlink(library(), &link).unwrap();
    let mut command = preloaded("");
    let mut process = Running::start(command.env("LD_PRELOAD", &link));
    assert!(process.stacks().contains("wait_in_owner"));
}

/// What a program that takes signals away while a profile is taken leaves: what it says, and the profile.
fn taken(word: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = preloaded(word).env("TMPDIR", folder.path()).output().unwrap();
    let said = errors(&output);
    assert!(output.status.success(), "{word}: {:?}\n{said}", output.status);
    (said, folded(folder.path()))
}

fn folded(folder: &Path) -> String {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "folded")).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    fs::read_to_string(&found[0]).unwrap()
}

#[test]
fn a_program_that_takes_signals_away_outlives_a_profile() {
    for word in ["default", "ignored", "one"] {
        let (said, folded) = taken(word);
        assert!(said.contains("ended early: signal "), "{word}: {said}");
        assert!(folded.contains(";burn "), "{word}: {folded}");
    }
}

#[test]
fn a_thread_is_named_as_it_is_called_last() {
    let (_, folded) = taken("named");
    let named: Vec<_> = folded.lines().filter(|line| line.contains(";burn ")).collect();
    assert!(!named.is_empty(), "{folded}");
    assert!(named.iter().all(|line| line.starts_with("w\u{fffd}!;")), "{folded}");
}

/// Others can make a link where they may write, and lead the agent to a file of the program's user with it.
#[test]
fn a_link_is_not_followed_and_stacks_go_to_standard_error_instead() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, link) = (folder.path().join("kept"), folder.path().join("stacks"));
    fs::write(&kept, "kept").unwrap();
    symlink(&kept, &link).unwrap();
    let mut command = preloaded("");
    let mut process = Running::start(command.env("KCORE_AGENT_OUTPUT", &link));
    process.signal(35);
    let said = process.line_with("kcore-agent: ");
    assert!(said.contains("it is a symbolic link, which is not followed"), "{said}");
    assert!(process.line_with(" main+").contains("main"));
    assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
}

/// A folder in which others may replace what the agent makes gets no profile.
#[test]
fn a_profile_is_not_written_where_others_may_change_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = preloaded("");
    let mut process = Running::start(command.env("TMPDIR", folder.path()));
    process.signal(12);
    std::thread::sleep(std::time::Duration::from_millis(200));
    process.signal(12);
    let said = process.line_with("writing a profile");
    assert!(said.contains("without the sticky bit"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn stacks_go_to_a_file_where_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stacks");
    let mut command = preloaded("");
    let process = Running::start(command.env("KCORE_AGENT_OUTPUT", &path));
    let text = || fs::read_to_string(&path).unwrap_or_default();
    for asked in 1..=2 {
        process.signal(35);
        while text().matches(" main+").count() < asked {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    assert_eq!(text().matches("kcore-agent: process ").count(), 2);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
