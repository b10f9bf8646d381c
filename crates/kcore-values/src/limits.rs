//! How much of an object is read.

/// Bounds of a [`Value`](crate::Value). A user may lift each of them but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep structures and arrays nest: 0 shows the object itself as `{ ... }`. `None` is as deep as
    /// types go.
    pub depth: Option<u64>,
    /// Elements of one array or container. `None` is all.
    pub elements: Option<u64>,
    /// Characters of one text. `None` is all.
    pub characters: Option<u64>,
    /// How many pointers that own what they point to are followed one behind the other.
    pub pointers: u64,
    /// Whether types of standard libraries are shown as they are laid out, and not as what they mean.
    pub raw: bool,
    /// Values in all, besides the limit of the budget. What lies beyond is marked as elided.
    pub values: u64,
}

impl Default for Limits {
    /// Those of MDB, and what a person can look at.
    fn default() -> Self {
        Self {
            depth: None,
            elements: Some(32),
            characters: Some(1024),
            pointers: 4,
            raw: false,
            values: u64::MAX,
        }
    }
}
