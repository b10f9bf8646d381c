//! What differs from machine to machine.

mod aarch64;
mod x86_64;

use kcore_mem::{Arch, Endian, Target};

use crate::plt::Linkage;

/// The linkage of a target, where its tables are known.
pub fn linkage(target: Target) -> Option<&'static Linkage> {
    match (target.arch, target.word, target.endian) {
        (Arch::X86_64, 8, Endian::Little) => Some(&x86_64::LINKAGE),
        (Arch::Aarch64, 8, Endian::Little) => Some(&aarch64::LINKAGE),
        _ => None,
    }
}
