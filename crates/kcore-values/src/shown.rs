//! A value as one line of text, for programs that have no other use for its parts.
//!
//! It reads like an initializer of C. Characters of the target are escaped, so that they cannot reach a terminal.

use std::fmt::{self, Write as _};

use crate::{
    Content, Elements, Entry, EnumNames, EnumValue, Field, Number, Pointee, Pointer, SymbolName,
    Text, Value, VariantValue,
};

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.content.fmt(f)
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(why) => write!(f, "<{}>", why.to_string().escape_debug()),
            Self::Elided => f.write_str("..."),
            Self::Integer(number) => number.fmt(f),
            Self::Character(code) => match char::from_u32(*code) {
                Some(character) => write!(f, "{character:?}"),
                None => code.fmt(f),
            },
            Self::Bool(number) => match number.bits {
                0 => f.write_str("false"),
                1 => f.write_str("true"),
                _ => number.fmt(f),
            },
            Self::Float(float) => float.value.fmt(f),
            Self::Complex(real, imaginary) => write!(f, "{}{:+}i", real.value, imaginary.value),
            Self::Enum(value) => value.fmt(f),
            Self::Pointer(pointer) => pointer.fmt(f),
            Self::Function(symbol) => match symbol {
                Some(symbol) => symbol.fmt(f),
                None => f.write_str("<function>"),
            },
            Self::Text(text) => text.fmt(f),
            Self::Bytes(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Self::Fields(fields) => braced(f, fields, None),
            Self::Elements(Elements { values, total }) => braced(f, values, *total),
            Self::Entries { entries, total } => braced(f, entries, *total),
            Self::Variant(variant) => variant.fmt(f),
            Self::Meant(meant) => match meant.is_number() {
                true => write!(f, "{} ({})", meant.of, meant.words.escape_debug()),
                false => meant.words.escape_debug().fmt(f),
            },
            Self::Empty => f.write_str("{}"),
            Self::Other(words) => words.chars().try_for_each(|c| match c {
                '"' | '\'' => f.write_char(c),
                c => c.escape_debug().fmt(f),
            }),
        }
    }
}

/// Items in braces, and `...` if there are more than these.
fn braced<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    total: Option<u64>,
) -> fmt::Result {
    f.write_str("{")?;
    for (index, item) in items.iter().enumerate() {
        let before = if index == 0 { "" } else { ", " };
        write!(f, "{before}{item}")?;
    }
    let is_cut = total.is_some_and(|total| total > items.len() as u64);
    f.write_str(if is_cut { ", ...}" } else { "}" })
}

impl fmt::Display for Number {
    /// In decimal; a number that has no sign and more than 127 bits in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Some(value) => value.fmt(f),
            None => write!(f, "{:#x}", self.bits),
        }
    }
}

impl fmt::Display for EnumValue {
    /// The name, or the number if it has none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = EnumNames::of(&self.names);
        let name = names.zip(self.number.value());
        match name.and_then(|(names, number)| names.decoded(number, false)) {
            Some(name) => name.escape_debug().fmt(f),
            None => self.number.fmt(f),
        }
    }
}

impl fmt::Display for Pointer {
    /// The address, and what is known of what lies there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) => write!(f, "{:#x}", to.get())?,
            None => f.write_str("<nowhere>")?,
        }
        if let Some(symbol) = &self.symbol {
            write!(f, " <{symbol}>")?;
        }
        match (&self.text, &self.pointee) {
            (Some(text), _) => write!(f, " {text}"),
            (None, Some(Pointee::Value(value))) => write!(f, " -> {value}"),
            (None, _) => Ok(()),
        }
    }
}

impl fmt::Display for SymbolName {
    /// ``module`name+0x10``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(module) = &self.module {
            write!(f, "{}`", module.escape_debug())?;
        }
        self.name.escape_debug().fmt(f)?;
        if self.offset == 0 { Ok(()) } else { write!(f, "+{:#x}", self.offset) }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"{}", self.text.escape_debug(), if self.is_cut { "..." } else { "" })
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} = {}", name.escape_debug(), self.value),
            None => self.value.fmt(f),
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.value)
    }
}

impl fmt::Display for VariantValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.escape_debug().fmt(f)?;
        if self.fields.is_empty() { Ok(()) } else { braced(f, &self.fields, None) }
    }
}
