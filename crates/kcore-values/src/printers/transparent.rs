//! Types that are nothing but something else: what an adaptor adapts, what an atomic holds.

use super::Printer;
use crate::{Content, Object, eval::Evaluator};

/// Families that are shown as one of their members.
pub struct Transparent {
    families: &'static [&'static str],
    /// The member's names in all releases.
    member: &'static [&'static str],
}

/// Adaptors of containers.
pub const ADAPTOR: Transparent =
    Transparent { families: &["std::stack", "std::queue", "std::priority_queue"], member: &["c"] };

/// Paths.
pub const PATH: Transparent =
    Transparent { families: &["std::filesystem::path"], member: &["_M_pathname", "__pn_"] };

/// Cells and other wrappers of Rust.
pub const RUST_WRAPPER: Transparent = Transparent {
    families: &[
        "rust::Cell",
        "rust::UnsafeCell",
        "rust::SyncUnsafeCell",
        "rust::ManuallyDrop",
        "rust::MaybeUninit",
        "rust::AtomicI8",
        "rust::AtomicU8",
        "rust::AtomicI16",
        "rust::AtomicU16",
        "rust::AtomicI32",
        "rust::AtomicU32",
        "rust::AtomicI64",
        "rust::AtomicU64",
        "rust::AtomicIsize",
        "rust::AtomicUsize",
        "rust::AtomicPtr",
        "rust::Atomic",
        "rust::NonNull",
        "rust::Pin",
        "rust::OnceCell",
        "rust::BinaryHeap",
    ],
    member: &["value", "v", "p", "pointer", "__pointer", "inner", "data"],
};

/// Tuple structures of Rust with one member.
pub const RUST_NEWTYPE: Transparent = Transparent {
    families: &[
        "rust::NonZero",
        "rust::NonZeroInner",
        "rust::NonZeroU8",
        "rust::NonZeroU16",
        "rust::NonZeroU32",
        "rust::NonZeroU64",
        "rust::NonZeroU128",
        "rust::NonZeroUsize",
        "rust::NonZeroI8",
        "rust::NonZeroI16",
        "rust::NonZeroI32",
        "rust::NonZeroI64",
        "rust::NonZeroI128",
        "rust::NonZeroIsize",
        "rust::NonZeroU8Inner",
        "rust::NonZeroU16Inner",
        "rust::NonZeroU32Inner",
        "rust::NonZeroU64Inner",
        "rust::NonZeroU128Inner",
        "rust::NonZeroUsizeInner",
        "rust::NonZeroI8Inner",
        "rust::NonZeroI16Inner",
        "rust::NonZeroI32Inner",
        "rust::NonZeroI64Inner",
        "rust::NonZeroI128Inner",
        "rust::NonZeroIsizeInner",
        "rust::Wrapping",
        "rust::Saturating",
        "rust::Reverse",
        "rust::MaybeDangling",
        "rust::Nanoseconds",
    ],
    member: &["__0"],
};

impl Printer for Transparent {
    fn families(&self) -> &'static [&'static str] {
        self.families
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let member = evaluator.dig(object, self.member)?;
        Some(evaluator.value(&member).content)
    }
}
