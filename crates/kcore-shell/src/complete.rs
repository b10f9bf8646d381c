//! What Tab offers: names of dcmds and walkers where they can stand, symbols elsewhere.

use std::sync::Arc;

use kcore::Core;

use crate::lexer;
use crate::limits;
use crate::session::Session;

/// Completes the word before the cursor.
pub(crate) struct Completer {
    core: Arc<Core>,
    /// Every spelling of a dcmd, `::` and `$` included.
    spellings: Vec<String>,
    walkers: Vec<String>,
}

/// Which names can stand at the cursor.
#[derive(Debug, PartialEq, Eq)]
enum Wanted<'l> {
    /// A dcmd, spelled with its `::` or `$`.
    Spelling(&'l str),
    /// The bare name of a dcmd, after `::help`.
    DcmdName(&'l str),
    /// A walker, after `::walk`.
    Walker(&'l str),
    /// A symbol.
    Symbol(&'l str),
    /// Nothing that is known.
    Nothing,
}

impl Completer {
    pub(crate) fn new(session: &Session) -> Self {
        let walkers = session.options.walkers.iter().map(|walker| walker.spec().name.to_owned());
        Self {
            core: Arc::clone(session.core()),
            spellings: session.table.spellings().map(ToOwned::to_owned).collect(),
            walkers: walkers.collect(),
        }
    }

    /// Where the word before the cursor begins, and what it can become. `before` is the line up to
    /// the cursor.
    pub(crate) fn complete(&self, before: &str) -> (usize, Vec<String>) {
        let (word, mut names) = match wanted(before) {
            Wanted::Spelling(word) => (word, starting(self.spellings.iter(), word)),
            Wanted::Walker(word) => (word, starting(self.walkers.iter(), word)),
            Wanted::DcmdName(word) => {
                let names = self.spellings.iter().filter_map(|name| name.strip_prefix("::"));
                (word, starting(names, word))
            }
            Wanted::Symbol(word) => (word, self.core.complete_symbol(word, limits::COMPLETIONS)),
            Wanted::Nothing => ("", Vec::new()),
        };
        names.sort();
        names.truncate(limits::COMPLETIONS);
        (before.len() - word.len(), names)
    }
}

fn starting<N: AsRef<str>>(names: impl Iterator<Item = N>, prefix: &str) -> Vec<String> {
    names.map(|name| name.as_ref().to_owned()).filter(|name| name.starts_with(prefix)).collect()
}

fn wanted(before: &str) -> Wanted<'_> {
    let name_start = before.rfind(|c| !lexer::is_name(c)).map_or(0, |at| {
        at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    });
    let (head, word) = before.split_at(name_start);
    if let Some(typed) = spelling_start(head).and_then(|start| before.get(start..)) {
        return Wanted::Spelling(typed);
    }
    match head.trim_end().rsplit(|c: char| lexer::is_blank(c) || "|;".contains(c)).next() {
        Some("::help") if ends_blank(head) => Wanted::DcmdName(word),
        Some(walk) if walk.ends_with("::walk") && ends_blank(head) => Wanted::Walker(word),
        _ if word.is_empty() => Wanted::Nothing,
        _ => Wanted::Symbol(word),
    }
}

/// Where a dcmd's spelling begins if it begins at the end of `head`.
fn spelling_start(head: &str) -> Option<usize> {
    ["::", "$"].iter().find_map(|prefix| head.strip_suffix(prefix)).map(str::len)
}

fn ends_blank(head: &str) -> bool {
    head.ends_with(lexer::is_blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_the_cursor_decides() {
        for (before, expected) in [
            ("::sta", Wanted::Spelling("::sta")),
            ("main::sta", Wanted::Spelling("::sta")),
            ("::walk thread | ::", Wanted::Spelling("::")),
            ("$", Wanted::Spelling("$")),
            ("$C", Wanted::Spelling("$C")),
            ("::walk th", Wanted::Walker("th")),
            ("1::walk ", Wanted::Walker("")),
            ("::help st", Wanted::DcmdName("st")),
            ("::help ::st", Wanted::Spelling("::st")),
            ("mai", Wanted::Symbol("mai")),
            ("::dis libc.so.6`rai", Wanted::Symbol("libc.so.6`rai")),
            ("*mai", Wanted::Symbol("mai")),
            ("", Wanted::Nothing),
            ("::stack ", Wanted::Nothing),
            ("é", Wanted::Symbol("é")),
            ("«é", Wanted::Symbol("é")),
        ] {
            assert_eq!(wanted(before), expected, "{before:?}");
        }
    }

    #[test]
    fn names_are_filtered_by_prefix() {
        let names = ["::stack", "::stacks", "::status", "::nm"];
        assert_eq!(starting(names.iter(), "::stac"), ["::stack", "::stacks"]);
    }
}
