//! Processes that cannot be looked at: the word says why.

use std::{env, os::unix::process::CommandExt, process::Command, time::Duration};

use kcore_live::{LiveError, Pid, Process};

use crate::target::{Target, capture_of, program, state_of, until};

const TIMEOUT: Duration = Duration::from_secs(1);
const VARIABLE: &str = "KCORE_TEST_REFUSED";
/// The user that has no rights.
const NOBODY: u32 = 65534;

fn error_of(pid: Pid) -> LiveError {
    capture_of(pid, TIMEOUT, false).expect_err("no snapshot")
}

#[test]
fn what_is_no_process_that_can_be_stopped_is_named() {
    let own = Pid::new(i32::try_from(std::process::id()).unwrap());
    assert!(matches!(error_of(own), LiveError::Itself(_)));
    assert!(matches!(error_of(Pid::new(i32::MAX)), LiveError::NoProcess(_)));
    let target = Target::start("threads");
    let snapshot = target.capture(TIMEOUT, false).unwrap();
    let other = snapshot.threads.last().unwrap().tid;
    let error = Process::open(Pid::new(other)).unwrap_err();
    assert!(error.to_string().ends_with(&format!("give {}/{other}", target.pid())), "{error}");
}

#[test]
fn a_zombie_is_said_to_be_one() {
    let mut child = Command::new(program()).arg("exit").spawn().unwrap();
    let pid = Pid::new(i32::try_from(child.id()).unwrap());
    until("the child ends", || state_of(pid) == Some('Z'));
    assert!(matches!(error_of(pid), LiveError::Zombie(_)));
    child.wait().unwrap();
    assert!(matches!(error_of(pid), LiveError::NoProcess(_)));
}

#[test]
fn who_traces_already_is_named() {
    let target = Target::start("threads");
    let pid = target.pid().get();
    // SAFETY: seizing touches no memory of this process; the end of this thread lets the target go.
    let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0, 0) };
    assert_eq!(seized, 0);
    match error_of(target.pid()) {
        LiveError::Traced { tracer, name, .. } => {
            // The tracer is a thread of this process.
            let process = std::fs::read_to_string(format!("/proc/{tracer}/status")).unwrap();
            assert!(process.contains(&format!("Tgid:\t{}", std::process::id())));
            assert!(name.is_some());
        }
        other => panic!("{other}"),
    }
}

/// Is no test of its own: what it does, it does as another user, in a process that the test below starts.
#[test]
fn is_refused_a_process() {
    let Ok(pid) = env::var(VARIABLE) else { return };
    eprintln!("said: {}", error_of(Pid::new(pid.parse().unwrap())));
}

fn is_root() -> bool {
    // SAFETY: asks for the own user.
    unsafe { libc::geteuid() == 0 }
}

#[test]
fn the_right_that_is_missing_is_said() {
    let target = Target::start("threads");
    // Who has no rights over others needs no other user: the first process is not theirs.
    let pid = if is_root() { target.pid() } else { Pid::new(1) };
    let said = said_to_nobody(pid);
    assert!(said.contains(&format!("process {pid} may not be traced: ")), "{said}");
    assert!(said.contains("CAP_SYS_PTRACE"), "{said}");
}

#[test]
fn a_process_that_must_not_be_dumped_is_refused_for_that_reason() {
    let target = Target::start("undumpable");
    let said = said_to_nobody(target.pid());
    assert!(said.contains("it may not be dumped") && said.contains("PR_SET_DUMPABLE"), "{said}");
}

/// Why a user without rights gets no snapshot.
fn said_to_nobody(pid: Pid) -> String {
    let exe = env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // The other user may not see the folder of the build.
    let copy = folder.path().join("refused");
    std::fs::copy(exe, &copy).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let mut command = Command::new(&copy);
    command
        .args(["--exact", "refused::is_refused_a_process", "--nocapture"])
        .env(VARIABLE, pid.to_string())
        .current_dir("/");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut output = command.output();
    // Another test may have started a process while the copy was open for writing.
    while output.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::ExecutableFileBusy)
    {
        output = command.output();
    }
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = text.lines().find(|line| line.starts_with("said: ")).unwrap_or(&text);
    said.to_owned()
}
