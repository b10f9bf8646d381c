//! Functions: what they return, their names, their parameters.

use super::{Pending, Printer, Result, Unprintable};
use crate::demangle::itanium::node::{Id, Modifier, Node};

/// Qualifiers of one function, and its name.
const MAX_PENDING: usize = 4;

impl Printer<'_, '_> {
    /// A function with its name. Name and qualifiers wait for their places around the parameters.
    pub(super) fn typed(&mut self, name: Id, function: Id) -> Result {
        let outer = self.declarator.take();
        let start = self.pending.len();
        let name = self.push_name(name)?;
        match self.tree.get(name) {
            Node::Template(_, arguments) => {
                self.within_template(arguments, |printer| printer.part(function))?;
            }
            _ => self.part(function)?,
        }
        self.write_rest(start)?;
        self.pending.truncate(start);
        self.declarator = outer;
        Ok(())
    }

    /// Makes a name pending, with the qualifiers around it, and gives the name alone. Those of a local
    /// name stand around its inner part, and are the function's all the same.
    fn push_name(&mut self, name: Id) -> Result<Id> {
        let start = self.pending.len();
        let mut name = self.push_qualifiers(name, start)?;
        self.push(name);
        if let Node::Local(_, inner) = self.tree.get(name) {
            name = match self.tree.get(inner) {
                Node::DefaultArgument(_, inner) => inner,
                _ => inner,
            };
            let local = self.pending.pop().ok_or(Unprintable)?;
            self.declarator = local.outer;
            name = self.push_qualifiers(name, start)?;
            self.pending.push(Pending { outer: self.declarator, ..local });
            self.declarator = self.pending.len().checked_sub(1);
        }
        Ok(name)
    }

    fn push_qualifiers(&mut self, mut name: Id, start: usize) -> Result<Id> {
        while let Node::Modified(modifier, inner) = self.tree.get(name)
            && modifier.is_of_function()
        {
            if self.pending.len().saturating_sub(start) >= MAX_PENDING.saturating_sub(1) {
                return Err(Unprintable);
            }
            self.push(name);
            name = inner;
        }
        Ok(name)
    }

    /// What a type did not write.
    fn write_rest(&mut self, start: usize) -> Result {
        for place in (start..self.pending.len()).rev() {
            if !self.is_written(place)
                && let Some(one) = self.pending.get(place).copied()
            {
                self.text(" ")?;
                self.modifier(one.part)?;
            }
        }
        Ok(())
    }

    /// A function's type: what it returns may be a declarator around it.
    pub(super) fn function(&mut self, id: Id, returns: Option<Id>, params: Id) -> Result {
        if let Some(returns) = returns {
            let place = self.push(id);
            self.part(returns)?;
            let is_written = self.is_written(place);
            self.pop(place);
            if is_written {
                return Ok(());
            }
            self.text(" ")?;
        }
        self.function_parameters(params, self.declarator)
    }

    /// The declarator of a function, its parameters, and its qualifiers.
    pub(super) fn function_parameters(&mut self, params: Id, outer: Option<usize>) -> Result {
        let in_parentheses = self.open_declarator(outer)?;
        let declarator = self.declarator.take();
        self.write_pending(outer, false)?;
        self.text(if in_parentheses { ")(" } else { "(" })?;
        self.part(params)?;
        self.text(")")?;
        self.write_pending(outer, true)?;
        self.declarator = declarator;
        Ok(())
    }

    /// Opens parentheses around a declarator that is a pointer to a function or the like.
    fn open_declarator(&mut self, outer: Option<usize>) -> Result<bool> {
        let Some(needs_blank) = self.blank_of_declarator(outer) else { return Ok(false) };
        let needs_blank = needs_blank || !matches!(self.last, b'(' | b'*');
        if needs_blank && self.last != b' ' {
            self.text(" ")?;
        }
        self.text("(")?;
        Ok(true)
    }

    fn blank_of_declarator(&self, outer: Option<usize>) -> Option<bool> {
        let mut unwritten = self.chain(outer).take_while(|one| !one.is_written);
        unwritten.find_map(|one| self.needs_blank(one.part))
    }

    /// Whether a part needs parentheses before a function's parameters, and a blank before them.
    fn needs_blank(&self, part: Id) -> Option<bool> {
        use Modifier::{
            Complex, Const, Imaginary, Pointer, Reference, Restrict, RvalueReference, Vendor,
            Volatile,
        };
        match self.tree.get(part) {
            Node::Modified(Pointer | Reference | RvalueReference, _) => Some(false),
            Node::Modified(Const | Volatile | Restrict | Vendor(_) | Complex | Imaginary, _)
            | Node::MemberPointer { .. } => Some(true),
            _ => None,
        }
    }
}
