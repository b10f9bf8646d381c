//! `Intrinsic` of natvis: expressions with names and parameters. Calls of them are replaced by what they are, as a macro
//! is, so that no function of the process is called.

use std::borrow::Cow;

/// Calls within what replaces calls, at most.
const MAX_LEVELS: u32 = 16;
/// Calls that are replaced in one expression, at most: what replaces a call may hold more calls.
const MAX_CALLS: usize = 256;
/// Bytes of what replaces a call, at most.
const MAX_LEN: usize = 1 << 14;

/// An expression with a name and parameters.
#[derive(Clone, Debug)]
pub struct Intrinsic {
    /// Its name.
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// The expression.
    pub expression: String,
}

/// An expression without calls of `intrinsics`, of which the last of one name counts, and with casts as C has them. Where
/// there would be too many, some calls are left.
pub fn expanded<'t>(text: &'t str, intrinsics: &[Intrinsic]) -> Cow<'t, str> {
    if !text.contains(['(', '<']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(Expansion { intrinsics, left: MAX_CALLS }.replaced(text, 0))
}

struct Expansion<'i> {
    intrinsics: &'i [Intrinsic],
    /// Calls that may still be replaced.
    left: usize,
}

impl Expansion<'_> {
    fn replaced(&mut self, text: &str, level: u32) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(is_name_start) {
            let (before, word_on) = rest.split_at(start);
            out.push_str(before);
            let end = word_on.find(|c| !is_name(c)).unwrap_or(word_on.len());
            let (word, behind) = word_on.split_at(end);
            let is_member = [".", "->", "$", "::"].iter().any(|sign| before.ends_with(sign));
            let replacement = match is_member {
                true => None,
                false => self.replacement(word, behind, level),
            };
            let (text, after) = replacement.unwrap_or_else(|| (word.to_owned(), behind));
            out.push_str(&text);
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// What stands for a word with what is in the brackets behind it, and what stands behind those.
    fn replacement<'t>(
        &mut self,
        word: &str,
        behind: &'t str,
        level: u32,
    ) -> Option<(String, &'t str)> {
        if level >= MAX_LEVELS || self.left == 0 {
            return None;
        }
        match word {
            "static_cast" | "reinterpret_cast" | "const_cast" => self.cast(behind, level),
            _ => self.call(word, behind, level),
        }
    }

    /// `static_cast<T>(x)` as `((T)(x))`.
    fn cast<'t>(&mut self, behind: &'t str, level: u32) -> Option<(String, &'t str)> {
        let (ty, behind) = enclosed(behind, '<', '>')?;
        let (inner, after) = enclosed(behind, '(', ')')?;
        self.left = self.left.saturating_sub(1);
        let inner = self.replaced(inner, level.saturating_add(1));
        Some((format!("(({})({inner}))", ty.trim()), after))
    }

    fn call<'t>(&mut self, word: &str, behind: &'t str, level: u32) -> Option<(String, &'t str)> {
        let (inner, after) = enclosed(behind, '(', ')')?;
        let given = arguments(inner);
        let fits = |it: &&Intrinsic| it.name == word && it.parameters.len() == given.len();
        let intrinsic = self.intrinsics.iter().rev().find(fits)?;
        self.left = self.left.saturating_sub(1);
        let names = intrinsic.parameters.iter().map(String::as_str);
        let values = given.iter().map(|argument| format!("({})", argument.trim()));
        let values: Vec<_> = names.zip(values).collect();
        let body = substituted(&intrinsic.expression, &values);
        if body.len() > MAX_LEN {
            return None;
        }
        Some((format!("({})", self.replaced(&body, level.saturating_add(1))), after))
    }
}

/// A text in which names stand for other texts.
fn substituted(text: &str, values: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_name_start) {
        let (before, word_on) = rest.split_at(start);
        let end = word_on.find(|c| !is_name(c)).unwrap_or(word_on.len());
        let (word, behind) = word_on.split_at(end);
        let value = values.iter().find(|(name, _)| *name == word);
        out.push_str(before);
        out.push_str(value.map_or(word, |(_, value)| value));
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Arguments between commas that stand in no bracket; none in an empty text.
fn arguments(inner: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '(' | '[' => depth = depth.saturating_add(1),
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.extend(inner.get(start..at));
                start = at.saturating_add(1);
            }
            _ => {}
        }
    }
    found.extend(inner.get(start..).filter(|last| !found.is_empty() || !last.trim().is_empty()));
    found
}

/// What is between brackets that a text begins with, and what stands behind them.
fn enclosed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let inner = text.trim_start().strip_prefix(open)?;
    let mut depth = 0_usize;
    for (at, c) in inner.char_indices() {
        if c == open {
            depth = depth.saturating_add(1);
        } else if c == close {
            match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return Some((inner.get(..at)?, inner.get(at.saturating_add(1)..)?)),
            }
        }
    }
    None
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intrinsic(name: &str, parameters: &[&str], expression: &str) -> Intrinsic {
        let parameters = parameters.iter().map(|name| (*name).to_owned()).collect();
        Intrinsic { name: name.to_owned(), parameters, expression: expression.to_owned() }
    }

    #[test]
    fn calls_are_replaced_by_what_they_are() {
        let all = [
            intrinsic("size", &[], "last - first"),
            intrinsic("at", &["i"], "first[i + size()]"),
            intrinsic("loop", &[], "loop() + 1"),
        ];
        assert_eq!(expanded("size() > 3", &all), "(last - first) > 3");
        assert_eq!(expanded("at(n * 2)", &all), "(first[(n * 2) + (last - first)])");
        assert_eq!(expanded("p->size() + other(1)", &all), "p->size() + other(1)");
        assert_eq!(expanded("static_cast<node *>(next)->i", &all), "((node *)(next))->i");
        assert!(expanded("loop()", &all).len() < 1 << 10);
    }

    #[test]
    fn what_grows_without_end_ends() {
        let all = [intrinsic("twice", &["a"], "twice(a + a) + twice(a + a)")];
        assert!(expanded("twice(1)", &all).len() < 1 << 23);
        let brackets = "(".repeat(1 << 16);
        assert_eq!(expanded(&brackets, &all).len(), brackets.len());
    }
}
