//! Types that are nothing but something else: what an adaptor adapts, what an atomic holds.

use super::Printer;
use crate::{Content, Object, eval::Evaluator};

/// Families with the member, by all of its names, that they stand for.
const MEMBERS: &[(&str, &[&str])] = &[
    ("std::atomic", &["_M_i", "_M_b", "_M_p", "_M_fp", "__a_value"]),
    ("std::stack", &["c"]),
    ("std::queue", &["c"]),
    ("std::priority_queue", &["c"]),
    ("std::chrono::duration", &["__r", "__rep_"]),
    ("std::chrono::time_point", &["__d", "__d_"]),
    ("std::filesystem::path", &["_M_pathname", "__pn_"]),
];

/// Their names alone.
const FAMILIES: [&str; MEMBERS.len()] = {
    let mut names = [""; MEMBERS.len()];
    let mut index = 0;
    while index < MEMBERS.len() {
        #[expect(
            clippy::indexing_slicing,
            clippy::arithmetic_side_effects,
            reason = "when compiled"
        )]
        {
            names[index] = MEMBERS[index].0;
            index += 1;
        }
    }
    names
};

/// Shows the one member.
pub struct Transparent;

impl Printer for Transparent {
    fn families(&self) -> &'static [&'static str] {
        &FAMILIES
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let family = super::family::of(&object.ty, &|_| true)?;
        let (_, names) = MEMBERS.iter().find(|(name, _)| *name == family)?;
        let member = evaluator.dig(object, names)?;
        Some(evaluator.value(&member).content)
    }
}
