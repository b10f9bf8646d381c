//! Names of which nothing is known: what an expression is read with before there is a process.

use kcore_mem::Addr;
use kcore_symbols::Type;

use super::{
    ExpressionNames, basic,
    name::{is_digit, is_name},
};
use crate::{Object, PathWords};

/// Words that only types begin with.
const TYPE_WORDS: &[&str] = &[
    "struct", "class", "union", "enum", "const", "volatile", "unsigned", "signed", "char", "short",
    "int", "long", "float", "double", "bool", "void",
];

/// Whether what stands in parentheses may be a type, by itself and by what stands behind it.
pub fn may_be_type(text: &str, behind: &str) -> bool {
    let first = text.split(|c| !is_name(c)).next().unwrap_or_default();
    let behind = behind.trim_start();
    let is_before_operand = behind.starts_with(|c| is_name(c) || matches!(c, '\'' | '"' | '$'));
    // Nothing can be called: `(ns::kind)(flags & 15)` is a cast.
    let is_name_alone = text.chars().all(|sign| is_name(sign) || sign == ':');
    text.ends_with('*')
        || TYPE_WORDS.contains(&first)
        || is_before_operand && !is_operator(text)
        || is_name_alone && behind.starts_with('(')
}

fn is_operator(text: &str) -> bool {
    text.contains(['+', '-', '/', '[', '(', '|', '&', '?', '=', '!']) || text.starts_with(is_digit)
}

/// Each name is one of some object or register.
pub struct AnyNames;

impl PathWords for AnyNames {
    fn number(&self, _text: &str) -> Result<u64, String> {
        Ok(0)
    }

    fn type_named(&self, _text: &str) -> Result<Type, String> {
        Ok(Type::void())
    }
}

impl ExpressionNames for AnyNames {
    fn object(&self, _name: &str) -> Option<Object> {
        Some(Object::at(basic::character(), Addr::new(0)))
    }

    fn register(&self, name: &str) -> Option<Object> {
        self.object(name)
    }

    fn dot(&self) -> Addr {
        Addr::new(0)
    }
}
