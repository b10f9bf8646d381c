//! Templates, and the parameters that stand for their arguments.

use super::{Printer, Result, Unprintable};
use crate::demangle::itanium::node::{Id, Node};

/// A place in the chain of templates around what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeId(usize);

/// A template whose arguments its parameters stand for, and the one around it.
#[derive(Clone, Copy)]
pub struct Scope {
    arguments: Id,
    outer: Option<ScopeId>,
}

impl Printer<'_, '_> {
    /// Writes in the scope of a template.
    pub(super) fn within_template(
        &mut self,
        arguments: Id,
        write: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let (outer, len) = (self.scope, self.scopes.len());
        self.scopes.push(Scope { arguments, outer });
        self.scope = Some(ScopeId(len));
        let done = write(self);
        self.scope = outer;
        done
    }

    /// Writes in another scope than the present one.
    pub(super) fn within_scope(
        &mut self,
        scope: Option<ScopeId>,
        write: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let present = std::mem::replace(&mut self.scope, scope);
        let done = write(self);
        self.scope = present;
        done
    }

    /// A template is a name: no declarator goes into it.
    pub(super) fn template(&mut self, id: Id, template: Id, arguments: Id) -> Result {
        let declarator = self.declarator.take();
        let outer = self.template.replace(id);
        self.part(template)?;
        self.in_angles(arguments)?;
        self.template = outer;
        self.declarator = declarator;
        Ok(())
    }

    /// Two angles do not follow each other: they would be a shift.
    pub(super) fn in_angles(&mut self, arguments: Id) -> Result {
        self.blank_behind(b'<')?;
        self.text("<")?;
        self.part(arguments)?;
        self.blank_behind(b'>')?;
        self.text(">")
    }

    fn blank_behind(&mut self, byte: u8) -> Result {
        if self.last == byte { self.text(" ") } else { Ok(()) }
    }

    /// What a parameter stands for. In the parameters of a generic lambda it is one that the compiler
    /// made for `auto`.
    pub(super) fn template_parameter(&mut self, number: usize) -> Result {
        if self.lambdas > 0 {
            self.text("auto:")?;
            return self.number(number.saturating_add(1));
        }
        let argument = self.argument(number)?;
        // The argument itself was written outside of the template.
        let outer = self.scope.and_then(|scope| self.scopes.get(scope.0)?.outer);
        self.within_scope(outer, |printer| printer.part(argument))
    }

    /// The argument of a number; of a pack, the one that is being written.
    pub(super) fn argument(&mut self, number: usize) -> Result<Id> {
        let argument = self.lookup(number).ok_or(Unprintable)?;
        match (self.tree.get(argument), self.pack_index) {
            (Node::Arguments(pack), Some(index)) => {
                self.tree.list(pack).get(index).copied().ok_or(Unprintable)
            }
            _ => Ok(argument),
        }
    }

    /// The argument at an index of the innermost template.
    pub(super) fn lookup(&self, number: usize) -> Option<Id> {
        let arguments = self.scopes.get(self.scope?.0)?.arguments;
        match self.tree.get(arguments) {
            Node::Arguments(list) => self.tree.list(list).get(number).copied(),
            _ => None,
        }
    }

    /// A conversion function. Its type may use the parameters of the template that it is.
    pub(super) fn conversion(&mut self, to: Id) -> Result {
        self.text("operator ")?;
        let own = self.template.map(|id| self.tree.get(id));
        let Some(Node::Template(_, own)) = own else { return self.converted(to) };
        match self.tree.get(to) {
            Node::Template(template, arguments) => {
                self.within_template(own, |printer| printer.part(template))?;
                self.in_angles(arguments)
            }
            _ => self.within_template(own, |printer| printer.part(to)),
        }
    }

    /// A type that may be a template, in the scope that there is.
    fn converted(&mut self, to: Id) -> Result {
        match self.tree.get(to) {
            Node::Template(template, arguments) => {
                self.part(template)?;
                self.in_angles(arguments)
            }
            _ => self.part(to),
        }
    }

    /// A conversion in an expression. A template is a name here too.
    pub(super) fn cast(&mut self, to: Id) -> Result {
        if !matches!(self.tree.get(to), Node::Template(..)) {
            return self.part(to);
        }
        let declarator = self.declarator.take();
        self.converted(to)?;
        self.declarator = declarator;
        Ok(())
    }
}
