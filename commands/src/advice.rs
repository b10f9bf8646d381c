//! What to type about a fact that the library tells: it knows no dcmd.

use kcore::{Doubt, DoubtKind, Undecoded};

/// A doubt, and the dcmd that tells more of it.
pub fn about_doubt(doubt: &Doubt) -> String {
    match doubt.kind {
        DoubtKind::MissingFiles => format!("{doubt} (see ::objects)"),
        _ => doubt.to_string(),
    }
}

/// Why a runtime is not decoded, and the setting by which it is nevertheless.
pub fn about_undecoded(undecoded: &Undecoded) -> String {
    let why = &undecoded.why;
    match &undecoded.nearest {
        Some(nearest) => format!("{why}; ::set -o nearest takes the layouts of {nearest}"),
        None => why.to_string(),
    }
}
