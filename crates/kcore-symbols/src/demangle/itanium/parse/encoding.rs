//! Encodings: functions and data with their types, and what is local to a function.

use super::Parser;
use crate::demangle::itanium::node::{Id, Node};

impl<'n> Parser<'n> {
    /// The encoding that a name begins with, and the name alone.
    pub(super) fn encoding_and_name(&mut self) -> Option<(Id, Id)> {
        if self.is_special() {
            let special = self.special()?;
            return Some((special, special));
        }
        let name = self.name()?;
        let whole = self.typed(name)?;
        Some((whole, self.bare_name(name)?))
    }

    /// `<encoding>`
    pub(super) fn encoding(&mut self) -> Option<Id> {
        self.nested(|parser| match parser.is_special() {
            true => parser.special(),
            false => {
                let name = parser.name()?;
                parser.typed(name)
            }
        })
    }

    /// `<mangled-name>` within another one.
    pub(super) fn mangled_name(&mut self) -> Option<Id> {
        self.eat("_");
        self.expect("Z")?;
        self.encoding()
    }

    /// A name with the type that follows it, if it is a function.
    fn typed(&mut self, name: Id) -> Option<Id> {
        if matches!(self.peek(), 0 | b'E' | b'@') {
            return Some(name);
        }
        let has_return_type = self.has_return_type(name);
        let function = self.bare_function_type(has_return_type)?;
        self.add(Node::Typed(name, function))
    }

    /// Functions that are made from templates carry their return type, but for those whose name says it.
    fn has_return_type(&self, name: Id) -> bool {
        match self.tree.get(name) {
            Node::Local(_, inner) => self.has_return_type(inner),
            Node::Template(template, _) => !self.is_conversion_or_constructor(template),
            Node::Modified(modifier, inner) if modifier.is_of_function() => {
                self.has_return_type(inner)
            }
            _ => false,
        }
    }

    fn is_conversion_or_constructor(&self, name: Id) -> bool {
        match self.tree.get(name) {
            Node::Qualified(_, inner) | Node::Local(_, inner) => {
                self.is_conversion_or_constructor(inner)
            }
            Node::Constructor(_) | Node::Destructor(_) | Node::Conversion(_) => true,
            _ => false,
        }
    }

    /// A name without the qualifiers of the function that it names.
    fn bare_name(&mut self, name: Id) -> Option<Id> {
        let bare = self.tree.without_function_modifiers(name);
        match self.tree.get(bare) {
            Node::Local(function, inner) => {
                let inner = self.tree.without_function_modifiers(inner);
                self.add(Node::Local(function, inner))
            }
            _ => Some(bare),
        }
    }

    /// `<local-name>`, whose `Z` was read.
    pub(super) fn local_name(&mut self) -> Option<Id> {
        let function = self.encoding()?;
        self.expect("E")?;
        let name = match self.peek() {
            b's' => self.string_literal()?,
            b'd' => self.in_default_argument()?,
            _ => self.discriminated_name()?,
        };
        let function = self.without_return_type(function)?;
        self.add(Node::Local(function, name))
    }

    fn string_literal(&mut self) -> Option<Id> {
        self.skip(1);
        self.discriminator()?;
        self.add(Node::Name("string literal"))
    }

    fn in_default_argument(&mut self) -> Option<Id> {
        self.skip(1);
        let number = self.compact_number()?;
        let name = self.discriminated_name()?;
        self.add(Node::DefaultArgument(number, name))
    }

    /// Lambdas and types without a name have numbers of their own.
    fn discriminated_name(&mut self) -> Option<Id> {
        let name = self.name()?;
        if !matches!(self.tree.get(name), Node::Lambda(..) | Node::UnnamedType(_)) {
            self.discriminator()?;
        }
        Some(name)
    }

    /// `_` and a digit, or `__`, a number and `_`.
    pub(super) fn discriminator(&mut self) -> Option<()> {
        if !self.eat("_") {
            return Some(());
        }
        let is_long = self.eat("_");
        if self.peek() == b'n' {
            return None;
        }
        let number = self.digits()?;
        if is_long && number >= 10 { self.expect("_") } else { Some(()) }
    }

    /// A function around a local name, which would else be taken for one that returns what the outer
    /// one does.
    fn without_return_type(&mut self, function: Id) -> Option<Id> {
        match self.tree.get(function) {
            Node::Typed(name, kind) => match self.tree.get(kind) {
                Node::Function { params, .. } => {
                    let kind = self.add(Node::Function { returns: None, params })?;
                    self.add(Node::Typed(name, kind))
                }
                _ => Some(function),
            },
            _ => Some(function),
        }
    }
}
