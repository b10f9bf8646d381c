//! Values of types as cells: what was read of an object, and how it is to look.

use std::borrow::Cow;

use kcore::{Endian, Value};

/// A value with its name, and how it is to look.
///
/// Text lays it out as MDB's `::print` does; JSON is a tree whatever the style is.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueCell<'a> {
    /// What stands before it: the name of a variable, the path of a member; empty for a value alone.
    pub name: Cow<'a, str>,
    /// The value.
    pub value: Cow<'a, Value>,
    /// How text shows it.
    pub style: ValueStyle,
}

impl<'a> ValueCell<'a> {
    /// A value with a name, which may be empty.
    pub fn new(name: impl Into<Cow<'a, str>>, value: &'a Value, style: ValueStyle) -> Self {
        Self { name: name.into(), value: Cow::Borrowed(value), style }
    }
}

/// How text shows a value: the options of `::print`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueStyle {
    /// On lines, or on one.
    pub form: ValueForm,
    /// Whether there are values: without them the layout of the type alone is shown.
    pub values: bool,
    /// `-a`: addresses stand before all else.
    pub addresses: bool,
    /// `-t`, `-T`: what is said of types.
    pub types: TypeNames,
    /// `-d`, `-x`: how integers are written.
    pub integers: Integers,
    /// `-n`: pointers are numbers, without symbols and texts.
    pub plain_pointers: bool,
    /// What stands between the name and those of the members, which then begin with it: `.` or `->`.
    pub joint: Option<&'static str>,
    /// The order of bytes in the target: internet addresses are bytes, whatever their type says.
    pub endian: Endian,
}

/// Whether a value may take several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// Structures have a line for each member. All lines begin with so many blanks.
    Lines {
        /// Blanks before each line.
        indent: usize,
    },
    /// One line: structures are `{ ... }`, and the name is followed by `=` without blanks.
    Inline,
}

/// What is said of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeNames {
    /// Nothing.
    Hidden,
    /// The type as declared.
    Declared,
    /// And behind a typedef the type that it stands for, as in `id_t <<int>>`.
    WithBase,
}

/// How integers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integers {
    /// In hexadecimal; signed bit-fields and enumerations in decimal, times and internet addresses as
    /// such.
    #[default]
    Natural,
    /// In decimal.
    Decimal,
    /// In hexadecimal, all of them.
    Hexadecimal,
}

impl ValueStyle {
    /// That of `::print` without options, for a target of this byte order.
    pub const fn lines(endian: Endian) -> Self {
        Self {
            form: ValueForm::Lines { indent: 0 },
            values: true,
            addresses: false,
            types: TypeNames::Hidden,
            integers: Integers::Natural,
            plain_pointers: false,
            joint: None,
            endian,
        }
    }

    /// That of an argument within a line of a stack.
    pub const fn inline(endian: Endian) -> Self {
        Self { form: ValueForm::Inline, ..Self::lines(endian) }
    }

    /// The same, with so many blanks before each line.
    #[must_use]
    pub const fn indented(self, indent: usize) -> Self {
        Self { form: ValueForm::Lines { indent }, ..self }
    }
}
