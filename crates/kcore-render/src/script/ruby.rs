//! Values of Ruby on one line as `inspect` has them, to 3.3: `object.c`, `hash.c`, `string.c`, `numeric.c`.
//!
//! An object has its class and its variables, and no address unless those are wanted. What is not known stands in angle
//! brackets, and dots stand for what is cut.

use kcore_dcmd::{
    Digits, ScriptCell, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest,
    iso_time,
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
            // The runtime spelled it, so that no byte was lost.
            ScriptScalar::Text { text, rest } if node.kind == "binary" => {
                format!("\"{}\"{}", safe(text), behind(*rest))
            }
            ScriptScalar::Text { text, rest } => format!("\"{}\"{}", escaped(text), behind(*rest)),
            ScriptScalar::Symbol(name) => symbol(name.as_deref().unwrap_or_default()),
            ScriptScalar::Function { word, file, line, .. } if node.kind == "proc" => {
                proc(node, word, file.as_deref().zip(*line))
            }
            ScriptScalar::Function { word, name, .. } => {
                name.as_deref().map_or_else(|| format!("#<{word}>"), |name| safe(name).into_owned())
            }
            ScriptScalar::Note(note) => match node.class.as_deref() {
                Some(class) if node.kind == "io" => format!("#<{}:{}>", safe(class), safe(note)),
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
            ScriptScalar::Points { .. } => "...".to_owned(),
            ScriptScalar::Time(since_1970) => time(*since_1970),
            ScriptScalar::Pattern { source, flags } => format!("/{}/{flags}", pattern(source)),
        }
    }

    fn parts(self, node: &ScriptNode, parts: &ScriptParts) -> String {
        if let Some(whole) = self.of_facts(node, parts) {
            return whole;
        }
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
            kind @ ("struct" | "data") => {
                let class = node.class.as_deref().map(|class| format!(" {}", safe(class)));
                let blank = if inside.is_empty() && more.is_empty() { "" } else { " " };
                format!("#<{kind}{}{blank}{inside}{comma}{more}>", class.unwrap_or_default())
            }
            _ => {
                let class = node.class.as_deref().map_or("unknown".into(), safe);
                let blank = if inside.is_empty() && more.is_empty() { "" } else { " " };
                format!("#<{class}{blank}{inside}{comma}{more}>")
            }
        }
    }

    /// What is not a list of named parts to a program: numbers of two parts, ranges, exceptions.
    fn of_facts(self, node: &ScriptNode, parts: &ScriptParts) -> Option<String> {
        let (first, others) = parts.parts.split_first()?;
        let second = others.first();
        match node.kind {
            "complex" => {
                let imaginary = self.node(&second?.value);
                let sign = if imaginary.starts_with('-') { "" } else { "+" };
                Some(format!("({}{sign}{imaginary}i)", self.node(&first.value)))
            }
            "rational" => {
                Some(format!("({}/{})", self.node(&first.value), self.node(&second?.value)))
            }
            "range" => Some(self.range(&first.value, &second?.value, &others.get(1)?.value)),
            "exception" => Some(self.exception(node, &first.value, others)),
            _ => None,
        }
    }

    /// `range_inspect` of `range.c`.
    fn range(self, begin: &ScriptNode, end: &ScriptNode, exclusive: &ScriptNode) -> String {
        let is_word = |node: &ScriptNode, word| node.scalar == Some(ScriptScalar::Word(word));
        let (starts, ends) = (!is_word(begin, "nil"), !is_word(end, "nil"));
        let shown = |is_shown, node| if is_shown { self.node(node) } else { String::new() };
        let dots = if is_word(exclusive, "true") { "..." } else { ".." };
        format!("{}{dots}{}", shown(starts || !ends, begin), shown(ends || !starts, end))
    }

    fn exception(self, node: &ScriptNode, message: &ScriptNode, others: &[ScriptPart]) -> String {
        let message = match &message.scalar {
            Some(ScriptScalar::Text { text, .. }) => safe(text).into_owned(),
            _ => self.node(message),
        };
        let class = node.class.as_deref().map_or("unknown".into(), safe);
        let others: String = others.iter().map(|part| format!(", {}", self.part(part))).collect();
        format!("#<{class}: {message}{others}>")
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
            ScriptLabel::Fact(name) => format!("{name}: {value}"),
            ScriptLabel::Entry(key) => format!("{}=>{value}", self.node(key)),
            _ => value,
        }
    }
}

/// A block that became an object, with its place.
fn proc(node: &ScriptNode, word: &str, place: Option<(&str, u32)>) -> String {
    let class = node.class.as_deref().map_or("Proc".into(), safe);
    let place = place.map(|(file, line)| format!(" {}:{line}", safe(file)));
    let word = if word == "lambda" { " (lambda)" } else { "" };
    format!("#<{class}{}{word}>", place.unwrap_or_default())
}

/// A time as one of UTC is spelled.
fn time(since_1970: f64) -> String {
    match iso_time(since_1970) {
        Some(text) => text.replace('T', " ").replace('Z', " UTC"),
        None => format!("<{since_1970} ms since 1970>"),
    }
}

/// The source of a regular expression between slashes: `rb_reg_expr_str` of `re.c`.
fn pattern(source: &str) -> String {
    let mut spelled = String::new();
    let mut is_escaped = false;
    for sign in source.chars() {
        match sign {
            '/' if !is_escaped => spelled.push_str("\\/"),
            '\n' => spelled.push_str("\\n"),
            sign => spelled.push(sign),
        }
        is_escaped = sign == '\\' && !is_escaped;
    }
    safe(&spelled).into_owned()
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
            '\0'..' ' | '\x7f' => escaped.push_str(&format!("\\u{:04X}", u32::from(sign))),
            _ => escaped.push_str(&unlike_python(sign)),
        }
    }
    safe(&escaped).into_owned()
}

/// A character itself where it can be printed, as Python has it, and otherwise its number as Ruby spells that.
fn unlike_python(sign: char) -> String {
    let point = u32::from(sign);
    let text = super::python::escaped(std::iter::once(point));
    match (text.starts_with('\\'), point) {
        (false, _) => text,
        (true, ..0x1_0000) => format!("\\u{point:04X}"),
        (true, _) => format!("\\u{{{point:X}}}"),
    }
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
            "a\\\"b\\\\\\n\\e\\#{x} #1 größe\\u0000"
        );
        assert_eq!(escaped("\u{85}\u{2028}\u{fffff}"), "\\u0085\\u2028\\u{FFFFF}");
        let spelled = ["a", "b?", "[]=", "@x", "a b", "1a", "größe", "+"].map(symbol);
        assert_eq!(spelled, [":a", ":b?", ":[]=", ":@x", ":\"a b\"", ":\"1a\"", ":größe", ":+"]);
    }
}
