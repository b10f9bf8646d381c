//! Names without their scope: identifiers, operators, constructors, lambdas.

use super::Parser;
use crate::demangle::itanium::{
    node::{Id, Node},
    operators::operator,
};

impl<'n> Parser<'n> {
    /// `<unqualified-name>`, in its scope and its module.
    pub(super) fn unqualified_name(&mut self, scope: Option<Id>, module: Option<Id>) -> Option<Id> {
        let module = self.module_name(module)?;
        let mut name = self.simple_name()?;
        if let Some(module) = module {
            name = self.add(Node::OwnedByModule(name, module))?;
        }
        name = self.with_tags(name)?;
        match scope {
            Some(scope) => self.add(Node::Qualified(scope, name)),
            None => Some(name),
        }
    }

    fn simple_name(&mut self) -> Option<Id> {
        match (self.peek(), self.ahead(1)) {
            (b'0'..=b'9', _) => self.source_name(),
            (b'D', b'C') => self.bindings(),
            (b'C' | b'D', _) => self.constructor_or_destructor(),
            (b'L', _) => self.internal_name(),
            (b'U', b'l') => self.lambda(),
            (b'U', b't') => self.unnamed_type(),
            (b'a'..=b'z', _) => self.named_operator(),
            _ => None,
        }
    }

    /// A name that only its file knows; older compilers tell it from others of its kind.
    fn internal_name(&mut self) -> Option<Id> {
        self.skip(1);
        let name = self.source_name()?;
        self.discriminator()?;
        Some(name)
    }

    /// An operator as the name of a function. That of a literal has a name of its own.
    fn named_operator(&mut self) -> Option<Id> {
        if self.eat("on") {
            // So it is called in an expression.
        }
        let is_literal = self.is_next("li");
        let operator = self.operator_name()?;
        if !is_literal {
            return Some(operator);
        }
        let name = self.source_name()?;
        self.add(Node::Unary(operator, name))
    }

    /// `<operator-name>`
    pub(super) fn operator_name(&mut self) -> Option<Id> {
        if self.peek() == b'v' && self.ahead(1).is_ascii_digit() {
            self.skip(2);
            let name = self.source_name()?;
            return self.add(Node::VendorOperator(name));
        }
        if self.eat("cv") {
            return self.conversion();
        }
        let found = operator(self.take(2)?.as_bytes())?;
        self.add(Node::Operator(found))
    }

    fn conversion(&mut self) -> Option<Id> {
        let is_function = !self.is_expression;
        let outer = std::mem::replace(&mut self.is_conversion, is_function);
        let to = self.a_type();
        self.is_conversion = outer;
        let to = to?;
        self.add(if is_function { Node::Conversion(to) } else { Node::Cast(to) })
    }

    /// `<source-name>`
    pub(super) fn source_name(&mut self) -> Option<Id> {
        let len = self.digits().filter(|len| *len > 0)?;
        let text = self.take(len)?;
        let name =
            self.add(Node::Name(if is_anonymous(text) { "(anonymous namespace)" } else { text }))?;
        self.last_name = Some(name);
        Some(name)
    }

    /// `<module-name>`, behind what of it was substituted.
    pub(super) fn module_name(&mut self, mut module: Option<Id>) -> Option<Option<Id>> {
        while self.eat("W") {
            let is_partition = self.eat("P");
            let name = self.source_name()?;
            let part = self.add(Node::Module { parent: module, name, is_partition })?;
            module = Some(self.substitutable(part));
        }
        Some(module)
    }

    /// `<abi-tags>`, which are no names of constructors.
    pub(super) fn with_tags(&mut self, mut name: Id) -> Option<Id> {
        let last_name = self.last_name;
        while self.eat("B") {
            let tag = self.source_name()?;
            name = self.add(Node::Tagged(name, tag))?;
        }
        self.last_name = last_name;
        Some(name)
    }

    /// `<ctor-dtor-name>`
    fn constructor_or_destructor(&mut self) -> Option<Id> {
        if self.eat("D") {
            let class = self.last_name?;
            let kind = self.take(1)?;
            matches!(kind, "0" | "1" | "2" | "4" | "5").then_some(())?;
            return self.add(Node::Destructor(class));
        }
        self.skip(1);
        let is_inherited = self.eat("I");
        let kind = self.take(1)?;
        matches!(kind, "1" | "2" | "3" | "4" | "5").then_some(())?;
        if is_inherited {
            // It is called what the class is that it is of.
            self.a_type()?;
        }
        let class = self.last_name?;
        self.add(Node::Constructor(class))
    }

    /// `DC` and the names that a structured binding declares.
    fn bindings(&mut self) -> Option<Id> {
        self.skip(2);
        let mut names = vec![self.source_name()?];
        while !self.eat("E") {
            names.push(self.source_name()?);
        }
        let names = self.add_list(&names)?;
        self.add(Node::Bindings(names))
    }

    /// `<closure-type-name>`
    fn lambda(&mut self) -> Option<Id> {
        self.skip(2);
        let params = self.parameters()?;
        self.expect("E")?;
        let number = self.compact_number()?;
        self.add(Node::Lambda(params, number))
    }

    /// `<unnamed-type-name>`
    fn unnamed_type(&mut self) -> Option<Id> {
        self.skip(2);
        let number = self.compact_number()?;
        let name = self.add(Node::UnnamedType(number))?;
        Some(self.substitutable(name))
    }
}

/// What compilers call the namespace without a name, with whatever letter their assembler takes.
fn is_anonymous(name: &str) -> bool {
    let rest = name.strip_prefix("_GLOBAL_").and_then(|rest| rest.strip_prefix(['.', '_', '$']));
    rest.is_some_and(|rest| rest.starts_with('N'))
}
