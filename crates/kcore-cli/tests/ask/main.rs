//! `kcore ask`: processes with the agent and without it, and those who may not look at them otherwise.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/process.rs"]
mod process;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;

use process::{Running, compiled};

/// Programs and the agent's library, in a folder that every user may read.
struct Tools {
    folder: tempfile::TempDir,
}

impl Tools {
    fn get() -> &'static Self {
        static TOOLS: OnceLock<Tools> = OnceLock::new();
        TOOLS.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
            let beside = std::env::current_exe().unwrap();
            let library = beside.parent().unwrap().join("libkcore_agent.so");
            for (from, name) in [
                (Path::new(env!("CARGO_BIN_EXE_kcore")), "kcore"),
                (&library, "agent.so"),
                (&compiled("ask/target.c"), "target"),
                (&compiled("ask/refused.c"), "refused"),
            ] {
                let to = folder.path().join(name);
                fs::copy(from, &to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
                fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
            }
            Self { folder }
        })
    }

    fn path(name: &str) -> PathBuf {
        Self::get().folder.path().join(name)
    }
}

/// A user that is nobody else, where a test may choose one.
fn as_user(command: &mut Command, user: u32) -> &mut Command {
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(user).gid(user);
    }
    command
}

/// A process of `target.c`.
struct Target {
    process: Running,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Target {
    fn of(command: &mut Command) -> Self {
        let (process, input, output) = Running::start(command.stderr(Stdio::piped()));
        let mut target = Self { process, input, output: BufReader::new(output) };
        assert_eq!(target.line(), "ready");
        target
    }

    fn with_agent(word: &str) -> Self {
        Self::of(
            Command::new(Tools::path("target"))
                .arg(word)
                .env("LD_PRELOAD", Tools::path("agent.so")),
        )
    }

    fn without(word: &str) -> Self {
        Self::of(Command::new(Tools::path("target")).arg(word))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// How often its own handler ran; it has to be there to say so.
    fn handled(&mut self) -> String {
        self.input.write_all(b"\n").unwrap();
        self.line()
    }

    fn pid(&self) -> String {
        self.process.pid()
    }

    /// Ends it; what it wrote to standard error.
    fn errors(mut self) -> String {
        drop(self.input);
        self.process.0.wait().unwrap();
        let mut text = String::new();
        self.process.0.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

fn kcore(words: &[&str]) -> Output {
    Command::new(Tools::path("kcore")).args(words).stdin(Stdio::null()).output().unwrap()
}

/// Asks in vain: one line, with this status; the process is there, and its handler never ran.
fn refused(target: &mut Target, words: &[&str], status: i32, wanted: &str) {
    let pid = target.pid();
    let output = kcore(&[&["ask"], words, &[&pid]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(status), 1), "{said}");
    assert!(said.starts_with("kcore: process ") && said.contains(wanted), "{said}");
    assert!(output.stdout.is_empty());
    target.handled();
}

#[test]
fn a_process_with_the_agent_answers_as_text_and_as_json_and_on_the_signal_as_before() {
    let target = Target::with_agent("plain");
    let pid = target.pid();
    for _ in 0..2 {
        let output = kcore(&["ask", &pid]);
        let (text, said) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.is_empty(), "{said}");
        assert!(text.contains("of 4 threads") && text.contains("wait_in_thread"), "{text}");
    }
    let output = kcore(&["ask", "--json", &pid]);
    let text = String::from_utf8(output.stdout).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let groups: Vec<_> = records.filter(|record| record["type"] == "stack_group").collect();
    let counts: u64 =
        groups.iter().map(|group| group["tids"].as_array().unwrap().len() as u64).sum();
    assert_eq!(counts, 4, "{text}");
    assert!(Command::new("kill").args(["-35", &pid]).status().unwrap().success());
    // The agent ends what it writes before it takes the next request.
    assert!(kcore(&["ask", &pid]).status.success());
    let errors = target.errors();
    assert_eq!(errors.matches("kcore-agent: process ").count(), 1, "{errors}");
    assert!(errors.contains("wait_in_main"), "{errors}");
}

#[test]
fn a_process_that_the_signal_would_end_is_not_sent_it() {
    refused(&mut Target::without("plain"), &[], 2, "does not have kcore's agent in it");
    // Whoever says that it is there is believed only where it cannot be seen.
    refused(&mut Target::without("plain"), &["--unseen"], 2, "does not have kcore's agent in it");
    let reset = &mut Target::with_agent("resets");
    refused(reset, &[], 2, "but the program has made signal 35 what it was before");
}

#[test]
fn a_program_that_handles_the_signal_itself_is_left_alone() {
    let mut target = Target::without("handles");
    refused(&mut target, &[], 2, "does not have kcore's agent in it");
    assert_eq!(target.handled(), "0");
    // The agent was there first, and left the signal to nobody: its mark says which one it has.
    let mut other = Command::new(Tools::path("target"));
    other.arg("handles").env("LD_PRELOAD", Tools::path("agent.so")).env("KCORE_AGENT_SIGNAL", "40");
    let mut target = Target::of(&mut other);
    let output = kcore(&["ask", &target.pid()]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("wait_in_main"), "{output:?}");
    assert_eq!(target.handled(), "0");
}

#[test]
fn a_process_that_cannot_answer_is_told_of() {
    let blocks = &mut Target::with_agent("blocks");
    refused(blocks, &[], 2, "blocks signal 35 in all of its threads: none would answer");
    let mut mute = Target::without("mute");
    refused(&mut mute, &["--timeout", "0.5"], 1, "did not answer within 0.5 s");
    assert_eq!(mute.handled(), "1", "it was asked");
    let output = kcore(&["ask", "2147483647"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "kcore: no process has the id 2147483647\n");
}

#[test]
fn it_is_offered_where_tracing_is_refused() {
    let target = Target::with_agent("plain");
    let pid = target.pid();
    for words in [&["stacks", &pid][..], &["-p", &pid, "-c", "::stacks"], &["profile", &pid]] {
        let mut command = Command::new(Tools::path("refused"));
        command.arg(Tools::path("kcore")).args(words).stdin(Stdio::null());
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let wanted = format!("it has kcore's agent: 'kcore ask {pid}' shows its stacks");
        assert!(!output.status.success() && said.contains(&wanted), "{words:?}: {said}");
    }
    let mut command = Command::new(Tools::path("refused"));
    command.arg(Tools::path("kcore")).args(["ask", &pid]).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("wait_in_thread"), "{output:?}");
    let without = Target::without("plain");
    let mut command = Command::new(Tools::path("refused"));
    let output =
        command.arg(Tools::path("kcore")).args(["stacks", &without.pid()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("may not be traced") && !said.contains("kcore ask"), "{said}");
}

const USER: u32 = 54_321;

/// Runs kcore as a user without rights.
fn kcore_as(user: u32, words: &[&str]) -> Output {
    let mut command = Command::new(Tools::path("kcore"));
    as_user(&mut command, user).args(words).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn where_mappings_may_not_be_read_the_user_says_that_the_agent_is_there() {
    let mut command = Command::new(Tools::path("target"));
    command.arg("hidden").env("LD_PRELOAD", Tools::path("agent.so"));
    let target = Target::of(as_user(&mut command, USER));
    let pid = target.pid();
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let unseen = kcore_as(USER, &["ask", &pid]);
    assert_eq!(unseen.status.code(), Some(2), "{}", said(&unseen));
    assert!(said(&unseen).contains("ask with --unseen"), "{}", said(&unseen));
    let offered = kcore_as(USER, &["stacks", &pid]);
    assert!(said(&offered).contains(&format!("'kcore ask --unseen {pid}'")), "{}", said(&offered));
    let asked = kcore_as(USER, &["ask", "--unseen", &pid]);
    let text = String::from_utf8_lossy(&asked.stdout);
    assert!(text.contains("of 4 threads"), "{}{text}", said(&asked));
    // One that would be ended by the signal is not sent it, whatever the user says.
    let mut command = Command::new(Tools::path("target"));
    let mut target = Target::of(as_user(command.arg("hidden"), USER));
    let ended = kcore_as(USER, &["ask", "--unseen", &target.pid()]);
    assert!(said(&ended).contains("does not handle signal 35"), "{}", said(&ended));
    assert_eq!(target.handled(), "0");
}

/// Its socket is in another network, and its ids are others there.
#[test]
fn a_process_in_a_container_answers() {
    let mut command = Command::new("unshare");
    command.args(["--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    if !command.arg("true").status().is_ok_and(|status| status.success()) {
        gen_cores::not_tested("a container: namespaces are refused");
        return;
    }
    let mut command = Command::new("unshare");
    command.args(["--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.arg(Tools::path("target")).arg("plain").env("LD_PRELOAD", Tools::path("agent.so"));
    let mut target = Target::of(&mut command);
    let outer = target.pid();
    let inner = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap();
    let output = kcore(&["ask", inner.trim()]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.starts_with("kcore-agent: process 1: ") && text.contains("of 4 threads"),
        "{output:?}"
    );
    assert_eq!(target.handled(), "0");
}

#[test]
fn another_user_is_told_nothing() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        gen_cores::not_tested("another user: that takes root");
        return;
    }
    let mut command = Command::new(Tools::path("target"));
    command.arg("plain").env("LD_PRELOAD", Tools::path("agent.so"));
    let mut target = Target::of(as_user(&mut command, USER));
    let output = kcore_as(USER + 1, &["ask", "--unseen", &target.pid()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("may not be sent a signal") && output.stdout.is_empty(), "{said}");
    // Root is told.
    let output = kcore(&["ask", &target.pid()]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("wait_in_main"), "{output:?}");
    assert_eq!(target.handled(), "0");
}
