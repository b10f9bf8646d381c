//! What is said, once in a session, of values of languages of which only the forms of C are shown.

use kcore::Language;
use kcore_dcmd::{Cx, Result};

/// Says that values of a language are shown as those of C, if they are.
///
/// # Errors
/// The errors of the sink.
pub fn note(cx: &mut Cx<'_>, language: Option<Language>) -> Result<()> {
    match language.and_then(Language::shown_as_c) {
        Some(name) => cx.note_once(&format!("values of {name} are shown as those of C")),
        None => Ok(()),
    }
}

/// The same of the language of the frame that a dcmd is about.
///
/// # Errors
/// The errors of the sink.
pub fn note_of_frame(cx: &mut Cx<'_>) -> Result<()> {
    let language = cx.code_scope().and_then(|code| cx.core().variables().language_of(code));
    note(cx, language)
}
