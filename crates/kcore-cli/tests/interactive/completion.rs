//! What Tab inserts, and what it lists.

use crate::terminal::{Terminal, last_line};

/// Types text at an empty prompt, and Tab.
fn tab(terminal: &Terminal, typed: &str) {
    terminal.text(typed);
    terminal.keys(&["Tab"]);
}

#[test]
fn one_match_or_what_all_have_in_common_is_inserted() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    for (typed, line) in [
        ("::statu", "> ::status"),
        ("::mapp", "> ::mappings"),
        ("::help ob", "> ::help objects"),
        ("::which ::ob", "> ::which ::objects"),
        ("::walk thr", "> ::walk thread"),
        ("parse_h", "> parse_header"),
        ("parse_", "> parse_"),
        ("::dis parse_h", "> ::dis parse_header"),
        ("workers`parse_h", "> workers`parse_header"),
        ("*worker_r", "> *worker_run"),
        ("<ri", "> <rip"),
        ("1>hi", "> 1>hits"),
        ("::nm wor", "> ::nm workers"),
        ("::stacks -m wor", "> ::stacks -m workers"),
        ("wor", "> worker"),
    ] {
        tab(&terminal, typed);
        terminal.wait_until(line, |screen| {
            // What is faint behind the cursor was not typed.
            screen.lines().any(|shown| shown == line || shown.starts_with(&format!("{line} ")))
        });
        terminal.abandon();
    }
}

#[test]
fn alternatives_are_listed_below_the_line() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    for (typed, names) in [
        ("::sta", &["::stack", "::stacks", "::status"][..]),
        ("::walk ", &["thread", "frame", "mapping", "object", "symbol"]),
        ("::dump -", &["-g bytes", "-l bytes", "-q  omit the ASCII column"]),
        ("parse_", &["parse_header", "parse_request"]),
        ("<r", &["rax", "rip", "rsp"]),
        ("::help $", &["$C", "$r"]),
        ("$", &["$C", "$q"]),
    ] {
        tab(&terminal, typed);
        terminal.wait_until(typed, |screen| names.iter().all(|name| screen.contains(name)));
        terminal.abandon();
        terminal.clear();
    }
}

#[test]
fn a_list_is_no_longer_than_the_screen() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    tab(&terminal, "workers`");
    terminal.wait_until("a long list", |screen| {
        last_line(screen) == "> workers`" && screen.contains(" ...\n")
    });
    terminal.abandon();
}

#[test]
fn files_are_completed_where_files_are_named() {
    let Some(terminal) = Terminal::open() else { return };
    std::fs::write(terminal.file("macro_one"), "").unwrap();
    terminal.wait_for_prompt();
    for (typed, line) in [
        ("$<mac", "> $<macro_one"),
        ("$<<mac", "> $<<macro_one"),
        ("::log mac", "> ::log macro_one"),
        ("::cat mac", "> ::cat macro_one"),
        ("::nm ! cat mac", "> ::nm ! cat macro_one"),
    ] {
        tab(&terminal, typed);
        terminal.wait_for(line);
        terminal.abandon();
    }
}

#[test]
fn a_variable_of_the_session_is_completed() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.run("5>my_variable");
    tab(&terminal, "<my_");
    terminal.wait_for("> <my_variable\n");
}

#[test]
fn variables_of_the_frame_are_completed_with_their_members() {
    let Some(terminal) = Terminal::open() else { return };
    terminal.wait_for_prompt();
    terminal.run("::frame 1");
    // parse_request has `struct request *request`.
    tab(&terminal, "::print requ");
    terminal.wait_for("> ::print request");
    terminal.abandon();
    tab(&terminal, "::print request->hea");
    terminal.wait_for("> ::print request->headers");
    terminal.abandon();
}
