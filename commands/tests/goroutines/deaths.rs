//! Panics of all kinds and errors that the runtime gave up for, in the words that Go printed.

use std::fs;

use gen_cores::Maker;
use kcore::{Fate, LastWords, TaskId};

use crate::{cases, open};

/// The panics that Go printed: from the first one up to the empty line, or the signal that it made one of.
fn printed(text: &str) -> String {
    let from = text.find("panic: ").expect("a panic");
    let text = &text[from..];
    let end = text.find("\n\n").unwrap_or(text.len());
    let signal = text.find("\n[signal ").unwrap_or(end);
    text[..end.min(signal)].trim_end().to_owned()
}

/// The same of what memory tells, as Go would print it. What was recovered and raised again, which Go since 1.25 says in
/// brackets, counts as not recovered.
fn told(words: &[LastWords]) -> String {
    let line = |words: &LastWords| match words {
        LastWords::Exception { fate, type_name, what, .. } => {
            let recovered = if *fate == Fate::Handled { " [recovered]" } else { "" };
            format!("{type_name}: {}{recovered}", what.as_deref().unwrap_or("?"))
        }
        other => format!("{other:?}"),
    };
    words.iter().map(line).collect::<Vec<_>>().join("\n\t")
}

#[test]
fn chains_of_panics_are_told_as_go_printed_them() {
    for scenario in ["go-ends", "go-ends-again", "go-ends-exit", "go-ends-nil"] {
        for case in cases(scenario).iter().filter(|case| case.maker == Maker::Kernel) {
            let text = fs::read_to_string(case.dir.join("output.txt")).expect("what it printed");
            let core = open(case);
            let own = told(&core.core.crash().last_words());
            let printed = printed(&text).replace(" [recovered, repanicked]", "");
            assert_eq!(own, printed, "{}", core.name);
            let status = core.records("::status").remove(0);
            let last = printed.rsplit("panic: ").next().expect("the last one");
            assert_eq!(status["exception_what"], last, "{}", core.name);
        }
    }
}

#[test]
fn fatal_errors_are_told_with_symbols_or_without() {
    let ends = ["go-ends-deadlock", "go-ends-maps", "go-ends-overflow", "go-ends-memory"];
    for scenario in ends {
        for case in cases(scenario).iter().filter(|case| case.maker == Maker::Kernel) {
            let text = fs::read_to_string(case.dir.join("output.txt")).expect("what it printed");
            let (_, message) = text.split_once("fatal error: ").expect("why it died");
            let message = message.lines().next().unwrap_or_default();
            let words = open(case).core.crash().last_words();
            let is_it = |words: &LastWords| matches!(words, LastWords::Fatal { message: own, .. } if own == message);
            assert!(words.iter().any(is_it), "{}: {words:?}, not {message}", case.name());
        }
    }
}

/// It asked for more stack at the beginning of a function, which had no frame yet.
#[test]
fn a_stack_that_grew_too_large_is_walked() {
    for case in cases("go-ends-overflow") {
        let core = open(&case).core;
        let main = TaskId { runtime: "go", number: 1 };
        let task = core.tasks().by_id(main).expect("the goroutine of main");
        let stack = core.stacks().of_task(task, 100);
        assert_eq!(stack.frames.len(), 100, "{}: {:?}", case.name(), stack.end);
        let names: Vec<_> =
            core.stacks().named_frames(&stack).map(|it| it.location.function.clone()).collect();
        let recursion = names.last().expect("a frame").as_deref().expect("a name");
        assert!(recursion.starts_with("main."), "{}: {recursion}", case.name());
    }
}

#[test]
fn a_fault_has_the_address_that_go_printed() {
    for case in cases("goroutines").iter().filter(|case| case.maker == Maker::Kernel) {
        let text = fs::read_to_string(case.dir.join("output.txt")).expect("what it printed");
        let (_, signal) = text.split_once("[signal SIGSEGV: ").expect("a signal");
        let word = |key: &str| {
            let (_, rest) = signal.split_once(key).expect("a word");
            rest.split([' ', ']']).next().expect("a number").to_owned()
        };
        let core = open(case);
        let main = core.records("1::goroutine").remove(0);
        assert_eq!(main["signal"], 11, "{}: {main}", core.name);
        assert_eq!(main["signal_address"], word("addr="), "{}: {main}", core.name);
        assert_eq!(main["signal_pc"], word("pc="), "{}: {main}", core.name);
    }
}

/// Where no field of what a nil pointer leads to can lie, the runtime gives up.
#[test]
fn a_fault_that_is_no_panic_shows_its_signal() {
    for case in cases("go-ends-fault").iter().filter(|case| case.maker == Maker::Kernel) {
        let text = fs::read_to_string(case.dir.join("output.txt")).expect("what it printed");
        let printed = text.lines().find(|line| line.starts_with("[signal ")).expect("a signal");
        let words = open(case).core.crash().last_words();
        let [LastWords::Fatal { message, .. }] = &words[..] else { panic!("{words:?}") };
        assert_eq!(*message, format!("fault {printed}"), "{}", case.name());
    }
}

/// Functions of stripped programs have their names by the tables of Go's linker alone.
#[test]
fn stripped_programs_say_by_name_where_they_ended() {
    let stripped = |case: &&gen_cores::Case| case.name().contains("stripped");
    for case in cases("goroutines").iter().filter(stripped) {
        let core = open(case);
        let status = core.records("::status").remove(0).to_string();
        assert!(status.contains("runtime.raise"), "{}: {status}", core.name);
    }
}

/// The runtime hands the signal on to each of its threads, and ends the process by another one when all have it.
#[test]
fn who_sent_sigquit_is_told() {
    for case in cases("go-ends-quit").iter().filter(|case| case.maker == Maker::Kernel) {
        let core = open(case);
        let own = core.records("::status").remove(0)["pid"].as_u64().expect("a pid");
        let verdict = core.records("::analyze").remove(0);
        let sentence = verdict["findings"][0]["sentence"].as_str().expect("a sentence");
        let words: Vec<&str> = sentence.split(' ').collect();
        let [_, sender, _, _, user, rest @ ..] = &words[..] else { panic!("{sentence}") };
        let sender: u64 = sender.parse().expect("the sender's pid");
        assert_ne!(sender, own, "{}: {sentence}", core.name);
        assert!(user.parse::<u32>().is_ok(), "{}: {sentence}", core.name);
        let expected = "sent SIGQUIT, on which the process ended itself by SIGABRT";
        assert_eq!(rest.join(" "), expected, "{}: {sentence}", core.name);
    }
}

/// The SIGQUITs by which the runtime has its threads show their stacks are no cause.
#[test]
fn what_the_program_sent_to_itself_is_told() {
    for case in cases("go-ends-itself").iter().filter(|case| case.maker == Maker::Kernel) {
        let core = open(case);
        let verdict = core.records("::analyze").remove(0);
        let sentence = verdict["findings"][0]["sentence"].as_str().expect("a sentence");
        assert_eq!(sentence, "the process sent SIGABRT to itself", "{}", core.name);
    }
}

#[test]
fn a_deadlock_leads_to_what_goroutines_wait_for() {
    for case in cases("go-ends-deadlock").iter().filter(|case| case.maker == Maker::Kernel) {
        let core = open(case);
        let finding = core.records("::analyze").remove(0)["findings"][0].take();
        let next = finding["next"].as_array().expect("what to ask next");
        assert!(next.iter().any(|next| next["command"] == "::tasks"), "{}: {next:?}", core.name);
        let main = core.records("1::goroutine").remove(0);
        // Go 1.19 has one word for all that waits in the table of semaphores.
        let reasons = ["sync.Mutex.Lock", "semacquire"].map(|word| main["reason"] == word);
        assert!(reasons.contains(&true), "{}: {main}", core.name);
    }
}

/// Where threads stand on stacks of goroutines, the memory around them is Go's heap.
#[test]
fn the_heap_of_go_is_no_stack_of_a_thread() {
    for scenario in ["go-ends-quit", "go-ends-maps"] {
        for case in &cases(scenario) {
            let core = open(case);
            let mappings = core.records("::mappings");
            // Without C each thread but the first one has its stack from the heap of Go.
            let named = mappings.iter().filter(|row| row["kind"] == "thread_stack").count();
            assert_eq!(named, 0, "{}", core.name);
        }
    }
}
