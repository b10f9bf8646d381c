//! Variables: named 64-bit values.

use std::collections::BTreeMap;

use kcore_dcmd::{DcmdError, Result};

const NAME_LENGTH: usize = 30;
/// The last is a format dcmd: behind `<name` it would be read as part of the name.
const FORBIDDEN: &str = "#%^&*-+=,:$/\\?<>;|!`'\"[](){} \t@";
/// Variables that exist from the start and stay: adb's, and those that MDB reads or writes itself.
const PERSISTENT: [&str; 6] = ["0", "1", "2", "9", "_", "hits"];
/// Variables whose value follows from the core until somebody writes them.
pub(crate) const DERIVED: [&str; 5] = ["b", "d", "e", "m", "t"];
const READ_ONLY: [&str; 1] = ["thread"];

/// The value of a variable, and whether `::typeset` marked it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) number: u64,
    pub(crate) tagged: bool,
}

/// The variables of a session that were written, and those that exist from its start.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    values: BTreeMap<String, Value>,
}

impl Default for Variables {
    fn default() -> Self {
        let persistent = PERSISTENT.iter().map(|name| ((*name).to_owned(), Value::default()));
        Self { values: persistent.collect() }
    }
}

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        self.values.get(name).map(|value| value.number)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        self.values.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Every name that can be read.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str).chain(DERIVED).chain(READ_ONLY)
    }

    /// # Errors
    /// A name that no variable can have, or one that cannot be written.
    pub(crate) fn set(&mut self, name: &str, number: u64) -> Result<()> {
        check_name(name)?;
        if name == "1" {
            let old = self.get(name).unwrap_or_default();
            self.entry("2").number = old;
        }
        self.entry(name).number = number;
        Ok(())
    }

    /// Makes the variable, with `initial`, if there is none; marks it if `tagged` says so.
    ///
    /// # Errors
    /// As `set`.
    pub(crate) fn typeset(&mut self, name: &str, initial: u64, tagged: Option<bool>) -> Result<()> {
        check_name(name)?;
        let new = Value { number: initial, tagged: false };
        let value = self.values.entry(name.to_owned()).or_insert(new);
        value.tagged = tagged.unwrap_or(value.tagged);
        Ok(())
    }

    /// # Errors
    /// When there is none of that name, or it stays.
    pub(crate) fn unset(&mut self, name: &str) -> Result<()> {
        if is_persistent(name) {
            return Err(DcmdError::failed(format!("cannot remove persistent variable '{name}'")));
        }
        let removed = self.values.remove(name);
        removed.map(drop).ok_or_else(|| undefined(name))
    }

    fn entry(&mut self, name: &str) -> &mut Value {
        self.values.entry(name.to_owned()).or_default()
    }
}

fn is_persistent(name: &str) -> bool {
    [&PERSISTENT[..], &DERIVED, &READ_ONLY].iter().any(|names| names.contains(&name))
}

pub(crate) fn undefined(name: &str) -> DcmdError {
    DcmdError::failed(format!("variable '{name}' is not defined"))
}

/// Whether a variable's name may hold a character.
pub(crate) fn is_in_name(c: char) -> bool {
    !FORBIDDEN.contains(c) && !c.is_control() && !c.is_whitespace()
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name == "." {
        return Err(DcmdError::failed(format!("'{name}' may not be the name of a variable")));
    }
    if READ_ONLY.contains(&name) {
        return Err(DcmdError::failed(format!("cannot modify read-only variable '{name}'")));
    }
    if name.chars().count() > NAME_LENGTH {
        return Err(DcmdError::failed(format!(
            "variable names may not exceed {NAME_LENGTH} characters: '{name}'"
        )));
    }
    if let Some(c) = name.chars().find(|c| !is_in_name(*c)) {
        return Err(DcmdError::failed(format!("'{c}' may not be used in a variable name")));
    }
    Ok(())
}

/// The low `size` bytes of `value`.
pub(crate) fn cut(value: u64, size: Option<u8>) -> u64 {
    let bits = u32::from(size.unwrap_or(8)) * 8;
    value & u64::MAX.checked_shr(u64::BITS.saturating_sub(bits)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> String {
        Variables::default().set(name, 1).unwrap_err().to_string()
    }

    #[test]
    fn values_are_kept_and_the_old_ones_of_adb_too() {
        let mut variables = Variables::default();
        variables.set("x", 5).unwrap();
        variables.set("1", 6).unwrap();
        variables.set("1", 7).unwrap();
        assert_eq!(["x", "1", "2", "hits"].map(|name| variables.get(name)), [5, 7, 6, 0].map(Some));
        assert_eq!(variables.get("nosuch"), None);
    }

    #[test]
    fn marks_are_set_cleared_and_left() {
        let mut variables = Variables::default();
        let mut mark = |tagged, number| {
            variables.typeset("x", 3, tagged).unwrap();
            variables.set("x", number).unwrap();
            variables.iter().find(|(name, _)| *name == "x").unwrap().1
        };
        assert_eq!(mark(Some(true), 4), Value { number: 4, tagged: true });
        assert_eq!(mark(None, 5), Value { number: 5, tagged: true });
        assert_eq!(mark(Some(false), 6), Value { number: 6, tagged: false });
    }

    #[test]
    fn what_a_session_needs_stays() {
        let mut variables = Variables::default();
        variables.set("x", 5).unwrap();
        variables.unset("x").unwrap();
        let mut error = |name| variables.unset(name).unwrap_err().to_string();
        assert_eq!(error("x"), "variable 'x' is not defined");
        assert_eq!(error("9"), "cannot remove persistent variable '9'");
        assert_eq!(error("b"), "cannot remove persistent variable 'b'");
    }

    #[test]
    fn names_are_checked() {
        assert_eq!(error("thread"), "cannot modify read-only variable 'thread'");
        assert_eq!(error("a-b"), "'-' may not be used in a variable name");
        assert_eq!(error("a@"), "'@' may not be used in a variable name");
        assert_eq!(error("."), "'.' may not be the name of a variable");
        assert_eq!(error(""), "'' may not be the name of a variable");
        let long = "x".repeat(31);
        assert_eq!(error(&long), format!("variable names may not exceed 30 characters: '{long}'"));
    }

    #[test]
    fn casts_cut_a_value() {
        let value = 0x1122_3344_5566_7788;
        assert_eq!(cut(value, Some(1)), 0x88);
        assert_eq!(cut(value, Some(4)), 0x5566_7788);
        assert_eq!(cut(value, Some(8)), value);
        assert_eq!(cut(value, None), value);
    }
}
