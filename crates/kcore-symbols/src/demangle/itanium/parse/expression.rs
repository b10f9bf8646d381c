//! Expressions, as they stand in template arguments and in `decltype`.

use super::{Levels, Parser};
use crate::demangle::itanium::{
    node::{Id, Node},
    operators::{NULLPTR, Operator},
};

impl<'n> Parser<'n> {
    /// `<expression>`
    pub(super) fn expression(&mut self) -> Option<Id> {
        self.within_expression(Self::operand)
    }

    fn operand(&mut self) -> Option<Id> {
        self.nested(|parser| match (parser.peek(), parser.ahead(1)) {
            (b'L', _) => parser.primary_expression(),
            (b'T', _) => parser.template_parameter(),
            (b's', b'r') => parser.unresolved_name(),
            (b's', b'p') => {
                parser.skip(2);
                let pattern = parser.operand()?;
                parser.add(Node::PackExpansion(pattern))
            }
            (b'f', b'p') => parser.function_parameter(),
            (b'0'..=b'9', _) | (b'o', b'n') => {
                let name = parser.unqualified_name(None, None)?;
                parser.with_arguments(name)
            }
            (b'i' | b't', b'l') => parser.braces(),
            (b'u', _) => parser.vendor_expression(),
            _ => parser.operation(),
        })
    }

    /// A name in a type that is not known before the template is used.
    fn unresolved_name(&mut self) -> Option<Id> {
        self.skip(2);
        let is_level = self.peek().is_ascii_digit();
        if !is_level && !matches!(self.peek(), b'T' | b'D' | b'S' | b'N') {
            return None;
        }
        self.has_levels |= is_level;
        if is_level && self.levels == Levels::WithEnd {
            let scope = self.nested(|parser| parser.prefix(false))?;
            self.expect("E")?;
            return self.name_in(scope);
        }
        let scope = self.a_type()?;
        let name = self.name_in(scope)?;
        // Without an `E` behind the scopes, a second name could be one more of them.
        let is_clear = !is_level || !self.is_next("sr") || !self.ahead(2).is_ascii_digit();
        is_clear.then_some(name)
    }

    fn name_in(&mut self, scope: Id) -> Option<Id> {
        let name = self.unqualified_name(Some(scope), None)?;
        self.with_arguments(name)
    }

    fn function_parameter(&mut self) -> Option<Id> {
        self.skip(2);
        let number = if self.eat("T") { 0 } else { self.compact_number()?.checked_add(1)? };
        self.add(Node::FunctionParam(number))
    }

    fn braces(&mut self) -> Option<Id> {
        let is_typed = self.peek() == b't';
        self.skip(2);
        let of = if is_typed { Some(self.a_type()?) } else { None };
        let items = self.operands_to("E")?;
        self.add(Node::Braces(of, items))
    }

    fn vendor_expression(&mut self) -> Option<Id> {
        self.skip(1);
        let name = self.source_name()?;
        let arguments = self.arguments_to_end()?;
        self.add(Node::VendorExpression(name, arguments))
    }

    /// Operands up to `end`.
    fn operands_to(&mut self, end: &str) -> Option<Id> {
        let mut operands = Vec::new();
        while !self.eat(end) {
            operands.push(self.operand()?);
        }
        self.items(&operands)
    }

    fn operation(&mut self) -> Option<Id> {
        let id = self.operator_name()?;
        match self.tree.get(id) {
            Node::Operator(operator) => self.operator_with_operands(id, operator),
            Node::Cast(_) => {
                let operand = if self.eat("_") { self.operands_to("E")? } else { self.operand()? };
                self.add(Node::Unary(id, operand))
            }
            Node::VendorOperator(_) => {
                let operand = self.operand()?;
                self.add(Node::Unary(id, operand))
            }
            _ => None,
        }
    }

    fn operator_with_operands(&mut self, id: Id, operator: &Operator) -> Option<Id> {
        match (operator.operands, operator.code) {
            (0, _) => self.add(Node::Nullary(id)),
            (1, code) => self.unary(id, code),
            (2, code) => self.binary(id, code),
            (_, code) => self.ternary(id, code),
        }
    }

    fn unary(&mut self, id: Id, code: &str) -> Option<Id> {
        let is_behind = matches!(code, "pp" | "mm") && !self.eat("_");
        let operand = match code {
            "st" => self.a_type()?,
            "sP" => self.arguments_to_end()?,
            _ => self.operand()?,
        };
        self.add(if is_behind { Node::Postfix(id, operand) } else { Node::Unary(id, operand) })
    }

    fn binary(&mut self, id: Id, code: &str) -> Option<Id> {
        let left = match code {
            "cc" | "dc" | "rc" | "sc" => self.a_type()?,
            "fl" | "fr" => self.operator_name()?,
            "di" => self.unqualified_name(None, None)?,
            _ => self.operand()?,
        };
        let right = match code {
            "cl" => self.operands_to("E")?,
            "dt" | "pt" if !self.is_next("gs") && !self.is_next("sr") => {
                let name = self.unqualified_name(None, None)?;
                self.with_arguments(name)?
            }
            _ => self.operand()?,
        };
        self.add(Node::Binary(id, left, right))
    }

    fn ternary(&mut self, id: Id, code: &str) -> Option<Id> {
        if matches!(code, "nw" | "na") {
            return self.new_expression(id);
        }
        let first = match code {
            "fL" | "fR" => self.operator_name()?,
            _ => self.operand()?,
        };
        let (second, third) = (self.operand()?, self.operand()?);
        self.add(Node::Ternary(id, first, second, Some(third)))
    }

    fn new_expression(&mut self, id: Id) -> Option<Id> {
        let placement = self.operands_to("_")?;
        let of = self.a_type()?;
        let initializer = if self.eat("E") {
            None
        } else if self.eat("pi") {
            Some(self.operands_to("E")?)
        } else if self.is_next("il") {
            Some(self.operand()?)
        } else {
            return None;
        };
        self.add(Node::Ternary(id, placement, of, initializer))
    }

    /// `<expr-primary>`: a literal, or what another mangled name names.
    pub(super) fn primary_expression(&mut self) -> Option<Id> {
        self.expect("L")?;
        let found = match self.peek() {
            b'_' | b'Z' => self.mangled_name()?,
            _ => self.literal()?,
        };
        self.expect("E")?;
        Some(found)
    }

    fn literal(&mut self) -> Option<Id> {
        let of = self.a_type()?;
        let is_null = matches!(self.tree.get(of), Node::Builtin(kind) if *kind == NULLPTR);
        if is_null && self.peek() == b'E' {
            return Some(of);
        }
        let is_negative = self.eat("n");
        let text = self.take_until('E').filter(|text| !text.is_empty())?;
        self.add(Node::Literal { of, text, is_negative })
    }
}
