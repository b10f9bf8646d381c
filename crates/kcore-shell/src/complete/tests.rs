//! Completion of lines, on this test's own executable.

use kcore_render::Size;

use super::*;
use crate::testing;

fn completed(before: &str) -> (String, Vec<String>) {
    let session = testing::session();
    let completer = Completer::new(&session, None);
    let (start, found) = completer.complete(before);
    (before[start..].to_owned(), found.into_iter().map(|candidate| candidate.text).collect())
}

/// The alternatives for the word at the end of `before`, which must be `word`.
fn offered(before: &str, word: &str) -> Vec<String> {
    let (replaced, found) = completed(before);
    assert_eq!(replaced, word, "{before:?}");
    found
}

#[test]
fn dcmds_by_their_spellings_and_by_their_names() {
    assert_eq!(offered("::emi", "::emi"), ["::emit"]);
    assert_eq!(offered("::emit", "::emit"), ["::emit", "::emit_thread"]);
    assert_eq!(offered("1::tor", "::tor"), ["::torn"]);
    assert_eq!(offered("$", "$"), ["$<", "$<<", "$d", "$q", "$s"]);
    assert_eq!(offered("::walk two | ::need", "::need"), ["::needy"]);
    assert_eq!(offered("::help len", "len"), ["length"]);
    assert_eq!(offered("::help ::len", "::len"), ["::length"]);
}

#[test]
fn what_all_alternatives_begin_with_is_one() {
    assert_eq!(offered("::em", "::em"), ["::emit"]);
    assert_eq!(offered("::s", "::s"), ["::seen", "::spin"]);
}

#[test]
fn walkers_variables_and_registers() {
    assert_eq!(offered("::walk t", "t"), ["two"]);
    assert_eq!(offered("<hi", "hi"), ["hits"]);
    assert_eq!(offered("5>thr", "thr"), ["thread"]);
    assert_eq!(offered("<nosuch", "nosuch"), Vec::<String>::new());
}

#[test]
fn a_new_variable_is_learnt() {
    let mut session = testing::session();
    let mut completer = Completer::new(&session, None);
    assert_eq!(completer.complete("<my_").1, []);
    session.eval("1>my_own", &mut testing::Memory::default());
    completer.learn(&session);
    assert_eq!(completer.complete("<my_").1, [Candidate::from("my_own".to_owned())]);
}

#[test]
fn options_come_with_their_help() {
    let session = testing::session();
    let completer = Completer::new(&session, None);
    let (_, found) = completer.complete("::help -");
    assert_eq!(found, [], "a dcmd without options has none");
    let (start, found) = completer.complete("::seen -");
    assert_eq!((start, found.len(), found[0].text.as_str()), (7, 1, "-v"));
    assert_eq!(offered("::seen -v", "-v"), Vec::<String>::new());
}

#[test]
fn symbols_and_objects() {
    assert_eq!(offered("mai", "mai"), ["main"]);
    assert_eq!(offered("*mai", "mai"), ["main"]);
    assert_eq!(offered("\"mai", "mai"), ["main"]);
    assert_eq!(offered("::seen 1+mai", "mai"), ["main"]);
    let exe = std::env::current_exe().unwrap();
    let exe = exe.file_name().unwrap().to_str().unwrap();
    assert_eq!(offered(&format!("\"{exe}`mai"), &format!("{exe}`mai")), [format!("{exe}`main")]);
    // So much of it that no symbol of this crate begins with it.
    let most = &exe[..exe.len() - 2];
    assert_eq!(offered(&format!("\"{most}"), most), [format!("{exe}`")]);
    assert_eq!(offered("\"nosuch`mai", "nosuch`mai"), Vec::<String>::new());
}

/// A function that is surely in the table of symbols, with a name that nothing else begins like.
#[inline(never)]
extern "C" fn completed_behind_scopes() {
    std::hint::black_box(());
}

#[test]
fn names_of_rust_go_on_behind_their_scopes() {
    completed_behind_scopes();
    let name = "kcore_shell::complete::tests::completed_behind_scopes";
    let begun = "kcore_shell::complete::tests::completed_behi";
    assert_eq!(offered(begun, begun), [name]);
    let both = offered("kcore_shell::e", "kcore_shell::e");
    assert!(both.contains(&"kcore_shell::emit".to_owned()), "a dcmd: {both:?}");
    assert!(both.iter().any(|name| name.starts_with("kcore_shell::expr::")), "{both:?}");
    assert_eq!(offered("nosuch::emi", "::emi"), ["::emit"]);
}

/// A screen whose user types on and on.
struct Busy;

impl Screen for Busy {
    fn size(&self) -> Option<Size> {
        None
    }

    fn key(&self) -> Option<u8> {
        None
    }

    fn has_key(&self) -> bool {
        true
    }
}

#[test]
fn who_types_on_waits_for_nothing() {
    let session = testing::session();
    let completer = Completer::new(&session, Some(Arc::new(Busy)));
    assert_eq!(completer.complete("mai").1, []);
    assert_eq!(completer.complete("::emi").1.len(), 1, "what is at hand is offered");
}
