//! Parts on the way of a path, with the paths that lead to them alone.

use super::PathPart;
use crate::Object;

/// A part on the way, and by how much its path has grown, or shrunk, where ranges became indices.
pub struct Walked {
    pub part: PathPart,
    pub growth: isize,
}

impl Walked {
    /// An element of it, with its index where the range stands in the path.
    pub fn named(&self, object: Object, at: std::ops::Range<usize>, index: i64) -> Self {
        let shifted = |at: usize| at.saturating_add_signed(self.growth);
        let old = &self.part.path;
        let before = old.get(..shifted(at.start)).unwrap_or_default();
        let behind = old.get(shifted(at.end)..).unwrap_or_default();
        let path = format!("{before}[{index}]{behind}");
        let growth = path.len().cast_signed().saturating_sub(old.len().cast_signed());
        let part = PathPart { object, path, is_target: false };
        Self { part, growth: self.growth.saturating_add(growth) }
    }
}
