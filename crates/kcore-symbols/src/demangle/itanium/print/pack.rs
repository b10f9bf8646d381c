//! Packs: what stands for several arguments is written once for each.

use super::{Printer, Result};
use crate::demangle::itanium::node::{Id, List, Node};

/// Parts within one another in which a pack is looked for.
const MAX_DEPTH: u32 = 192;

impl<'n> Printer<'_, 'n> {
    /// A pattern, once for each argument of the pack in it. Without a pack it has one of the function's
    /// parameters.
    pub(super) fn pack_expansion(&mut self, pattern: Id) -> Result {
        let pack = if self.lambdas > 0 { None } else { self.find_pack(pattern)? };
        let Some(pack) = pack else {
            self.operand(pattern)?;
            return self.text("...");
        };
        for index in 0..self.tree.list(pack).len() {
            if index > 0 {
                self.text(", ")?;
            }
            self.pack_index = Some(index);
            self.part(pattern)?;
        }
        Ok(())
    }

    /// The pack that a pattern holds. Looking for it is work, and counts as such.
    pub(super) fn find_pack(&mut self, pattern: Id) -> Result<Option<List>> {
        self.search(pattern, 0)
    }

    fn search(&mut self, id: Id, depth: u32) -> Result<Option<List>> {
        self.steps = self.steps.saturating_add(1);
        if depth > MAX_DEPTH || self.steps > super::MAX_STEPS {
            return Err(super::Unprintable);
        }
        if let Node::TemplateParam(number) = self.tree.get(id) {
            self.scope.ok_or(super::Unprintable)?;
            return Ok(self.lookup(number).and_then(|argument| match self.tree.get(argument) {
                Node::Arguments(pack) => Some(pack),
                _ => None,
            }));
        }
        let (parts, list) = parts(self.tree.get(id));
        for part in parts.into_iter().flatten() {
            if let found @ Some(_) = self.search(part, depth.saturating_add(1))? {
                return Ok(found);
            }
        }
        let tree = self.tree;
        for part in list.map(|list| tree.list(list)).unwrap_or_default() {
            if let found @ Some(_) = self.search(*part, depth.saturating_add(1))? {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// What a part is made of, as far as a pack can be in it.
fn parts(node: Node<'_>) -> ([Option<Id>; 4], Option<List>) {
    let one = |part| ([Some(part), None, None, None], None);
    let two = |first, second| ([Some(first), Some(second), None, None], None);
    match node {
        Node::Constructor(part)
        | Node::Destructor(part)
        | Node::VendorType(part)
        | Node::VendorOperator(part)
        | Node::Conversion(part)
        | Node::Cast(part)
        | Node::Nullary(part)
        | Node::Decltype(part)
        | Node::Special(_, part) => one(part),
        Node::Modified(modifier, inner) => {
            ([Some(inner), super::declarator::part_of(modifier), None, None], None)
        }
        Node::Qualified(first, second)
        | Node::Local(first, second)
        | Node::Typed(first, second)
        | Node::Template(first, second)
        | Node::OwnedByModule(first, second)
        | Node::ConstructionVtable(first, second)
        | Node::Unary(first, second)
        | Node::Postfix(first, second)
        | Node::VendorExpression(first, second) => two(first, second),
        Node::MemberPointer { class, member } => two(class, member),
        Node::Vector { len, element } => two(len, element),
        Node::Literal { of, .. } => one(of),
        Node::Array { len, element } => ([len, Some(element), None, None], None),
        Node::Function { returns, params } => ([returns, Some(params), None, None], None),
        Node::Braces(of, items) => ([of, Some(items), None, None], None),
        Node::Binary(operator, left, right) => {
            ([Some(operator), Some(left), Some(right), None], None)
        }
        Node::Ternary(operator, first, second, third) => {
            ([Some(operator), Some(first), Some(second), third], None)
        }
        Node::Arguments(list) | Node::Items(list) => ([None; 4], Some(list)),
        _ => ([None; 4], None),
    }
}
