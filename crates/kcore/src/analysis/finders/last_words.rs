//! What the program left behind about its own end.

use crate::{
    LastWords, Panic, Thread,
    analysis::{Crash, Finder, Finding, Subject},
};
use kcore_runtimes::Fate;

/// SIGABRT.
const SIGABRT: u16 = 6;

pub const FINDER: Finder =
    Finder { name: "last-words", needs: "the memory of the library or runtime that gave up", find };

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let words = crash.core().last_words();
    let Some(sentence) = words.iter().find_map(|words| sentence(crash, words)) else {
        return Ok(None);
    };
    let finding = Finding::certain(sentence).with("the words are in memory", Subject::Process);
    Ok(Some(finding.with("the thread that gave up", Subject::Stack(crash.tid()))))
}

/// What happened; `None` for words that need not be about the end.
fn sentence(crash: &Crash<'_>, words: &LastWords) -> Option<String> {
    let is_abort = crash.core().crashed_thread().is_some_and(|it: &Thread| it.signal == SIGABRT);
    match words {
        LastWords::AbortMessage(text) => {
            is_abort.then(|| format!("the C library aborted: {}", text.trim()))
        }
        LastWords::Exception { fate: Fate::Uncaught, type_name, what, .. } => {
            let what = what.as_ref().map_or_else(String::new, |what| format!(": {what}"));
            Some(format!("nobody caught an exception of type {type_name}{what}"))
        }
        LastWords::Exception { .. } => None,
        LastWords::Fatal { message, .. } => Some(format!("the runtime gave up: {message}")),
        LastWords::Panic(panic) => Some(panicked(panic)),
    }
}

fn panicked(panic: &Panic) -> String {
    let place = panic.place.as_ref();
    let place =
        place.map_or_else(String::new, |it| format!(" at {}:{}:{}", it.file, it.line, it.column));
    let message = panic.message.as_ref().map_or_else(String::new, |it| format!(": {it}"));
    format!("Rust code panicked{place}{message}")
}
