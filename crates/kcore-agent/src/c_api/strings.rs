//! Strings that end with a NUL.

use std::{
    ffi::{CString, c_char},
    ptr,
};

/// The text up to its end; a NUL in it becomes a question mark.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).unwrap_or_default()
}

/// Where the text stands; null where there is none.
pub fn at(text: Option<&CString>) -> *const c_char {
    text.map_or(ptr::null(), |text| text.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_does_not_end_a_text() {
        assert_eq!(c_string("a\0b").to_bytes(), b"a?b");
        assert!(at(None).is_null());
    }
}
