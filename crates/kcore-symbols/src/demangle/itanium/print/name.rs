//! Names, their scopes, and what compilers make.

use super::{Printer, Result, Unprintable};
use crate::demangle::itanium::node::{Id, List, Node};

impl<'n> Printer<'_, 'n> {
    /// A part that is a name, or stands where one does.
    pub(super) fn named(&mut self, node: Node<'n>) -> Result {
        match node {
            Node::Name(text) | Node::Abbreviation(text) => self.text(text),
            Node::Builtin(builtin) => self.text(builtin.name),
            Node::Sized(before, bits, behind) => self.texts(&[before, bits, behind]),
            Node::VendorType(name) | Node::Constructor(name) => self.part(name),
            Node::Destructor(name) => self.before("~", name),
            Node::Tagged(name, tag) => self.around(name, "[abi:", tag, "]"),
            Node::OwnedByModule(name, module) => self.around(name, "@", module, ""),
            Node::Module { parent, name, is_partition } => self.module(parent, name, is_partition),
            Node::Bindings(names) => self.bindings(names),
            Node::Qualified(scope, name) | Node::Local(scope, name) => self.scoped(scope, name),
            Node::Special(words, of) => self.before(words, of),
            Node::ConstructionVtable(base, derived) => {
                self.text("construction vtable for ")?;
                self.around(base, "-in-", derived, "")
            }
            Node::ReferenceTemporary(number, name) => {
                self.text("reference temporary #")?;
                self.number(number)?;
                self.before(" for ", name)
            }
            Node::Operator(operator) => self.operator(operator.spelling),
            Node::VendorOperator(name) => self.before("operator ", name),
            Node::UnnamedType(number) => self.numbered("{unnamed type#", number, "}"),
            Node::FunctionParam(0) => self.text("this"),
            Node::FunctionParam(number) => self.numbered("{parm#", number.saturating_sub(1), "}"),
            Node::Decltype(expression) => {
                self.text("decltype (")?;
                self.part(expression)?;
                self.text(")")
            }
            _ => Err(Unprintable),
        }
    }

    pub(super) fn texts(&mut self, texts: &[&str]) -> Result {
        texts.iter().try_for_each(|text| self.text(text))
    }

    fn before(&mut self, text: &str, part: Id) -> Result {
        self.text(text)?;
        self.part(part)
    }

    fn around(&mut self, first: Id, between: &str, second: Id, behind: &str) -> Result {
        self.part(first)?;
        self.before(between, second)?;
        self.text(behind)
    }

    /// A number that is counted from 0 and shown from 1.
    fn numbered(&mut self, before: &str, number: usize, behind: &str) -> Result {
        self.text(before)?;
        self.number(number.saturating_add(1))?;
        self.text(behind)
    }

    fn module(&mut self, parent: Option<Id>, name: Id, is_partition: bool) -> Result {
        let mark = if is_partition { ":" } else { "." };
        match parent {
            Some(parent) => self.around(parent, mark, name, ""),
            // There are no partitions of nothing.
            None if is_partition => Err(Unprintable),
            None => self.part(name),
        }
    }

    fn bindings(&mut self, names: List) -> Result {
        self.text("[")?;
        self.list(names)?;
        self.text("]")
    }

    fn scoped(&mut self, scope: Id, name: Id) -> Result {
        self.part(scope)?;
        self.text("::")?;
        let name = self.in_default_argument(name)?;
        self.part(name)
    }

    /// Says that a name stands in a default argument, and gives the name.
    pub(super) fn in_default_argument(&mut self, name: Id) -> Result<Id> {
        let Node::DefaultArgument(number, inner) = self.tree.get(name) else { return Ok(name) };
        self.numbered("{default arg#", number, "}::")?;
        Ok(inner)
    }

    /// An operator as the name of a function.
    fn operator(&mut self, spelling: &str) -> Result {
        self.text("operator")?;
        if spelling.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            self.text(" ")?;
        }
        self.text(spelling.trim_end())
    }

    pub(super) fn lambda(&mut self, params: Id, number: usize) -> Result {
        self.text("{lambda(")?;
        self.lambdas = self.lambdas.saturating_add(1);
        self.part(params)?;
        self.lambdas = self.lambdas.saturating_sub(1);
        self.numbered(")#", number, "}")
    }
}
