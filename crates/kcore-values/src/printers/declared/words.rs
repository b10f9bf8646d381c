//! Words with values in them: `{width} x {height}`, as natvis has them.

use std::{fmt::Write as _, sync::Arc};

use super::{
    PrinterExpression,
    scope::{PrinterScope, Trouble},
    show::{text, trouble},
};
use crate::{Content, Number, Text, eval::Evaluator, expression::word_of};

/// Bytes of words, at most.
const MAX_WORDS: usize = 4096;

/// Words with values in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordTemplate(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Words(Arc<str>),
    Value(PrinterExpression, Style),
}

/// How a value stands among words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Style {
    is_hexadecimal: bool,
    /// Characters up to a NUL, or so many.
    is_text: bool,
    is_bare: bool,
    length: Option<PrinterExpression>,
}

impl WordTemplate {
    /// The template that a text is, which stands at a line and a column of a file; `{{` and `}}` are braces. A `strict`
    /// one has no formats that are not known.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(template: &str, at: (usize, usize), strict: bool) -> Result<Self, String> {
        let mut parts = Vec::new();
        let (mut words, mut rest) = (String::new(), template);
        while let Some(brace) = rest.find(['{', '}']) {
            let (before, behind) = rest.split_at(brace);
            words.push_str(before);
            let twice = behind.starts_with("{{") || behind.starts_with("}}");
            if twice {
                words.extend(behind.chars().next());
                rest = behind.get(2..).unwrap_or_default();
                continue;
            }
            let inner = behind.strip_prefix('{').ok_or("a brace is closed that was not opened")?;
            let end = inner.find('}').ok_or("a brace is not closed")?;
            if !words.is_empty() {
                parts.push(Part::Words(std::mem::take(&mut words).into()));
            }
            parts.push(value(inner.get(..end).unwrap_or_default(), at, strict)?);
            rest = inner.get(end.saturating_add(1)..).unwrap_or_default();
        }
        words.push_str(rest);
        if !words.is_empty() {
            parts.push(Part::Words(words.into()));
        }
        Ok(Self(parts))
    }
}

impl WordTemplate {
    /// The expressions in it.
    pub fn expressions(&self) -> impl Iterator<Item = &PrinterExpression> {
        self.0.iter().filter_map(|part| match part {
            Part::Value(expression, _) => Some(expression),
            Part::Words(_) => None,
        })
    }
}

/// An expression, and behind its last comma how it is written.
fn value(inner: &str, at: (usize, usize), strict: bool) -> Result<Part, String> {
    let (text, style) = split(inner);
    let expression = PrinterExpression { text: text.trim().into(), line: at.0, column: at.1 };
    let style = style.map_or_else(|| Ok(Style::default()), |style| Style::of(style, at, strict));
    Ok(Part::Value(expression, style?))
}

/// Splits at the last comma that stands in no bracket and has a style behind it.
pub fn split(inner: &str) -> (&str, Option<&str>) {
    let mut depth = 0_usize;
    let mut comma = None;
    for (at, c) in inner.char_indices() {
        match c {
            '(' | '[' => depth = depth.saturating_add(1),
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => comma = Some(at),
            _ => {}
        }
    }
    match comma.and_then(|at| inner.split_at_checked(at)) {
        Some((text, style)) => (text, style.strip_prefix(',')),
        None => (inner, None),
    }
}

impl Style {
    fn of(style: &str, (line, column): (usize, usize), strict: bool) -> Result<Self, String> {
        let mut letters = style.trim();
        let mut length = None;
        if let Some(inner) = letters.strip_prefix('[')
            && let Some((count, behind)) = inner.rsplit_once(']')
        {
            length = Some(PrinterExpression { text: count.trim().into(), line, column });
            letters = behind;
        }
        let letters = letters.trim();
        let is_hexadecimal = matches!(letters, "x" | "X" | "h" | "H" | "xb" | "Xb");
        let is_characters =
            matches!(letters, "s" | "sb" | "s8" | "s8b" | "su" | "sub" | "s32" | "s32b");
        if strict && !is_hexadecimal && !is_characters && !matches!(letters, "" | "d") {
            return Err(format!("there is no format '{letters}'"));
        }
        Ok(Self {
            is_hexadecimal,
            is_text: length.is_some() && !is_hexadecimal || is_characters,
            is_bare: letters.ends_with('b') && letters.len() > 1,
            length,
        })
    }
}

/// What words say of an object; a text, where they are nothing but one.
pub fn content(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    template: &WordTemplate,
) -> Result<Content, Trouble> {
    if let [Part::Value(expression, style)] = template.0.as_slice() {
        let content = content_of(evaluator, scope, expression, style)?;
        if matches!(content, Content::Text(_)) {
            return Ok(content);
        }
    }
    let mut words = String::new();
    for part in &template.0 {
        match part {
            Part::Words(text) => words.push_str(text),
            Part::Value(expression, style) => {
                let content = content_of(evaluator, scope, expression, style)?;
                add(&mut words, &content, style);
            }
        }
        if words.len() > MAX_WORDS {
            return Err((0, "more than 4096 bytes of words".to_owned()));
        }
    }
    Ok(Content::Other(words))
}

fn content_of(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    expression: &PrinterExpression,
    style: &Style,
) -> Result<Content, Trouble> {
    if style.is_text {
        match text(evaluator, scope, expression, style.length.as_ref()) {
            Err(trouble) if style.length.is_some() => return Err(trouble),
            Err(_) => {}
            content => return content,
        }
    }
    let object = scope.object(expression)?;
    if style.is_hexadecimal {
        let word = word_of(scope.process, &object);
        let word = word.ok_or_else(|| trouble(expression, "a number is needed"))?;
        return Ok(Content::Integer(Number { bits: u128::from(word), size: 64, signed: false }));
    }
    Ok(evaluator.value(&object).content)
}

fn add(words: &mut String, content: &Content, style: &Style) {
    let written = match content {
        Content::Integer(number) if style.is_hexadecimal => write!(words, "{:#x}", number.bits),
        Content::Text(Text { text, is_cut: false, .. }) if style.is_bare => write!(words, "{text}"),
        content => write!(words, "{content}"),
    };
    // A string takes all.
    written.unwrap_or_default();
}
