//! Paths to members of JavaScript values: `a.b[3]["a key"].#secret[Symbol(tag)]`.

use kcore::v8::value::{Limits, Slot, Step, Value, ValueKind};
use kcore_dcmd::{DcmdError, Result};

use super::subject::Subject;

/// Steps of a path, at most.
const MAX_STEPS: usize = 1000;

/// The steps of a path. Indices are decimal.
///
/// # Errors
/// If it is not a path; the message is MDB's.
pub fn parse(path: &str) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('.').unwrap_or(path);
    while !rest.is_empty() {
        if steps.len() == MAX_STEPS {
            return Err(DcmdError::usage(format!("a path has at most {MAX_STEPS} steps")));
        }
        let (step, behind) = match rest.strip_prefix('[') {
            Some(inside) => bracketed(inside)?,
            None => name(rest),
        };
        steps.push(step);
        rest = next(behind)?;
    }
    Ok(steps)
}

/// The text after the sign that joins two steps.
fn next(rest: &str) -> Result<&str> {
    match rest.chars().next() {
        None | Some('[') => Ok(rest),
        Some('.') if rest.len() > 1 => Ok(rest.get(1..).unwrap_or_default()),
        Some(sign) => Err(DcmdError::usage(format!("'{sign}' is not a valid delimiter"))),
    }
}

fn name(text: &str) -> (Step, &str) {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    (Step::Name(name.to_owned()), rest)
}

fn bracketed(text: &str) -> Result<(Step, &str)> {
    let missing = || DcmdError::usage("no trailing ']'");
    if let Some(quote) = text.chars().next().filter(|sign| matches!(sign, '"' | '\'')) {
        let inside = text.get(1..).unwrap_or_default();
        let (name, rest) = inside.split_once(quote).ok_or_else(missing)?;
        let rest = rest.strip_prefix(']').ok_or_else(missing)?;
        return Ok((Step::Name(name.to_owned()), rest));
    }
    let (inside, rest) = text.split_once(']').ok_or_else(missing)?;
    let symbol = inside.strip_prefix("Symbol(").and_then(|inside| inside.strip_suffix(')'));
    Ok((
        match (symbol, inside.parse()) {
            (Some(name), _) => Step::Symbol(name.to_owned()),
            (None, Ok(index)) => Step::Index(index),
            // A shell takes the quotes from words.
            (None, Err(_)) => Step::Name(inside.to_owned()),
        },
        rest,
    ))
}

/// The value to which a path leads: `undefined` if there is no member, or the reason if its holder cannot be read.
pub fn follow(from: Subject<'_>, steps: &[Step], limits: Limits) -> Slot {
    let Some((last, before)) = steps.split_last() else {
        return Slot::Value(from.value(limits));
    };
    let shallow = Limits { depth: 0, entries: 0, units: 0 };
    let mut word = from.word;
    for step in before {
        let found = from.v8.member(from.core, word, step, shallow);
        let Some(Slot::Value(Value { word: Some(next), .. })) = found else {
            return nothing(from, word);
        };
        word = next;
    }
    from.v8.member(from.core, word, last, limits).unwrap_or_else(|| nothing(from, word))
}

/// The answer for a missing member, which may be one that cannot be read.
fn nothing(from: Subject<'_>, holder: u64) -> Slot {
    let all = Limits { depth: 1, entries: u64::from(u16::MAX), units: 0 };
    let kind = match from.v8.value(from.core, holder, all).map(|value| value.kind) {
        Some(ValueKind::Unreadable(why)) => ValueKind::Unreadable(why),
        Some(ValueKind::Object(object)) if object.has_more_properties => {
            ValueKind::Unreadable("its holder cannot be read in full")
        }
        _ => ValueKind::Undefined,
    };
    Slot::Value(Value { word: None, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<Step> {
        parse(path).expect("a path")
    }

    #[test]
    fn names_indices_and_symbols_are_told_apart() {
        let name = |name: &str| Step::Name(name.to_owned());
        assert_eq!(names("a.b[10].c"), [name("a"), name("b"), Step::Index(10), name("c")]);
        assert_eq!(names("[0]"), [Step::Index(0)]);
        assert_eq!(names(".#secret"), [name("#secret")]);
        assert_eq!(names("m[\"a.b]\"][x y]"), [name("m"), name("a.b]"), name("x y")]);
        assert_eq!(names("a[Symbol(tag)]"), [name("a"), Step::Symbol("tag".to_owned())]);
        assert_eq!(names("größe"), [name("größe")]);
        assert_eq!(names(""), []);
    }

    #[test]
    fn what_is_no_path_is_told() {
        for path in ["a[", "a[\"b]", "a[1", "a[1]b", "a."] {
            assert!(matches!(parse(path), Err(DcmdError::Usage(_))), "{path}");
        }
    }
}
