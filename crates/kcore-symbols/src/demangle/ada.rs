//! Names of GNAT: `store__shelf__put__2` is `store.shelf.put`.
//!
//! By `exp_dbug.ads` of GCC 12, section "Encoding of names", as `ada_demangle` of libiberty reads it. Nothing tells such a
//! name from one of C: who asks must know that the code is Ada.

use super::Plain;

const OPERATORS: &[(&str, &str)] = &[
    ("Oabs", "abs"),
    ("Oand", "and"),
    ("Omod", "mod"),
    ("Onot", "not"),
    ("Oor", "or"),
    ("Orem", "rem"),
    ("Oxor", "xor"),
    ("Oeq", "="),
    ("One", "/="),
    ("Olt", "<"),
    ("Ole", "<="),
    ("Ogt", ">"),
    ("Oge", ">="),
    ("Oadd", "+"),
    ("Osubtract", "-"),
    ("Oconcat", "&"),
    ("Omultiply", "*"),
    ("Odivide", "/"),
    ("Oexpon", "**"),
];
const SPECIALS: &[(&str, &str)] = &[
    ("_elabb", "'Elab_Body"),
    ("_elabs", "'Elab_Spec"),
    ("_size", "'Size"),
    ("_alignment", "'Alignment"),
    ("_assign", ".\":=\""),
];
const CONTROLLED: &[(&str, &str)] = &[("DF", ".Finalize"), ("DA", ".Adjust")];
const STREAMS: &[(&str, &str)] =
    &[("SR", "'Read"), ("SW", "'Write"), ("SI", "'Input"), ("SO", "'Output")];

/// The names in `text`; `None` where it is no such name.
pub fn demangle(text: &str) -> Option<Plain> {
    let mut rest = text.strip_prefix("_ada_").unwrap_or(text);
    rest.starts_with(|letter: char| letter.is_ascii_lowercase()).then_some(())?;
    let mut out = String::new();
    loop {
        rest = entity(rest, &mut out)?;
        match rest.strip_prefix("TK") {
            Some("B") => break,
            Some(inner) => {
                rest = inner.strip_prefix("__")?;
                out.push('.');
                continue;
            }
            None => {}
        }
        if matches!(rest, "P" | "N") {
            break;
        }
        rest = without_nesting(rest);
        if let Some((after, shown)) = listed(STREAMS, rest).filter(|(after, _)| ends(after)) {
            out.push_str(shown);
            rest = after;
        } else if let Some((after, shown)) = listed(CONTROLLED, rest) {
            out.push_str(shown);
            numbered(after).is_empty().then_some(())?;
            break;
        }
        match separated(rest, &mut out)? {
            Separated::Next(after) => rest = after,
            Separated::Last(after) => {
                without_subprogram(after).is_empty().then_some(())?;
                break;
            }
        }
    }
    Some(Plain { full: out.clone(), function: out })
}

/// A name in lower case, or an operator.
fn entity<'t>(text: &'t str, out: &mut String) -> Option<&'t str> {
    if let Some((rest, shown)) = listed(OPERATORS, text) {
        out.push('"');
        out.push_str(shown);
        out.push('"');
        return Some(rest);
    }
    let bytes = text.as_bytes();
    let is_of_name = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut len = 0_usize;
    while let Some(byte) = bytes.get(len)
        && (is_of_name(byte)
            || (*byte == b'_' && bytes.get(len.checked_add(1)?).is_some_and(is_of_name)))
    {
        len = len.checked_add(1)?;
    }
    let begins = |name: &str| name.starts_with(|letter: char| letter.is_ascii_lowercase());
    let (name, rest) = text.split_at_checked(len).filter(|(name, _)| begins(name))?;
    out.push_str(name);
    Some(rest)
}

/// What stands behind the number of one of several things of one name (`__2`, `__2_1`), and behind the mark of what is
/// nested in a body.
fn numbered(text: &str) -> &str {
    let starts = |text: &str| text.starts_with(|digit: char| digit.is_ascii_digit());
    let Some(mut rest) = text.strip_prefix("__").filter(|rest| starts(rest)) else {
        return without_nesting(text);
    };
    rest = without_digits(rest);
    while let Some(more) = rest.strip_prefix('_').filter(|more| starts(more)) {
        rest = without_digits(more);
    }
    without_nesting(rest)
}

enum Separated<'t> {
    /// A name follows.
    Next(&'t str),
    /// Nothing but the mark of a nested subprogram may follow.
    Last(&'t str),
}

fn separated<'t>(text: &'t str, out: &mut String) -> Option<Separated<'t>> {
    let Some(rest) = text.strip_prefix("__") else {
        let Some(entry) = text.strip_prefix("_B").or_else(|| text.strip_prefix("_E")) else {
            return Some(Separated::Last(text));
        };
        return (without_digits(entry) == "s").then_some(Separated::Last(""));
    };
    if rest.starts_with(|digit: char| digit.is_ascii_digit()) {
        return Some(Separated::Last(numbered(text)));
    }
    if rest.starts_with('_') && !rest.starts_with("__") {
        let (after, shown) = listed(SPECIALS, rest)?;
        out.push_str(shown);
        return Some(Separated::Last(numbered(after)));
    }
    out.push('.');
    Some(Separated::Next(rest))
}

fn listed<'t>(list: &[(&str, &'static str)], text: &'t str) -> Option<(&'t str, &'static str)> {
    list.iter().find_map(|(word, shown)| Some((text.strip_prefix(word)?, *shown)))
}

fn ends(text: &str) -> bool {
    text.is_empty() || text.starts_with('_')
}

fn without_digits(text: &str) -> &str {
    text.trim_start_matches(|digit: char| digit.is_ascii_digit())
}

/// Without the mark of what is nested in a body: `Xb`, `Xnb`.
fn without_nesting(text: &str) -> &str {
    text.strip_prefix('X').map_or(text, |rest| rest.trim_start_matches(['n', 'b']))
}

fn without_subprogram(text: &str) -> &str {
    let number =
        text.strip_prefix('.').filter(|rest| rest.starts_with(|it: char| it.is_ascii_digit()));
    number.map_or(text, without_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_libiberty() {
        let cases = [
            ("_ada_main", "main"),
            ("store__shelf__put", "store.shelf.put"),
            ("store__put__2", "store.put"),
            ("store__inner__3Xb", "store.inner"),
            ("store__Oadd", "store.\"+\""),
            ("store__Oeq__2", "store.\"=\""),
            ("store__workerTKB", "store.worker"),
            ("store__workerTK__step", "store.worker.step"),
            ("store__thingSR", "store.thing'Read"),
            ("store__thingDF", "store.thing.Finalize"),
            ("store__thingDA__2Xn", "store.thing.Adjust"),
            ("store___size__2", "store'Size"),
            ("store___elabb", "store'Elab_Body"),
            ("main__nested.12", "main.nested"),
            ("store__box__put_B7s", "store.box.put"),
            ("store__box__getP", "store.box.get"),
        ];
        for (raw, shown) in cases {
            assert_eq!(demangle(raw).map(|found| found.function).as_deref(), Some(shown), "{raw}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        for raw in [
            "",
            "Main",
            "_start",
            "store__",
            "store__Put",
            "store__fooE",
            "store___other",
            "a.b",
            "x__1y",
        ] {
            assert_eq!(demangle(raw), None, "{raw}");
        }
    }
}
