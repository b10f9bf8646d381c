//! Comparisons: of numbers and addresses, of what says a text with a text, of an enumeration with the name of a value.

use std::cmp::Ordering;

use super::{Evaluated, Evaluation, Operand, written};
use crate::{
    Object,
    expression::{ExpressionFault, compare, operator::Binary, scalar, tree::Node},
};

/// How two sides stand to each other, and whether their language has a type for the answer.
type Order = (Option<Ordering>, bool);

impl Evaluation<'_> {
    /// What a comparison gives.
    pub(super) fn compared(
        &mut self,
        operator: Binary,
        left: &Node,
        right: &Node,
    ) -> Evaluated<Object> {
        let (one, other) = (self.operand(left)?, self.operand(right)?);
        let (order, has_bool) = match (one, other) {
            (Operand::Text(one), Operand::Text(other)) => (Some(one.cmp(&other)), false),
            (Operand::Text(text), other) => turned(self.with_text(right, other, &text)?),
            (one, Operand::Text(text)) => self.with_text(left, one, &text)?,
            (Operand::Word(name), other @ Operand::Objects(_)) => {
                turned(self.with_enumerator(right, other, left, &name)?)
            }
            (one @ Operand::Objects(_), Operand::Word(name)) => {
                self.with_enumerator(left, one, right, &name)?
            }
            (one, other) => self.with_object(operator, (left, one), (right, other))?,
        };
        let is_true = compare::holds(operator, order);
        Ok(scalar::truth(self.target(), is_true, has_bool))
    }

    /// Two objects. A name that the enumeration on the other side has is meant as that where it was found as a variable
    /// of a library, which nobody meant.
    fn with_object(
        &mut self,
        operator: Binary,
        (left, one): (&Node, Operand),
        (right, other): (&Node, Operand),
    ) -> Evaluated<Order> {
        let (one, other) = (self.one_of(left, one)?, self.one_of(right, other)?);
        if let Some(order) = self.as_enumerator(&one, &other, right)? {
            return Ok(order);
        }
        if let Some(order) = self.as_enumerator(&other, &one, left)? {
            return Ok(turned(order));
        }
        let sign = operator.sign();
        let numbers = (self.scalar(left, &one, sign)?, self.scalar(right, &other, sign)?);
        Ok((compare::numbers(&numbers.0, &numbers.1), scalar::has_bool(&one.ty)))
    }

    fn as_enumerator(
        &self,
        held: &Object,
        named: &Object,
        word: &Node,
    ) -> Evaluated<Option<Order>> {
        let name = written(self.text, &word.at).trim();
        let is_name = name.chars().all(|sign| sign.is_alphanumeric() || "_:".contains(sign));
        let found = is_name.then(|| compare::enumerator(self.process, held, name)).flatten();
        let is_meant = || named.ty.spelled() == held.ty.spelled() || self.is_of_program(named);
        let Some((ty, value)) = found.filter(|_| !is_meant()) else { return Ok(None) };
        let number = held.number(self.process)?;
        Ok(Some((number.value().map(|held| held.cmp(&value)), scalar::has_bool(&ty))))
    }

    /// Whether a variable is the program's own: on a stack, or in the executable.
    fn is_of_program(&self, named: &Object) -> bool {
        let symbol = named.address().map(|at| self.process.symbol_at(at));
        symbol.is_some_and(|symbol| symbol.is_none_or(|symbol| symbol.module.is_none()))
    }

    fn with_text(&mut self, node: &Node, operand: Operand, text: &str) -> Evaluated<Order> {
        let object = self.one_of(node, operand)?;
        let said = compare::text_of(self.process, &object, text.len().saturating_add(1));
        let said = said.ok_or_else(|| ExpressionFault::Operand("==", object.ty.spelled()));
        let said = self.noted(&node.at, said)?;
        Ok((Some(said.as_str().cmp(text)), scalar::has_bool(&object.ty)))
    }

    /// `word` is where the name stands.
    fn with_enumerator(
        &mut self,
        node: &Node,
        operand: Operand,
        word: &Node,
        name: &str,
    ) -> Evaluated<Order> {
        let object = self.one_of(node, operand)?;
        let Some((ty, value)) = compare::enumerator(self.process, &object, name) else {
            let found = self.enumerator(name);
            let named = self.noted(&word.at, found)?;
            let numbers = (self.scalar(node, &object, "==")?, self.scalar(word, &named, "==")?);
            return Ok((compare::numbers(&numbers.0, &numbers.1), scalar::has_bool(&object.ty)));
        };
        let held = object.number(self.process)?;
        Ok((held.value().map(|held| held.cmp(&value)), scalar::has_bool(&ty)))
    }
}

fn turned((order, has_bool): Order) -> Order {
    (order.map(Ordering::reverse), has_bool)
}
