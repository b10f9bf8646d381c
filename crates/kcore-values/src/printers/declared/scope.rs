//! What the names in a printer's expressions mean.

use std::{cell::RefCell, sync::Arc};

use kcore_mem::Addr;
use kcore_symbols::Type;

use super::{PrinterExpression, without_declared::WithoutDeclared};
use crate::{
    Number, Object, PathWords, Process,
    expression::{ExpressionNames, evaluate, integer, pointer_to},
};

/// The object that expressions are evaluated over.
pub struct PrinterScope<'a> {
    /// The process.
    pub process: &'a WithoutDeclared<'a>,
    /// The object whose members names are.
    pub object: &'a Object,
    /// What the wildcards of the printer's pattern stand for.
    pub captures: &'a [String],
    /// What `$i` is.
    pub index: Option<u64>,
    /// The object from which a walk starts: `$start` is a pointer to it.
    pub start: Option<&'a Object>,
    /// What `$1`, `$2` are: the arguments of a dcmd.
    pub arguments: &'a [u64],
    /// Variables of a program that gives elements.
    pub variables: &'a [(Arc<str>, Object)],
    /// What went wrong behind the first elements, which are shown all the same.
    pub troubles: &'a RefCell<Vec<Trouble>>,
}

/// The line of the file, and what is wrong there.
pub type Trouble = (usize, String);

impl<'a> PrinterScope<'a> {
    /// The scope of an expression over an object alone.
    pub const fn new(
        process: &'a WithoutDeclared<'a>,
        object: &'a Object,
        troubles: &'a RefCell<Vec<Trouble>>,
    ) -> Self {
        Self {
            process,
            object,
            captures: &[],
            index: None,
            start: None,
            arguments: &[],
            variables: &[],
            troubles,
        }
    }

    /// The same over another object: a node.
    pub const fn over(&self, object: &'a Object) -> Self {
        Self { object, ..*self }
    }

    /// The same for an index.
    pub const fn of_index(&self, index: u64) -> Self {
        Self { index: Some(index), ..*self }
    }

    /// The same with variables.
    pub const fn with<'b>(&self, variables: &'b [(Arc<str>, Object)]) -> PrinterScope<'b>
    where
        'a: 'b,
    {
        PrinterScope { variables, ..*self }
    }

    /// The one object that an expression gives.
    pub fn object(&self, expression: &PrinterExpression) -> Result<Object, Trouble> {
        let line = expression.line;
        let text = &expression.text;
        let failed = |why: String| (line, format!("{text}: {why}"));
        let end = evaluate(self.process, self, text).map_err(|why| failed(why.to_string()))?;
        let one: [_; 1] = end.parts.try_into().map_err(|_| failed("one value is needed".into()))?;
        let [part] = one;
        Ok(part.object)
    }

    /// The number, or the address, that an expression gives.
    pub fn number(&self, expression: &PrinterExpression) -> Result<u64, Trouble> {
        let object = self.object(expression)?;
        let word = crate::expression::word_of(self.process, &object);
        word.ok_or_else(|| {
            let ty = object.ty.spelled();
            (expression.line, format!("{}: a number is needed, not {ty}", expression.text))
        })
    }

    /// Whether an expression is true, or there is none.
    pub fn holds(&self, condition: Option<&PrinterExpression>) -> Result<bool, Trouble> {
        condition.map_or(Ok(true), |condition| Ok(self.number(condition)? != 0))
    }

    /// What a pointer points to; `None` for a null pointer.
    pub fn target(&self, expression: &PrinterExpression) -> Result<Option<Object>, Trouble> {
        self.pointed(expression, &self.object(expression)?)
    }

    /// What the pointer that an expression gave points to; `None` for a null pointer.
    pub fn pointed(
        &self,
        expression: &PrinterExpression,
        pointer: &Object,
    ) -> Result<Option<Object>, Trouble> {
        let failed = |why: String| (expression.line, format!("{}: {why}", expression.text));
        let to = pointer.pointer(self.process).map_err(|why| failed(why.to_string()))?;
        if to.get() == 0 {
            return Ok(None);
        }
        pointer.target(self.process).map(Some).map_err(|why| failed(why.to_string()))
    }

    /// A pointer to an object; `None` if it lies in no memory.
    fn pointer_to(&self, object: &Object) -> Option<Object> {
        let ty = pointer_to(self.process, &object.ty);
        let at = u128::from(object.address()?.get());
        Some(Object::of_number(ty, at, self.process.space().target()))
    }

    /// A spelling with what the wildcards stand for in the places of `$T1`, `$T2`.
    fn substituted(&self, text: &str) -> String {
        let captures = self.captures.iter().enumerate().rev();
        captures.fold(text.trim().to_owned(), |text, (index, capture)| {
            text.replace(&format!("$T{}", index.saturating_add(1)), capture)
        })
    }

    /// The type of this number among the pattern's wildcards, from 1: an argument of the object's template if it is
    /// spelled so.
    fn captured(&self, number: &str) -> Option<Type> {
        let number: usize = number.parse().ok()?;
        let name = self.captures.get(number.checked_sub(1)?)?;
        let whole = self.object.complete_type(self.process).ok()?;
        let arguments = whole.composite().map(|composite| composite.arguments.as_slice());
        let is_same = |ty: &Type| super::TypePattern::new(&ty.spelled()).captures(name).is_some();
        let mut arguments = arguments.into_iter().flatten();
        let found = arguments.find_map(|argument| whole.follow(&argument.ty).ok().filter(is_same));
        found.or_else(|| self.process.type_spelled(&whole, name))
    }
}

impl PathWords for PrinterScope<'_> {
    fn number(&self, text: &str) -> Result<u64, String> {
        let trimmed = text.trim();
        let number = match trimmed.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => trimmed.parse().ok(),
        };
        let computed = || {
            let end = evaluate(self.process, self, trimmed).ok()?;
            crate::expression::word_of(self.process, &end.parts.first()?.object)
        };
        number.or_else(computed).ok_or_else(|| format!("invalid index '{text}'"))
    }

    fn type_named(&self, text: &str) -> Result<Type, String> {
        let unknown = || format!("no type {text}");
        let Some(captured) = text.trim().strip_prefix("$T") else {
            let found = self.process.type_spelled(&self.object.ty, &self.substituted(text));
            return found.ok_or_else(unknown);
        };
        let end = captured.find(|c: char| !c.is_ascii_digit()).unwrap_or(captured.len());
        let (number, stars) = captured.split_at(end);
        let stars = stars.replace(' ', "");
        let base = self.captured(number).ok_or_else(unknown)?;
        if !stars.chars().all(|c| c == '*') {
            return Err(unknown());
        }
        Ok(stars.chars().take(8).fold(base, |ty, _| pointer_to(self.process, &ty)))
    }
}

impl ExpressionNames for PrinterScope<'_> {
    fn object(&self, name: &str) -> Option<Object> {
        if let Some((_, value)) = self.variables.iter().find(|(own, _)| &**own == name) {
            return Some(value.clone());
        }
        match (name, name.strip_prefix("::")) {
            ("this", _) => self.pointer_to(self.object),
            (_, Some(global)) => self.process.variable_beside(&self.object.ty, global),
            _ => self.object.member(self.process, name).ok(),
        }
    }

    fn enumerator(&self, name: &str) -> Result<Option<Object>, Vec<String>> {
        Ok(self.process.enumerator_beside(&self.object.ty, name))
    }

    fn register(&self, name: &str) -> Option<Object> {
        let captured = || {
            let number: usize = name.strip_prefix('T')?.parse().ok()?;
            self.captures.get(number.checked_sub(1)?)?.parse::<i64>().ok()
        };
        if name == "start" {
            return self.pointer_to(self.start?);
        }
        let argument = || {
            let number: usize = name.parse().ok()?;
            self.arguments.get(number.checked_sub(1)?).copied().map(u64::cast_signed)
        };
        let index = self.index.filter(|_| name == "i").map(u64::cast_signed);
        let value = index.or_else(captured).or_else(argument)?;
        let bits = u128::from(value.cast_unsigned());
        let number = Number { bits, size: 64, signed: true };
        Some(integer(self.process.space().target(), &number))
    }

    fn dot(&self) -> Addr {
        self.object.address().unwrap_or_default()
    }
}
