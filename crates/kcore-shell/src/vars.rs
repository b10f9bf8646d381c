//! Variables: named 64-bit values.

use std::collections::BTreeMap;

use kcore_dcmd::{DcmdError, Result};

const NAME_LENGTH: usize = 30;
const FORBIDDEN: &str = "#%^&*-+=,:$/\\?<>;|!`'\"[](){} \t";
const PERSISTENT: [&str; 11] = ["0", "1", "2", "9", "_", "b", "d", "e", "hits", "m", "t"];
const READ_ONLY: [&str; 1] = ["thread"];

/// The variables of a session. Some exist from its start and cannot be removed.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    values: BTreeMap<String, u64>,
}

impl Default for Variables {
    fn default() -> Self {
        Self { values: PERSISTENT.iter().map(|name| ((*name).to_owned(), 0)).collect() }
    }
}

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        self.values.get(name).copied()
    }

    /// Every name that can be read.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str).chain(READ_ONLY)
    }

    /// # Errors
    /// A name that no variable can have, or one that cannot be written.
    pub(crate) fn set(&mut self, name: &str, value: u64) -> Result<()> {
        check_name(name)?;
        if name == "1" {
            let old = self.get(name).unwrap_or_default();
            self.values.insert("2".to_owned(), old);
        }
        self.values.insert(name.to_owned(), value);
        Ok(())
    }
}

fn check_name(name: &str) -> Result<()> {
    if READ_ONLY.contains(&name) {
        return Err(DcmdError::failed(format!("cannot modify read-only variable '{name}'")));
    }
    if name.chars().count() > NAME_LENGTH {
        return Err(DcmdError::failed(format!(
            "variable names may not exceed {NAME_LENGTH} characters: '{name}'"
        )));
    }
    if let Some(c) = name.chars().find(|c| FORBIDDEN.contains(*c)) {
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
    fn names_are_checked() {
        assert_eq!(error("thread"), "cannot modify read-only variable 'thread'");
        assert_eq!(error("a-b"), "'-' may not be used in a variable name");
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
