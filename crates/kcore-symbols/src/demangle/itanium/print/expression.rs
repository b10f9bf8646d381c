//! Expressions and literals.

use super::{Printer, Result, Unprintable};
use crate::demangle::itanium::{
    node::{Id, Node},
    operators::LiteralStyle,
};

impl<'n> Printer<'_, 'n> {
    pub(super) fn is_expression(&self, node: Node<'_>) -> bool {
        matches!(
            node,
            Node::Nullary(_)
                | Node::Unary(..)
                | Node::Postfix(..)
                | Node::Binary(..)
                | Node::Ternary(..)
                | Node::Braces(..)
                | Node::Literal { .. }
                | Node::VendorExpression(..)
        )
    }

    pub(super) fn expression(&mut self, node: Node<'n>) -> Result {
        match node {
            Node::Nullary(operator) => self.spelling(operator),
            Node::Unary(operator, operand) => self.unary(operator, operand),
            Node::Postfix(operator, operand) => {
                self.operand(operand)?;
                self.spelling(operator)
            }
            Node::Binary(operator, left, right) => self.binary(operator, left, right),
            Node::Ternary(operator, first, second, third) => {
                self.ternary(operator, first, second, third)
            }
            Node::Braces(of, items) => self.braces(of, items),
            Node::Literal { of, text, is_negative } => self.literal(of, text, is_negative),
            Node::VendorExpression(name, arguments) => {
                self.part(name)?;
                self.enclosed("(", arguments, ")")
            }
            _ => Err(Unprintable),
        }
    }

    pub(super) fn enclosed(&mut self, before: &str, part: Id, behind: &str) -> Result {
        self.text(before)?;
        self.part(part)?;
        self.text(behind)
    }

    /// An operand in parentheses, unless it is a name.
    pub(super) fn operand(&mut self, id: Id) -> Result {
        match self.tree.get(id) {
            Node::Name(_) | Node::Qualified(..) | Node::Braces(..) | Node::FunctionParam(_) => {
                self.part(id)
            }
            _ => self.enclosed("(", id, ")"),
        }
    }

    /// An operator as it stands in an expression.
    fn spelling(&mut self, operator: Id) -> Result {
        match self.tree.get(operator) {
            Node::Operator(operator) => self.text(operator.spelling),
            _ => self.part(operator),
        }
    }

    fn unary(&mut self, operator: Id, operand: Id) -> Result {
        let operand = self.addressed(operator, operand);
        let code = match self.tree.get(operator) {
            Node::Operator(operator) => operator.code,
            Node::Cast(to) => {
                self.text("(")?;
                self.cast(to)?;
                self.text(")")?;
                return self.operand(operand);
            }
            _ => "",
        };
        match code {
            "sZ" => self.pack_len(operand),
            "sP" => self.arguments_len(operand),
            "gs" => {
                self.spelling(operator)?;
                self.part(operand)
            }
            "st" => {
                self.spelling(operator)?;
                self.enclosed("(", operand, ")")
            }
            _ => {
                self.spelling(operator)?;
                self.operand(operand)
            }
        }
    }

    /// What the address is taken of: of a member function, its name alone.
    fn addressed(&self, operator: Id, operand: Id) -> Id {
        match self.tree.get(operand) {
            Node::Typed(name, function)
                if self.is_operator(operator, "ad")
                    && matches!(self.tree.get(name), Node::Qualified(..))
                    && matches!(self.tree.get(function), Node::Function { .. }) =>
            {
                name
            }
            _ => operand,
        }
    }

    /// `sizeof...` of a pack is its length.
    fn pack_len(&mut self, operand: Id) -> Result {
        let pack = self.find_pack(operand)?;
        let len = pack.map_or(0, |pack| self.tree.list(pack).len());
        self.number(len)
    }

    /// `sizeof...` of arguments is how many there are, with those of packs in them.
    fn arguments_len(&mut self, arguments: Id) -> Result {
        let Node::Arguments(list) = self.tree.get(arguments) else { return Err(Unprintable) };
        let tree = self.tree;
        let mut len: usize = 0;
        for argument in tree.list(list) {
            let more = match tree.get(*argument) {
                Node::PackExpansion(pattern) => {
                    self.find_pack(pattern)?.map_or(0, |pack| tree.list(pack).len())
                }
                _ => 1,
            };
            len = len.saturating_add(more);
        }
        self.number(len)
    }

    fn binary(&mut self, operator: Id, left: Id, right: Id) -> Result {
        let Node::Operator(found) = self.tree.get(operator) else { return Err(Unprintable) };
        match found.code {
            "cc" | "dc" | "rc" | "sc" => {
                self.spelling(operator)?;
                self.enclosed("<", left, ">(")?;
                self.part(right)?;
                self.text(")")
            }
            "fl" | "fr" => self.fold(found.code, left, right, None),
            "di" | "dx" => self.designated(found.code, left, right, None),
            // An angle that does not end the arguments of a template.
            "gt" => {
                self.text("(")?;
                self.infix(operator, left, right)?;
                self.text(")")
            }
            "cl" => self.call(left, right),
            "ix" => {
                self.operand(left)?;
                self.enclosed("[", right, "]")
            }
            _ => self.infix(operator, left, right),
        }
    }

    fn infix(&mut self, operator: Id, left: Id, right: Id) -> Result {
        self.operand(left)?;
        self.spelling(operator)?;
        self.operand(right)
    }

    /// A call. The types of a function's parameters would stand where its arguments do.
    fn call(&mut self, function: Id, arguments: Id) -> Result {
        match self.tree.get(function) {
            Node::Typed(name, kind) => match self.tree.get(kind) {
                Node::Function { .. } => self.operand(name)?,
                _ => return Err(Unprintable),
            },
            _ => self.operand(function)?,
        }
        self.operand(arguments)
    }

    fn ternary(&mut self, operator: Id, first: Id, second: Id, third: Option<Id>) -> Result {
        let Node::Operator(found) = self.tree.get(operator) else { return Err(Unprintable) };
        match (found.code, third) {
            ("fL" | "fR", Some(third)) => self.fold(found.code, first, second, Some(third)),
            ("dX", Some(third)) => self.designated(found.code, first, second, Some(third)),
            ("qu", Some(third)) => {
                self.infix(operator, first, second)?;
                self.text(" : ")?;
                self.operand(third)
            }
            _ => self.new_expression(first, second, third),
        }
    }

    fn new_expression(&mut self, placement: Id, of: Id, initializer: Option<Id>) -> Result {
        self.text("new ")?;
        if matches!(self.tree.get(placement), Node::Items(list) if !self.tree.list(list).is_empty())
        {
            self.operand(placement)?;
            self.text(" ")?;
        }
        self.part(of)?;
        initializer.map_or(Ok(()), |initializer| self.operand(initializer))
    }

    /// A fold over a pack, which is written whole.
    fn fold(&mut self, code: &str, operator: Id, first: Id, second: Option<Id>) -> Result {
        let index = self.pack_index.take();
        self.text("(")?;
        if code == "fl" {
            self.text("...")?;
            self.spelling(operator)?;
        }
        self.operand(first)?;
        if code != "fl" {
            self.spelling(operator)?;
            self.text("...")?;
        }
        if let Some(second) = second {
            self.spelling(operator)?;
            self.operand(second)?;
        }
        self.text(")")?;
        self.pack_index = index;
        Ok(())
    }

    /// A designator and its initializer, which may be one more.
    fn designated(&mut self, code: &str, place: Id, second: Id, third: Option<Id>) -> Result {
        self.text(if code == "di" { "." } else { "[" })?;
        self.part(place)?;
        if third.is_some() {
            self.text(" ... ")?;
            self.part(second)?;
        }
        if code != "di" {
            self.text("]")?;
        }
        let initializer = third.unwrap_or(second);
        if self.is_designated(initializer) {
            return self.part(initializer);
        }
        self.text("=")?;
        self.operand(initializer)
    }

    fn is_designated(&self, id: Id) -> bool {
        let (Node::Binary(operator, ..) | Node::Ternary(operator, ..)) = self.tree.get(id) else {
            return false;
        };
        ["di", "dx", "dX"].iter().any(|code| self.is_operator(operator, code))
    }

    fn braces(&mut self, of: Option<Id>, items: Id) -> Result {
        if let Some(of) = of {
            self.part(of)?;
        }
        self.enclosed("{", items, "}")
    }

    fn literal(&mut self, of: Id, text: &str, is_negative: bool) -> Result {
        let style = match self.tree.get(of) {
            Node::Builtin(builtin) => builtin.literal,
            _ => LiteralStyle::Cast,
        };
        let sign = if is_negative { "-" } else { "" };
        match (style, text) {
            (LiteralStyle::Number(suffix), _) => self.texts(&[sign, text, suffix]),
            (LiteralStyle::Boolean, "0") if !is_negative => self.text("false"),
            (LiteralStyle::Boolean, "1") if !is_negative => self.text("true"),
            (LiteralStyle::Bytes, _) => {
                self.enclosed("(", of, ")")?;
                self.texts(&[sign, "[", text, "]"])
            }
            _ => {
                self.enclosed("(", of, ")")?;
                self.texts(&[sign, text])
            }
        }
    }
}
