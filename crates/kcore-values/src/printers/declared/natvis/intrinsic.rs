//! `Intrinsic` of natvis: expressions with names and parameters. Calls of them are replaced by what they are, as a macro
//! is, so that no function of the process is called.

use std::borrow::Cow;

/// Calls within what replaces calls, at most.
const MAX_LEVELS: u32 = 16;
/// Bytes of an expression in which calls are replaced, at most.
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

/// An expression without calls of `intrinsics`, of which the last of one name counts, and with casts as C has them.
pub fn expanded<'t>(text: &'t str, intrinsics: &[Intrinsic]) -> Cow<'t, str> {
    if !text.contains(['(', '<']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, intrinsics, 0))
}

fn replaced(text: &str, intrinsics: &[Intrinsic], level: u32) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_name_start) {
        let (before, word_on) = rest.split_at(start);
        out.push_str(before);
        let end = word_on.find(|c| !is_name(c)).unwrap_or(word_on.len());
        let (word, behind) = word_on.split_at(end);
        let is_member = before.ends_with('.') || before.ends_with("->") || before.ends_with('$');
        let replacement = match level < MAX_LEVELS && out.len() < MAX_LEN && !is_member {
            true => cast(word, behind, intrinsics, level)
                .or_else(|| call(word, behind, intrinsics, level)),
            false => None,
        };
        rest = match replacement {
            Some((text, after)) => {
                out.push_str(&text);
                after
            }
            None => {
                out.push_str(word);
                behind
            }
        };
    }
    out.push_str(rest);
    out
}

/// `static_cast<T>(x)` as `((T)(x))`, and what stands behind it.
fn cast<'t>(
    word: &str,
    behind: &'t str,
    intrinsics: &[Intrinsic],
    level: u32,
) -> Option<(String, &'t str)> {
    if !matches!(word, "static_cast" | "reinterpret_cast" | "const_cast") {
        return None;
    }
    let (ty, behind) = enclosed(behind, '<', '>')?;
    let (inner, after) = enclosed(behind, '(', ')')?;
    let inner = replaced(inner, intrinsics, level.saturating_add(1));
    Some((format!("(({})({inner}))", ty.trim()), after))
}

fn call<'t>(
    word: &str,
    behind: &'t str,
    intrinsics: &[Intrinsic],
    level: u32,
) -> Option<(String, &'t str)> {
    let (inner, after) = enclosed(behind, '(', ')')?;
    let given = arguments(inner);
    let fits = |it: &&Intrinsic| it.name == word && it.parameters.len() == given.len();
    let intrinsic = intrinsics.iter().rev().find(fits)?;
    let mut values = Vec::new();
    for (name, argument) in intrinsic.parameters.iter().zip(given) {
        let argument = replaced(argument.trim(), intrinsics, level.saturating_add(1));
        values.push((name.as_str(), format!("({argument})")));
    }
    let body = substituted(&intrinsic.expression, &values);
    Some((format!("({})", replaced(&body, intrinsics, level.saturating_add(1))), after))
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
        assert!(expanded("twice(1)", &all).len() < 1 << 24);
    }
}
