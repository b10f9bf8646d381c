//! Values of Lua on one line as a program would write them: `lstrlib.c` (`addquoted`), `lobject.c` (`tostringbuff`).
//!
//! A table has its elements from 1 on without their keys. What a program cannot write (functions, coroutines, userdata)
//! and what is not known stands in angle brackets, and dots stand for what is cut.

use kcore_dcmd::{
    Digits, ScriptCell, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest,
};

use super::scalar::safe;
use crate::{lines::Lines, number::Numbers};

/// Words that no name may be.
const RESERVED: &[&str] = &[
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

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
            (Some(scalar), _) => self.scalar(node, scalar),
            (None, Some(parts)) => {
                format!("{}{}", class.unwrap_or_default(), self.table(parts))
            }
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
            ScriptScalar::Note(note) => match node.class.as_deref() {
                Some(class) => format!("<{}: {}>", safe(class), safe(note)),
                None => format!("<{}>", safe(note)),
            },
            ScriptScalar::Address(at) => {
                format!("<{}: {}>", node.kind, Digits::new(at.get(), self.numbers.radix).as_str())
            }
            ScriptScalar::Elided => "{...}".to_owned(),
            // Lua's values have none of these.
            ScriptScalar::Symbol(_)
            | ScriptScalar::Points { .. }
            | ScriptScalar::Time(_)
            | ScriptScalar::Pattern { .. } => "...".to_owned(),
        }
    }

    fn table(self, parts: &ScriptParts) -> String {
        let inside: Vec<String> = parts.parts.iter().map(|part| self.part(part)).collect();
        let dots = parts.is_cut.then(|| "...".to_owned());
        format!("{{{}}}", inside.into_iter().chain(dots).collect::<Vec<_>>().join(", "))
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
            ScriptLabel::Name(name) if is_name(name) => format!("{name} = {value}"),
            ScriptLabel::Name(name) => format!("[\"{}\"] = {value}", escaped(name)),
            ScriptLabel::Entry(key) => format!("[{}] = {value}", self.node(key)),
            _ => value,
        }
    }
}

/// Whether a program may write a key without brackets.
fn is_name(text: &str) -> bool {
    let is_sign = |sign: char| sign == '_' || sign.is_ascii_alphanumeric();
    let begins = text.chars().next().is_some_and(|first| !first.is_ascii_digit());
    begins && text.chars().all(is_sign) && !RESERVED.contains(&text)
}

/// A number as `%.14g` has it, a whole one with `.0` behind.
fn float(number: f64) -> String {
    let text = match number {
        _ if number.is_nan() => return "nan".to_owned(),
        _ if number.is_infinite() => return if number > 0.0 { "inf" } else { "-inf" }.to_owned(),
        _ => general(number),
    };
    match text.contains(['.', 'e']) {
        true => text,
        false => format!("{text}.0"),
    }
}

/// `%.14g` of C.
fn general(number: f64) -> String {
    const DIGITS: i32 = 14;
    if number == 0.0 {
        return if number.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let scientific = format!("{number:.*e}", 13);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..DIGITS).contains(&exponent) {
        let places = usize::try_from(DIGITS.saturating_sub(1).saturating_sub(exponent));
        return trimmed(&format!("{number:.*}", places.unwrap_or_default())).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs())
}

fn trimmed(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// Text as a program would write it between quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for sign in text.chars() {
        match sign {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            sign if sign.is_ascii_control() => {
                escaped.push_str(&format!("\\{:03}", u32::from(sign)));
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
    fn numbers_are_spelled_as_lua_does() {
        // What `print` of 5.4 says.
        let told = [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (1e15, "1e+15"),
            (123_456.75, "123456.75"),
            (1e100, "1e+100"),
            (1.0 / 3.0, "0.33333333333333"),
            (2.5e-7, "2.5e-07"),
            (1e14, "1e+14"),
            (12_345_678_901_234.0, "12345678901234.0"),
        ];
        for (number, text) in told {
            assert_eq!(float(number), text);
        }
        assert_eq!((float(f64::INFINITY), float(f64::NAN)), ("inf".into(), "nan".into()));
    }

    #[test]
    fn names_and_text_are_told_apart() {
        assert!(is_name("_x1") && !is_name("end") && !is_name("1x") && !is_name("a b"));
        assert_eq!(escaped("a\"\\\n\u{1b}[0m"), "a\\\"\\\\\\n\\027[0m");
    }
}
