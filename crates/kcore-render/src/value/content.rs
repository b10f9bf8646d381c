//! What a value says, within a line or as a block of lines.

use std::borrow::Cow;

use kcore_dcmd::{ValueForm, binary_exponential, c_exponential};
use kcore_symbols::{Language, Type, TypeKind};
use kcore_values::{Absent, Content, Elements, FloatValue, Meant, Value, VariantValue, WideFloat};

use super::{Writer, character};
use crate::sanitize;

/// Digits behind the point of numbers up to a double, where more are not needed, and of longer ones.
const DIGITS: usize = 7;
const LONG_DIGITS: usize = 16;

impl Writer<'_, '_> {
    /// Writes what a value says. `joined` is the path that the names of its members begin with.
    pub(super) fn content(&mut self, value: &Value, joined: Option<&str>, margin: usize) {
        if self.is_block(value) {
            match self.style.form {
                ValueForm::Lines { .. } => self.block(value, joined, margin),
                ValueForm::Inline => self.push(elided(value)),
            }
            return;
        }
        let text = self.within_line(value);
        self.push(&text);
    }

    /// Whether a value takes lines of its own.
    pub(super) fn is_block(&self, value: &Value) -> bool {
        match &value.content {
            Content::Fields(fields) => {
                let is_declared = fields.is_empty() && is_declared(&value.ty);
                self.internet_address(value).is_none() && !is_declared
            }
            Content::Elements(elements) => elements.values.iter().any(|value| self.is_part(value)),
            Content::Entries { entries, .. } => !entries.is_empty(),
            Content::Variant(variant) => match self.only_scalar(variant) {
                Some(_) => false,
                None => !variant.fields.is_empty(),
            },
            Content::Pointer(pointer) => {
                super::pointer::pointee(pointer).is_some_and(|pointee| self.is_block(pointee))
            }
            _ => false,
        }
    }

    /// Whether an element makes an array one of structures or arrays, which have a line each.
    fn is_part(&self, value: &Value) -> bool {
        let is_array = || behind_aliases(&value.ty).is_some_and(|ty| is_array(&ty));
        let is_elements = matches!(value.content, Content::Elements(_));
        is_elements || self.is_block(value) || is_structure(value) || is_array()
    }

    /// The member of a variant that has no other, if it has no name and takes no lines.
    pub(super) fn only_scalar<'v>(&self, variant: &'v VariantValue) -> Option<&'v Value> {
        let [field] = variant.fields.as_slice() else { return None };
        let is_unnamed = field.name.as_deref().is_none_or(|name| name == "0");
        (is_unnamed && !self.is_block(&field.value)).then_some(&field.value)
    }

    /// What a value says that takes no lines of its own.
    pub(super) fn within_line(&self, value: &Value) -> String {
        if let Some(ty) = only_declared(value) {
            return undefined(&ty);
        }
        match &value.content {
            Content::Absent(why) => absent(why),
            Content::Elided => elided(value).to_owned(),
            Content::Integer(number) => self.integer(value, number),
            Content::Character(code) => character::quoted(*code, value.ty.size()),
            Content::Bool(number) => match number.bits {
                0 => "false".to_owned(),
                1 => "true".to_owned(),
                _ => self.plain_integer(number),
            },
            Content::Float(float) => exponential(float),
            Content::Complex(real, imaginary) => {
                format!("{}{}i", exponential(real), exponential(imaginary))
            }
            Content::Enum(number) => self.enumeration(number),
            Content::Pointer(pointer) => self.pointer(value, pointer),
            Content::Function(symbol) => self.symbol_or_address(symbol.as_ref(), value.at),
            Content::Text(text) => {
                let quoted = character::text(text);
                let is_array = behind_aliases(&value.ty).is_some_and(|ty| is_array_of_c(&ty));
                if is_array { format!("[ {quoted} ]") } else { quoted }
            }
            Content::Bytes(bytes) => format!("[ {} ]", character::bytes(bytes)),
            Content::Fields(_) => self.internet_address(value).unwrap_or_else(|| "{}".to_owned()),
            Content::Elements(elements) => self.scalars(value, elements),
            Content::Entries { entries, total } if *total != Some(entries.len() as u64) => {
                "{ ... }".to_owned()
            }
            Content::Entries { .. } | Content::Empty => "{}".to_owned(),
            Content::Variant(variant) => match self.only_scalar(variant) {
                Some(only) => format!("{}({})", safe(&variant.name), self.within_line(only)),
                None => safe(&variant.name).into_owned(),
            },
            Content::Meant(meant) => self.meant(value, meant),
            Content::Other(words) => format!("<{}>", sanitize::line(words)),
        }
    }

    /// `0x5a (90s)`, `2024-02-29`.
    fn meant(&self, value: &Value, meant: &Meant) -> String {
        let words = safe(&meant.words);
        if !meant.is_number() {
            return words.into_owned();
        }
        let plain = Value { content: (*meant.of).clone(), ..value.clone() };
        format!("{} ({words})", self.within_line(&plain))
    }

    /// `[ 0x1, 0x2, ... ]`
    fn scalars(&self, value: &Value, elements: &Elements) -> String {
        let shown: Vec<String> =
            elements.values.iter().map(|value| self.within_line(value)).collect();
        let is_all = elements.total == Some(elements.values.len() as u64);
        if is_of_fortran(value, elements) && !shown.is_empty() {
            let rest = if is_all { "" } else { ", ..." };
            return format!("({}{rest})", shown.join(", "));
        }
        match (shown.is_empty(), is_all) {
            (true, true) => "[]".to_owned(),
            (true, _) => "[ ... ]".to_owned(),
            (false, true) => format!("[ {} ]", shown.join(", ")),
            (false, false) => format!("[ {}, ... ]", shown.join(", ")),
        }
    }
}

/// Whether an array, or what it consists of, is of Fortran, which has its arrays in parentheses.
fn is_of_fortran(value: &Value, elements: &Elements) -> bool {
    let is_one = |ty: &Type| ty.language() == Some(Language::Fortran);
    is_one(&value.ty) || elements.values.first().is_some_and(|value| is_one(&value.ty))
}

/// Whether it is a structure whatever was read of it.
pub(super) fn is_structure(value: &Value) -> bool {
    matches!(value.content, Content::Fields(_))
        || matches!(value.content, Content::Elided)
            && behind_aliases(&value.ty).is_some_and(|ty| ty.composite().is_some())
}

/// The type behind typedefs and qualifiers.
pub(super) fn behind_aliases(ty: &Type) -> Option<Type> {
    ty.stripped().ok()
}

/// Whether a type is an array that only its characters make a text.
fn is_array_of_c(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Array(array) if array.layout.is_none())
}

fn is_array(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Array(_))
}

/// Whether a type has no definition.
fn is_declared(ty: &Type) -> bool {
    behind_aliases(ty).is_some_and(|ty| ty.node().is_declaration)
}

/// The type of a value of which nothing could be read because no module defines it.
pub(super) fn only_declared(value: &Value) -> Option<Type> {
    let declared = behind_aliases(&value.ty).filter(|ty| ty.node().is_declaration);
    declared.filter(|_| says_nothing(&value.content))
}

/// Whether a type is one of C++'s standard library, which programs use and do not define.
pub(super) fn is_of_std(ty: &Type) -> bool {
    ty.qualified_name().is_some_and(|name| name.starts_with("std::"))
}

/// What stands for a value whose type no module defines. Users of a standard library do not know that its types
/// are declared somewhere: clang leaves those out that it expects in the debug information of the library.
fn undefined(ty: &Type) -> String {
    let name = sanitize::line(&ty.spelled()).into_owned();
    match is_of_std(ty) {
        true if ty.is_of_clang() => format!(
            "<no debug information defines {name}; clang writes it only with -fstandalone-debug>"
        ),
        true => format!("<no debug information defines {name}>"),
        false => format!("<forward declaration of {name}>"),
    }
}

/// Whether nothing could be read of a type that is only declared.
fn says_nothing(content: &Content) -> bool {
    match content {
        Content::Absent(_) | Content::Elided | Content::Empty | Content::Other(_) => true,
        Content::Fields(fields) => fields.is_empty(),
        _ => false,
    }
}

/// What stands for a value that a limit hides, or that has no room on its line.
fn elided(value: &Value) -> &'static str {
    let is_list =
        matches!(value.content, Content::Elements(_) | Content::Text(_) | Content::Bytes(_));
    let kind = behind_aliases(&value.ty);
    match kind.as_ref().map(Type::kind) {
        Some(TypeKind::Array(_)) => "[ ... ]",
        _ if is_list => "[ ... ]",
        Some(TypeKind::Composite(_)) | None => "{ ... }",
        Some(_) => "...",
    }
}

fn absent(why: &Absent) -> String {
    format!("<{}>", sanitize::line(&why.to_string()))
}

fn exponential(float: &FloatValue) -> String {
    match &float.wide {
        Some(wide) => {
            let sign = if float.value.is_sign_negative() { '-' } else { '+' };
            format!("{sign}{}", wide_exponential(wide))
        }
        None if float.size > 8 => c_exponential(float.value, LONG_DIGITS),
        None => c_exponential(float.value, digits(float).max(DIGITS)),
    }
}

/// Digits behind the point that tell a number from all others of its type.
#[expect(clippy::cast_possible_truncation, reason = "a float was read as one")]
fn digits(float: &FloatValue) -> usize {
    let shortest = match float.size {
        4 => format!("{:e}", float.value as f32),
        _ => format!("{:e}", float.value),
    };
    let mantissa = shortest.split('e').next().unwrap_or_default();
    mantissa.split_once('.').map_or(0, |(_, behind)| behind.len())
}

/// The magnitude of a number that is wider than a double, with as many digits as tell it from its neighbours.
pub(crate) fn wide_exponential(wide: &WideFloat) -> String {
    let digits = usize::from(wide.digits).saturating_sub(1);
    binary_exponential(wide.significand, wide.power, digits)
}

pub(super) fn safe(text: &str) -> Cow<'_, str> {
    sanitize::line(text)
}
