//! `::log`: what is typed and what is shown, in a file.

use crate::terminal::Terminal;

#[test]
fn a_log_has_the_session_from_its_beginning_to_its_end() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.type_line("::log");
    terminal.wait_for("kcore: no log is active");
    terminal.type_line("::log session");
    terminal.wait_for("kcore: logging to \"session\"");
    terminal.run("::echo a word");
    terminal.run("::no_such_dcmd");
    terminal.type_line("::log");
    terminal.wait_for("kcore: logging to \"session\" is currently enabled");
    terminal.type_line("::log -d");
    terminal.type_line("::echo not this");
    terminal.wait_for("\nnot this");
    terminal.type_line("::log -d");
    terminal.wait_for("kcore: logging is already disabled");
    let log = std::fs::read_to_string(terminal.file("session")).unwrap();
    assert_eq!(
        log,
        "> ::echo a word\n\
         a word \n\
         > ::no_such_dcmd\n\
         kcore: invalid command '::no_such_dcmd': unknown dcmd name\n\
         > ::log\n\
         kcore: logging to \"session\" is currently enabled\n\
         > ::log -d\n"
    );
}
