//! What the words behind a dcmd are, by what its spec calls them.

use kcore_dcmd::Spec;

/// What a word names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Symbol,
    Object,
    Dcmd,
    Walker,
    Variable,
    File,
    /// One of the dcmd's options.
    Option,
}

/// Words in the usage of operands and of the values of options; the first that is there counts.
const BY_USAGE: &[(&str, Kind)] = &[
    ("object", Kind::Object),
    ("module", Kind::Object),
    ("file", Kind::File),
    ("walker", Kind::Walker),
    ("dcmd", Kind::Dcmd),
    ("variable", Kind::Variable),
    ("symbol", Kind::Symbol),
    ("func", Kind::Symbol),
    ("address", Kind::Symbol),
    ("expression", Kind::Symbol),
];

/// Dcmds whose usage says no more than `name`.
const BY_NAME: &[(&str, Kind)] = &[
    ("help", Kind::Dcmd),
    ("which", Kind::Dcmd),
    ("walk", Kind::Walker),
    ("typeset", Kind::Variable),
    ("unset", Kind::Variable),
    ("log", Kind::File),
    ("cat", Kind::File),
    ("$<", Kind::File),
    ("$<<", Kind::File),
];

/// What `word` is, behind `words`.
pub(super) fn of_word(spec: &Spec, words: &[&str], word: &str) -> Option<Kind> {
    let only_operands = words.contains(&"--");
    if let Some(value) = words.last().and_then(|last| open_value(spec, last))
        && !only_operands
    {
        return by_usage(value);
    }
    if word.starts_with('-') && !only_operands {
        return Some(Kind::Option);
    }
    by_name(spec, words).or_else(|| by_usage(spec.operands.usage))
}

/// The name of the value that the option `word` still needs.
fn open_value(spec: &Spec, word: &str) -> Option<&'static str> {
    let letters = word.strip_prefix('-')?;
    let at = letters.find(|letter| value_of(spec, letter).is_some())?;
    let mut rest = letters.get(at..)?.chars();
    let value = value_of(spec, rest.next()?)?;
    rest.next().is_none().then_some(value)
}

fn value_of(spec: &Spec, letter: char) -> Option<&'static str> {
    spec.options.iter().find(|opt| opt.flag == letter)?.value
}

fn by_usage(usage: &str) -> Option<Kind> {
    BY_USAGE.iter().find(|(word, _)| usage.contains(word)).map(|(_, kind)| *kind)
}

/// A walker may be followed by the variable that it sets.
fn by_name(spec: &Spec, words: &[&str]) -> Option<Kind> {
    let kind = BY_NAME.iter().find(|(name, _)| *name == spec.name).map(|(_, kind)| *kind)?;
    let is_later = words.iter().any(|word| !word.starts_with('-'));
    Some(if kind == Kind::Walker && is_later { Kind::Variable } else { kind })
}

#[cfg(test)]
mod tests {
    use kcore_dcmd::{Group, Opt};

    use super::*;

    const OPTIONS: &[Opt] = &[
        Opt { flag: 'v', value: None, help: "" },
        Opt { flag: 'm', value: Some("module"), help: "" },
        Opt { flag: 'n', value: Some("count"), help: "" },
    ];

    fn spec(name: &'static str, usage: &'static str) -> Spec {
        Spec::new(name, Group::Symbols, "").options(OPTIONS).operands(usage, 0, 2)
    }

    #[test]
    fn usage_says_what_operands_are() {
        let kind = |usage, word| of_word(&spec("x", usage), &[], word);
        assert_eq!(kind("[object]", "li"), Some(Kind::Object));
        assert_eq!(kind("[address|symbol]", "li"), Some(Kind::Symbol));
        assert_eq!(kind("[id]", "li"), None);
        assert_eq!(kind("[object]", "-"), Some(Kind::Option));
    }

    #[test]
    fn a_value_belongs_to_the_option_before_it() {
        let spec = spec("x", "[object]");
        assert_eq!(of_word(&spec, &["-vm"], "li"), Some(Kind::Object));
        assert_eq!(of_word(&spec, &["-n"], "li"), None);
        assert_eq!(of_word(&spec, &["-n5"], "li"), Some(Kind::Object));
        assert_eq!(of_word(&spec, &["--"], "-l"), Some(Kind::Object));
    }

    #[test]
    fn a_walker_may_be_followed_by_a_variable() {
        let walk = spec("walk", "name");
        assert_eq!(of_word(&walk, &[], "th"), Some(Kind::Walker));
        assert_eq!(of_word(&walk, &["thread"], "x"), Some(Kind::Variable));
    }
}
