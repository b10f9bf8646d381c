//! Folded stacks, as flame graphs are drawn from (Brendan Gregg's `stackcollapse`): the name of the
//! thread, behind that of its process in a profile of several, then frames from the outermost on, semicolons between them, a blank and a number.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use crate::{Profile, ProfileFrame, StackId, ThreadId};

/// Writes the lines, in the order of their text.
///
/// # Errors
/// When they cannot be written.
pub fn write(profile: &Profile, to: &mut dyn Write) -> io::Result<()> {
    lines(profile).iter().try_for_each(|line| writeln!(to, "{line}"))
}

/// The lines. Stacks that differ by line numbers alone are one.
pub fn lines(profile: &Profile) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (thread, stack, count) in profile.counts() {
        let sum = counts.entry(text(profile, thread, stack)).or_default();
        *sum = sum.saturating_add(count);
    }
    counts.iter().map(|(text, count)| format!("{text} {count}")).collect()
}

fn text(profile: &Profile, thread: ThreadId, stack: StackId) -> String {
    let process = profile.process_of(thread).map(|process| word(&process.title()) + ";");
    let thread = profile.thread_at(thread).map(|thread| word(&thread.name)).unwrap_or_default();
    let thread = process.unwrap_or_default() + &thread;
    format!("{thread};{}", of_frames(profile, stack))
}

/// The frames of a stack, the outermost first.
pub(crate) fn of_frames(profile: &Profile, stack: StackId) -> String {
    let mut frames: Vec<String> = profile.frames_of(stack).map(|(_, frame)| name(frame)).collect();
    frames.reverse();
    frames.join(";")
}

fn name(frame: &ProfileFrame) -> String {
    let name = word(&frame.function);
    match frame.script {
        Some(language) => format!("{name} [{language}]"),
        None => name,
    }
}

/// A name may hold what ends it, and what hurts a terminal.
fn word(name: &str) -> String {
    let safe = |letter: char| match letter {
        ';' => ':',
        letter if letter.is_control() => '?',
        letter => letter,
    };
    name.chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{process::tests::family, profile::tests::example};

    #[test]
    fn a_line_has_thread_frames_and_number() {
        assert_eq!(lines(&example()), ["pool;main;hot 3", "pool;main;say \"hi\": [js] 1"]);
    }

    #[test]
    fn a_process_of_several_stands_before_its_threads() {
        let lines = lines(&family());
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], "app [70];pool;main;hot 3");
        assert_eq!(lines[3], "app [72];pool;main;say \"hi\": [js] 1");
    }
}
