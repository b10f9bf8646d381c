//! Types.

use super::Parser;
use crate::demangle::itanium::{
    node::{Id, Modifier, Node},
    operators::{builtin_type, builtin_type_of_d},
};

impl<'n> Parser<'n> {
    /// `<type>`
    pub(super) fn a_type(&mut self) -> Option<Id> {
        self.nested(|parser| match (parser.peek(), parser.ahead(1)) {
            (b'r' | b'V' | b'K', _) | (b'D', b'x' | b'o' | b'O' | b'w') => parser.qualified_type(),
            (b'S', _) => parser.substituted_type(),
            (b'D', _) => parser.type_of_d(),
            (letter, _) => match builtin_type(letter) {
                Some(builtin) => {
                    parser.skip(1);
                    parser.add(Node::Builtin(builtin))
                }
                None => {
                    let found = parser.compound_type(letter)?;
                    Some(parser.substitutable(found))
                }
            },
        })
    }

    /// A type with qualifiers, which are a function's own where one follows.
    fn qualified_type(&mut self) -> Option<Id> {
        let mut qualifiers = self.qualifiers()?;
        let is_function = self.peek() == b'F';
        let inner = if is_function {
            qualifiers = qualifiers.into_iter().map(Modifier::of_function).collect();
            self.function_type()?
        } else {
            self.a_type()?
        };
        let found = self.within_reference(&qualifiers, inner, is_function)?;
        Some(self.substitutable(found))
    }

    /// A function with qualifiers. The reference by which it takes its object stands behind them. A type
    /// that is a function by another name has none.
    fn within_reference(
        &mut self,
        qualifiers: &[Modifier],
        function: Id,
        is_function: bool,
    ) -> Option<Id> {
        match self.tree.get(function) {
            Node::Modified(
                reference @ (Modifier::ReferenceThis | Modifier::RvalueReferenceThis),
                inner,
            ) => {
                is_function.then_some(())?;
                let qualified = self.modified(qualifiers, inner)?;
                self.add(Node::Modified(reference, qualified))
            }
            _ => self.modified(qualifiers, function),
        }
    }

    /// A type that begins with a letter of its own, and may be substituted.
    fn compound_type(&mut self, letter: u8) -> Option<Id> {
        match letter {
            b'0'..=b'9' | b'N' | b'Z' => self.name(),
            b'F' => self.function_type(),
            b'A' => self.array_type(),
            b'M' => self.member_pointer(),
            b'T' => self.parameter_type(),
            b'P' => self.pointed_type(Modifier::Pointer),
            b'R' => self.pointed_type(Modifier::Reference),
            b'O' => self.pointed_type(Modifier::RvalueReference),
            b'C' => self.pointed_type(Modifier::Complex),
            b'G' => self.pointed_type(Modifier::Imaginary),
            b'U' => self.vendor_qualified(),
            b'u' => {
                self.skip(1);
                let name = self.source_name()?;
                self.add(Node::VendorType(name))
            }
            _ => None,
        }
    }

    fn pointed_type(&mut self, modifier: Modifier) -> Option<Id> {
        self.skip(1);
        let inner = self.a_type()?;
        self.add(Node::Modified(modifier, inner))
    }

    fn vendor_qualified(&mut self) -> Option<Id> {
        self.skip(1);
        let name = self.source_name()?;
        let name = self.with_arguments(name)?;
        let inner = self.a_type()?;
        self.add(Node::Modified(Modifier::Vendor(name), inner))
    }

    /// `<array-type>`
    fn array_type(&mut self) -> Option<Id> {
        self.skip(1);
        let len = match self.peek() {
            b'_' => None,
            b'0'..=b'9' => {
                let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
                let text = self.take(digits)?;
                Some(self.add(Node::Name(text))?)
            }
            _ => Some(self.expression()?),
        };
        self.expect("_")?;
        let element = self.a_type()?;
        self.add(Node::Array { len, element })
    }

    fn member_pointer(&mut self) -> Option<Id> {
        self.skip(1);
        let class = self.a_type()?;
        let member = self.a_type()?;
        self.add(Node::MemberPointer { class, member })
    }

    /// A template parameter, which may be a template itself. Behind that of a conversion function,
    /// arguments may be those of the function: only if more follow are the first ones the type's.
    fn parameter_type(&mut self) -> Option<Id> {
        let parameter = self.template_parameter()?;
        if self.peek() != b'I' {
            return Some(parameter);
        }
        if !self.is_conversion {
            self.substitutable(parameter);
            return self.with_arguments(parameter);
        }
        let mark = self.mark();
        match self.template_arguments() {
            Some(arguments) if self.peek() == b'I' => {
                self.substitutable(parameter);
                self.add(Node::Template(parameter, arguments))
            }
            _ => {
                self.go_back(&mark);
                Some(parameter)
            }
        }
    }

    /// A type that was named before, or one of the standard library.
    fn substituted_type(&mut self) -> Option<Id> {
        if !matches!(self.ahead(1), b'_' | b'0'..=b'9' | b'A'..=b'Z') {
            return self.library_type();
        }
        let found = self.substitution()?;
        if self.peek() != b'I' {
            return Some(found);
        }
        let template = self.with_arguments(found)?;
        Some(self.substitutable(template))
    }

    /// A type of the standard library. Its abbreviation alone is not substituted.
    fn library_type(&mut self) -> Option<Id> {
        let found = self.name()?;
        let is_abbreviation =
            matches!(self.tree.get(found), Node::Abbreviation(_) | Node::Tagged(..));
        Some(if is_abbreviation { found } else { self.substitutable(found) })
    }

    /// A type that begins with `D`.
    fn type_of_d(&mut self) -> Option<Id> {
        let letter = self.ahead(1);
        self.skip(2);
        if let Some(builtin) = builtin_type_of_d(letter) {
            return self.add(Node::Builtin(builtin));
        }
        match letter {
            b'a' => self.add(Node::Name("auto")),
            b'c' => self.add(Node::Name("decltype(auto)")),
            b'F' => self.sized_float(),
            b't' | b'T' => self.decltype(),
            b'p' => {
                let pattern = self.a_type()?;
                let pack = self.add(Node::PackExpansion(pattern))?;
                Some(self.substitutable(pack))
            }
            b'v' => self.vector_type(),
            _ => None,
        }
    }

    fn decltype(&mut self) -> Option<Id> {
        let expression = self.expression()?;
        self.expect("E")?;
        let found = self.add(Node::Decltype(expression))?;
        Some(self.substitutable(found))
    }

    /// `<number>_`, `<number>x` or `16b`
    fn sized_float(&mut self) -> Option<Id> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let bits = self.take(digits).filter(|bits| !bits.is_empty())?;
        match self.take(1)? {
            "_" => self.add(Node::Sized("_Float", bits, "")),
            "x" => self.add(Node::Sized("_Float", bits, "x")),
            "b" if bits == "16" => self.add(Node::Sized("std::bfloat", bits, "_t")),
            _ => None,
        }
    }

    /// `<number>_<type>` or `_<expression>_<type>`
    fn vector_type(&mut self) -> Option<Id> {
        let len = if self.eat("_") {
            self.expression()?
        } else {
            let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
            let text = self.take(digits)?;
            self.add(Node::Name(text))?
        };
        self.expect("_")?;
        let element = self.a_type()?;
        let found = self.add(Node::Vector { len, element })?;
        Some(self.substitutable(found))
    }
}
