//! Stacks of Boost.Context, and of those who took its code: bRPC.

use kcore_mem::{Addr, AddressSpace};

/// `xor %rdi,%rdi; call _exit; hlt`: what stands behind `finish` in `make_x86_64_sysv_elf_gas.S` of
/// Boost.Context from 1.60 on, and in `bthread_make_fcontext` of bRPC.
const XOR_AND_CALL: [u8; 4] = [0x48, 0x31, 0xff, 0xe8];
const HLT: u8 = 0xf4;
/// It lies behind the call, whose distance takes four bytes.
const HLT_AT: usize = 8;

/// Whether `at` is what the first function of a stack returns to.
pub fn is_end(at: Addr, space: &dyn AddressSpace) -> bool {
    let mut bytes = [0; HLT_AT + 1];
    let (read, _) = space.read_partial(at, &mut bytes);
    read == bytes.len() && bytes.starts_with(&XOR_AND_CALL) && bytes.get(HLT_AT) == Some(&HLT)
}
