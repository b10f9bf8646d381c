//! The MDB language line by line: what is typed, and exactly what is answered.
//!
//! Each `*.txt` beside this file is one subject and becomes one test. The answers are written from
//! the reference of the language, not from the program. A case is a block of lines without an
//! empty line in it, and has a session of its own:
//!
//! ```text
//! // Why the case is as it is.
//! @ core abort
//! > 2+3*4=D
//!                 14              ¶
//! > )
//! ! kcore: syntax error near ")"
//! ```
//!
//! - `> ` is an input line (`>` alone an empty one); what follows is its standard output. A `¶` ends a line whose last
//!   character is a blank, and stands for an empty line.
//! - `! ` is a line of standard error, wherever it stands under its input. Only lines that begin
//!   with `kcore: ` and say what is wrong are compared, unless there is another one here, as of the
//!   usage: then all of them are.
//! - `@ core NAME` opens another core than `workers`; `@ core none NAME` its executable alone;
//!   `@ core NAME VARIANT` one that gen-cores makes, which lies somewhere else each time.
//! - `@ typed` types the lines as at a terminal, where a bare expression repeats the last command.
//! - `@ program` runs the program, with the lines as its script, and compares all output at once:
//!   for what leaves the process, as shell commands do; `@ shell PATH` the same with another shell.
//! - `? known: WHY` says that the program does not answer so yet. The case is run and reported; once
//!   the answer is right the mark is an error.
//!
//! What the cases use of the core, as gdb and nm have it: at 4ba330 stand `sink` (8 bytes, 0),
//! `replies` (4 and 5) and `listener` (3); `poisoned.13` at 4b80e0 is 1267, which is 4711 in decimal,
//! and behind it a pointer to the text `/status` at 48a3bf. Thread 23186 died in `parse_header`,
//! called by `parse_request`, `handle_job`, `worker_run` and `worker_main`.

mod case;
mod messages;
mod report;
mod run;
#[path = "../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};

use crate::case::Case;

/// A test for each subject, and the list of them.
macro_rules! subjects {
    ($($name:ident)*) => {
        const SUBJECTS: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            report::check(&cases(stringify!($name)));
        })*
    };
}

subjects! {
    comments literals operators reads symbols dot statements
    formats_integers formats_text formats_lists search_and_write
    variables pipelines walkers filters
    eval macros dollar textual quoting shell log
    dump dis listings errors limits
    idioms settings threads process
    qualified
    print types
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// The cases of a subject.
fn cases(subject: &str) -> Vec<Case> {
    let name = format!("{subject}.txt");
    let text = std::fs::read_to_string(folder().join(&name)).unwrap();
    case::parse(&name, &text)
}

#[test]
fn every_file_is_a_subject() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".txt").map(ToOwned::to_owned))
        .collect();
    files.sort();
    let mut subjects = SUBJECTS.to_vec();
    subjects.sort_unstable();
    assert_eq!(files, subjects);
}

#[test]
fn the_table_is_as_long_as_promised() {
    let lines: usize = SUBJECTS.iter().flat_map(|it| cases(it)).map(|it| it.steps.len()).sum();
    assert!(lines >= 400, "{lines} lines of input");
}

#[test]
fn every_message_of_the_language_is_provoked() {
    let cases: Vec<Case> = SUBJECTS.iter().flat_map(|it| cases(it)).collect();
    assert_eq!(messages::unprovoked(&cases), [""; 0]);
    assert_eq!(messages::stale_exemptions(), [""; 0]);
}
