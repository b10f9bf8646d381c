//! Values of Python as `repr` has them: on one line where that is wide enough, else a line for each part.
//!
//! What `repr` has no words for is built as a call: a class, and attributes as keyword arguments; what is cut
//! or not known ends with dots or stands in angle brackets.

use kcore_dcmd::{
    Digits, Rest, ScriptCell, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar,
};

use super::{TAB, scalar::safe};
use crate::number::Numbers;

/// Columns of a line.
const WIDTH: usize = 100;

/// The value, without a newline at the end.
pub(super) fn text(cell: &ScriptCell<'_>, numbers: Numbers) -> String {
    let writer = Writer { addresses: cell.style.addresses, numbers };
    writer.node(&cell.node, cell.style.indent)
}

/// How values are written.
#[derive(Clone, Copy)]
struct Writer {
    addresses: bool,
    numbers: Numbers,
}

impl Writer {
    /// A value, whose further lines begin at `margin`.
    fn node(self, node: &ScriptNode, margin: usize) -> String {
        let address = node
            .at
            .filter(|_| self.addresses)
            .map(|at| format!("{}: ", Digits::new(at.get(), self.numbers.radix).as_str()));
        let value = match (&node.scalar, &node.parts) {
            (None, Some(parts)) if node.kind == "variable" => {
                parts.parts.iter().map(|part| self.assignment(part, margin)).collect()
            }
            (Some(ScriptScalar::Elided), _) => elided(node),
            (Some(scalar), _) => self.wrapped(node, &self.scalar(node, scalar)),
            (None, Some(parts)) => self.parts(node, parts, margin),
            (None, None) => "<unknown>".to_owned(),
        };
        format!("{}{value}", address.unwrap_or_default())
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

    fn parts(self, node: &ScriptNode, parts: &ScriptParts, margin: usize) -> String {
        let (open, close) = brackets(node);
        let inner = margin.saturating_add(TAB);
        let mut lines: Vec<String> =
            parts.parts.iter().map(|part| self.part(part, inner)).collect();
        lines.extend(more(node, parts));
        let empty = matches!(node.kind, "set" | "frozenset") && lines.is_empty();
        if empty {
            return format!("{}()", node.class.as_deref().map_or(node.kind.into(), safe));
        }
        let last = if node.kind == "tuple" && lines.len() == 1 { "," } else { "" };
        let line = format!("{open}{}{last}{close}", lines.join(", "));
        let fits = margin.saturating_add(line.chars().count()) <= WIDTH && !line.contains('\n');
        if fits || lines.is_empty() {
            return line;
        }
        let blanks = " ".repeat(inner);
        let lines: String = lines.iter().map(|line| format!("\n{blanks}{line},")).collect();
        format!("{open}{lines}\n{}{close}", " ".repeat(margin))
    }

    /// A name and its value.
    fn assignment(self, part: &ScriptPart, margin: usize) -> String {
        let name = match &part.label {
            ScriptLabel::Name(name) => safe(name),
            _ => "".into(),
        };
        format!("{name} = {}", self.node(&part.value, margin))
    }

    fn part(self, part: &ScriptPart, margin: usize) -> String {
        let value = self.node(&part.value, margin);
        match &part.label {
            ScriptLabel::Name(name) | ScriptLabel::Private(name) | ScriptLabel::Symbol(name) => {
                format!("{}={value}", safe(name))
            }
            ScriptLabel::Fact(name) => format!("{name}={value}"),
            ScriptLabel::Entry(key) => format!("{}: {value}", self.node(key, margin)),
            ScriptLabel::Index(_) | ScriptLabel::Item => value,
        }
    }
}

/// What stands round the parts of a value.
fn brackets(node: &ScriptNode) -> (String, String) {
    let (open, close) = match node.kind {
        "list" => ("[", "]"),
        "tuple" => ("(", ")"),
        "set" | "frozenset" | "dict" => ("{", "}"),
        _ => ("", ""),
    };
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

const fn behind(rest: Rest) -> &'static str {
    match rest {
        Rest::None => "",
        Rest::Cut => "...",
        Rest::Unreadable => "... <unreadable>",
    }
}

/// Text in quotes, single ones unless it holds those alone: `unicode_repr` in `Objects/unicodeobject.c`.
fn quoted(text: &str) -> String {
    let mut escaped = String::new();
    for sign in text.chars() {
        match sign {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\\' => escaped.push_str("\\\\"),
            sign if sign.is_control() => escaped.push_str(&format!("\\x{:02x}", u32::from(sign))),
            sign => escaped.push(sign),
        }
    }
    in_quotes(&escaped, "")
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
    fn text_stands_in_the_quotes_that_it_does_not_hold() {
        assert_eq!(
            [quoted("a'b"), quoted("a\"b'"), quoted("é\n\u{7f}")],
            ["\"a'b\"", "'a\"b\\''", "'é\\n\\x7f'"]
        );
        assert_eq!(in_quotes("\\x00'", "b"), "b\"\\x00'\"");
    }
}
