//! Instructions, what they do, and what lies before an address.

use kcore_disasm::Disassembler;
use kcore_mem::{Addr, AddrRange, Arch, Target};

use crate::input::Input;

/// Instructions, at most.
const MAX: usize = 256;

/// A byte that chooses the machine, an address, then code.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let arch = if input.byte() & 1 == 0 { Arch::X86_64 } else { Arch::Aarch64 };
    let Ok(disassembler) = Disassembler::new(Target { arch, ..Target::X86_64 }) else { return };
    let addr = Addr::new(input.word());
    let code = input.rest();
    let _ = disassembler.decode(addr, code, MAX);
    let _ = disassembler.memory_accesses(addr, code, &|_| Some(0));
    let _ = disassembler.is_call_before(addr, code);
    let _ = disassembler.backwards(addr, code, 8, None);
    let wanted = [AddrRange::with_len(addr, 0x1000), AddrRange::with_len(Addr::new(0x40_0000), 1)];
    let _ = disassembler.references(addr, code, &wanted);
}
