//! Stacks of Boost.Context, and of those who took its code: bRPC.

use kcore_mem::{Addr, AddressSpace};

/// `xor %rdi,%rdi; call _exit; hlt`: what stands behind `finish` in `make_x86_64_sysv_elf_gas.S` of
/// Boost.Context from 1.60 on, and in `bthread_make_fcontext` of bRPC.
const XOR_AND_CALL: [u8; 4] = [0x48, 0x31, 0xff, 0xe8];
const HLT: u8 = 0xf4;
/// It lies behind the call, whose distance takes four bytes.
const HLT_AT: usize = 8;
/// `push %rbp; jmp *%rbx`: behind `trampoline` in Boost.Context's since 1.65.
const PUSH_AND_JUMP: [u8; 3] = [0x55, 0xff, 0xe3];
/// `endbr64`, with which both begin where compilers protect indirect jumps (Boost.Context since 1.79).
const LANDING_PAD: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// Whether `at` is what the first function of a stack returns to.
pub fn is_end(at: Addr, space: &dyn AddressSpace) -> bool {
    let code = code_at(at, space);
    code.starts_with(&XOR_AND_CALL) && code.get(HLT_AT) == Some(&HLT)
}

/// Whether a stack that nothing ran on begins at `pc`, with a stack pointer of `sp`: it returns to the end of
/// all, or is what puts that there.
pub fn is_begin(pc: Addr, sp: Addr, space: &dyn AddressSpace) -> bool {
    code_at(pc, space).starts_with(&PUSH_AND_JUMP)
        || space.read_addr(sp).is_ok_and(|last| is_end(last, space))
}

/// The code at an address, behind its landing pad.
fn code_at(at: Addr, space: &dyn AddressSpace) -> Vec<u8> {
    let mut bytes = vec![0; LANDING_PAD.len().saturating_add(HLT_AT).saturating_add(1)];
    let (read, _) = space.read_partial(at, &mut bytes);
    bytes.truncate(read);
    let code = bytes.strip_prefix(&LANDING_PAD);
    code.map(<[u8]>::to_vec).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_memory::{CODE, CodeMemory};
    use kcore_mem::Arch;

    fn memory(code: Vec<u8>) -> CodeMemory {
        CodeMemory::new(Arch::X86_64, code)
    }

    const FINISH: [u8; 9] = [0x48, 0x31, 0xff, 0xe8, 1, 2, 3, 4, 0xf4];

    #[test]
    fn ends_and_beginnings_are_known_with_a_landing_pad_and_without() {
        let end = |code: Vec<u8>| is_end(Addr::new(CODE), &memory(code));
        assert!(end(FINISH.to_vec()) && end([&LANDING_PAD[..], &FINISH].concat()));
        assert!(!end(FINISH[1..].to_vec()) && !end(LANDING_PAD.to_vec()) && !end(Vec::new()));
        let begin = |code: Vec<u8>| is_begin(Addr::new(CODE), Addr::new(0), &memory(code));
        assert!(
            begin(PUSH_AND_JUMP.to_vec()) && begin([&LANDING_PAD[..], &PUSH_AND_JUMP].concat())
        );
        assert!(!begin(FINISH.to_vec()));
        let returns_to_end = [(CODE + 8).to_le_bytes().to_vec(), FINISH.to_vec()].concat();
        assert!(is_begin(Addr::new(CODE + 8), Addr::new(CODE), &memory(returns_to_end)));
    }
}
