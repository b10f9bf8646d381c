//! Types that are nothing but something else: what an adaptor adapts, what an atomic holds.

use super::Printer;
use crate::{Content, Object, eval::Evaluator};

/// Families that are shown as one of their members.
pub struct Transparent {
    families: &'static [&'static str],
    /// The member's names in all releases.
    member: &'static [&'static str],
}

/// Atomics of C++.
pub const ATOMIC: Transparent =
    Transparent { families: &["std::atomic"], member: &["_M_i", "_M_p", "_M_fp", "__a_value"] };

/// Adaptors of containers.
pub const ADAPTOR: Transparent =
    Transparent { families: &["std::stack", "std::queue", "std::priority_queue"], member: &["c"] };

/// Spans and points of time, in the unit that is part of their type.
pub const CHRONO: Transparent = Transparent {
    families: &["std::chrono::duration", "std::chrono::time_point"],
    member: &["__r", "__rep_", "__d", "__d_"],
};

/// Paths.
pub const PATH: Transparent =
    Transparent { families: &["std::filesystem::path"], member: &["_M_pathname", "__pn_"] };

impl Printer for Transparent {
    fn families(&self) -> &'static [&'static str] {
        self.families
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let member = evaluator.dig(object, self.member)?;
        Some(evaluator.value(&member).content)
    }
}
