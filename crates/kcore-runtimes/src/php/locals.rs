//! Variables of calls: `zend_compile.h` (`ZEND_CALL_VAR_NUM`), `debug_backtrace_get_args`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    array::{Elements, Key},
    frame::{THIS, VARIABLES},
    memory::{Memory, OBJECT, UNDEFINED, VALUE, Value},
    value::Teller,
};
use crate::ScriptVariable;

/// `func` and `num_args` of `zend_execute_data`, and `num_args` and `arg_info` of `zend_function`.
const FUNCTION: u64 = 24;
const PASSED: u64 = 44;
const DECLARED: u64 = 32;
const ARGUMENTS: u64 = 40;
/// `ZEND_INTERNAL_FUNCTION`, and the flag `ZEND_ACC_VARIADIC`.
const INTERNAL: u8 = 1;
const FLAGS: u64 = 4;
const VARIADIC: u64 = 1 << 14;
/// The flags of `This`, `ZEND_CALL_HAS_SYMBOL_TABLE`, and `symbol_table` of `zend_execute_data`.
const CALL_FLAGS: u64 = 40;
const HAS_TABLE: u64 = 1 << 20;
const TABLE: u64 = 56;
/// Variables of a table that are looked at, at most.
const MAX_TABLE: usize = 1 << 12;
/// Variables that all code sees.
const EVERYWHERE: [&str; 9] =
    ["GLOBALS", "_COOKIE", "_ENV", "_FILES", "_GET", "_POST", "_REQUEST", "_SERVER", "_SESSION"];
/// Variables of one call, at most.
const MAX_VARIABLES: u64 = 1 << 16;

impl Memory<'_> {
    /// The variables of a call: arguments, and the object that it is a method of, come first.
    pub fn locals(&self, at: Addr, teller: &Teller<'_>) -> Option<Vec<ScriptVariable>> {
        let function = self.pointer(at, FUNCTION)?;
        let mut variables = match self.byte(function, 0)? {
            INTERNAL => self.passed(at, function, teller)?,
            _ => self.named(at, function, teller)?,
        };
        let this = self.value(at.checked_add(THIS)?)?;
        if this.kind == OBJECT {
            let value = teller.value(this);
            variables.push(ScriptVariable { name: "$this".into(), is_argument: true, value });
        }
        variables.sort_by_key(|variable| !variable.is_argument);
        Some(variables)
    }

    /// The values of a call: those of its variables, and the object that it is a method of.
    pub fn values_of(&self, at: Addr) -> Option<Vec<(Arc<str>, Value)>> {
        let function = self.pointer(at, FUNCTION)?;
        let is_internal = self.byte(function, 0)? == INTERNAL;
        let count = match is_internal {
            true => self.uint(at, PASSED, 4)?,
            false => self.uint(function, self.layout.code.variable_count, 4)?,
        };
        let names = self.pointer(function, self.layout.code.variables).filter(|_| !is_internal);
        let variable = |index: u64| {
            let name = names.and_then(|names| self.pointer(names, index.checked_mul(8)?));
            let name = name.and_then(|name| self.text(name));
            let name = name.map_or_else(|| format!("argument {index}"), |name| format!("${name}"));
            Some((name.into(), self.plain_value(variable_at(at, index)?)?))
        };
        let mut values: Vec<(Arc<str>, Value)> =
            (0..count.min(MAX_VARIABLES)).filter_map(variable).collect();
        let this = self.value(at.checked_add(THIS)?)?;
        values.extend((this.kind == OBJECT).then(|| ("$this".into(), this)));
        Some(values)
    }

    /// Those of code of PHP. While a call has a table of its variables, that tells where they are: code of a file that it
    /// includes has those of both in its own places, and `extract` adds some that have no place.
    fn named(&self, at: Addr, function: Addr, teller: &Teller<'_>) -> Option<Vec<ScriptVariable>> {
        let mut table = self.table_of(at);
        let count = self.uint(function, self.layout.code.variable_count, 4)?.min(MAX_VARIABLES);
        let names = self.pointer(function, self.layout.code.variables);
        let variadic = u64::from(self.uint(function, FLAGS, 4)? & VARIADIC != 0);
        let arguments = self.uint(function, DECLARED, 4)?.saturating_add(variadic);
        let mut variable = |index: u64| {
            let name = self.text(self.pointer(names?, index.checked_mul(8)?)?)?;
            let moved = table.iter().position(|(own, _)| *own == name);
            let value = match moved.map(|place| table.swap_remove(place)) {
                Some((_, value)) => value,
                None => self.plain_value(variable_at(at, index)?)?,
            };
            let is_argument = index < arguments;
            (value.kind != UNDEFINED).then(|| ScriptVariable {
                name: format!("${name}").into(),
                is_argument,
                value: teller.value(value),
            })
        };
        let mut variables: Vec<ScriptVariable> = (0..count).filter_map(&mut variable).collect();
        table.sort_by(|one, other| one.0.cmp(&other.0));
        variables.extend(table.into_iter().map(|(name, value)| ScriptVariable {
            name: format!("${name}").into(),
            is_argument: false,
            value: teller.value(value),
        }));
        Some(variables)
    }

    /// The variables in the table that a call has, if it has one; without those that all code sees.
    fn table_of(&self, at: Addr) -> Vec<(String, Value)> {
        let has_table = self.uint(at, CALL_FLAGS, 4).is_some_and(|flags| flags & HAS_TABLE != 0);
        let table = self.pointer(at, TABLE).filter(|_| has_table);
        let all = table.and_then(|table| Elements::of(self, table)).into_iter().flatten();
        let named = all.take(MAX_TABLE).filter_map(|(key, value, _)| match key {
            Key::Name(name) => Some((self.text(name)?, value)),
            Key::Index(_) => None,
        });
        named.filter(|(name, _)| !EVERYWHERE.contains(&name.as_str())).collect()
    }

    /// What was passed to a function of C: it has no other variables.
    fn passed(&self, at: Addr, function: Addr, teller: &Teller<'_>) -> Option<Vec<ScriptVariable>> {
        let count = self.uint(at, PASSED, 4)?.min(MAX_VARIABLES);
        let variable = |index: u64| {
            let value = self.plain_value(variable_at(at, index)?)?;
            (value.kind != UNDEFINED).then(|| ScriptVariable {
                name: self.argument(function, index),
                is_argument: true,
                value: teller.value(value),
            })
        };
        Some((0..count).filter_map(variable).collect())
    }

    /// The name of an argument of a function of C, or its number where that was not dumped.
    fn argument(&self, function: Addr, index: u64) -> Arc<str> {
        let declared = self.uint(function, DECLARED, 4).unwrap_or_default();
        let variadic = self.uint(function, FLAGS, 4).is_some_and(|flags| flags & VARIADIC != 0);
        let name = || {
            let index = if variadic { index.min(declared) } else { index };
            let known = index < declared || variadic;
            let arguments = self.pointer(function, ARGUMENTS).filter(|_| known)?;
            self.c_text(arguments, index.checked_mul(self.layout.argument_size)?)
        };
        let number = || format!("#{}", index.saturating_add(1));
        name().filter(|name| !name.is_empty()).map_or_else(number, |name| format!("${name}")).into()
    }
}

fn variable_at(at: Addr, index: u64) -> Option<Addr> {
    at.checked_add(VARIABLES)?.checked_add(index.checked_mul(VALUE)?)
}
