//! Values of Python as `repr` has them: on one line where that is wide enough, else a line for each part.
//!
//! What `repr` has no words for is built as a call: a class, and attributes as keyword arguments; what is cut
//! or not known ends with dots or stands in angle brackets.

use kcore_dcmd::{
    Digits, ScriptCell, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest,
};

mod layout;

use super::scalar::safe;
use crate::lines::Lines;
use crate::number::Numbers;
use layout::{Item, Laid};

/// The value, without a newline at the end.
pub(super) fn written(mut out: Lines<'_, '_>, cell: &ScriptCell<'_>, numbers: Numbers) -> String {
    let speller = Speller { addresses: cell.style.addresses, numbers };
    layout::write(&mut out, speller, &cell.node, cell.style.indent);
    out.finish()
}

/// How values are spelled.
#[derive(Clone, Copy)]
struct Speller {
    addresses: bool,
    numbers: Numbers,
}

impl Speller {
    /// What a value consists of: text, or parts within brackets.
    fn laid(self, node: &ScriptNode) -> Laid<'_> {
        match (&node.scalar, &node.parts) {
            (None, Some(parts)) if node.is_variable() => {
                Laid::Row(parts.parts.iter().map(assignment).collect())
            }
            (Some(ScriptScalar::Elided), _) => Laid::Text(elided(node)),
            (Some(scalar), parts) => self.beside(node, scalar, parts.as_ref()),
            (None, Some(parts)) => self.parts(node, parts),
            (None, None) => Laid::Text("<unknown>".to_owned()),
        }
    }

    /// What stands before a value.
    fn address(self, node: &ScriptNode) -> Option<String> {
        let at = node.at.filter(|_| self.addresses)?;
        Some(format!("{}: ", Digits::new(at.get(), self.numbers.radix).as_str()))
    }

    /// A scalar, with the attributes beside it as further arguments of its class. An object of which nothing but its base
    /// is known has its class before it without attributes too.
    fn beside<'n>(
        self,
        node: &'n ScriptNode,
        scalar: &'n ScriptScalar,
        parts: Option<&'n ScriptParts>,
    ) -> Laid<'n> {
        let value = self.scalar(node, scalar);
        let is_object = node.kind == "object";
        let has_some = |parts: &&ScriptParts| !parts.parts.is_empty() || parts.is_cut || is_object;
        let Some(parts) = parts.filter(has_some) else {
            return Laid::Text(self.wrapped(node, &value));
        };
        let mut items = vec![Item::Text(value)];
        items.extend(parts.parts.iter().map(item));
        items.extend(parts.is_cut.then(|| Item::Text("...".to_owned())));
        Laid::Group { open: called(node), items, last: "", close: ")".to_owned() }
    }

    /// A list or dict, with the attributes beside its items as further arguments of its class.
    fn items_beside<'n>(self, node: &'n ScriptNode, parts: &'n ScriptParts) -> Option<Laid<'n>> {
        let is_named = |part: &&ScriptPart| matches!(part.label, ScriptLabel::Name(_));
        let (open, close) = signs(node)?;
        let names: Vec<Item<'_>> = parts.parts.iter().filter(is_named).map(item).collect();
        (!names.is_empty()).then_some(())?;
        let mut items: Vec<Item<'_>> =
            parts.parts.iter().filter(|part| !is_named(part)).map(item).collect();
        let left = node.length.map(|length| length.saturating_sub(items.len() as u64));
        let is_whole = left.is_none_or(|left| left == 0);
        let more = left.filter(|_| !is_whole).map(|left| format!("... {left} more"));
        items.extend(more.map(Item::Text));
        let is_empty_set = matches!(node.kind, "set" | "frozenset") && items.is_empty();
        let last = if node.kind == "tuple" && items.len() == 1 { "," } else { "" };
        let (open, close) = (open.to_owned(), close.to_owned());
        let value = Item::Laid(Box::new(Laid::Group { open, items, last, close }));
        let mut items: Vec<Item<'_>> = (!is_empty_set).then_some(value).into_iter().collect();
        items.extend(names);
        items.extend((parts.is_cut && is_whole).then(|| Item::Text("...".to_owned())));
        Some(Laid::Group { open: called(node), items, last: "", close: ")".to_owned() })
    }

    /// A scalar of a class that is derived from a builtin one.
    fn wrapped(self, node: &ScriptNode, value: &str) -> String {
        let class = node.class.as_deref().filter(|class| {
            ["int", "float", "str", "bytes"].contains(&node.kind) && *class != node.kind
        });
        class.map_or_else(|| value.to_owned(), |class| format!("{}({value})", safe(class)))
    }

    fn scalar(self, node: &ScriptNode, scalar: &ScriptScalar) -> String {
        match scalar {
            ScriptScalar::Word(word) => (*word).to_owned(),
            ScriptScalar::Number(number) => float(*number),
            ScriptScalar::Integer(digits) => digits.to_string(),
            ScriptScalar::Text { text, rest } => {
                let text = if node.kind == "bytes" { in_quotes(text, "b") } else { quoted(text) };
                format!("{text}{}", behind(*rest))
            }
            ScriptScalar::Points { points, rest } => {
                format!("{}{}", in_quotes(&escaped(points.iter().copied()), ""), behind(*rest))
            }
            ScriptScalar::Function { word, name, file, line } => {
                let name = name.as_deref().map_or("<anonymous>".into(), safe);
                let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                let place = file.as_deref().map(|file| format!(" at {}{line}", safe(file)));
                format!("<{word} {name}{}>", place.unwrap_or_default())
            }
            ScriptScalar::Note(note) => format!("<{}>", safe(note)),
            ScriptScalar::Address(at) => {
                Digits::new(at.get(), self.numbers.radix).as_str().to_owned()
            }
            // Python has none.
            ScriptScalar::Symbol(_)
            | ScriptScalar::Time(_)
            | ScriptScalar::Pattern { .. }
            | ScriptScalar::Elided => "...".to_owned(),
        }
    }

    fn parts<'n>(self, node: &'n ScriptNode, parts: &'n ScriptParts) -> Laid<'n> {
        if let Some(both) = self.items_beside(node, parts) {
            return both;
        }
        let (open, close) = brackets(node);
        let mut items: Vec<Item<'_>> = parts.parts.iter().map(item).collect();
        items.extend(more(node, parts).map(Item::Text));
        if matches!(node.kind, "set" | "frozenset") && items.is_empty() {
            let class = node.class.as_deref().map_or(node.kind.into(), safe);
            return Laid::Text(format!("{class}()"));
        }
        let last = if node.kind == "tuple" && items.len() == 1 { "," } else { "" };
        Laid::Group { open, items, last, close }
    }
}

/// A name and its value.
fn assignment(part: &ScriptPart) -> Item<'_> {
    let name = match &part.label {
        ScriptLabel::Name(name) => safe(name),
        _ => "".into(),
    };
    Item::Node { prefix: format!("{name} = "), node: &part.value }
}

/// A part as it stands within brackets.
fn item(part: &ScriptPart) -> Item<'_> {
    let node = &part.value;
    let prefix = match &part.label {
        ScriptLabel::Name(name) | ScriptLabel::Private(name) | ScriptLabel::Symbol(name) => {
            format!("{}=", safe(name))
        }
        ScriptLabel::Fact(name) => format!("{name}="),
        ScriptLabel::Entry(key) => return Item::Entry { key, value: node },
        ScriptLabel::Index(_) | ScriptLabel::Item => String::new(),
    };
    Item::Node { prefix, node }
}

/// A call of the class of a value, up to its arguments.
fn called(node: &ScriptNode) -> String {
    format!("{}(", node.class.as_deref().map_or("<unknown>".into(), safe))
}

/// The brackets of a kind.
fn signs(node: &ScriptNode) -> Option<(&'static str, &'static str)> {
    Some(match node.kind {
        "list" => ("[", "]"),
        "tuple" => ("(", ")"),
        "set" | "frozenset" | "dict" => ("{", "}"),
        _ => return None,
    })
}

/// What stands round the parts of a value.
fn brackets(node: &ScriptNode) -> (String, String) {
    let (open, close) = signs(node).unwrap_or_default();
    let class = node.class.as_deref();
    let is_plain = class == Some(node.kind) && node.kind != "frozenset" || class.is_none();
    match is_plain && !open.is_empty() {
        true => (open.to_owned(), close.to_owned()),
        false => {
            let class = class.map_or("<unknown>".into(), safe);
            (format!("{class}({open}"), format!("{close})"))
        }
    }
}

fn elided(node: &ScriptNode) -> String {
    let (open, close) = brackets(node);
    format!("{open}...{close}")
}

/// What stands for parts that are not told.
fn more(node: &ScriptNode, parts: &ScriptParts) -> Option<String> {
    parts.is_cut.then(|| {
        let left = node.length.map(|length| length.saturating_sub(parts.parts.len() as u64));
        left.map_or("...".to_owned(), |left| format!("... {left} more"))
    })
}

const fn behind(rest: TextRest) -> &'static str {
    match rest {
        TextRest::None => "",
        TextRest::Cut => "...",
        TextRest::Unreadable => "... <unreadable>",
    }
}

/// Text in quotes, single ones unless it holds those alone: `unicode_repr` in `Objects/unicodeobject.c`.
fn quoted(text: &str) -> String {
    in_quotes(&escaped(text.chars().map(u32::from)), "")
}

/// Code points as `repr` has them but for quotes.
pub(crate) fn escaped(points: impl Iterator<Item = u32>) -> String {
    let mut escaped = String::new();
    for point in points {
        match (point, char::from_u32(point)) {
            (_, Some('\n')) => escaped.push_str("\\n"),
            (_, Some('\r')) => escaped.push_str("\\r"),
            (_, Some('\t')) => escaped.push_str("\\t"),
            (_, Some('\\')) => escaped.push_str("\\\\"),
            (_, Some(sign)) if is_printable(sign) => escaped.push(sign),
            (..0x100, _) => escaped.push_str(&format!("\\x{point:02x}")),
            (..0x1_0000, _) => escaped.push_str(&format!("\\u{point:04x}")),
            _ => escaped.push_str(&format!("\\U{point:08x}")),
        }
    }
    escaped
}

/// `str.isprintable`: neither of the categories Cc, Cf, Cs, Co, Cn, Zl and Zp, nor of Zs but for a blank. Those are what
/// the standard library escapes in a `str` for debugging (`core::unicode::printable`), but for quotes and backslashes, and
/// but for marks at its beginning. Which characters are assigned depends on the version of Unicode: a CPython older than
/// this program escapes some that are shown here.
fn is_printable(sign: char) -> bool {
    let is_plain = |sign| matches!(sign, ' '..='~');
    let as_it_is = |sign: char| {
        let mut text = String::from("a");
        text.push(sign);
        text.escape_debug().eq(text.chars())
    };
    is_plain(sign) || as_it_is(sign)
}

/// What is escaped but for its quotes.
fn in_quotes(escaped: &str, prefix: &str) -> String {
    let safe = safe(escaped);
    match safe.contains('\'') && !safe.contains('"') {
        true => format!("{prefix}\"{safe}\""),
        false => format!("{prefix}'{}'", safe.replace('\'', "\\'")),
    }
}

/// A number as `float.__repr__` has it: the shortest that reads as the same, with an exponent below 1e-4 and
/// from 1e16 on. `Python/pystrtod.c`.
pub(crate) fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_python_does() {
        let spelled = [1.0, -0.0, 0.1, 1e16, 1.5e-7, 123_456.789, 1e22, f64::NAN].map(float);
        let python = ["1.0", "-0.0", "0.1", "1e+16", "1.5e-07", "123456.789", "1e+22", "nan"];
        assert_eq!(spelled, python);
    }

    #[test]
    fn what_is_not_printable_is_spelled_by_its_number() {
        // As CPython 3.15 has them: format characters, separators, private and unassigned ones, marks.
        let text =
            "\u{80}\u{ad}\u{378}\u{200b}\u{2028}\u{202e}\u{3000}\u{e000}\u{feff}\u{10ffff}🦀ÿ";
        let python = r"'\x80\xad\u0378\u200b\u2028\u202e\u3000\ue000\ufeff\U0010ffff🦀ÿ'";
        assert_eq!(quoted(text), python);
        assert_eq!(quoted("a\u{301}"), "'a\u{301}'");
        assert_eq!(escaped([0x61, 0xdcfb, 0x10000].into_iter()), "a\\udcfb𐀀");
    }

    #[test]
    fn text_stands_in_the_quotes_that_it_does_not_hold() {
        assert_eq!(
            [quoted("a'b"), quoted("a\"b'"), quoted("é\n\u{7f}")],
            ["\"a'b\"", "'a\"b\\''", "'é\\n\\x7f'"]
        );
        assert_eq!(in_quotes("\\x00'", "b"), "b\"\\x00'\"");
    }
}
