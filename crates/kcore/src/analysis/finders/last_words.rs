//! What the program left behind about its own end.

use std::sync::Arc;

use kcore_runtimes::Fate;

use crate::{
    LastWords, Panic,
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding, crash::ends_itself},
};

/// Functions of the C library that leave a message and abort.
const SPEAKERS: [&str; 12] = [
    "__libc_message",
    "__libc_message_impl",
    "__assert_fail",
    "__assert_fail_base",
    "__assert_perror_fail",
    "malloc_printerr",
    "__fortify_fail",
    "__chk_fail",
    "__stack_chk_fail",
    "__libc_fatal",
    "free",
    "malloc",
];
/// Functions that find that nobody catches an exception, and those that throw one.
const TERMINATORS: [&str; 2] = ["std::terminate", "__cxxabiv1::__terminate"];
const THROWERS: [&str; 4] =
    ["__cxa_throw", "__cxa_rethrow", "_Unwind_RaiseException", "std::rethrow_exception"];

/// How functions begin by which libraries end the process after a failed check.
const LIBRARIES: [&str; 10] = [
    "g_assertion_message",
    "g_log",
    "google::LogMessage",
    "_Py_FatalError",
    "Py_FatalError",
    "boost::assertion_failed",
    "QMessageLogger::fatal",
    "qt_assert",
    "llvm::report_fatal_error",
    "llvm::llvm_unreachable_internal",
];

/// What stands for the type of Go's panics, which have values of any type.
const GOS_PANIC: &str = "panic";
/// What Go's runtime says when all goroutines wait for each other (`runtime/proc.go`, `checkdead`).
const GOS_DEADLOCK: &str = "all goroutines are asleep";

pub const FINDER: Finder = Finder {
    name: "last-words",
    needs: "the memory of the library or runtime that gave up",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    Ok(said_at_end(crash).map(|sentence| {
        let is_machinery = |name: &str| {
            THROWERS.contains(&name) || LIBRARIES.iter().any(|start| name.starts_with(start))
        };
        let place = match crash.core().crash().exception_barrier() {
            None => crash.in_own_code_beyond(is_machinery).unwrap_or_else(|| crash.in_own_code()),
            // What unwound a part of the stack is not where it was thrown.
            Some(_) => {
                let place = crash.in_own_code_beyond(|name| THROWERS.contains(&name));
                place.unwrap_or_default().replacen(", in ", ", thrown in ", 1)
            }
        };
        let sentence = format!("{sentence}{place}");
        let finding = match crash.is_told() {
            true => Finding::certain(sentence),
            false => Finding::likely(sentence),
        };
        let finding = finding.with("the words are in memory", EvidenceSource::Process);
        let finding = finding.with("the thread gave up", EvidenceSource::Stack(crash.tid()));
        match is_gos_deadlock(crash) {
            true => finding.then_ask("what each goroutine waits for", EvidenceSource::Tasks),
            false => finding,
        }
    }))
}

/// Whether Go's runtime gave up since nothing can run any more: the thread that found it out tells nothing of that.
fn is_gos_deadlock(crash: &Crash<'_>) -> bool {
    let words = crash.core().crash().last_words();
    words.iter().any(|words| {
        matches!(words, LastWords::Fatal { message, .. } if message.starts_with(GOS_DEADLOCK))
    })
}

/// What the program said about its end; `None` if it ended by another's doing, or said nothing.
pub fn said_at_end(crash: &Crash<'_>) -> Option<String> {
    if crash.was_handled() || !ends_itself(crash) {
        return None;
    }
    let all = crash.core().crash().last_words();
    let (words, sentence_of_first) =
        all.iter().find_map(|words| Some((words, sentence(crash, words)?)))?;
    // Go keeps panics in the order in which they came: the program is where the last one was raised.
    let mut newest = all.iter().rev().filter(|newest| is_gos_panic(newest) && is_gos_panic(words));
    newest.find_map(|newest| sentence(crash, newest)).or(Some(sentence_of_first))
}

fn is_gos_panic(words: &LastWords) -> bool {
    matches!(words, LastWords::Exception { type_name, .. } if type_name == GOS_PANIC)
}

/// What happened; `None` for words that need not be about the end.
fn sentence(crash: &Crash<'_>, words: &LastWords) -> Option<String> {
    match words {
        LastWords::AbortMessage(text) => calls_one_of(crash, &SPEAKERS)
            .then(|| format!("the C library aborted the process: {}", text.trim())),
        LastWords::Exception { fate: Fate::Uncaught, type_name, what, .. } => {
            let is_native = calls_one_of(crash, &TERMINATORS);
            let barrier = crash.core().crash().exception_barrier();
            if is_native && barrier.is_none() && !calls_one_of(crash, &THROWERS) {
                return None;
            }
            let what = what.as_ref().map_or_else(String::new, |what| format!(": {what}"));
            let causes = causes(crash);
            Some(match (type_name.as_str(), barrier) {
                (GOS_PANIC, _) => format!("nobody recovered from the panic{what}"),
                (_, None) => {
                    format!("nobody caught an exception of type {type_name}{what}{causes}")
                }
                (_, Some(functions)) => format!(
                    "an exception of type {type_name}{what}{causes} reached {}",
                    barrier_named(&functions)
                ),
            })
        }
        LastWords::Exception { .. } | LastWords::ErrorFile { .. } => None,
        LastWords::Fatal { message, .. } => Some(match is_call(message) {
            true => format!("the program called {message}"),
            false => format!("the runtime gave up: {message}"),
        }),
        LastWords::Library { library, message } => {
            Some(format!("{library} ended the process: {message}"))
        }
        LastWords::Panic(panic) => Some(format!("{}{}", panicked(panic), earlier(crash, panic))),
    }
}

/// The exceptions of which the last one came, as the end of a sentence.
fn causes(crash: &Crash<'_>) -> String {
    let all = crash.core().crash().last_words();
    let nested = all.iter().rev().filter_map(|words| match words {
        LastWords::Exception { fate: Fate::Nested, type_name, what, .. } => {
            let what = what.as_ref().map_or_else(String::new, |what| format!(": {what}"));
            Some(format!(", which came of one of type {type_name}{what}"))
        }
        _ => None,
    });
    nested.collect()
}

/// The panics that were not dealt with when the last one came, as the end of a sentence.
fn earlier(crash: &Crash<'_>, last: &Panic) -> String {
    let all = crash.core().crash().last_words();
    let others = all.iter().filter_map(|words| match words {
        LastWords::Panic(panic) if panic != last => panic.message.as_ref(),
        _ => None,
    });
    let others: Vec<&str> = others.map(String::as_str).collect();
    match others.as_slice() {
        [] => String::new(),
        [only] => format!(", after the panic: {only}"),
        all => format!(", after the panics: {}", all.join("; ")),
    }
}

/// A function that lets no exception out, of those that are inlined into one another: which of them is not known.
fn barrier_named(functions: &[Arc<str>]) -> String {
    match functions {
        [] => "a function that must let none out".to_owned(),
        functions => format!("{}, which must let none out", functions.join(" or ")),
    }
}

/// Whether a runtime's words are no more than the program's own call by which it ended: `process.abort()`.
fn is_call(message: &str) -> bool {
    message.ends_with("()") && !message.contains(' ')
}

/// Whether the thread is in a call of one of these functions.
fn calls_one_of(crash: &Crash<'_>, names: &[&str]) -> bool {
    crash.last_functions().iter().any(|function| names.contains(&&**function))
}

fn panicked(panic: &Panic) -> String {
    let place = panic.place.as_ref();
    let place =
        place.map_or_else(String::new, |it| format!(" at {}:{}:{}", it.file, it.line, it.column));
    let message = panic.message.as_ref().map_or_else(String::new, |it| format!(": {it}"));
    format!("Rust code panicked{place}{message}")
}
