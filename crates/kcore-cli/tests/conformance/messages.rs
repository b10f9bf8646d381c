//! Whether each message of the language stands in some case.
//!
//! The messages are found in the source of `kcore-shell`: text in quotes, with a blank, that begins
//! with a small letter; hints begin with the name of the program, and are none. What stands in a
//! message for a value matches anything.

use std::fs;
use std::path::{Path, PathBuf};

use crate::case::Case;

/// Text that is no message, or that no line of a case can provoke, and why.
const EXEMPT: &[(&str, &str)] = &[
    ("from object file at", "a part of a message"),
    ("cannot read from the terminal: {0}", "no terminal here: tests/interactive"),
    ("the line is not valid UTF-8 and was dropped", "no terminal here: tests/interactive"),
    ("cannot read {name}, line {line}: {}", "a disk that fails"),
    ("line of {length} bytes exceeds the limit of {most}", "65536 bytes: tests of kcore-shell"),
    (
        "some of this was read from the live process just now, after the stacks were copied",
        "a live process: tests/live",
    ),
    (
        "debug information of {module} is in {file}: {why}",
        "files that are missing: tests/missing_debug",
    ),
    ("shell commands do not run with --untrusted", "an option of the program: tests/untrusted"),
    ("more than {MAX_PIPE_ITEMS} values in a pipe", "tests of kcore-shell"),
    ("expression has more than {} operators", "2048 operators: tests of kcore-shell"),
    (
        "the output of '{command}' is longer than {most} bytes: none of it was used",
        "tests of kcore-shell",
    ),
    ("it is longer than {most} bytes", "tests of kcore-shell"),
    ("no printers of {} are loaded: {why}", "tests of kcore-shell"),
    ("expressions in braces are not known here", "no session of the program lacks what knows them"),
    ("line {line}: a byte that is no text in UTF-8", OF_FILES),
    ("kcore has a walker {}", OF_FILES),
    ("kcore has a dcmd ::{}", OF_FILES),
    ("there is no command", OF_FILES),
    ("one pipeline is expected", OF_FILES),
    ("a file runs no programs", OF_FILES),
    ("a file sets no variables", OF_FILES),
    ("cannot stand in a file", OF_FILES),
    ("is no dcmd of kcore", OF_FILES),
    ("an argument holds no |, ;, !, //, quotes or ends of lines", OF_FILES),
];
/// Where messages about declared walkers and dcmds are provoked.
const OF_FILES: &str = "files that are loaded: commands/tests/dcmds/printers.rs";

/// Messages that no case expects.
pub fn unprovoked(cases: &[Case]) -> Vec<String> {
    let errors: Vec<&str> = cases
        .iter()
        .flat_map(|case| &case.steps)
        .flat_map(|step| &step.errors)
        .map(String::as_str)
        .collect();
    let missing = |text: &String| !errors.iter().any(|error| matches(error, text));
    messages().into_iter().filter(missing).collect()
}

/// Exempt texts that are in no source any more.
pub fn stale_exemptions() -> Vec<&'static str> {
    let all = all_texts();
    let is_stale = |text: &&str| !all.iter().any(|it| it == text);
    EXEMPT.iter().map(|(text, _)| *text).filter(is_stale).collect()
}

fn messages() -> Vec<String> {
    let exempt = |text: &String| EXEMPT.iter().any(|(it, _)| it == text);
    all_texts().into_iter().filter(|text| !exempt(text)).collect()
}

fn all_texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kcore-shell/src");
    let tests = modules_of_tests(&fs::read_to_string(folder.join("lib.rs")).unwrap());
    let sources = files(&folder);
    let is_test = |path: &Path| tests.iter().any(|test| path.to_string_lossy().contains(test));
    let sources = sources.iter().filter(|path| !is_test(path));
    sources.flat_map(|path| texts(&fs::read_to_string(path).unwrap())).collect()
}

/// The files in a folder and in those below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The files and folders of modules that only tests have.
fn modules_of_tests(root: &str) -> Vec<String> {
    let after = root.split("#[cfg(test)]\nmod ").skip(1);
    let names = after.filter_map(|text| text.split_once(';')).map(|(name, _)| name);
    names.flat_map(|name| [format!("/{name}.rs"), format!("/{name}/")]).collect()
}

/// The texts of a source file, without comments and tests.
fn texts(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    lines.flat_map(quoted).filter(|text| is_message(text)).collect()
}

/// The texts in quotes of a line. A quote as a character, `'"'`, is none.
fn quoted(line: &str) -> Vec<String> {
    let line = line.replace("'\"'", "").replace("\\\"", "\u{1}");
    let parts = line.split('"').skip(1).step_by(2);
    parts.map(|part| part.replace('\u{1}', "\"")).collect()
}

fn is_message(text: &str) -> bool {
    let is_hint = text.starts_with("kcore: ");
    !is_hint && text.contains(' ') && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Whether the fixed parts of `message` stand in `line`, one behind the other.
fn matches(line: &str, message: &str) -> bool {
    let mut rest = line;
    let fixed =
        message.split('{').map(|part| part.split_once('}').map_or(part, |(_, fixed)| fixed));
    fixed.into_iter().all(|part| {
        let found = rest.find(part);
        rest = found.map_or("", |at| &rest[at + part.len()..]);
        found.is_some()
    })
}
