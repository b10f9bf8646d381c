//! Long output: one screen at a time, and what each key does.

use std::fmt::Write;

use crate::terminal::{Setup, Terminal, last_line};

const QUESTION: &str = ">> More [<space>, <cr>, /, q, n, c, a] ?";
const SMALL: Setup = Setup { columns: 100, rows: 10, options: "", rc: "" };

/// A terminal in whose working directory 30 numbered lines lie in a file.
fn open(setup: Setup) -> Option<Terminal> {
    let terminal = Terminal::open_with(setup)?;
    let mut lines = String::new();
    (1..=30).for_each(|number| writeln!(lines, "line {number}").unwrap());
    std::fs::write(terminal.file("lines"), lines).unwrap();
    terminal.wait_for_prompt();
    Some(terminal)
}

/// A terminal of 10 rows in which those lines are shown, up to the first question; another command
/// waits behind.
fn asked() -> Option<Terminal> {
    let terminal = open(SMALL)?;
    terminal.type_line("::cat lines ; ::echo behind");
    let screen = terminal.wait_for(QUESTION);
    assert_eq!(numbers(&screen), (1..=9).collect::<Vec<_>>(), "{screen}");
    Some(terminal)
}

/// The numbers of the lines on the screen.
fn numbers(screen: &str) -> Vec<u32> {
    screen.lines().filter_map(|line| line.trim().strip_prefix("line ")?.parse().ok()).collect()
}

/// Presses a key, and waits for the next question behind line `last`.
fn next_question(terminal: &Terminal, key: &str, last: u32) -> String {
    terminal.keys(&[key]);
    terminal.wait_until(&format!("a question behind line {last}"), |screen| {
        numbers(screen).last() == Some(&last) && last_line(screen) == QUESTION
    })
}

#[test]
fn space_shows_a_screen_and_enter_a_line() {
    let Some(terminal) = asked() else { return };
    let screen = next_question(&terminal, "Space", 18);
    assert_eq!(numbers(&screen), (10..=18).collect::<Vec<_>>(), "{screen}");
    assert_eq!(screen.matches(">> More").count(), 1, "a question stays:\n{screen}");
    next_question(&terminal, "Enter", 19);
    next_question(&terminal, "n", 20);
    next_question(&terminal, "Space", 29);
    terminal.keys(&["Space"]);
    let screen = terminal.wait_for_prompt();
    assert!(screen.contains("line 30\nbehind\n"), "{screen}");
    assert!(!screen.contains("More"), "a question stays:\n{screen}");
}

#[test]
fn c_shows_the_rest() {
    let Some(terminal) = asked() else { return };
    terminal.keys(&["c"]);
    let screen = terminal.wait_for_prompt();
    assert!(screen.contains("line 30\nbehind\n"), "{screen}");
}

#[test]
fn q_and_ctrl_c_end_the_command_and_not_the_line() {
    for key in ["q", "C-c"] {
        let Some(terminal) = asked() else { return };
        terminal.keys(&["x", key]);
        let screen = terminal.wait_for_prompt();
        assert_eq!(numbers(&screen).last(), Some(&9), "{key}: more was shown:\n{screen}");
        assert!(screen.contains("line 9\nbehind\n"), "{key}: the next did not run:\n{screen}");
        assert!(!screen.contains("kcore:"), "{key}: to have seen enough is no error:\n{screen}");
        terminal.type_line("::echo still here");
        terminal.wait_for("\nstill here");
    }
}

#[test]
fn a_ends_the_line() {
    let Some(terminal) = asked() else { return };
    terminal.keys(&["a"]);
    let screen = terminal.wait_for_prompt();
    assert!(!screen.contains("\nbehind"), "the rest of the line ran:\n{screen}");
    assert!(!screen.contains("kcore:"), "to have seen enough is no error:\n{screen}");
}

#[test]
fn each_line_begins_a_new_screen() {
    let Some(terminal) = asked() else { return };
    terminal.keys(&["a"]);
    terminal.wait_for_prompt();
    terminal.type_line("::cat lines");
    terminal.wait_for(QUESTION);
}

#[test]
fn the_height_is_that_of_the_window_when_it_is_asked() {
    let Some(terminal) = asked() else { return };
    terminal.resize(100, 6);
    let screen = next_question(&terminal, "Space", 14);
    assert_eq!(numbers(&screen), (10..=14).collect::<Vec<_>>(), "{screen}");
    terminal.resize(100, 12);
    next_question(&terminal, "Space", 25);
}

#[test]
fn the_setting_switches_it_off() {
    let Some(terminal) = open(Setup { rc: "::set +o pager\n", ..SMALL }) else { return };
    terminal.type_line("::cat lines ; ::echo behind");
    terminal.wait_for("line 30\nbehind\n");
}

#[test]
fn nothing_is_paged_that_no_user_reads_at_the_prompt() {
    let Some(terminal) = open(SMALL) else { return };
    terminal.type_line("::cat lines ! cat ; ::cat lines ! tail -1");
    terminal.wait_for("line 30\nline 30\n");

    let Some(terminal) = Terminal::open_with(Setup { options: "-c '$r ; $r'", ..SMALL }) else {
        return;
    };
    terminal.wait_for("exit=0");
}
