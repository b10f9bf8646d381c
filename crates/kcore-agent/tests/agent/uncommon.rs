//! Programs that do what few do: see `uncommon.c`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{
    answers::{groups, with},
    program::{built, library, library_folder},
};

fn compiled(name: &str, more: &[&str]) -> PathBuf {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let (include, library) = (format!("-I{}", include.display()), library());
    let library = library.to_str().unwrap();
    let options = ["-O2", "-rdynamic", &include, "-pthread", library, "-ldl"];
    built("uncommon.c", name, &[more, &options].concat())
}

fn run(program: &Path, word: &str, library: Option<&Path>) -> Output {
    let mut command = Command::new(program);
    command.arg(word).args(library).env("LD_LIBRARY_PATH", library_folder());
    command.env("KCORE_AGENT_TIMEOUT_MS", "300").output().unwrap()
}

/// What a program says that ends well.
fn said(program: &Path, word: &str, library: Option<&Path>) -> String {
    let output = run(program, word, library);
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{word}: {:?}\n{text}\n{errors}", output.status);
    text
}

fn told(word: &str) -> String {
    said(&compiled("uncommon", &[]), word, None)
}

/// A library whose constructor calls the program.
fn constructed() -> PathBuf {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let include = format!("-I{}", include.display());
    built("uncommon.c", "uncommon-library", &["-shared", "-fPIC", "-DLIBRARY", &include])
}

/// The functions of a stack of the first collection that has `function`.
fn functions(text: &str, function: &str) -> Vec<String> {
    let from = text.find("kcore-agent: process").unwrap_or_else(|| panic!("no stacks in {text}"));
    let end = text[from..].find("\n\n\n").map_or(text.len(), |end| from + end);
    with(&groups(&text[from..end]), function).functions.clone()
}

#[test]
fn a_constructor_may_install_it_and_ask() {
    let text = said(&compiled("uncommon", &[]), "constructor", Some(&constructed()));
    assert!(text.starts_with("install 0\n"), "{text}");
    let functions = functions(&text, "constructed");
    let position = |name: &str| functions.iter().position(|it| it == name);
    assert!(position("ask") < position("constructed"), "{functions:?}");
    assert!(position("constructed") < position("main") && position("main").is_some());
}

#[test]
fn who_loads_a_library_keeps_nobody_waiting() {
    let text = said(&compiled("uncommon", &[]), "loading", Some(&constructed()));
    assert_eq!(text.matches(": 2 unique stacks of 2 threads\n").count(), 2, "{text}");
    assert!(functions(&text, "constructed").contains(&"load".to_owned()), "{text}");
}

#[test]
fn threads_change_their_user_while_one_asks() {
    assert_eq!(told("credentials"), "install 0\nall changed\n");
}

#[test]
fn the_last_thread_of_the_program_ends_it() {
    assert_eq!(told("last"), "install 0\nexit ran\n");
    assert!(told("asked-before").ends_with("\nexit ran\n"));
}

#[test]
fn threads_are_told_when_the_first_one_has_ended() {
    let text = told("first-ended");
    assert!(text.contains(": 1 unique stack of 1 thread\n"), "{text}");
    assert!(!text.contains("ended meanwhile"), "{text}");
    let functions = functions(&text, "last");
    assert!(functions.contains(&"ask".to_owned()), "{functions:?}");
    assert!(text.ends_with("\nexit ran\n"), "{text}");
}

#[test]
fn a_program_goes_on_when_there_is_no_memory_for_an_answer() {
    assert_eq!(told("memory"), format!("install 0\n{}", "went on\n".repeat(8)));
}

#[test]
fn a_program_goes_on_when_memory_ends_in_the_middle_of_an_answer() {
    let program = compiled("uncommon-refusing", &["-DREFUSING", "-fno-builtin"]);
    let rest = format!("no answer\nno answer\ncollect {}\nwent on\n", libc::ENOTRECOVERABLE);
    assert_eq!(said(&program, "asked-first", None), format!("install 0\n{rest}"));
    assert!(said(&program, "asked-before", None).ends_with(&format!("\n{rest}")));
    let output = run(&program, "asked-first", None);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("kcore-agent: had to stop in the middle of a request"), "{errors}");
}

#[test]
fn a_child_that_is_forked_off_in_the_middle_of_a_request_has_its_own() {
    assert_eq!(told("forks"), "install 0\n");
}

#[test]
fn what_could_not_be_installed_is_tried_again() {
    let text = told("again");
    let (first, second) = (libc::ENOMEM, libc::EALREADY);
    let begin = format!("install {first}\ninstall 0\ninstall {second}\nkcore-agent: process");
    assert!(text.starts_with(&begin), "{text}");
    assert!(functions(&text, "again").contains(&"main".to_owned()));
}

#[test]
fn storage_of_threads_may_be_large() {
    let program = compiled("uncommon-storage", &["-DSTORAGE=4194304"]);
    let text = said(&program, "storage", None);
    assert!(text.starts_with("install 0\n"), "{text}");
    assert!(functions(&text, "ask").contains(&"main".to_owned()), "{text}");
}

#[test]
fn what_the_system_refuses_is_said() {
    let text = told("no-questions");
    assert!(text.contains(": 0 unique stacks of 0 threads\n"), "{text}");
    assert!(text.contains("was not asked: Operation not permitted"), "{text}");
    assert!(!text.contains("ended meanwhile"), "{text}");
    assert_eq!(told("no-thread"), format!("install 0\ncollect {}\n", libc::EPERM));
}

#[test]
fn the_id_of_a_thread_is_found_where_the_system_does_not_say_it() {
    let text = told("no-id");
    assert!(text.starts_with("install 0\n"), "{text}");
    assert!(functions(&text, "ask").contains(&"main".to_owned()), "{text}");
}

#[test]
fn a_program_that_gave_up_its_rights_is_told() {
    // SAFETY: it takes nothing.
    #[allow(unsafe_code)]
    if unsafe { libc::geteuid() } != 0 {
        gen_cores::not_tested("only root can give up its rights");
        return;
    }
    let text = told("lesser-user");
    assert!(functions(&text, "lesser_user").contains(&"main".to_owned()), "{text}");
}

#[test]
fn it_stays_when_it_is_unloaded() {
    let program = compiled("uncommon", &[]);
    let mut command = Command::new(program);
    let plain = command.args(["unload".as_ref(), library().as_os_str()]);
    let output = plain.env("LD_LIBRARY_PATH", library_folder()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn nobody_who_asks_waits_for_who_does_not_read() {
    let text = told("full");
    assert!(functions(&text, "full").contains(&"main".to_owned()), "{text}");
}
