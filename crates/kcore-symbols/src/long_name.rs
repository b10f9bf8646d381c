//! Names that are longer than anybody reads: any number of frames may stand in code that has one.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::names::SHORT;

/// Bytes of a name that are shown with code.
const MAX_SHOWN: usize = 4 << 10;

/// A name as it is shown with code: of a longer one its beginning, and `...`.
pub fn shown(name: &str) -> Arc<str> {
    if name.len() <= MAX_SHOWN {
        return name.into();
    }
    let ends = name.char_indices().map(|(at, letter)| at.saturating_add(letter.len_utf8()));
    let end = ends.take_while(|end| *end <= MAX_SHOWN).last().unwrap_or(0);
    format!("{}...", name.get(..end).unwrap_or_default()).into()
}

/// A name to look something up by. Long ones are the same where they are one text: any number of frames has the text
/// of one function, and to compare it each time would take as long as to write it.
#[derive(Clone, Debug)]
pub struct RawName(pub Arc<str>);

impl RawName {
    fn is_short(&self) -> bool {
        self.0.len() <= SHORT
    }
}

impl PartialEq for RawName {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.is_short() && self.0 == other.0)
    }
}

impl Eq for RawName {}

impl Hash for RawName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if self.is_short() { self.0.hash(state) } else { self.0.as_ptr().hash(state) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_ends_with_a_whole_letter_and_says_so() {
        assert_eq!(&*shown("main"), "main");
        assert_eq!(shown(&"a".repeat(MAX_SHOWN)).len(), MAX_SHOWN);
        let cut = shown(&format!("a{}", "ä".repeat(MAX_SHOWN)));
        assert!(cut.ends_with("ä...") && cut.len() == MAX_SHOWN + 2, "{}", cut.len());
    }
}
