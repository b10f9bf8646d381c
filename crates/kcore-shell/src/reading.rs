//! What text of the language is read with: the radix of its numbers, and the names that there are.
//!
//! In `ns::name::print` only the names tell where the address ends and the dcmd begins. What C++, Rust
//! and Go call things may hold brackets too, as in `Box<Node>::name` and `main.(*Server).Serve`: behind
//! a name they mean nothing else in an expression.

use crate::lexer;

/// Names that `::` joins, at most.
const MAX_NAMES: usize = 16;

/// The names that there are.
pub(crate) trait Names {
    /// Whether a symbol has this name, which may begin with a scope.
    fn is_symbol(&self, name: &str) -> bool;

    /// Whether a variable has it that only debug information knows.
    fn is_variable(&self, name: &str) -> bool;

    /// Whether a dcmd is spelled so.
    fn is_dcmd(&self, spelling: &str) -> bool;
}

/// What text is read with.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'n> {
    /// That of bare numbers.
    pub(crate) radix: u32,
    /// Those of the program and of the dcmds.
    pub(crate) names: &'n dyn Names,
    /// Whether a dcmd may follow what is read.
    before_dcmd: bool,
}

impl<'n> Reading<'n> {
    /// For a statement.
    pub(crate) const fn new(radix: u32, names: &'n dyn Names) -> Self {
        Self { radix, names, before_dcmd: true }
    }

    /// The same where no dcmd can follow: between brackets, and where all of the text is an expression.
    pub(crate) const fn within(self) -> Self {
        Self { before_dcmd: false, ..self }
    }

    /// Bytes of the name that begins `text`, whose first `plain` bytes hold neither `::` nor brackets.
    ///
    /// A dcmd is one where the name before it is known, as MDB reads it. Else the longest name counts
    /// that is known, and of what is all unknown what must have been meant as a name.
    pub(crate) fn name_length(self, text: &str, plain: usize) -> usize {
        let ends = ends(text, plain);
        let whole = ends.last().copied().unwrap_or(plain);
        if whole == plain {
            return plain;
        }
        let name = |end: &usize| text.get(..*end).unwrap_or_default();
        let dcmd = self.end_before_dcmd(text, &ends);
        let candidates = || dcmd.into_iter().chain(ends.iter().rev().copied());
        let has_value = |end: &usize| {
            let is_number = *end == plain && name(end).chars().all(|c| c.is_ascii_hexdigit());
            is_number || self.names.is_symbol(name(end))
        };
        let is_variable = |end: &usize| self.names.is_variable(name(end));
        let known = dcmd
            .filter(has_value)
            .or_else(|| ends.iter().rev().copied().find(|end| has_value(end) || is_variable(end)))
            .or_else(|| candidates().find(is_variable));
        let meant = || dcmd.unwrap_or(if name(&whole).contains("::") { whole } else { plain });
        known.unwrap_or_else(meant)
    }

    /// Where the name ends if the last `::` begins a dcmd.
    fn end_before_dcmd(self, text: &str, ends: &[usize]) -> Option<usize> {
        let end = ends.iter().rev().nth(1).copied().filter(|_| self.before_dcmd)?;
        let rest = text.get(end..)?;
        self.names.is_dcmd(spelling(rest)?).then_some(end)
    }
}

/// The `::` and the name behind it that begin `text`.
pub(crate) fn spelling(text: &str) -> Option<&str> {
    let name = text.strip_prefix("::")?;
    let len = name.find(|c| !lexer::is_name(c)).unwrap_or(name.len());
    text.get(..len.saturating_add(2)).filter(|_| len > 0)
}

/// Where names can end that begin `text`: behind the plain one, and before each `::` and at the end of
/// what can be a longer one.
fn ends(text: &str, plain: usize) -> Vec<usize> {
    let mut ends = vec![plain];
    let mut end = plain;
    while ends.len() < MAX_NAMES {
        let rest = text.get(end..).unwrap_or_default();
        let more = match rest.strip_prefix("::") {
            Some(next) => part(next).saturating_add(2),
            None => bracketed(rest),
        };
        if more == 0 || more == 2 {
            break;
        }
        // Brackets belong to the name before them.
        let is_bracket = !rest.starts_with("::");
        if is_bracket && ends.len() > 1 {
            ends.pop();
        }
        end = end.saturating_add(more);
        ends.push(end);
    }
    ends
}

/// Bytes of the part of a name that begins behind a `::`.
fn part(text: &str) -> usize {
    let tilde = usize::from(text.starts_with('~'));
    let name = text.get(tilde..).unwrap_or_default();
    match name.starts_with(lexer::begins_name) {
        true => {
            let len = name.find(|c| !lexer::is_name(c)).unwrap_or(name.len());
            let (word, rest) = name.split_at_checked(len).unwrap_or((name, ""));
            let operator = if word == "operator" { operator(rest) } else { 0 };
            len.saturating_add(tilde).saturating_add(operator)
        }
        false => bracketed(text),
    }
}

/// Bytes of the operator that begins `text`, behind the word that says that it is one.
fn operator(text: &str) -> usize {
    // The longest first.
    #[rustfmt::skip]
    const OPERATORS: [&str; 41] = [
        "<<=", ">>=", "->*", "<=>", "()", "[]", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
        "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "\"\"", "+", "-", "*", "/",
        "%", "^", "&", "|", "~", "!", "=", "<", ">", ",", "?",
    ];
    OPERATORS.iter().find(|one| text.starts_with(**one)).map_or(0, |one| one.len())
}

/// Bytes of the brackets that begin `text`, and of what belongs to them; 0 if they have no
/// end. The arrow of a function's type closes nothing.
fn bracketed(text: &str) -> usize {
    if !text.starts_with(['(', '<', '[', '{']) || text.starts_with("<<") {
        return 0;
    }
    let mut open = Vec::new();
    let mut before = ' ';
    for (at, c) in text.char_indices().take_while(|(_, c)| *c != '\n') {
        match c {
            '(' => open.push(')'),
            '<' => open.push('>'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            '>' if before == '-' => {}
            ')' | '>' | ']' | '}' if open.pop() != Some(c) => return 0,
            _ => {}
        }
        before = c;
        if open.is_empty() {
            let end = at.saturating_add(1);
            let rest = text.get(end..).unwrap_or_default();
            return end.saturating_add(behind_brackets(rest));
        }
    }
    0
}

/// Bytes that belong to the brackets before them: a name, or what is said of a method.
fn behind_brackets(text: &str) -> usize {
    let name = |text: &str| text.find(|c| !lexer::is_name(c)).unwrap_or(text.len());
    match text.strip_prefix(" const") {
        Some(rest) if name(rest) == 0 => " const".len(),
        _ => name(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some names of a program, and two dcmds.
    struct Some;

    impl Names for Some {
        fn is_symbol(&self, name: &str) -> bool {
            [
                "main",
                "ns::g",
                "ns::print",
                "ns::g::print",
                "f(int)",
                "ns::Dog::noise() const",
                "a.out`ns::g",
                "Box<Node*, std::less<Node> >::name",
                "main.(*Server).Serve",
                "app::run::{closure#0}",
                "ns::Dog::~Dog",
            ]
            .contains(&name)
        }

        fn is_variable(&self, name: &str) -> bool {
            name == "ns::f::calls"
        }

        fn is_dcmd(&self, spelling: &str) -> bool {
            ["::print", "::dis"].contains(&spelling)
        }
    }

    /// The name and what is left of a text.
    fn split(text: &str) -> (&str, &str) {
        let plain = text.find(|c| !lexer::is_name(c)).unwrap_or(text.len());
        text.split_at(Reading::new(16, &Some).name_length(text, plain))
    }

    #[test]
    fn what_is_known_is_a_name() {
        assert_eq!(split("ns::g"), ("ns::g", ""));
        assert_eq!(split("ns::g/X"), ("ns::g", "/X"));
        assert_eq!(split("ns::g+8::print"), ("ns::g", "+8::print"));
        assert_eq!(split("ns::g::dis -n 1"), ("ns::g", "::dis -n 1"));
        assert_eq!(split("a.out`ns::g::dis"), ("a.out`ns::g", "::dis"));
        assert_eq!(split("ns::f::calls::print"), ("ns::f::calls", "::print"));
        assert_eq!(split("ns::print"), ("ns::print", ""));
    }

    #[test]
    fn a_dcmd_behind_a_known_name_is_one() {
        assert_eq!(split("main::dis"), ("main", "::dis"));
        assert_eq!(split("main::nosuch"), ("main", "::nosuch"));
        assert_eq!(split("dead::print"), ("dead", "::print"));
        assert_eq!(split("main::dis(x)"), ("main", "::dis(x)"));
        assert_eq!(split("ns::g::print"), ("ns::g", "::print"));
        assert_eq!(split("ns::g::print::dis"), ("ns::g::print", "::dis"));
        assert_eq!(split("ns::g::nosuch"), ("ns::g", "::nosuch"));
    }

    #[test]
    fn what_is_unknown_is_a_name_as_far_as_no_dcmd_is() {
        assert_eq!(split("zz::dis"), ("zz", "::dis"));
        assert_eq!(split("zz::y::dis"), ("zz::y", "::dis"));
        assert_eq!(split("zz::y/X"), ("zz::y", "/X"));
        assert_eq!(split("zz(1)"), ("zz", "(1)"));
        assert_eq!(split("zz::"), ("zz", "::"));
        assert_eq!(split("zz::5"), ("zz", "::5"));
    }

    #[test]
    fn brackets_are_parts_of_names() {
        assert_eq!(split("f(int)::dis"), ("f(int)", "::dis"));
        assert_eq!(
            split("Box<Node*, std::less<Node> >::name/X"),
            ("Box<Node*, std::less<Node> >::name", "/X")
        );
        assert_eq!(split("main.(*Server).Serve::dis"), ("main.(*Server).Serve", "::dis"));
        assert_eq!(split("app::run::{closure#0}::dis"), ("app::run::{closure#0}", "::dis"));
        assert_eq!(split("ns::Dog::~Dog::dis"), ("ns::Dog::~Dog", "::dis"));
        assert_eq!(split("ns::Dog::noise() const::dis"), ("ns::Dog::noise() const", "::dis"));
        assert_eq!(split("main<<2"), ("main", "<<2"));
        assert_eq!(split("main(1"), ("main", "(1"));
        assert_eq!(split("main(1]"), ("main", "(1]"));
    }

    #[test]
    fn within_an_expression_no_dcmd_follows() {
        let reading = Reading::new(16, &Some).within();
        assert_eq!(reading.name_length("zz::dis", 2), 7);
        assert_eq!(reading.name_length("ns::g::print", 2), 12);
        assert_eq!(reading.name_length("main::dis", 4), 4);
    }
}
