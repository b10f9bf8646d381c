//! Values of Perl on one line as `Data::Dumper` would write them, with its double quotes (`qquote`).
//!
//! An array and a hash that a variable has stand in parentheses, what a reference leads to between brackets or braces. What
//! a program cannot write and what is not known stands in angle brackets, and dots stand for what is cut.

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
        let value = self.value(node);
        let value = match node.class.as_deref() {
            // A pattern is an object by its nature.
            Some("Regexp") if node.kind == "pattern" => value,
            Some(class) => format!("bless({value}, \"{}\")", escaped(class)),
            None => value,
        };
        format!("{}{value}", at.unwrap_or_default())
    }

    fn value(self, node: &ScriptNode) -> String {
        let (open, close) = match node.kind {
            "list" | "pairs" => ("(", ")"),
            "hash" => ("{", "}"),
            "reference" => ("\\ ", ""),
            _ => ("[", "]"),
        };
        match (&node.scalar, &node.parts) {
            (None, Some(parts)) if node.is_variable() => self.assignments(parts),
            (Some(ScriptScalar::Elided), _) => format!("{open}...{close}"),
            (Some(scalar), _) => self.scalar(node, scalar),
            (None, Some(parts)) => format!("{open}{}{close}", self.inside(parts)),
            (None, None) => "<unknown>".to_owned(),
        }
    }

    fn scalar(self, node: &ScriptNode, scalar: &ScriptScalar) -> String {
        match scalar {
            ScriptScalar::Word(word) => (*word).to_owned(),
            ScriptScalar::Number(number) => float(*number),
            ScriptScalar::Integer(digits) => digits.to_string(),
            ScriptScalar::Text { text, rest } if node.kind == "pattern" => {
                format!("qr/{}/{}", safe(text), behind(*rest))
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
            // Perl's values have none of these.
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
            ScriptLabel::Name(name) if is_word(name) => format!("{name} => {value}"),
            ScriptLabel::Name(name) => format!("\"{}\" => {value}", escaped(name)),
            _ => value,
        }
    }
}

/// Whether a program may write a key without quotes.
fn is_word(text: &str) -> bool {
    let is_sign = |sign: char| sign == '_' || sign.is_ascii_alphanumeric();
    let begins = text.chars().next().is_some_and(|first| !first.is_ascii_digit());
    begins && text.chars().all(is_sign)
}

/// A number as Perl prints it: `%.15g`.
fn float(number: f64) -> String {
    const DIGITS: i32 = 15;
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{number:.*e}", 14);
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

/// Text as a program would write it between double quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for sign in text.chars() {
        match sign {
            '"' | '\\' | '$' | '@' => {
                escaped.push('\\');
                escaped.push(sign);
            }
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\u{1b}' => escaped.push_str("\\e"),
            sign if sign.is_ascii_control() || ('\u{80}'..'\u{100}').contains(&sign) => {
                escaped.push_str(&format!("\\x{{{:x}}}", u32::from(sign)));
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
    fn numbers_are_spelled_as_perl_does() {
        // What `print` of 5.36 says.
        let told = [
            (1.0, "1"),
            (0.1, "0.1"),
            (1e15, "1e+15"),
            (123_456.75, "123456.75"),
            (1e100, "1e+100"),
            (1.0 / 3.0, "0.333333333333333"),
            (2.5e-7, "2.5e-07"),
            (999_999_999_999_999.0, "999999999999999"),
            (-2.5, "-2.5"),
        ];
        for (number, text) in told {
            assert_eq!(float(number), text);
        }
        assert_eq!((float(f64::INFINITY), float(f64::NAN)), ("Inf".into(), "NaN".into()));
    }

    #[test]
    fn text_cannot_end_its_quotes() {
        assert_eq!(escaped("a\"\\\n$x@y\u{1b}[0m"), "a\\\"\\\\\\n\\$x\\@y\\e[0m");
    }
}
