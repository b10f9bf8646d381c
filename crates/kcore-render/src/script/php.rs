//! Values of PHP on one line: arrays as a program would write them, numbers and strings as `var_export` and double quotes
//! have them (`smart_str.c`, `var.c`).
//!
//! An object has its class and its properties in braces. What a program cannot write and what is not known stands in angle
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
        let class = node.class.as_deref().map(|class| format!("{} ", safe(class)));
        match (&node.scalar, &node.parts) {
            (None, Some(parts)) if node.is_variable() => self.assignments(parts),
            (Some(ScriptScalar::Elided), _) => match class {
                Some(class) => format!("{class}{{...}}"),
                None => "[...]".to_owned(),
            },
            (Some(scalar), _) => self.scalar(node, scalar),
            (None, Some(parts)) => match class {
                Some(class) => format!("{class}{{{}}}", self.inside(parts)),
                None => format!("[{}]", self.inside(parts)),
            },
            (None, None) => "<unknown>".to_owned(),
        }
    }

    fn scalar(self, node: &ScriptNode, scalar: &ScriptScalar) -> String {
        match scalar {
            ScriptScalar::Word(word) => (*word).to_owned(),
            ScriptScalar::Number(number) => float(*number),
            ScriptScalar::Integer(digits) => digits.to_string(),
            // The runtime spelled it, so that no byte was lost.
            ScriptScalar::Text { text, rest } if node.kind == "binary" => {
                format!("\"{}\"{}", safe(text), behind(*rest))
            }
            ScriptScalar::Text { text, rest } => format!("\"{}\"{}", escaped(text), behind(*rest)),
            ScriptScalar::Function { word, name, file, line } => {
                let place = file.as_deref().zip(*line);
                let place = place.map(|(file, line)| format!(" {}:{line}", safe(file)));
                let name = name.as_deref().map(|name| format!(" {}", safe(name)));
                format!("<{word}{}{}>", name.unwrap_or_default(), place.unwrap_or_default())
            }
            ScriptScalar::Note(note) => format!("<{}>", safe(note)),
            ScriptScalar::Address(at) => {
                format!("<{}: {}>", node.kind, Digits::new(at.get(), self.numbers.radix).as_str())
            }
            // PHP's values have none of these.
            ScriptScalar::Elided
            | ScriptScalar::Symbol(_)
            | ScriptScalar::Points { .. }
            | ScriptScalar::Time(_)
            | ScriptScalar::Pattern { .. } => "...".to_owned(),
        }
    }

    fn inside(self, parts: &ScriptParts) -> String {
        let inside: Vec<String> = parts.parts.iter().map(|part| self.part(part)).collect();
        let dots = parts.is_cut.then(|| "...".to_owned());
        inside.into_iter().chain(dots).collect::<Vec<_>>().join(", ")
    }

    fn assignments(self, parts: &ScriptParts) -> String {
        let spelled = parts.parts.iter().map(|part| match &part.label {
            ScriptLabel::Name(name) => format!("{} = {}", safe(name), self.node(&part.value)),
            _ => self.node(&part.value),
        });
        spelled.collect::<Vec<_>>().join(", ")
    }

    fn part(self, part: &ScriptPart) -> String {
        let value = self.node(&part.value);
        match &part.label {
            ScriptLabel::Name(name) => format!("{}: {value}", safe(name)),
            ScriptLabel::Entry(key) => format!("{} => {value}", self.node(key)),
            _ => value,
        }
    }
}

/// A number as `var_export` has it: with as many digits as tell it from others.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "NAN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "INF" } else { "-INF" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..17).contains(&exponent) || number == 0.0 {
        let text = format!("{number}");
        return if text.contains('.') { text } else { format!("{text}.0") };
    }
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}E{sign}{}", exponent.unsigned_abs())
}

/// Text as a program would write it between double quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for sign in text.chars() {
        match sign {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '$' => escaped.push_str("\\$"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            sign if sign.is_ascii_control() => {
                escaped.push_str(&format!("\\x{:02x}", u32::from(sign)));
            }
            sign => escaped.push_str(&safe(sign.encode_utf8(&mut [0; 4]))),
        }
    }
    escaped
}

/// What stands behind text that goes on.
const fn behind(rest: TextRest) -> &'static str {
    match rest {
        TextRest::None => "",
        TextRest::Cut => "...",
        TextRest::Unreadable => "... <unreadable>",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_php_does() {
        // What `var_export` of 8.2 says.
        let told = [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (1e15, "1000000000000000.0"),
            (123_456.75, "123456.75"),
            (1e100, "1.0E+100"),
            (1.0 / 3.0, "0.3333333333333333"),
            (2.5e-7, "2.5E-7"),
            (1e14, "100000000000000.0"),
            (1e17, "1.0E+17"),
            (0.0001, "0.0001"),
            (0.00001, "1.0E-5"),
            (1.5e300, "1.5E+300"),
        ];
        for (number, text) in told {
            assert_eq!(float(number), text);
        }
        assert_eq!((float(f64::INFINITY), float(f64::NAN)), ("INF".into(), "NAN".into()));
    }

    #[test]
    fn text_cannot_end_its_quotes() {
        assert_eq!(escaped("a\"\\\n$x\u{1b}[0m"), "a\\\"\\\\\\n\\$x\\x1b[0m");
    }
}
