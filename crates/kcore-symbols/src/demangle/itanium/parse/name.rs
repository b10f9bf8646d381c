//! Names in their scopes, and the substitutions that stand for parts which were named before.

use super::Parser;
use crate::demangle::itanium::node::{Id, Modifier, Node};

impl<'n> Parser<'n> {
    /// `<name>`
    pub(super) fn name(&mut self) -> Option<Id> {
        self.nested(|parser| match parser.peek() {
            b'N' => parser.nested_name(),
            b'Z' => {
                parser.skip(1);
                parser.local_name()
            }
            b'U' => parser.unqualified_name(None, None),
            _ => parser.unscoped_name(),
        })
    }

    /// `<unscoped-name>`, or a template of that name and its arguments.
    fn unscoped_name(&mut self) -> Option<Id> {
        let scope = if self.eat("St") { Some(self.add(Node::Name("std"))?) } else { None };
        let mut module = None;
        if self.peek() == b'S' {
            let found = self.substitution()?;
            match self.tree.get(found) {
                Node::Module { .. } => module = Some(found),
                // Only a module may stand behind `std`.
                _ if scope.is_some() => return None,
                _ => return self.with_arguments(found),
            }
        }
        let name = self.unqualified_name(scope, module)?;
        if self.peek() == b'I' {
            self.substitutable(name);
        }
        self.with_arguments(name)
    }

    /// A template and its arguments, if such follow.
    pub(super) fn with_arguments(&mut self, name: Id) -> Option<Id> {
        if self.peek() != b'I' {
            return Some(name);
        }
        let arguments = self.template_arguments()?;
        self.add(Node::Template(name, arguments))
    }

    /// `<nested-name>`
    fn nested_name(&mut self) -> Option<Id> {
        self.expect("N")?;
        let qualifiers = self.qualifiers()?;
        let of_function: Vec<Modifier> = qualifiers.iter().map(|one| one.of_function()).collect();
        let reference = self.reference_qualifier();
        let name = self.prefix(true)?;
        self.expect("E")?;
        let name = self.modified(&of_function, name)?;
        match reference {
            Some(modifier) => self.add(Node::Modified(modifier, name)),
            None => Some(name),
        }
    }

    /// `<prefix>`: scopes and what lies in them, up to an `E`. All but the last may be substituted, where
    /// the grammar says so.
    pub(super) fn prefix(&mut self, is_substituted: bool) -> Option<Id> {
        let mut name = None;
        loop {
            let Some((part, is_new)) = self.prefix_part(name)? else { continue };
            name = Some(part);
            match self.peek() {
                b'E' if is_new => return Some(part),
                _ if is_new && is_substituted => drop(self.substitutable(part)),
                _ => {}
            }
        }
    }

    /// The next part, and whether it was not named before; nothing where only a mark stood.
    fn prefix_part(&mut self, scope: Option<Id>) -> Option<Option<(Id, bool)>> {
        self.fuel = self.fuel.checked_sub(1)?;
        let part = match (self.peek(), self.ahead(1)) {
            (b'D', b'T' | b't') if scope.is_none() => self.a_type()?,
            (b'T', _) if scope.is_none() => self.template_parameter()?,
            (b'T', _) => return None,
            (b'I', _) => {
                let arguments = self.template_arguments()?;
                self.add(Node::Template(scope?, arguments))?
            }
            // The initializer of a member, in which a lambda stands.
            (b'M', _) => {
                self.skip(1);
                return Some(None);
            }
            (b'S', _) => return self.substituted_part(scope),
            _ => self.unqualified_name(scope, None)?,
        };
        Some(Some((part, true)))
    }

    fn substituted_part(&mut self, scope: Option<Id>) -> Option<Option<(Id, bool)>> {
        let found = self.substitution()?;
        if matches!(self.tree.get(found), Node::Module { .. }) {
            return Some(Some((self.unqualified_name(scope, Some(found))?, true)));
        }
        scope.is_none().then_some(Some((found, false)))
    }

    /// `<substitution>`
    pub(super) fn substitution(&mut self) -> Option<Id> {
        self.expect("S")?;
        match self.peek() {
            b'_' | b'0'..=b'9' | b'A'..=b'Z' => {
                let number = self.sequence_number()?;
                self.substitutions.get(number).copied()
            }
            _ => self.abbreviation(),
        }
    }

    /// `_` for 0, and digits and capitals for the numbers behind it.
    fn sequence_number(&mut self) -> Option<usize> {
        let letters = self.take_until('_')?;
        self.skip(1);
        let is_number = |letter: u8| letter.is_ascii_digit() || letter.is_ascii_uppercase();
        match letters {
            "" => Some(0),
            _ if !letters.bytes().all(is_number) => None,
            _ => usize::from_str_radix(letters, 36).ok()?.checked_add(1),
        }
    }

    /// A part of the standard library. A constructor's name is that of the template.
    fn abbreviation(&mut self) -> Option<Id> {
        let (name, last) = match self.peek() {
            b't' => ("std", None),
            b'a' => ("std::allocator", Some("allocator")),
            b'b' => ("std::basic_string", Some("basic_string")),
            b's' => (
                "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
                Some("basic_string"),
            ),
            b'i' => ("std::basic_istream<char, std::char_traits<char> >", Some("basic_istream")),
            b'o' => ("std::basic_ostream<char, std::char_traits<char> >", Some("basic_ostream")),
            b'd' => ("std::basic_iostream<char, std::char_traits<char> >", Some("basic_iostream")),
            _ => return None,
        };
        self.skip(1);
        if let Some(last) = last {
            self.last_name = Some(self.add(Node::Name(last))?);
        }
        let name = self.add(Node::Abbreviation(name))?;
        if self.peek() != b'B' {
            return Some(name);
        }
        let tagged = self.with_tags(name)?;
        Some(self.substitutable(tagged))
    }
}
