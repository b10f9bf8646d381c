//! What helps while a line is typed: pasted lines, hints, colours, the words of other debuggers.

use crate::terminal::{Setup, Terminal, last_line};

#[test]
fn pasted_lines_run_in_order_and_whole() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal
        .paste("::echo \"a;b\" 'c | d'\n::echo two ; ::echo three\n::no_such_dcmd\n\t::echo last");
    terminal.wait_for("::echo last");
    terminal.keys(&["Enter"]);
    let screen = terminal.wait_until("the last line's words", |screen| screen.contains("\nlast\n"));
    let order = [
        "> ::echo \"a;b\" 'c | d'\na;b c | d\n",
        "> ::echo two ; ::echo three\ntwo\nthree\n",
        "kcore: invalid command '::no_such_dcmd'",
        "\nlast\n",
    ];
    let places = order.map(|text| screen.find(text).unwrap_or_else(|| panic!("{text}:\n{screen}")));
    assert!(places.is_sorted(), "{screen}");
    terminal.keys(&["Up", "Up", "Up"]);
    terminal.wait_until("each line in history", |screen| {
        last_line(screen) == "> ::echo two ; ::echo three"
    });
}

#[test]
fn lines_typed_ahead_are_not_lost() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.text("::echo one\r::echo two\r::echo three\r");
    terminal.wait_for("\nthree\n");
    let screen = terminal.wait_for_prompt();
    assert!(screen.contains("\none\n") && screen.contains("\ntwo\n"), "{screen}");
}

#[test]
fn ctrl_c_drops_the_lines_behind_the_one_that_it_stops() {
    let Some(terminal) = Terminal::open_with(Setup { rc: "::set +o pager", ..Setup::default() })
    else {
        return;
    };
    terminal.wait_for_prompt();
    terminal.paste(",ffffff::nm\n::echo behind");
    terminal.keys(&["Enter"]);
    terminal.wait_for("FUNC");
    terminal.keys(&["C-c"]);
    terminal.wait_for("kcore: interrupted");
    let screen = terminal.wait_for_prompt();
    assert!(!screen.contains("\nbehind"), "{screen}");
}

#[test]
fn usage_and_history_are_hinted_at() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.text("::dis");
    terminal.wait_for("> ::dis [-abfw] [-n count]");
    terminal.abandon();
    terminal.run("::echo of old");
    terminal.text("::ec");
    terminal.wait_until("the line of before", |screen| last_line(screen) == "> ::echo of old");
    terminal.keys(&["Right", "Enter"]);
    terminal.wait_until("it ran again", |screen| screen.matches("\nof old").count() == 2);
}

#[test]
fn a_hint_is_not_part_of_the_line() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.type_line("::version");
    terminal.wait_for("kcore 0.");
    terminal.text("::objects");
    terminal.wait_for("> ::objects [");
    terminal.keys(&["Enter"]);
    let screen = terminal.wait_for("[vdso]");
    assert!(screen.contains("> ::objects\n"), "the hint stays:\n{screen}");
}

#[test]
fn words_of_other_debuggers_are_answered_with_what_to_type() {
    let Some(terminal) = Terminal::open() else { return };
    let screen = terminal.wait_for_prompt();
    assert!(screen.contains("::help") && screen.contains("::quit"), "no welcome:\n{screen}");
    for (word, answer) in [
        ("info threads", "kcore: info threads is ::threads here"),
        ("bt", "kcore: bt is $C here"),
        ("break main", "kcore: break main: a core does not run"),
        // The program has a function of this name.
        ("exit", "kcore: exit is a symbol, and dot is now its address; for the command"),
    ] {
        terminal.clear();
        terminal.run(word);
        terminal.wait_for(answer);
    }
    terminal.type_line("quit");
    terminal.wait_for("kcore: quit is ::quit here");
}

#[test]
fn dcmds_and_failures_have_colours() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.type_line("::no_such_dcmd ; ::echo 12");
    terminal.wait_for("\n12");
    let screen = terminal.coloured_screen();
    let red = "\x1b[31m";
    assert!(screen.contains(&format!("{red}::no_such_dcmd")), "{screen:?}");
    assert!(screen.contains(&format!("{red}kcore: invalid command")), "{screen:?}");
    assert!(screen.contains("\x1b[34m::echo"), "{screen:?}");
}

#[test]
fn who_wants_no_colours_has_none() {
    let setup = Setup { options: "--color=never", ..Setup::default() };
    let Some(terminal) = Terminal::open_with(setup) else { return };
    terminal.wait_for_prompt();
    terminal.type_line("::no_such_dcmd ; ::mappings");
    terminal.wait_for("[ heap ]");
    let screen = terminal.coloured_screen();
    assert!(!screen.contains('\x1b'), "{screen:?}");
}

#[test]
fn the_prompt_is_the_users() {
    let setup = Setup { rc: "::set -P 'core> '\n", ..Setup::default() };
    let Some(terminal) = Terminal::open_with(setup) else { return };
    terminal.wait_until("the prompt", |screen| last_line(screen) == "core>");
    terminal.type_line("::set -P '# '");
    terminal.wait_until("the other prompt", |screen| last_line(screen) == "#");
}

#[test]
fn ctrl_d_is_ignored_where_the_settings_say_so() {
    let setup = Setup { rc: "::set -o ignoreeof\n", ..Setup::default() };
    let Some(terminal) = Terminal::open_with(setup) else { return };
    terminal.wait_for_prompt();
    terminal.ctrl_d();
    terminal.wait_for("kcore: type ::quit to leave");
    terminal.type_line("::quit");
    terminal.wait_for("exit=0");
}

#[test]
fn an_empty_line_repeats_where_the_settings_say_so() {
    let setup = Setup { rc: "::set -o repeatlast\n", ..Setup::default() };
    let Some(terminal) = Terminal::open_with(setup) else { return };
    terminal.wait_for_prompt();
    terminal.type_line("400000/X");
    terminal.wait_for("0x400000:");
    terminal.keys(&["Enter"]);
    terminal.wait_for("0x400004:");
    terminal.text("abandoned");
    terminal.wait_for("abandoned");
    terminal.abandon();
    let screen = terminal.run("::echo done");
    assert!(!screen.contains("0x400008:"), "an abandoned line is no empty one:\n{screen}");
}

#[test]
fn lines_are_as_wide_as_the_window() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.type_line("$w");
    terminal.wait_for("output page width = 100");
    terminal.resize(60, 40);
    terminal.type_line("$w");
    terminal.wait_for("output page width = 60");
    terminal.type_line("0t132$w");
    terminal.wait_for("output page width = 132");
}
