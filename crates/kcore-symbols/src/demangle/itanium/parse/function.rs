//! Types of functions, and the qualifiers that they and other types carry.

use super::Parser;
use crate::demangle::itanium::node::{Id, Modifier, Node};

impl<'n> Parser<'n> {
    /// `<function-type>`, whose `F` is next.
    pub(super) fn function_type(&mut self) -> Option<Id> {
        self.nested(|parser| {
            parser.expect("F")?;
            // A function of C.
            parser.eat("Y");
            let function = parser.bare_function_type(true)?;
            let function = parser.with_reference_qualifier(function)?;
            parser.expect("E")?;
            Some(function)
        })
    }

    /// `<bare-function-type>`
    pub(super) fn bare_function_type(&mut self, has_return_type: bool) -> Option<Id> {
        // The compiler of Java wrote so that the return type is there.
        let has_return_type = self.eat("J") || has_return_type;
        let returns = match has_return_type {
            true => Some(self.a_type()?),
            false => None,
        };
        let params = self.parameters()?;
        self.add(Node::Function { returns, params })
    }

    /// Types of parameters. That there are none is written as `void`.
    pub(super) fn parameters(&mut self) -> Option<Id> {
        let mut types = Vec::new();
        while !self.is_behind_parameters() {
            types.push(self.a_type()?);
        }
        let first = types.first().copied()?;
        let is_void = matches!(self.tree.get(first), Node::Builtin(kind) if kind.name == "void");
        if is_void && types.len() == 1 {
            types.clear();
        }
        self.items(&types)
    }

    fn is_behind_parameters(&self) -> bool {
        match self.peek() {
            0 | b'E' | b'.' | b'@' => true,
            b'R' | b'O' => self.ahead(1) == b'E',
            _ => false,
        }
    }

    pub(super) fn items(&mut self, items: &[Id]) -> Option<Id> {
        let list = self.add_list(items)?;
        self.add(Node::Items(list))
    }

    /// A function and the reference by which it takes its object.
    fn with_reference_qualifier(&mut self, function: Id) -> Option<Id> {
        match self.reference_qualifier() {
            Some(modifier) => self.add(Node::Modified(modifier, function)),
            None => Some(function),
        }
    }

    /// `<ref-qualifier>`, if there is one.
    pub(super) fn reference_qualifier(&mut self) -> Option<Modifier> {
        if self.eat("R") {
            Some(Modifier::ReferenceThis)
        } else {
            self.eat("O").then_some(Modifier::RvalueReferenceThis)
        }
    }

    /// `<CV-qualifiers>` and what a function may throw, outermost first.
    pub(super) fn qualifiers(&mut self) -> Option<Vec<Modifier>> {
        let mut found = Vec::new();
        loop {
            found.push(match (self.peek(), self.ahead(1)) {
                (b'r', _) => self.one_letter(Modifier::Restrict),
                (b'V', _) => self.one_letter(Modifier::Volatile),
                (b'K', _) => self.one_letter(Modifier::Const),
                (b'D', b'x' | b'o' | b'O' | b'w') => self.exception_qualifier()?,
                _ => return Some(found),
            });
        }
    }

    fn one_letter(&mut self, modifier: Modifier) -> Modifier {
        self.skip(1);
        modifier
    }

    fn exception_qualifier(&mut self) -> Option<Modifier> {
        let letter = self.ahead(1);
        self.skip(2);
        match letter {
            b'x' => Some(Modifier::TransactionSafe),
            b'o' => Some(Modifier::Noexcept(None)),
            b'O' => {
                let condition = self.expression()?;
                self.expect("E")?;
                Some(Modifier::Noexcept(Some(condition)))
            }
            _ => {
                let types = self.parameters()?;
                self.expect("E")?;
                Some(Modifier::Throw(types))
            }
        }
    }

    /// `inner` within modifiers, of which the first is the outermost.
    pub(super) fn modified(&mut self, modifiers: &[Modifier], inner: Id) -> Option<Id> {
        modifiers.iter().rev().try_fold(inner, |inner, one| self.add(Node::Modified(*one, inner)))
    }
}
