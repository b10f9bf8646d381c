//! The interactive shell in a terminal: prompt, history, completion, pages, pasted lines, ctrl-C, ctrl-D.
//!
//! The terminal is tmux's: keys go in as a user types them, and the screen is read as a user sees it.

mod completion;
mod log;
mod pager;
mod terminal;
mod typing;

use terminal::Terminal;

#[test]
fn a_glance_and_a_prompt_greet_the_user() {
    let Some(terminal) = Terminal::open() else { return };
    let screen = terminal.wait_for_prompt();
    assert!(screen.contains("SIG"), "no signal in the glance:\n{screen}");
    terminal.type_line("::no_such_dcmd");
    terminal.wait_for("kcore: invalid command '::no_such_dcmd': unknown dcmd name");
    terminal.wait_for_prompt();
}

#[test]
fn history_comes_back_by_arrow_and_after_a_restart() {
    let Some(mut terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.type_line("::echo_of_history");
    terminal.wait_for_prompt();
    terminal.type_line("::another_line");
    terminal.wait_for_prompt();
    terminal.keys(&["Up", "Up"]);
    terminal.wait_for("> ::echo_of_history\n");
    terminal.keys(&["C-c"]);
    terminal.wait_for_prompt();

    terminal.restart();
    terminal.wait_for_prompt();
    terminal.keys(&["Up", "Up"]);
    terminal.wait_for("> ::echo_of_history\n");
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
    terminal.wait_until("the command runs", |screen| screen.matches("status:").count() > 4);
    terminal.keys(&["C-c"]);
    terminal.wait_for("kcore: interrupted");
    let screen = terminal.wait_for_prompt();
    assert!(!screen.contains("kcore: invalid command"), "the rest of the line ran:\n{screen}");
    terminal.type_line("::still_here");
    terminal.wait_for("kcore: invalid command '::still_here'");
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
