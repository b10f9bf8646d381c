//! Pointers, references, qualifiers and arrays, around what they are declared of.

use super::{Pending, Printer, Result};
use crate::demangle::itanium::node::{Id, Modifier, Node};

/// Qualifiers that an array hands down to its elements.
const MAX_QUALIFIERS: usize = 3;

impl Printer<'_, '_> {
    /// A part that changes what stands in it. It waits for a place while the inner one is written.
    pub(super) fn modified(&mut self, id: Id, modifier: Modifier, inner: Id) -> Result {
        if modifier.is_qualifier() && self.is_pending(modifier) {
            return self.part(inner);
        }
        match modifier {
            Modifier::Reference | Modifier::RvalueReference => self.reference(id, modifier, inner),
            _ => self.declared(id, inner),
        }
    }

    /// Whether the same qualifier is pending already: arrays hand theirs down to their elements.
    fn is_pending(&self, modifier: Modifier) -> bool {
        let unwritten = self.chain(self.declarator).filter(|one| !one.is_written);
        let mut kinds = unwritten.map(|one| self.modifier_of(one.part));
        kinds
            .by_ref()
            .take_while(|kind| kind.is_some_and(Modifier::is_qualifier))
            .any(|kind| kind == Some(modifier))
    }

    /// References to references are one: `&&` only where both are.
    fn reference(&mut self, id: Id, modifier: Modifier, inner: Id) -> Result {
        let mut scope = self.scope;
        let mut to = inner;
        if let Node::TemplateParam(number) = self.tree.get(inner)
            && self.lambdas == 0
        {
            scope = self.scope_of_parameter(id, inner);
            let present = std::mem::replace(&mut self.scope, scope);
            let found = self.argument(number);
            self.scope = present;
            to = found?;
        }
        let (declarator, inner) = match self.modifier_of(to) {
            Some(Modifier::Reference) => (to, self.inner_of(to)),
            Some(kind) if kind == modifier => (to, self.inner_of(to)),
            Some(Modifier::RvalueReference) => (id, self.inner_of(to)),
            _ => (id, inner),
        };
        self.within_scope(scope, |printer| printer.declared(declarator, inner))
    }

    fn inner_of(&self, id: Id) -> Id {
        match self.tree.get(id) {
            Node::Modified(_, inner) => inner,
            _ => id,
        }
    }

    /// The templates in which a parameter under a reference is looked up: those of the place where it
    /// was first written, if what is written now is a substitution for it.
    fn scope_of_parameter(&mut self, reference: Id, parameter: Id) -> Option<super::ScopeId> {
        let Some(first) = self.first_scopes.get(&parameter).copied() else {
            self.first_scopes.insert(parameter, self.scope);
            return self.scope;
        };
        let around = self.path.len().saturating_sub(1);
        let is_within = self.path.contains(&parameter)
            || self.path.get(..around).is_some_and(|path| path.contains(&reference));
        if is_within { self.scope } else { first }
    }

    /// Writes `inner` with a part pending, and the part behind it if nothing else wrote it.
    pub(super) fn declared(&mut self, id: Id, inner: Id) -> Result {
        let place = self.push(id);
        self.part(inner)?;
        let is_written = self.is_written(place);
        if !is_written {
            self.modifier(id)?;
        }
        self.pop(place);
        Ok(())
    }

    /// An array. Its qualifiers are those of its elements.
    pub(super) fn array(&mut self, id: Id, element: Id) -> Result {
        let outer = self.declarator;
        let place = self.push(id);
        let handed_down = self.hand_down(outer)?;
        self.part(element)?;
        let is_written = self.is_written(place);
        self.declarator = outer;
        self.pending.truncate(place);
        if is_written {
            return Ok(());
        }
        for qualifier in handed_down.iter().rev() {
            self.modifier(qualifier.part)?;
        }
        self.array_bounds(id, outer)
    }

    /// Takes the qualifiers around an array for those of its elements.
    fn hand_down(&mut self, outer: Option<usize>) -> Result<Vec<Pending>> {
        let mut handed_down = Vec::new();
        let mut at = outer;
        while let Some(place) = at
            && let Some(one) = self.pending.get(place).copied()
            && self.modifier_of(one.part).is_some_and(Modifier::is_qualifier)
        {
            if !one.is_written {
                if handed_down.len() >= MAX_QUALIFIERS {
                    return Err(super::Unprintable);
                }
                handed_down.push(one);
                self.pending.push(Pending { outer: self.declarator, ..one });
                self.declarator = self.pending.len().checked_sub(1);
                self.set_written(place);
            }
            at = one.outer;
        }
        Ok(handed_down)
    }

    /// What is pending around an array, and the array's length.
    pub(super) fn array_bounds(&mut self, id: Id, outer: Option<usize>) -> Result {
        let next = self.chain(outer).find(|one| !one.is_written).map(|one| one.part);
        let is_array = next.is_some_and(|part| matches!(self.tree.get(part), Node::Array { .. }));
        let in_parentheses = next.is_some() && !is_array;
        if in_parentheses {
            self.text(" (")?;
        }
        self.write_pending(outer, false)?;
        if in_parentheses {
            self.text(")")?;
        }
        if !is_array {
            self.text(" ")?;
        }
        self.text("[")?;
        if let Node::Array { len: Some(len), .. } = self.tree.get(id) {
            self.part(len)?;
        }
        self.text("]")
    }

    /// Writes what is pending from `from` outwards: before the parameters of a function what is its
    /// name's, behind them its own.
    pub(super) fn write_pending(&mut self, from: Option<usize>, is_behind: bool) -> Result {
        let mut at = from;
        while let Some(place) = at
            && let Some(one) = self.pending.get(place).copied()
        {
            at = one.outer;
            let of_function = self.modifier_of(one.part).is_some_and(Modifier::is_of_function);
            if one.is_written || (of_function && !is_behind) {
                continue;
            }
            self.set_written(place);
            let mut is_rest_written = false;
            self.within_scope(one.scope, |printer| {
                is_rest_written = printer.one_pending(one, at)?;
                Ok(())
            })?;
            if is_rest_written {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Writes one part that was pending, and whether it wrote those around it too.
    fn one_pending(&mut self, one: Pending, outer: Option<usize>) -> Result<bool> {
        match self.tree.get(one.part) {
            Node::Function { params, .. } => {
                self.function_parameters(params, outer)?;
                Ok(true)
            }
            Node::Array { .. } => {
                self.array_bounds(one.part, outer)?;
                Ok(true)
            }
            Node::Local(scope, name) => {
                self.local_pending(scope, name)?;
                Ok(true)
            }
            _ => {
                self.modifier(one.part)?;
                Ok(false)
            }
        }
    }

    /// A local name, whose qualifiers are pending on their own.
    fn local_pending(&mut self, scope: Id, name: Id) -> Result {
        let declarator = self.declarator.take();
        self.part(scope)?;
        self.declarator = declarator;
        self.text("::")?;
        let name = self.in_default_argument(name)?;
        self.part(self.tree.without_function_modifiers(name))
    }

    /// What a modifier is spelled as; anything else is a name.
    pub(super) fn modifier(&mut self, id: Id) -> Result {
        match self.tree.get(id) {
            Node::Modified(modifier, _) => self.spelled(modifier),
            Node::MemberPointer { class, .. } => {
                if self.last != b'(' {
                    self.text(" ")?;
                }
                self.part(class)?;
                self.text("::*")
            }
            Node::Vector { len, .. } => self.in_words(" __vector(", len),
            Node::Typed(name, _) => self.part(name),
            _ => self.part(id),
        }
    }

    fn spelled(&mut self, modifier: Modifier) -> Result {
        match modifier {
            Modifier::Const | Modifier::ConstThis => self.text(" const"),
            Modifier::Volatile | Modifier::VolatileThis => self.text(" volatile"),
            Modifier::Restrict | Modifier::RestrictThis => self.text(" restrict"),
            Modifier::Pointer => self.text("*"),
            Modifier::Reference => self.text("&"),
            Modifier::RvalueReference => self.text("&&"),
            Modifier::ReferenceThis => self.text(" &"),
            Modifier::RvalueReferenceThis => self.text(" &&"),
            Modifier::Complex => self.text(" _Complex"),
            Modifier::Imaginary => self.text(" _Imaginary"),
            Modifier::TransactionSafe => self.text(" transaction_safe"),
            Modifier::Noexcept(None) => self.text(" noexcept"),
            Modifier::Noexcept(Some(condition)) => self.in_words(" noexcept(", condition),
            Modifier::Throw(types) => self.in_words(" throw(", types),
            Modifier::Vendor(name) => {
                self.text(" ")?;
                self.part(name)
            }
        }
    }

    fn in_words(&mut self, words: &str, part: Id) -> Result {
        self.text(words)?;
        self.part(part)?;
        self.text(")")
    }

    /// Makes a part the innermost pending one, and says where it is kept.
    pub(super) fn push(&mut self, part: Id) -> usize {
        let place = self.pending.len();
        let (scope, outer) = (self.scope, self.declarator);
        self.pending.push(Pending { part, is_written: false, scope, outer });
        self.declarator = Some(place);
        place
    }

    /// Forgets what was pushed at a place, and what was pushed since.
    pub(super) fn pop(&mut self, place: usize) {
        self.declarator = self.pending.get(place).and_then(|one| one.outer);
        self.pending.truncate(place);
    }

    pub(super) fn is_written(&self, place: usize) -> bool {
        self.pending.get(place).is_none_or(|one| one.is_written)
    }

    fn set_written(&mut self, place: usize) {
        if let Some(one) = self.pending.get_mut(place) {
            one.is_written = true;
        }
    }

    /// What is pending, from a place outwards.
    pub(super) fn chain(&self, from: Option<usize>) -> impl Iterator<Item = Pending> + '_ {
        let first = from.and_then(|place| self.pending.get(place)).copied();
        std::iter::successors(first, |one| self.pending.get(one.outer?).copied())
    }
}

/// The part that a modifier has of its own.
pub(super) fn part_of(modifier: Modifier) -> Option<Id> {
    match modifier {
        Modifier::Vendor(part) | Modifier::Noexcept(Some(part)) | Modifier::Throw(part) => {
            Some(part)
        }
        _ => None,
    }
}
