//! Stacks of Boost.Context, and of those who took its code: bRPC.

use kcore_mem::{Addr, AddressSpace};

/// `mov w0, #0` and `mov x0, #0`, one of which stands behind `finish` in `make_arm64_aapcs_elf_gas.S` of
/// Boost.Context and in `bthread_make_fcontext` of bRPC; `bl _exit` follows.
const ZERO: [u64; 2] = [0x5280_0000, 0xd280_0000];
/// The upper six bits of `bl`.
const BL: u64 = 0b10_0101;

/// Whether `at` is what the first function of a stack returns to.
pub fn is_end(at: Addr, space: &dyn AddressSpace) -> bool {
    let word = |offset| at.checked_add(offset).and_then(|at| space.read_uint(at, 4).ok());
    word(0).is_some_and(|word| ZERO.contains(&word)) && word(4).is_some_and(|call| call >> 26 == BL)
}
