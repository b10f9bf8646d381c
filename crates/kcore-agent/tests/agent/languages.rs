//! Profiles of workers that run a language, and know in what shares they spend their time.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    profile::{file_with, samples},
    program::{Running, library, run_for},
    stock::found,
};

/// The shares of all programs, in the main thread.
const SHARES: [(&str, f64); 3] =
    [("spend_seventy", 0.7), ("spend_twenty", 0.2), ("spend_ten", 0.1)];
/// Samples that a profile has, at least.
const LEAST: f64 = 150.0;
/// A function that runs in a thread which begins when the profile is taken already.
const LATE: &str = "late_work";
/// A user without rights.
const NOBODY: &str = "65534";

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

fn worker(program: &Path, name: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library()).stdin(Stdio::null()).arg(script(name));
    command.env("TMPDIR", folder).env("KCORE_AGENT_SECONDS", "600");
    command
}

/// Ends the profile that is taken; what is said of it, unless the system lets nobody trace here.
fn ended(process: &mut Running) -> Option<String> {
    process.signal(12);
    let said = process.line_with("profile ");
    if said.contains("with native frames alone") {
        gen_cores::not_tested(format_args!("{said}"));
        return None;
    }
    Some(said)
}

/// The samples that were taken, each of which counts for as many as its time had room for.
fn taken(said: &str) -> f64 {
    let count = said.split("profile of ").nth(1).and_then(|rest| rest.split(' ').next());
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

fn check_shares(said: &str, folded: &str) {
    // On a busy machine samples are rare, and count for unequal times: three tell about as much as one that counts for
    // as long as all others. What the late thread does stands beside the shares.
    let sure = (taken(said) / 3.0).min(LEAST);
    let main: String = folded
        .lines()
        .filter(|line| !line.contains(LATE))
        .map(|line| format!("{line}\n"))
        .collect();
    for (function, share) in SHARES {
        let (has, all) = samples(&main, function);
        assert!(all > LEAST, "{all} samples\n{folded}");
        let (found, deviation) = (has / all, (share * (1.0 - share) / sure).sqrt());
        let is_share = (found - share).abs() < 4.0 * deviation;
        assert!(is_share, "{function}: {found} of {all} samples: {said}\n{folded}");
    }
}

#[test]
fn a_profile_of_a_ruby_worker_has_its_methods_in_their_shares() {
    let Some(ruby) = found("ruby") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut process = Running::start(&mut worker(&ruby, "shares.rb", folder.path()));
    process.signal(12);
    run_for(&process, Duration::from_secs(12));
    let Some(said) = ended(&mut process) else { return };
    assert!(said.contains("with functions of ruby"), "{said}");
    let folded = file_with(folder.path(), ".folded");
    check_shares(&said, &folded);
    let svg = file_with(folder.path(), ".svg");
    for function in ["Work#spend_seventy", "block in Work#spend_twenty", LATE] {
        assert!(svg.contains(function), "{function} is not drawn: {said}\n{folded}");
    }
    assert!(process.runs());
}

#[test]
fn profiles_of_two_workers_at_once_have_the_functions_of_each() {
    let (Some(python), Some(php)) = (found("python3"), found("php")) else { return };
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let commands = [(&python, "shares.py"), (&php, "shares.php")];
    let mut commands = commands.into_iter().zip(&folders);
    let mut running = [(); 2].map(|()| {
        let ((program, name), folder) = commands.next().unwrap();
        Running::start(&mut worker(program, name, folder.path()))
    });
    running.iter().for_each(|process| process.signal(12));
    running.iter().for_each(|process| run_for(process, Duration::from_secs(10)));
    for ((process, folder), language) in running.iter_mut().zip(&folders).zip(["cpython", "php"]) {
        let Some(said) = ended(process) else { continue };
        assert!(said.contains(&format!("with functions of {language}")), "{said}");
        let folded = file_with(folder.path(), ".folded");
        check_shares(&said, &folded);
        assert_eq!(folded.contains(LATE), language == "cpython", "{said}\n{folded}");
        assert!(process.runs());
    }
}

#[test]
fn stacks_are_shown_meanwhile_and_the_program_is_told_of_no_child() {
    let Some(python) = found("python3") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = worker(&python, "shares.py", folder.path());
    let mut process = Running::start(command.env("KCORE_AGENT_SECONDS", "2"));
    process.signal(12);
    let stacks = process.stacks();
    assert!(stacks.contains("unique stack"), "{stacks}");
    let said = process.line_with("profile of ");
    process.signal(10);
    let children = process.line_with("children: ");
    assert_eq!(children, "children: 0 told, None waited for\n", "{said}");
}

#[test]
fn a_process_that_may_not_be_dumped_is_traced_only_where_that_is_wished() {
    // Its files have to be such as another user may read.
    let python = Path::new("/usr/bin/python3");
    if !python.exists() {
        return gen_cores::not_tested(format_args!("there is no {}", python.display()));
    }
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
    if !is_root {
        return gen_cores::not_tested(format_args!("only root can become another user"));
    }
    // Where the other user may read it.
    let folder = tempfile::Builder::new().prefix("kcore-agent").tempdir_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let own = folder.path().join("libkcore_agent.so");
    fs::copy(library(), &own).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    for (wished, expected) in
        [("0", "with native frames alone ("), ("1", "with functions of cpython")]
    {
        let mut command = worker(python, "shares.py", folder.path());
        command.arg(NOBODY).env("LD_PRELOAD", &own).env("KCORE_AGENT_DUMPABLE", wished);
        let mut process = Running::start(command.env("KCORE_AGENT_SECONDS", "2"));
        process.signal(12);
        let said = process.line_with("profile of ");
        assert!(said.contains(expected), "{wished}: {said}");
        if wished == "0" {
            assert!(said.contains("it may not be dumped"), "{said}");
        }
        let dumpable = fs::metadata(format!("/proc/{}/mem", process.pid())).unwrap();
        assert_eq!(std::os::unix::fs::MetadataExt::uid(&dumpable), 0, "it is as it was");
    }
}

#[test]
fn a_profile_has_native_frames_alone_where_that_is_wished() {
    let Some(python) = found("python3") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = worker(&python, "shares.py", folder.path());
    command.env("KCORE_AGENT_LANGUAGES", "0").env("KCORE_AGENT_SECONDS", "1");
    let mut process = Running::start(&mut command);
    process.signal(12);
    let said = process.line_with("profile of ");
    assert!(!said.contains("with functions of"), "{said}");
    assert!(!file_with(folder.path(), ".folded").contains("spend_seventy"), "{said}");
}
