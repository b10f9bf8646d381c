//! Words of other debuggers that a hand types before the head has thought.

/// Words that stand alone on a line, and what to type instead. Some are names of functions too, and
/// nobody wants to go there by typing `exit`.
const HABITS: &[(&[&str], &str)] = &[
    (&["quit", "exit", "q"], "kcore: type ::quit, or press ctrl-D, to leave"),
    (&["help", "h"], "kcore: type ::help for what can be asked"),
    (
        &["bt", "where", "backtrace"],
        "kcore: type $C, or ::stack, for the stack of the current thread",
    ),
];

/// What to say to `line` when it is such a word.
pub(super) fn hint(line: &str) -> Option<&'static str> {
    let word = line.trim();
    HABITS.iter().find(|(words, _)| words.contains(&word)).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_word_alone_is_a_habit() {
        assert!(hint(" exit ").is_some_and(|hint| hint.contains("::quit")));
        assert!(hint("bt").is_some_and(|hint| hint.contains("$C")));
        for line in ["", "exit=K", "::quit", "exit::dis", "b"] {
            assert_eq!(hint(line), None, "{line}");
        }
    }
}
