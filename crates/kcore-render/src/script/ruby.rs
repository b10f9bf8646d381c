//! Values of Ruby on one line as `inspect` has them, to 3.3: `object.c`, `hash.c`, `string.c`, `numeric.c`.
//!
//! An object has its class and its variables, and no address unless those are wanted. What is not known stands in angle
//! brackets, and dots stand for what is cut.

use kcore_dcmd::{
    Digits, ScriptCell, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest,
};

use super::scalar::safe;
use crate::{lines::Lines, number::Numbers};

/// The value, without a newline at the end.
pub(super) fn written(mut out: Lines<'_, '_>, cell: &ScriptCell<'_>, numbers: Numbers) -> String {
    out.push(&Speller { addresses: cell.style.addresses, numbers }.node(&cell.node));
    out.finish()
}

/// How values are spelled.
#[derive(Clone, Copy)]
struct Speller {
    addresses: bool,
    numbers: Numbers,
}

impl Speller {
    fn node(self, node: &ScriptNode) -> String {
        let at = node.at.filter(|_| self.addresses);
        let at = at.map(|at| format!("{}: ", Digits::new(at.get(), self.numbers.radix).as_str()));
        format!("{}{}", at.unwrap_or_default(), self.value(node))
    }

    fn value(self, node: &ScriptNode) -> String {
        match (&node.scalar, &node.parts) {
            (None, Some(parts)) if node.is_variable() => {
                self.joined(parts, |part| self.assignment(part))
            }
            (Some(scalar), _) => self.scalar(node, scalar),
            (None, Some(parts)) => self.parts(node, parts),
            (None, None) => "<unknown>".to_owned(),
        }
    }

    fn scalar(self, node: &ScriptNode, scalar: &ScriptScalar) -> String {
        match scalar {
            ScriptScalar::Word(word) => (*word).to_owned(),
            ScriptScalar::Number(number) => float(*number),
            ScriptScalar::Integer(digits) => digits.to_string(),
            ScriptScalar::Text { text, rest } => format!("\"{}\"{}", escaped(text), behind(*rest)),
            ScriptScalar::Symbol(name) => symbol(name.as_deref().unwrap_or_default()),
            ScriptScalar::Function { word, name, .. } => {
                name.as_deref().map_or_else(|| format!("#<{word}>"), |name| safe(name).into_owned())
            }
            ScriptScalar::Note(note) => match node.class.as_deref() {
                Some(class) => format!("#<{}: {}>", safe(class), safe(note)),
                None => format!("<{}>", safe(note)),
            },
            ScriptScalar::Address(at) => {
                Digits::new(at.get(), self.numbers.radix).as_str().to_owned()
            }
            ScriptScalar::Elided => match node.kind {
                "array" => "[...]".to_owned(),
                "hash" => "{...}".to_owned(),
                _ => format!("#<{} ...>", node.class.as_deref().map_or("unknown".into(), safe)),
            },
            // Ruby's values have none of these.
            ScriptScalar::Points { .. } | ScriptScalar::Time(_) | ScriptScalar::Pattern { .. } => {
                "...".to_owned()
            }
        }
    }

    fn parts(self, node: &ScriptNode, parts: &ScriptParts) -> String {
        let inside = self.joined(parts, |part| self.part(part));
        let left = node.length.map(|length| length.saturating_sub(parts.parts.len() as u64));
        let more = match (parts.is_cut, left) {
            (false, _) => String::new(),
            (true, None) => "...".to_owned(),
            (true, Some(left)) => format!("... {left} more"),
        };
        let comma = if inside.is_empty() || more.is_empty() { "" } else { ", " };
        match node.kind {
            "array" => format!("[{inside}{comma}{more}]"),
            "hash" => format!("{{{inside}{comma}{more}}}"),
            _ => {
                let class = node.class.as_deref().map_or("unknown".into(), safe);
                let blank = if inside.is_empty() && more.is_empty() { "" } else { " " };
                format!("#<{class}{blank}{inside}{comma}{more}>")
            }
        }
    }

    fn joined(self, parts: &ScriptParts, spell: impl Fn(&ScriptPart) -> String) -> String {
        parts.parts.iter().map(spell).collect::<Vec<_>>().join(", ")
    }

    fn assignment(self, part: &ScriptPart) -> String {
        let ScriptLabel::Name(name) = &part.label else { return self.node(&part.value) };
        format!("{} = {}", safe(name), self.node(&part.value))
    }

    fn part(self, part: &ScriptPart) -> String {
        let value = self.node(&part.value);
        match &part.label {
            ScriptLabel::Name(name) => format!("{}={value}", safe(name)),
            ScriptLabel::Entry(key) => format!("{}=>{value}", self.node(key)),
            _ => value,
        }
    }
}

/// A symbol, in quotes unless it is a name or an operator.
fn symbol(name: &str) -> String {
    const OPERATORS: &[&str] = &[
        "+", "-", "*", "/", "%", "**", "==", "!=", "===", "=~", "!~", "!", "<", "<=", ">", ">=",
        "<=>", "<<", ">>", "&", "|", "^", "~", "[]", "[]=", "+@", "-@", "`",
    ];
    let bare = name.trim_start_matches("@@").trim_start_matches(['@', '$']);
    let bare = bare.strip_suffix(['?', '!', '=']).unwrap_or(bare);
    let is_sign = |sign: char| sign == '_' || sign.is_alphanumeric();
    let begins = bare.chars().next().is_some_and(|first| is_sign(first) && !first.is_ascii_digit());
    match begins && bare.chars().all(is_sign) || OPERATORS.contains(&name) {
        true => format!(":{name}"),
        false => format!(":\"{}\"", escaped(name)),
    }
}

/// Text as `String#inspect` has it but for its quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let short = match sign {
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\x0c' => "\\f",
            '\x0b' => "\\v",
            '\x08' => "\\b",
            '\x07' => "\\a",
            '\x1b' => "\\e",
            '"' => "\\\"",
            '\\' => "\\\\",
            '#' if matches!(signs.peek(), Some('{' | '$' | '@')) => "\\#",
            _ => "",
        };
        match sign {
            _ if !short.is_empty() => escaped.push_str(short),
            '\0'..' ' | '\x7f' => escaped.push_str(&format!("\\x{:02X}", u32::from(sign))),
            _ => escaped.push_str(&super::python::escaped(std::iter::once(u32::from(sign)))),
        }
    }
    safe(&escaped).into_owned()
}

const fn behind(rest: TextRest) -> &'static str {
    match rest {
        TextRest::None => "",
        TextRest::Cut => "...",
        TextRest::Unreadable => "... <unreadable>",
    }
}

/// A number as `Float#to_s` has it: `flo_to_s` in `numeric.c`.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let text = super::python::float(value);
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_ruby_does() {
        let spelled = [1.0, -0.0, 0.1, 1e16, 1.5e-7, 1e-5, 123_456.789, f64::INFINITY].map(float);
        let ruby =
            ["1.0", "-0.0", "0.1", "1.0e+16", "1.5e-07", "1.0e-05", "123456.789", "Infinity"];
        assert_eq!(spelled, ruby);
    }

    #[test]
    fn text_and_symbols_are_spelled_as_ruby_does() {
        assert_eq!(
            escaped("a\"b\\\n\u{1b}#{x} #1 größe\0"),
            "a\\\"b\\\\\\n\\e\\#{x} #1 größe\\x00"
        );
        let spelled = ["a", "b?", "[]=", "@x", "a b", "1a", "größe", "+"].map(symbol);
        assert_eq!(spelled, [":a", ":b?", ":[]=", ":@x", ":\"a b\"", ":\"1a\"", ":größe", ":+"]);
    }
}
