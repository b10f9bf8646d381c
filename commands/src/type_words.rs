//! Types among the words of a command line, where their own words need no quotes.

use kcore::{NameSource, Type};
use kcore_dcmd::{Arg, Args, Cx, DcmdError, Result};

/// Others of one name that are listed.
const MAX_NAMED: usize = 8;

/// Words that cannot end a type.
const GO_ON: &[&str] = &[
    "struct", "union", "enum", "class", "const", "volatile", "mut", "dyn", "*const", "*mut", "&mut",
];

/// Words that the basic types of C are made of.
const BASIC: &[&str] = &[
    "unsigned", "signed", "long", "short", "int", "char", "double", "const", "volatile", "__int128",
];

/// The words of the type that begins the operands, as one text, and the words behind it. `None` where no
/// text begins them.
pub fn split(words: &[Arg]) -> Option<(String, &[Arg])> {
    let mut text = words.first().and_then(as_text)?.to_owned();
    let mut rest = words.get(1..).unwrap_or_default();
    while let Some((next, behind)) = rest.split_first()
        && let Some(next) = as_text(next)
        && goes_on(&text, next)
    {
        text.push(' ');
        text.push_str(next);
        rest = behind;
    }
    Some((text, rest))
}

/// The type that begins the operands, as it was typed, and the words behind it.
///
/// # Errors
/// A usage error without a type. Any other failure is reported, and the pipeline ends.
pub fn required<'a>(cx: &mut Cx<'_>, args: &'a [Arg]) -> Result<(String, Type, &'a [Arg])> {
    let (text, rest) =
        split(args).ok_or_else(|| DcmdError::usage("expected the name of a type"))?;
    let ty = named(cx, &text).map_err(|error| abort(cx, &error))?;
    note_choice(cx, &text, &ty)?;
    Ok((text, ty, rest))
}

/// Says which type was taken where the name could mean others.
///
/// # Errors
/// The errors of the sink.
pub fn note_choice(cx: &mut Cx<'_>, text: &str, ty: &Type) -> Result<()> {
    note_instance(cx, text, ty)?;
    if !cx.input().first || cx.shell().types().get(text).is_some() {
        return Ok(());
    }
    let (scope, name) = match text.rsplit_once('`') {
        Some((scope, name)) => (Some(scope), name),
        None => (None, text),
    };
    let core = std::sync::Arc::clone(cx.core());
    let types = core.types().seen_from(cx.code_scope());
    let others = types.others(scope, name, ty);
    match types.source_of(ty).filter(|_| !others.is_empty()) {
        Some(source) => cx.note(&choice(text, &source, &others)),
        None => Ok(()),
    }
}

/// The words that say whose of several things of one name was taken, and whose the others are. Those of other
/// modules come first.
pub fn choice(name: &str, taken: &NameSource, others: &[NameSource]) -> String {
    let (near, far): (Vec<_>, Vec<_>) =
        others.iter().partition(|other| other.module == taken.module);
    let mut named: Vec<String> = Vec::new();
    for other in far.into_iter().chain(near).map(NameSource::to_string) {
        if !named.contains(&other) {
            named.push(other);
        }
    }
    let more = named.len().saturating_sub(MAX_NAMED);
    named.truncate(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{name} is that of {taken}; others are those of {}{more}", named.join(", "))
}

/// Says which instance of a template was taken where only the template was named.
///
/// # Errors
/// The errors of the sink.
fn note_instance(cx: &mut Cx<'_>, text: &str, ty: &Type) -> Result<()> {
    let is_instance = ty.name().is_some_and(|name| name.contains('<'));
    match is_instance && !text.contains(['<', '*', '[']) {
        true => cx.note(&format!("{text} stands for {}", ty.spelled())),
        false => Ok(()),
    }
}

/// The type of that name.
///
/// # Errors
/// If there is none, or a name is missing after a keyword.
pub fn named(cx: &Cx<'_>, text: &str) -> Result<Type> {
    let word = text.rsplit_once('`').map_or(text, |(_, word)| word);
    match ["struct", "union", "enum", "class"].contains(&word) {
        true => Err(DcmdError::failed(format!("{text} is not a valid type"))),
        false => cx.type_named(text),
    }
}

/// Reports a failure after which the pipeline does not go on.
pub fn abort(cx: &mut Cx<'_>, error: &DcmdError) -> DcmdError {
    match cx.report(error) {
        Ok(()) => DcmdError::Aborted,
        Err(stopped) => stopped,
    }
}

/// The words of member paths: parentheses and brackets may hold blanks.
pub fn paths(words: &[Arg]) -> Vec<Arg> {
    let mut paths: Vec<Arg> = Vec::new();
    for word in words {
        match (paths.last_mut(), word) {
            (Some(Arg::Text(open)), Arg::Text(more)) if is_open(open) => {
                open.push(' ');
                open.push_str(more);
            }
            _ => paths.push(word.clone()),
        }
    }
    paths
}

/// The name of a type that is all operands of a dcmd.
///
/// # Errors
/// As [`required`], and a usage error if more words follow.
pub fn alone(cx: &mut Cx<'_>, args: &Args) -> Result<(String, Type)> {
    let (text, ty, rest) = required(cx, args.operands())?;
    if rest.is_empty() { Ok((text, ty)) } else { Err(DcmdError::usage("too many arguments")) }
}

fn as_text(word: &Arg) -> Option<&str> {
    match word {
        Arg::Text(text) => Some(text),
        Arg::Number(_) => None,
    }
}

/// Whether the type that `text` begins also contains `next`. The module before it is not one of its words.
fn goes_on(text: &str, next: &str) -> bool {
    let text = text.rsplit_once('`').map_or(text, |(_, text)| text);
    let last = text.rsplit(' ').next().unwrap_or_default();
    let is_modifier = next.starts_with("(*)") || matches!(next, "const" | "volatile");
    let is_sign = !next.is_empty() && next.chars().all(|c| matches!(c, '*' | '&'));
    let is_basic = |word: &str| BASIC.contains(&word.trim_end_matches('*'));
    let continues_basic = is_basic(next) && text.split(' ').all(is_basic);
    is_open(text) || GO_ON.contains(&last) || is_modifier || is_sign || continues_basic
}

/// Whether a bracket is still open. The arrow of a path or of a function's type closes none.
fn is_open(text: &str) -> bool {
    let text = text.replace("->", "");
    let count = |wanted: char| text.chars().filter(|c| *c == wanted).count();
    [('(', ')'), ('<', '>'), ('[', ']'), ('{', '}')]
        .iter()
        .any(|(open, close)| count(*open) > count(*close))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Arg> {
        line.split(' ').map(|word| Arg::Text(word.to_owned())).collect()
    }

    fn split_at(line: &str) -> (String, usize) {
        let words = words(line);
        let (text, rest) = split(&words).unwrap();
        (text, rest.len())
    }

    #[test]
    fn the_words_of_a_type_are_told_from_members() {
        let two = |text: &str, rest| (text.to_owned(), rest);
        assert_eq!(split_at("struct node n_id n_sub"), two("struct node", 2));
        assert_eq!(split_at("unsigned long int"), two("unsigned long int", 0));
        assert_eq!(split_at("unsigned char x"), two("unsigned char", 1));
        assert_eq!(split_at("char * [2]"), two("char *", 1));
        assert_eq!(split_at("const struct node n_id"), two("const struct node", 1));
        assert_eq!(split_at("node_t ->n_id"), two("node_t", 1));
        assert_eq!(
            split_at("std::map<int, std::string> size"),
            two("std::map<int, std::string>", 1)
        );
        assert_eq!(
            split_at("(anonymous namespace)::Hidden x"),
            two("(anonymous namespace)::Hidden", 1)
        );
        assert_eq!(split_at("a.out`struct node n_id"), two("a.out`struct node", 1));
        assert_eq!(split_at("a.out`unsigned long x"), two("a.out`unsigned long", 1));
        assert_eq!(split_at("int (*)(int, char) x"), two("int (*)(int, char)", 1));
        assert_eq!(split_at("&mut node::Tree left"), two("&mut node::Tree", 1));
        assert!(split(&[Arg::Number(8)]).is_none());
    }

    #[test]
    fn paths_keep_what_their_brackets_hold() {
        let texts: Vec<String> = paths(&words("((struct foo *)p)->x y->z a[1 + 2].b"))
            .iter()
            .map(Arg::to_text)
            .collect();
        assert_eq!(texts, ["((struct foo *)p)->x", "y->z", "a[1 + 2].b"]);
    }
}
