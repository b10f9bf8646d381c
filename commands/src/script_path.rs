//! Paths into values of languages: `options[:limit].size`, `$rows[3]['name']`, `$self->{name}`.
//!
//! Each language has its own signs for the same steps. All of them are taken for all languages, since only one of them
//! fits a value.

use kcore::{Dialect, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar};
use kcore_dcmd::{DcmdError, Result};

/// Steps of a path, at most.
const MAX_STEPS: usize = 64;
/// What joins a step to the one before it.
const JOINTS: [&str; 3] = ["->", ".", ":"];
/// What names begin with in languages where that is not a part of what a program calls them.
const SIGILS: [char; 4] = ['$', '@', '%', '&'];

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// What stands behind a dot or an arrow, or between brackets without being a number.
    Name(String),
    /// The number between brackets: `3` of `[3]`.
    Number(i64),
}

/// The steps of what follows the name of a variable.
///
/// # Errors
/// If it is not a path.
pub fn parse(path: &str) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if steps.len() == MAX_STEPS {
            return Err(DcmdError::usage(format!("a path has at most {MAX_STEPS} steps")));
        }
        let behind = JOINTS.iter().find_map(|joint| rest.strip_prefix(joint));
        let (step, next) = match (behind.unwrap_or(rest).chars().next(), behind) {
            (Some('['), _) => bracketed(behind.unwrap_or(rest), ']')?,
            (Some('{'), _) => bracketed(behind.unwrap_or(rest), '}')?,
            (Some(_), Some(named)) => name(named)?,
            _ => return Err(DcmdError::usage(format!("'{rest}' is no part of a path"))),
        };
        steps.push(step);
        rest = next;
    }
    Ok(steps)
}

fn name(text: &str) -> Result<(Step, &str)> {
    let end = text.find(['.', '[', '{', '-', ':']).unwrap_or(text.len());
    match text.split_at_checked(end) {
        Some((name, rest)) if !name.is_empty() => Ok((Step::Name(name.to_owned()), rest)),
        _ => Err(DcmdError::usage(format!("'{text}' does not begin with a name"))),
    }
}

/// What stands between brackets: a number, a text in quotes or without, or a symbol.
fn bracketed(text: &str, close: char) -> Result<(Step, &str)> {
    let missing = || DcmdError::usage(format!("no trailing '{close}'"));
    let inside = text.get(1..).unwrap_or_default();
    if let Some(quote) = inside.chars().next().filter(|sign| matches!(sign, '"' | '\'')) {
        let inside = inside.get(1..).unwrap_or_default();
        let (name, rest) = inside.split_once(quote).ok_or_else(missing)?;
        let rest = rest.strip_prefix(close).ok_or_else(missing)?;
        return Ok((Step::Name(name.to_owned()), rest));
    }
    let (inside, rest) = inside.split_once(close).ok_or_else(missing)?;
    let step = inside.parse().map_or_else(
        // A shell takes the quotes from words.
        |_| Step::Name(inside.strip_prefix(':').unwrap_or(inside).to_owned()),
        Step::Number,
    );
    Ok((step, rest))
}

/// The part of a value to which a step leads.
pub fn part<'a>(node: &'a ScriptNode, dialect: Dialect, step: &Step) -> Option<&'a ScriptNode> {
    let ScriptParts { parts, is_cut, .. } = node.parts.as_ref()?;
    let labelled = parts.iter().find(|part| match step {
        Step::Name(name) => is_called(&part.label, name),
        Step::Number(number) => has_number(&part.label, *number),
    });
    let found = labelled.or_else(|| match step {
        Step::Number(number) if *number < 0 && !is_cut => from_the_end(parts, *number, dialect),
        Step::Number(number) => item(parts, *number, dialect),
        Step::Name(_) => None,
    });
    found.map(|part| &part.value)
}

/// The element of a list whose elements have no labels, by its number: Lua counts from 1, the others from 0.
fn item(parts: &[ScriptPart], number: i64, dialect: Dialect) -> Option<&ScriptPart> {
    let first = i64::from(dialect == Dialect::Lua);
    let index = usize::try_from(number.checked_sub(first)?).ok()?;
    parts.iter().filter(|part| part.label == ScriptLabel::Item).nth(index)
}

/// The element of a list by its number from the end, in languages that count so: -1 is the last one.
fn from_the_end(parts: &[ScriptPart], number: i64, dialect: Dialect) -> Option<&ScriptPart> {
    let counts_so = matches!(dialect, Dialect::Python | Dialect::Ruby | Dialect::Perl);
    let back = usize::try_from(number.unsigned_abs()).ok().filter(|_| counts_so)?;
    let is_element =
        |part: &&ScriptPart| matches!(part.label, ScriptLabel::Item | ScriptLabel::Index(_));
    parts.iter().filter(is_element).rev().nth(back.checked_sub(1)?)
}

/// Whether a variable of Perl has an element that is written so: `$rows[3]` is one of `@rows`, `$size{x}` one of `%size`.
pub fn is_whole_of_element(own: &str, typed: &str, path: &str) -> bool {
    let whole = typed.strip_prefix('$').zip(match path.chars().next() {
        Some('[') => own.strip_prefix('@'),
        Some('{') => own.strip_prefix('%'),
        _ => None,
    });
    whole.is_some_and(|(typed, own)| typed == own)
}

/// Whether a variable or a member is called so, with the sign before its name or without.
pub fn is_same_name(own: &str, typed: &str) -> bool {
    own == typed || own.trim_start_matches(SIGILS) == typed
}

fn is_called(label: &ScriptLabel, name: &str) -> bool {
    match label {
        ScriptLabel::Name(own) | ScriptLabel::Private(own) | ScriptLabel::Symbol(own) => {
            is_same_name(own, name)
        }
        ScriptLabel::Entry(key) => match &key.scalar {
            Some(ScriptScalar::Text { text, .. }) => &**text == name,
            Some(ScriptScalar::Symbol(own)) => own.as_deref() == Some(name),
            Some(ScriptScalar::Integer(digits)) => &**digits == name,
            Some(ScriptScalar::Word(word)) => *word == name,
            _ => false,
        },
        ScriptLabel::Fact(own) => *own == name,
        ScriptLabel::Index(_) | ScriptLabel::Item => false,
    }
}

fn has_number(label: &ScriptLabel, number: i64) -> bool {
    match label {
        ScriptLabel::Index(index) => i64::try_from(*index) == Ok(number),
        ScriptLabel::Entry(key) => match &key.scalar {
            Some(ScriptScalar::Number(own)) => (*own - number as f64).abs() < f64::EPSILON,
            Some(ScriptScalar::Integer(digits)) => digits.parse() == Ok(number),
            Some(ScriptScalar::Text { text, .. }) => text.parse() == Ok(number),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Step {
        Step::Name(name.to_owned())
    }

    #[test]
    fn each_language_has_its_signs() {
        let ruby = [named("limit"), named("@size"), Step::Number(2)];
        assert_eq!(parse("[:limit].@size[2]").unwrap(), ruby);
        let php = [Step::Number(3), named("a b"), named("name")];
        assert_eq!(parse("[3]['a b']->name").unwrap(), php);
        assert_eq!(
            parse("->{name}->[0]{x}").unwrap(),
            [named("name"), Step::Number(0), named("x")]
        );
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for wrong in ["x", ".", "[", "[1", "['a]", "->", "..a", "{a"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse(&"[0]".repeat(MAX_STEPS + 1)).is_err());
    }

    #[test]
    fn elements_without_labels_are_counted_as_the_language_does() {
        let part = |label, word| ScriptPart::new(label, ScriptNode::text(word));
        let parts = vec![
            part(ScriptLabel::Item, "a"),
            part(ScriptLabel::Name("n".into()), "b"),
            part(ScriptLabel::Item, "c"),
        ];
        let of = |dialect, number| item(&parts, number, dialect).map(|part| part.value.clone());
        assert_eq!(of(Dialect::Php, 1), Some(ScriptNode::text("c")));
        assert_eq!(of(Dialect::Lua, 1), Some(ScriptNode::text("a")));
        assert_eq!(
            (of(Dialect::Lua, 0), of(Dialect::Php, 2), of(Dialect::Php, -1)),
            (None, None, None)
        );
        let back =
            |dialect, number| from_the_end(&parts, number, dialect).map(|it| it.value.clone());
        assert_eq!(back(Dialect::Ruby, -1), Some(ScriptNode::text("c")));
        assert_eq!(back(Dialect::Python, -2), Some(ScriptNode::text("a")));
        assert_eq!((back(Dialect::Perl, -3), back(Dialect::Php, -1)), (None, None));
    }

    #[test]
    fn elements_of_perl_are_written_with_the_sign_of_a_scalar() {
        assert!(is_whole_of_element("@rows", "$rows", "[3]"));
        assert!(is_whole_of_element("%size", "$size", "{x}"));
        assert!(!is_whole_of_element("@rows", "$rows", "{x}"));
        assert!(!is_whole_of_element("$rows", "$rows", "[3]"));
        assert!(!is_whole_of_element("@rows", "rows", "[3]"));
    }

    #[test]
    fn a_name_is_the_same_without_its_sign() {
        assert!(is_same_name("$rows", "rows") && is_same_name("$rows", "$rows"));
        assert!(is_same_name("@size", "size") && !is_same_name("size", "@size"));
    }
}
