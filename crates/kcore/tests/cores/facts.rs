//! What each generated core says of its death, held against what its program knows of it.

use std::fs;

use gen_cores::{Case, Facts, Language, Libc, Maker, scenario};
use kcore::{Core, LastWords, PanicPlace, Status};

use crate::{
    known::{Known, cases, check_each, open, variant},
    pattern::Pattern,
};

/// A fact of the truth, as kcore has it, and its name.
struct Fact<'a> {
    name: &'a str,
    truth: Option<&'a str>,
    kcore: Option<String>,
}

impl Fact<'_> {
    /// Why the two differ, if the truth knows the fact and they do.
    fn difference(&self) -> Option<String> {
        let truth = self.truth?;
        let differs = self.kcore.as_deref() != Some(truth);
        differs.then(|| format!("{} is {:?}, should be {truth:?}", self.name, self.kcore))
    }
}

fn signal_facts<'a>(truth: &'a Facts, status: &Status) -> Vec<Fact<'a>> {
    let signal = status.signal.as_ref();
    vec![
        Fact {
            name: "signal",
            truth: truth.signal.as_deref(),
            kcore: signal.map(|signal| signal.name.clone()),
        },
        Fact {
            name: "code",
            truth: truth.code.as_deref(),
            kcore: signal.and_then(|signal| signal.code).map(str::to_owned),
        },
        Fact {
            name: "fault address",
            truth: truth.fault_address.as_deref(),
            kcore: signal.and_then(|signal| signal.address).map(|address| address.to_string()),
        },
        Fact { name: "access", truth: truth.access.as_deref(), kcore: access(status) },
        Fact {
            name: "first signal",
            truth: truth.first_signal.as_deref(),
            kcore: status.handled.first().map(|first| first.signal.name.clone()),
        },
        Fact {
            name: "first address",
            truth: truth.first_address.as_deref(),
            kcore: status
                .handled
                .first()
                .and_then(|first| first.signal.address)
                .map(|address| address.to_string()),
        },
    ]
}

/// What the explanation says of the access, as the truth calls it.
fn access(status: &Status) -> Option<String> {
    const WORDS: &[(&str, &str)] = &[
        (", reading and writing", "read and write"),
        (", reading", "read"),
        (", writing", "write"),
        (", executing", "execute"),
    ];
    let explanation = status.explanation.as_deref()?;
    let (_, word) = WORDS.iter().find(|(shown, _)| explanation.contains(shown))?;
    Some((*word).to_owned())
}

fn last_words_facts<'a>(truth: &'a Facts, words: &[LastWords]) -> Vec<Fact<'a>> {
    let mut facts = [
        Fact { name: "abort message", truth: truth.abort_message.as_deref(), kcore: None },
        Fact { name: "exception type", truth: truth.exception_type.as_deref(), kcore: None },
        Fact { name: "exception what", truth: truth.exception_what.as_deref(), kcore: None },
        Fact { name: "panic message", truth: truth.panic_message.as_deref(), kcore: None },
        Fact { name: "panic place", truth: truth.panic_place.as_deref(), kcore: None },
        Fact { name: "panic thread", truth: truth.panic_thread.as_deref(), kcore: None },
    ];
    for words in words.iter().cloned() {
        match words {
            LastWords::AbortMessage(text) => facts[0].kcore = Some(text),
            LastWords::Exception { type_name, what, .. } => {
                facts[1].kcore = Some(type_name);
                facts[2].kcore = what;
            }
            LastWords::Panic(panic) => {
                facts[3].kcore = panic.message;
                facts[4].kcore = panic.place.as_ref().map(place_text);
                facts[5].kcore = panic.thread;
            }
            LastWords::Fatal { message, .. } => facts[0].kcore = Some(message),
            LastWords::Library { .. } | LastWords::ErrorFile { .. } => {}
        }
    }
    facts.into()
}

fn place_text(place: &PanicPlace) -> String {
    format!("{}:{}:{}", place.file, place.line, place.column)
}

#[test]
fn every_core_tells_the_facts_that_its_program_knows() {
    check_each(cases(), |known| {
        let status = known.core.status();
        let mut facts = signal_facts(&known.truth.facts, &status);
        facts.extend(last_words_facts(&known.truth.facts, &status.last_words));
        facts.iter().filter_map(Fact::difference).collect()
    });
}

/// What a handler was told of first in programs of which the truth knows no address: signal and code; or nothing.
static FIRST: [(Pattern, Option<(&str, &str)>); 3] = [
    (Pattern::new("signal-again-division", &[]), Some(("SIGFPE", "FPE_INTDIV"))),
    (Pattern::new("signal-again-non-canonical", &[]), Some(("SIGSEGV", "SI_KERNEL"))),
    (Pattern::new("signal-again-alarm", &[]), None),
];

#[test]
fn no_fault_is_told_that_a_handler_was_not_told_of() {
    let with_first = cases().iter().filter_map(|case| {
        let (_, first) = FIRST.iter().find(|(pattern, _)| pattern.fits(case))?;
        Some((case, *first))
    });
    let checked = with_first.map(|(case, wanted)| {
        let status = open(case).status();
        let first = status.handled.first().map(|first| &first.signal);
        let told = first.map(|signal| (signal.name.as_str(), signal.code.unwrap_or_default()));
        assert_eq!(told, wanted, "{}", case.name());
        let explanation = status.explanation.unwrap_or_default();
        assert!(!explanation.contains("not mapped"), "{}: {explanation}", case.name());
    });
    assert!(checked.count() >= FIRST.len(), "no core of each");
}

/// Programs in which one panic led to another, with all messages that memory holds, the latest
/// first. The truth has one message at most.
static PANICS: [(Pattern, &[&str]); 3] = [
    (
        Pattern::new("rust-double-panic", &[]),
        &[
            "panic in a destructor during cleanup",
            "rollback of level 2 failed",
            "transaction failed",
        ],
    ),
    (
        Pattern::new("rust-panic-extern", &[]),
        &[
            "panic in a function that cannot unwind",
            "a number: ParseIntError { kind: InvalidDigit }",
        ],
    ),
    (Pattern::new("rust-panic-hook", &[]), &["nobody listens", "Box<dyn Any>"]),
];

#[test]
fn panics_that_led_to_another_are_all_told() {
    let several = cases().iter().filter_map(|case| {
        let (_, messages) = PANICS.iter().find(|(pattern, _)| pattern.fits(case))?;
        Some((case, *messages))
    });
    let checked = several.map(|(case, messages)| {
        let told: Vec<_> = open(case).crash().last_words().into_iter().map(message).collect();
        let wanted: Vec<_> = messages.iter().map(|text| Some((*text).to_owned())).collect();
        assert_eq!(told, wanted, "{}", case.name());
    });
    assert!(checked.count() > 1, "no core of a second panic");
}

/// The message of a panic; nothing of what is none.
fn message(words: LastWords) -> Option<String> {
    match words {
        LastWords::Panic(panic) => panic.message,
        _ => None,
    }
}

/// Whether a program printed the words itself, as the runtime of Go and libraries do last. Those of several lines are indented.
fn was_printed(known: &Known, words: &LastWords) -> bool {
    let output = fs::read_to_string(known.case.dir.join("output.txt")).unwrap_or_default();
    let text = match words {
        LastWords::Exception { what, .. } => what.as_deref().unwrap_or_default(),
        LastWords::Fatal { message, .. } | LastWords::Library { message, .. } => message,
        LastWords::AbortMessage(_) | LastWords::Panic(_) | LastWords::ErrorFile { .. } => {
            return false;
        }
    };
    // Go prints the signal in a line of its own.
    let text = text.replace(" [signal ", "\n[signal ");
    let mut lines = text.lines().peekable();
    lines.peek().is_some() && lines.all(|line| output.contains(line))
}

/// A core without an exception has none, and a panic is one of a Rust program. What a program in Go says, it also printed.
#[test]
fn no_core_tells_last_words_that_its_program_did_not_say() {
    check_each(cases(), |known| {
        let words = known.core.crash().last_words();
        let is_go = known.truth.language == Language::Go;
        let unsaid = words.iter().filter(|words| !(is_go && was_printed(known, words)));
        let foreign = unsaid.filter(|words| match words {
            LastWords::AbortMessage(_) => known.truth.facts.abort_message.is_none(),
            LastWords::Exception { .. } => known.truth.facts.exception_type.is_none(),
            LastWords::Panic(_) => known.truth.language != Language::Rust,
            LastWords::Fatal { .. } => {
                known.truth.facts.abort_message.is_none() && !was_printed(known, words)
            }
            LastWords::Library { .. } => !was_printed(known, words),
            LastWords::ErrorFile { .. } => known.truth.language != Language::Java,
        });
        foreign.map(|words| format!("says {words:?}")).collect()
    });
}

fn check_threads(known: &Known) -> Vec<String> {
    let (truth, core) = (&known.truth, &known.core);
    let mut found = Vec::new();
    let count = core.threads().len();
    let expected = truth.facts.thread_count.map(|count| count as usize);
    if expected.is_some_and(|expected| expected != count) {
        found.push(format!("{count} threads, should be {expected:?}"));
    }
    let crashed = core.status().crashed_tid.map(kcore::Tid::get);
    if truth.crashed_tid.is_some() && truth.facts.signal.is_some() && crashed != truth.crashed_tid {
        found.push(format!("thread {crashed:?} crashed, should be {:?}", truth.crashed_tid));
    }
    if core.process().pid() != Some(truth.pid) {
        found.push(format!("pid {:?}, should be {}", core.process().pid(), truth.pid));
    }
    found
}

#[test]
fn every_core_has_the_threads_and_the_process_that_its_program_knows() {
    check_each(cases(), check_threads);
}

fn check_initial_stack(known: &Known) -> Vec<String> {
    let Some(stack) = known.core.process().initial_stack() else {
        return vec!["has no initial stack".to_owned()];
    };
    let args: Option<Vec<String>> = stack.args.into_iter().map(|arg| arg.text).collect();
    let has_env = stack.env.iter().any(|entry| entry.text.as_ref() == Some(&known.truth.env));
    // A program whose main thread has ended cannot read its own arguments any more.
    let is_told = !known.truth.argv.is_empty();
    let mut found = Vec::new();
    if is_told && args.as_ref() != Some(&known.truth.argv) {
        found.push(format!("arguments {args:?}, should be {:?}", known.truth.argv));
    }
    if !has_env {
        found.push(format!("the environment lacks {}", known.truth.env));
    }
    found
}

#[test]
fn every_core_has_the_arguments_and_the_environment_that_its_program_was_given() {
    check_each(cases(), check_initial_stack);
}

/// What the doubts must say for each word of the truth.
fn text_of_doubt(word: &str) -> &'static str {
    match word {
        "library_deleted" => "not found: libplug.so",
        "headers_left_out" => "no build-id in the core to check files by",
        "library_replaced" => "libplug.so is another build",
        other => panic!("unknown doubt {other}"),
    }
}

/// musl-gcc does not ask its linker for a build-id, nor does Go, where it does not leave linking to gcc; qemu dumps no
/// headers of modules.
fn has_no_build_id(case: &Case) -> bool {
    let (variant, recipe) = (variant(case), scenario(&case.scenario).expect("its recipe").recipe);
    let asks = recipe.link.iter().any(|flag| flag == "-Wl,--build-id");
    let is_linked_by_go =
        recipe.language == Language::Go && recipe.units.is_empty() && recipe.libs.is_empty();
    let is_left_out = variant.libc == Libc::Musl || is_linked_by_go;
    variant.maker == Maker::Qemu || is_left_out && !asks
}

fn wanted_doubts(known: &Known) -> Vec<&'static str> {
    let told = known.truth.facts.doubts.iter().flatten().map(|word| text_of_doubt(word));
    let unchecked =
        has_no_build_id(known.case).then_some("no build-id in the core to check files by");
    told.chain(unchecked).collect()
}

/// What the doubts of a core say.
pub fn texts_of_doubts(core: &Core) -> Vec<String> {
    core.doubts().iter().map(ToString::to_string).collect()
}

fn check_doubts(known: &Known) -> Vec<String> {
    let (doubts, wanted) = (texts_of_doubts(&known.core), wanted_doubts(known));
    let unsaid = wanted.iter().filter(|text| !doubts.iter().any(|doubt| doubt.contains(*text)));
    let baseless = doubts.iter().filter(|doubt| !wanted.iter().any(|text| doubt.contains(text)));
    let unsaid = unsaid.map(|text| format!("does not say {text:?}: {doubts:?}"));
    unsaid.chain(baseless.map(|doubt| format!("doubts without reason: {doubt}"))).collect()
}

#[test]
fn every_core_says_what_makes_its_answers_doubtful_and_nothing_else() {
    check_each(cases(), check_doubts);
}

#[test]
fn files_that_are_mapped_whole_to_be_read_are_no_modules() {
    let all = cases().iter().filter(|case| case.scenario == "file-as-data");
    check_each(all.collect::<Vec<_>>(), |known| {
        let (modules, rows) =
            (known.core.modules(), known.core.file().and_then(|file| file.files()));
        let count = |name: &str| {
            let is_start = |row: &&kcore_elf::core_file::MappedFile| {
                row.offset.get() == 0 && row.path.ends_with(name.as_bytes())
            };
            (
                modules.named(name).count(),
                rows.iter().flat_map(|all| &all.files).filter(is_start).count(),
            )
        };
        // Each is mapped from its beginning by the linker, and more than once by the program; the program's
        // code once more behind two such mappings, which is a module without being part of one.
        let counts = [count("file-as-data"), count("libc.so.6")];
        (counts != [(3, 3), (1, 3)]).then(|| format!("{counts:?}")).into_iter().collect()
    });
}

#[test]
fn a_module_whose_first_page_is_mapped_twice_is_one_module() {
    let all = cases().iter().filter(|case| case.scenario == "one-page-lib");
    check_each(all.collect::<Vec<_>>(), |known| {
        let plugs = known.core.modules().named("libplug.so");
        let spans: Vec<_> = plugs.map(|module| (module.base(), module.ranges().count())).collect();
        let is_one = matches!(spans[..], [(_, ranges)] if ranges > 1);
        (!is_one).then(|| format!("{spans:?}")).into_iter().collect()
    });
}
