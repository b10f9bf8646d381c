//! What is said where something of Erlang cannot be read.

use std::sync::Arc;

use kcore::erlang::Missing;
use kcore_dcmd::{Cell, Cx, Result};

/// A name, or a mark in its place.
pub fn cell(name: &std::result::Result<Arc<str>, Missing>) -> Cell<'_> {
    Cell::text(name.as_deref().unwrap_or_else(|why| why.shown()))
}

/// Why something is missing, in words.
pub const fn reason(why: Missing) -> &'static str {
    match why {
        Missing::NotCopied => {
            "they were not copied (--live-memory reads such memory later from the process)"
        }
        Missing::NotDumped => "they are not in the core",
        Missing::Unreadable => "their memory is damaged",
    }
}

/// Notes what helps where memory was not copied.
///
/// # Errors
/// When nobody reads any more.
pub fn note(cx: &mut Cx<'_>, why: Option<Missing>) -> Result<()> {
    if why != Some(Missing::NotCopied) {
        return Ok(());
    }
    cx.note("what is marked `<not copied>` was not copied (--live-memory reads it later from the process)")
}
