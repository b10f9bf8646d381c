//! Names of D: `_D3std5stdio7writelnFAyaZv` is `std.stdio.writeln`.
//!
//! By <https://dlang.org/spec/abi.html#name_mangling> as `d-demangle.c` of libiberty (GCC 12) reads it. What is not read to
//! its end is no name: a C function may begin like one.

mod cursor;
mod types;
mod values;

use self::cursor::Cursor;
use super::Plain;

/// Names that the compiler makes, as libiberty shows them.
const SPECIALS: [(&str, &str); 2] = [("__ctor", "this"), ("__dtor", "~this")];

const ARTIFICIALS: [(&str, &str); 5] = [
    ("__init", "initializer"),
    ("__vtbl", "vtable"),
    ("__Class", "ClassInfo"),
    ("__Interface", "Interface"),
    ("__ModuleInfo", "ModuleInfo"),
];

/// The names in `text`; `None` where it is no such name.
pub fn demangle(text: &str) -> Option<Plain> {
    if text == "_Dmain" {
        return Some(Plain { function: "D main".to_owned(), full: "D main".to_owned() });
    }
    let read = |parameters| {
        let mut cursor = Cursor::new(text, parameters);
        let name = mangled(&mut cursor)?;
        cursor.is_at_end().then_some(name)
    };
    Some(Plain { function: read(false)?, full: read(true)? })
}

/// `_D`, a path, and a type, which is not shown.
fn mangled(cursor: &mut Cursor<'_>) -> Option<String> {
    cursor.word("_D")?;
    let name = path(cursor, true)?;
    if cursor.take(b'Z').is_some() {
        return Some(artificial(name));
    }
    cursor.quiet(types::any)?;
    Some(name)
}

/// What the compiler makes for a type or module, which has no type of its own.
fn artificial(name: String) -> String {
    let found = ARTIFICIALS.iter().find_map(|(last, what)| {
        let of = name.strip_suffix(last)?.strip_suffix('.')?;
        Some(format!("{what} for {of}"))
    });
    found.unwrap_or(name)
}

/// Names, each within the one before; functions with their parameters. `outermost` is whether the attributes of
/// methods stand behind.
fn path(cursor: &mut Cursor<'_>, outermost: bool) -> Option<String> {
    let mut out = String::new();
    loop {
        while cursor.take(b'0').is_some() {}
        let name = cursor.deeper(|cursor| identifier(cursor))?;
        if !name.is_empty() {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&name);
        }
        parameters(cursor, &mut out, outermost);
        cursor.bound(&name)?;
        if !is_name(cursor) {
            return (!out.is_empty()).then_some(out);
        }
    }
}

/// The parameters of a function within a path. At the end of the name they are a type with a result.
fn parameters(cursor: &mut Cursor<'_>, out: &mut String, outermost: bool) {
    let mut ahead = cursor.clone();
    let mut read = || {
        let modifiers = match ahead.take(b'M') {
            Some(()) => types::modifiers(&mut ahead),
            None => String::new(),
        };
        types::convention(&mut ahead)?;
        types::attributes(&mut ahead)?;
        let shown = types::parameters(&mut ahead)?;
        Some((shown, modifiers)).filter(|_| !ahead.is_at_end())
    };
    let Some((shown, modifiers)) = read() else { return };
    cursor.go_on_from(&ahead);
    if cursor.shows_parameters() {
        out.push_str(&shown);
        if outermost {
            out.push_str(&modifiers);
        }
    }
}

/// Whether a name follows.
fn is_name(cursor: &Cursor<'_>) -> bool {
    match cursor.peek() {
        Some(b'0'..=b'9') => true,
        Some(b'_') => cursor.begins("__T") || cursor.begins("__U"),
        Some(b'Q') => {
            cursor.referred().is_some_and(|target| matches!(target.peek(), Some(b'0'..=b'9')))
        }
        _ => false,
    }
}

/// One name; empty for a parent that only tells things of one name apart.
fn identifier(cursor: &mut Cursor<'_>) -> Option<String> {
    if cursor.peek() == Some(b'Q') {
        let mut target = cursor.back_reference()?;
        matches!(target.peek(), Some(b'0'..=b'9')).then_some(())?;
        return identifier(&mut target);
    }
    if cursor.begins("__T") || cursor.begins("__U") {
        return instance(cursor);
    }
    let len = cursor.number()?;
    let mut name = cursor.part(len)?;
    if len >= 5 && (name.begins("__T") || name.begins("__U")) {
        let shown = instance(&mut name)?;
        return name.is_at_end().then_some(shown);
    }
    let text = name.rest();
    let is_told_apart = text.strip_prefix("__S").is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    });
    if is_told_apart {
        return Some(String::new());
    }
    let is_plain = |letter: char| letter.is_alphanumeric() || letter == '_';
    (!text.is_empty() && text.chars().all(is_plain)).then_some(())?;
    let special = SPECIALS.iter().find(|(raw, _)| *raw == text);
    Some(special.map_or(text, |(_, shown)| shown).to_owned())
}

/// An instance of a template with its arguments.
fn instance(cursor: &mut Cursor<'_>) -> Option<String> {
    cursor.word("__T").or_else(|| cursor.word("__U"))?;
    let name = cursor.deeper(|cursor| identifier(cursor)).filter(|name| !name.is_empty())?;
    let mut arguments: Vec<String> = Vec::new();
    while cursor.take(b'Z').is_none() {
        // An argument for which the template is specialized is marked.
        let _ = cursor.take(b'H');
        let argument = cursor.deeper(|cursor| values::argument(cursor))?;
        cursor.bound(&argument)?;
        arguments.push(argument);
    }
    Some(format!("{name}!({})", arguments.join(", ")))
}

#[cfg(test)]
mod tests;
