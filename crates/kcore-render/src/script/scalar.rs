//! What a value says within a line.

use std::borrow::Cow;

use kcore_dcmd::{Dialect, ScriptNode, ScriptScalar, TextRest, iso_time};

use super::{Writer, number};
use crate::sanitize;

/// The class of characters of Java that are objects.
const CHARACTER: &str = "java.lang.Character";

impl Writer<'_, '_> {
    /// The class of an object, if it is worth telling: not that of all objects, of what says it by its
    /// brackets, or by itself.
    pub(super) fn class(&self, node: &ScriptNode) -> Option<String> {
        let class = node.class.as_deref()?;
        let usual = match self.style.dialect {
            Dialect::JavaScript => match node.kind {
                "array" => "Array",
                "function" => "Function",
                "date" => "Date",
                "regexp" => "RegExp",
                _ => "Object",
            },
            Dialect::Python | Dialect::Ruby | Dialect::Lua | Dialect::Perl | Dialect::Php => {
                node.kind
            }
            // What these are is seen by what stands for them.
            Dialect::Java if matches!(node.kind, "string" | "boxed" | "class") => class,
            Dialect::Java => "",
        };
        // `AsyncFunction`, `GeneratorFunction`: it is called a function anyway.
        let is_usual = class == usual || node.kind == "function" && class.ends_with(usual);
        (!is_usual).then(|| safe(class).into_owned())
    }

    /// What a value says: one character of Java has quotes of its own.
    pub(super) fn scalar_of(&self, node: &ScriptNode, scalar: &ScriptScalar) -> String {
        let is_character = self.style.dialect == Dialect::Java
            && (node.kind == "char" || node.class.as_deref() == Some(CHARACTER));
        match scalar {
            ScriptScalar::Text { text, .. } if is_character => character(text),
            ScriptScalar::Points { points, .. } if is_character => {
                format!("'{}'", super::python::escaped(points.iter().copied()))
            }
            scalar => self.scalar(scalar),
        }
    }

    fn scalar(&self, scalar: &ScriptScalar) -> String {
        match scalar {
            ScriptScalar::Word(word) => (*word).to_owned(),
            ScriptScalar::Number(value) => match self.style.dialect {
                Dialect::JavaScript => number::javascript(*value),
                Dialect::Java if !value.is_finite() => number::javascript(*value),
                Dialect::Python
                | Dialect::Ruby
                | Dialect::Lua
                | Dialect::Perl
                | Dialect::Php
                | Dialect::Java => super::python::float(*value),
            },
            ScriptScalar::Integer(digits) => match self.style.dialect {
                Dialect::JavaScript => format!("{digits}n"),
                Dialect::Python
                | Dialect::Ruby
                | Dialect::Lua
                | Dialect::Perl
                | Dialect::Php
                | Dialect::Java => digits.to_string(),
            },
            ScriptScalar::Text { text, rest } => format!("{}{}", quoted(text), behind(*rest)),
            ScriptScalar::Points { points, rest } => {
                format!("\"{}\"{}", super::python::escaped(points.iter().copied()), behind(*rest))
            }
            ScriptScalar::Symbol(Some(name)) if self.style.dialect == Dialect::Java => {
                safe(name).into_owned()
            }
            ScriptScalar::Symbol(description) => symbol(description.as_deref()),
            ScriptScalar::Function { word, name, .. } => {
                format!("{word} {}", name.as_deref().map_or("<anonymous>".into(), safe))
            }
            ScriptScalar::Time(since_1970) => time(*since_1970),
            ScriptScalar::Pattern { source, flags } => format!("/{}/{}", safe(source), safe(flags)),
            ScriptScalar::Address(at) => {
                kcore_dcmd::Digits::new(at.get(), self.numbers.radix).as_str().to_owned()
            }
            ScriptScalar::Elided => "[...]".to_owned(),
            ScriptScalar::Note(note) => format!("<{}>", safe(note)),
        }
    }
}

/// Milliseconds, and what they mean.
fn time(since_1970: f64) -> String {
    let number = number::javascript(since_1970);
    let meant = iso_time(since_1970).unwrap_or_else(|| "invalid".to_owned());
    format!("{number} ({meant})")
}

/// What stands behind text that goes on.
const fn behind(rest: TextRest) -> &'static str {
    match rest {
        TextRest::None => "",
        TextRest::Cut => "...",
        TextRest::Unreadable => "... <unreadable>",
    }
}

/// A character as Java's sources have it.
fn character(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "\\'");
    format!("'{}'", safe(&escaped))
}

/// Text in quotes, in which it can hold quotes.
pub(super) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", safe(&escaped))
}

pub(super) fn symbol(description: Option<&str>) -> String {
    format!("Symbol({})", safe(description.unwrap_or_default()))
}

pub(super) fn safe(text: &str) -> Cow<'_, str> {
    sanitize::line(text)
}
