//! The allocator of AddressSanitizer: `libasan` of GCC, and clang's runtime built into the program.
//!
//! Each block has a header of 16 bytes before it, which says whether the program has it or has freed it, how many bytes were
//! asked for, and which thread allocated it from which stack. Freed blocks wait in a quarantine before they are handed out
//! again, and also know who freed them. Small blocks lie in one region of addresses for each size, large ones in mappings of
//! their own. Layouts are those of `compiler-rt/lib/asan/asan_allocator.cpp` and of
//! `compiler-rt/lib/sanitizer_common/sanitizer_allocator_{primary64,secondary}.h` of LLVM 14 to 19; `libsanitizer` of GCC 12
//! is between LLVM 13 and 14.

mod check;
mod chunk;
mod depot;
mod detect;
mod heap;
mod history;
mod instance;
mod large;
mod region;
#[cfg(test)]
mod tests;
mod threads;
mod usage;

use crate::Allocator;

/// AddressSanitizer.
pub(crate) const ALLOCATOR: Allocator = Allocator { name: NAME, detect: detect::detect };

/// Its name.
const NAME: &str = "AddressSanitizer";
