//! Lines of other debuggers, where they mean nothing in this language.

use super::{eval_in, lines, typed};
use crate::testing::{Memory, session};
use crate::{Session, Source, Status, script};

const SEEN: &str = "::seen dot=Number(0) first [looked]";

fn last(session: &mut Session, text: &str) -> String {
    eval_in(session, text).0.pop().unwrap_or_default()
}

#[test]
fn a_line_of_another_debugger_runs_ours_and_names_it_once() {
    let mut session = session();
    assert_eq!(
        eval_in(&mut session, "look here").0,
        ["hint: kcore: look here is ::seen looked here", SEEN]
    );
    assert_eq!(eval_in(&mut session, "look").0, [SEEN]);
    assert_eq!(last(&mut session, "look/x 5"), "::seen dot=Number(5) addr first [looked]");
}

#[test]
fn statements_round_it_run_as_ever() {
    let seen = lines("7::seen a; look here // why; not\n9::seen b");
    assert_eq!(seen.first().unwrap(), "::seen dot=Number(7) addr first [a]");
    assert_eq!(seen.last().unwrap(), "::seen dot=Number(9) addr first [b]");
    assert_eq!(seen.len(), 4);
    assert_eq!(lines("look ';' there; ::seen b").len(), 3);
}

#[test]
fn what_means_something_here_keeps_its_meaning() {
    let mut session = session();
    // A symbol, a number, a dcmd.
    assert_eq!(eval_in(&mut session, "main").0, Vec::<String>::new());
    assert!(last(&mut session, "main::seen").ends_with("addr first"));
    assert_eq!(eval_in(&mut session, "add").0, Vec::<String>::new());
    assert_eq!(
        last(&mut session, "::emit look | ::seen"),
        "error(::emit): failed to dereference symbol 'look': unknown symbol name"
    );
}

#[test]
fn a_symbol_that_a_user_types_as_a_word_is_told_of() {
    let mut session = session();
    let told = typed(&mut session, "main");
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("hint: kcore: main is a symbol, and dot is now its address;"));
    assert!(told[0].contains("type ::seen main"));
    assert_eq!(typed(&mut session, "main::seen").len(), 1);
}

#[test]
fn needless_lines_do_nothing_and_others_say_what_to_do() {
    let mut session = session();
    assert_eq!(
        eval_in(&mut session, "pretty on"),
        (vec!["hint: kcore: pretty on: always".into()], Status::DONE)
    );
    assert_eq!(eval_in(&mut session, "pretty on"), (vec![], Status::DONE));
    let refused = (vec!["error(): walk away: stay".to_owned()], Status::FAILED);
    assert_eq!(eval_in(&mut session, "walk away"), refused);
}

#[test]
fn our_line_is_none_of_another_debugger() {
    let mut session = session();
    assert!(last(&mut session, "look twice").contains("unknown symbol name"));
    assert!(last(&mut session, "look nowhere").contains('^'));
}

#[test]
fn a_script_understands_them_too() {
    let mut sink = Memory::default();
    let mut session = session();
    script::run(&mut session, &mut "look here\n1::seen\n".as_bytes(), "s", &mut sink);
    assert_eq!(sink.lines.len(), 3, "{:?}", sink.lines);
    session.eval_from(Source::Terminal, "", &mut sink);
    assert_eq!(sink.lines.len(), 3);
}
