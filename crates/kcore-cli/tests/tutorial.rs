//! The tutorial, with its lines from a pipe and typed into a terminal.

#[allow(dead_code, reason = "the tests of the shell need the rest")]
#[path = "interactive/terminal.rs"]
mod terminal;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use terminal::{Setup, Terminal, last_line};

fn kcore() -> Command {
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    kcore
}

/// What the tutorial shows for lines from a pipe; it must not fail.
fn tutorial(lines: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut running = kcore().arg("tutorial").env("TMPDIR", folder.path()).spawn().unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    running.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Where the stack of the thread that died ends, as a command shows it.
fn stack_pointer() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let core = root.join("testdata/workers/x86_64/core.zst");
    let output = kcore().args(["--no-rc", "-c", "<rsp=J"]).arg(core).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The true answers, in the order of the questions: what the program of the core is made to do.
fn answers() -> Vec<String> {
    let stack_pointer = stack_pointer();
    let answers = [
        "SIGSEGV",
        "parse_header",
        "parse_request()",
        "NULL",
        &stack_pointer,
        "\"/status\"",
        "5",
        "next_job",
        "%rbx",
        "::mappings",
    ];
    answers.iter().map(|answer| format!("= {answer}")).collect()
}

#[test]
fn ten_right_answers_are_ten() {
    let answers = answers();
    let shown = tutorial(&answers.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(shown.matches("\nRight. ").count(), 10, "{shown}");
    assert!(shown.contains("\nQuestion 10 of 10: "), "{shown}");
    assert!(shown.contains("\n10 of 10 questions answered, 0 skipped, 0 left.\n"), "{shown}");
}

#[test]
fn commands_run_between_answers() {
    let shown = tutorial(&["::status", "= SIGSEGV", "$C", "::no_such_dcmd", "= parse_header"]);
    assert!(shown.contains("process terminated by SIGSEGV"), "{shown}");
    assert!(shown.contains("parse_request+"), "{shown}");
    assert!(shown.contains("2 of 10 questions answered, 0 skipped, 8 left."), "{shown}");
}

#[test]
fn two_wrong_answers_bring_a_hint() {
    let wrong = tutorial(&["= SIGBUS"]);
    assert!(wrong.contains("That is not the answer.\n") && !wrong.contains("Hint: "), "{wrong}");
    let twice = tutorial(&["= SIGBUS", "= 11 ", "= SIGSEGV"]);
    assert_eq!(twice.matches("Hint: ").count(), 1, "{twice}");
    assert!(twice.contains("\nRight. "), "{twice}");
    let asked = tutorial(&["hint"]);
    assert_eq!(asked.matches("Hint: ").count(), 1, "{asked}");
}

#[test]
fn a_question_is_skipped_with_its_answer_and_the_tutorial_can_be_left() {
    let shown = tutorial(&["skip", "= parse_header", "quit", "= parse_request"]);
    assert!(shown.contains("The answer is SIGSEGV."), "{shown}");
    assert!(shown.contains("Question 3 of 10: ") && !shown.contains("Question 4"), "{shown}");
    assert!(shown.contains("1 of 10 questions answered, 1 skipped, 8 left."), "{shown}");
    let all = tutorial(&["skip"; 12]);
    assert!(all.contains("0 of 10 questions answered, 10 skipped, 0 left."), "{all}");
    let left = tutorial(&["::quit", "skip"]);
    assert!(left.contains("0 of 10 questions answered, 0 skipped, 10 left."), "{left}");
}

#[test]
fn it_takes_no_core() {
    let output = kcore().args(["tutorial", "app.core"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = kcore().args(["tutorial", "--help"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("skip"));
}

#[test]
fn a_user_at_a_terminal_has_the_prompt_of_the_shell() {
    let setup = Setup { rows: 100, ..Setup::default() };
    let Some(terminal) = Terminal::open_on(setup, "tutorial") else { return };
    terminal.wait_for("Question 1 of 10");
    terminal.wait_for_prompt();
    terminal.run("= SIGSEGV");
    // The Tab key completes as in any session.
    terminal.text("::stack\t");
    terminal.wait_until("names that begin so", |screen| screen.contains("::stackinfo"));
    terminal.abandon();
    terminal.run("$C");
    let screen = terminal.run("= parse_header");
    assert!(screen.contains("Question 3 of 10"), "{screen}");
    terminal.type_line("quit");
    let screen = terminal.wait_for("exit=0");
    assert!(screen.contains("2 of 10 questions answered"), "{screen}");
    assert_eq!(last_line(&screen), "exit=0");
}
