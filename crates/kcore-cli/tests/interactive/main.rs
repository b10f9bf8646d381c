//! The interactive shell in a terminal: prompt, history, completion, pages, pasted lines, ctrl-C, ctrl-D.
//!
//! The terminal is tmux's: keys go in as a user types them, and the screen is read as a user sees it.

mod completion;
mod log;
mod pager;
mod terminal;
mod top;
mod typing;

use terminal::{Setup, Terminal};

/// A script that wants ctrl-C for itself.
const WAITS: &str = "trap 'echo caught; exit 0' INT; echo begun; while :; do sleep 0.1; done\n";

#[test]
fn a_glance_and_a_prompt_greet_the_user() {
    let Some(terminal) = Terminal::open() else { return };
    let screen = terminal.wait_for_prompt();
    assert!(screen.contains("SIG"), "no signal in the glance:\n{screen}");
    let screen = terminal.run("::no_such_dcmd");
    assert!(screen.contains("kcore: invalid command '::no_such_dcmd': unknown dcmd name"));
}

#[test]
fn the_glance_says_where_the_program_died_and_in_how_many_stacks_its_threads_are() {
    let Some(terminal) = Terminal::open() else { return };
    let screen = terminal.wait_for_prompt();
    let place = screen.lines().find(|line| line.starts_with("where: ")).unwrap_or_default();
    assert!(place.starts_with("where: parse_header+") && place.contains("main.c:46"), "{screen}");
    // The terminal breaks a long line.
    let verdict = "in parse_header: it read header->value, and header is null, which parse_request passed as \
                   request->headers (certain): ::analyze";
    assert!(screen.replace('\n', "").contains(verdict), "{screen}");
    let threads =
        screen.lines().find(|line| line.starts_with("12 threads in ")).unwrap_or_default();
    let stacks = threads.split_whitespace().nth(3).unwrap_or_default();
    let groups = terminal.run("::stacks -v ! head -1");
    assert!(groups.contains(&format!("{stacks} unique stacks / 12 threads")), "{groups}");
}

#[test]
fn stacks_have_lines_on_a_terminal_unless_the_user_wants_none() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    let with_lines = terminal.run("$C ! head -1");
    assert!(
        with_lines.contains("parse_header+") && with_lines.contains("main.c:46\n"),
        "{with_lines}"
    );
    terminal.clear();
    terminal.run("::set +o lines");
    let bare = terminal.run("$C ! head -1");
    assert!(bare.contains("parse_header+") && !bare.contains("main.c"), "{bare}");
}

#[test]
fn what_is_shown_elsewhere_has_the_glance_apart_from_the_hint_and_no_prompts() {
    let setup = Setup { options: "> taken 2>&1", ..Setup::default() };
    let Some(terminal) = Terminal::open_with(setup) else { return };
    terminal.wait_for_prompt();
    terminal.run("77=K");
    terminal.type_line("::quit");
    terminal.wait_for("exit=0");
    let taken = std::fs::read_to_string(terminal.file("taken")).unwrap();
    let (glance, rest) = taken.split_once("\n\n").expect("an empty line between them");
    assert!(glance.contains("SIG") && !glance.contains("::help"), "{taken}");
    assert!(rest.contains("12 threads in ") && rest.contains("::help shows"), "{taken}");
    let has_prompt = taken.lines().any(|line| line.starts_with('>'));
    assert!(rest.contains("77") && !has_prompt && !taken.contains('\x1b'), "{taken}");
}

#[test]
fn history_comes_back_by_arrow_and_after_a_restart() {
    let Some(mut terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.run("::echo_of_history");
    terminal.run("::another_line");
    terminal.keys(&["Up", "Up"]);
    terminal.wait_for("> ::echo_of_history\n");
    terminal.abandon();

    terminal.restart();
    terminal.wait_for_prompt();
    terminal.keys(&["Up", "Up"]);
    terminal.wait_for("> ::echo_of_history\n");
}

#[test]
fn a_pipe_in_the_place_of_the_history_is_not_waited_for() {
    let Some(mut terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    let history = terminal.file("kcore/history");
    let _ = std::fs::remove_file(&history);
    let made = std::process::Command::new("mkfifo").arg(&history).status().unwrap();
    assert!(made.success());
    terminal.restart();
    terminal.wait_for_prompt();
}

#[test]
fn ctrl_c_abandons_a_line() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.text("::no_such_dcmd");
    terminal.wait_for("> ::no_such_dcmd");
    terminal.keys(&["C-c"]);
    let screen = terminal.wait_for_prompt();
    assert!(!screen.contains("kcore: invalid command"), "the line ran:\n{screen}");
}

#[test]
fn ctrl_c_stops_the_command_and_not_the_shell() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.type_line(",ffffff::status ; ::no_such_dcmd");
    terminal.wait_for(">> More");
    terminal.text("c");
    // Sooner, ctrl-C would be an answer to the question.
    terminal.wait_until("the command runs", |screen| !screen.contains(">> More"));
    terminal.keys(&["C-c"]);
    terminal.wait_for("kcore: interrupted");
    let screen = terminal.wait_for_prompt();
    assert!(!screen.contains("kcore: invalid command"), "the rest of the line ran:\n{screen}");
    terminal.type_line("::still_here");
    terminal.wait_for("kcore: invalid command '::still_here'");
}

#[test]
fn ctrl_c_stops_what_searches_and_what_lists() {
    let setup = Setup { rc: "::set +o pager\n", ..Setup::default() };
    for (line, shown) in [("0,ffffff::ugrep", "48b"), (",ffffff::nm", "|FUNC")] {
        let Some(terminal) = Terminal::open_with(setup) else { return };
        terminal.wait_for_prompt();
        terminal.type_line(&format!("{line} ; ::echo behind"));
        terminal.wait_for(shown);
        terminal.keys(&["C-c"]);
        let screen = terminal.wait_for("kcore: interrupted\n");
        assert!(screen.lines().count() > 20, "what was found before is gone:\n{screen}");
        let screen = terminal.wait_for_prompt();
        assert!(!screen.contains("\nbehind"), "the rest of the line ran:\n{screen}");
    }
}

#[test]
fn ctrl_c_stops_a_shell_command_and_the_line() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    std::fs::write(terminal.file("waits"), "echo begun; exec sleep 1000\n").unwrap();
    terminal.type_line("! exec sh ./waits ; ::echo behind");
    terminal.wait_for("\nbegun");
    terminal.keys(&["C-c"]);
    terminal.wait_for("kcore: interrupted\n");
    let screen = terminal.wait_for_prompt();
    assert!(!screen.contains("\nbehind"), "the rest of the line ran:\n{screen}");
}

#[test]
fn a_shell_command_may_have_its_own_ctrl_c() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    std::fs::write(terminal.file("waits"), WAITS).unwrap();
    terminal.type_line("! exec sh ./waits ; ::echo behind");
    terminal.wait_for("\nbegun");
    terminal.keys(&["C-c"]);
    let screen = terminal.wait_for("caught\nbehind\n");
    assert!(!screen.contains("kcore: interrupted"), "{screen}");
}

#[test]
fn ctrl_d_and_quit_leave() {
    for leave in [Terminal::ctrl_d as fn(&Terminal), |terminal| terminal.type_line("::quit")] {
        let Some(terminal) = Terminal::open() else { return };
        terminal.wait_for_prompt();
        leave(&terminal);
        terminal.wait_for("exit=0");
    }
}
