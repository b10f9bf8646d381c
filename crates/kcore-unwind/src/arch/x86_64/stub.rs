//! Stubs that stand for a function: those of the linker, and thunks that jump on.

use kcore_mem::{Addr, AddressSpace};

use super::decode::decode;

/// `endbr64`, which may stand before the jump.
const LANDING_PAD: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
/// Bytes that are read: a landing pad and a jump with a prefix.
const LONGEST: usize = 16;

/// Where the jump at `at` leads, if the code there is nothing else.
pub fn jump_at(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let mut bytes = [0; LONGEST];
    let (read, _) = space.read_partial(at, &mut bytes);
    let bytes = bytes.get(..read)?;
    let (skipped, rest) = match bytes.strip_prefix(&LANDING_PAD) {
        Some(rest) => (LANDING_PAD.len(), rest),
        None => (0, bytes),
    };
    let code = decode(rest)?;
    let next = at.checked_add(skipped as u64)?.checked_add(code.len as u64)?;
    match (code.map, code.opcode) {
        (0, 0xe9 | 0xeb) => Some(next.wrapping_offset(code.immediate)),
        (0, 0xff) if code.reg_field() == 4 && code.is_relative_to_pc() => {
            space.read_addr(next.wrapping_offset(code.displacement)).ok()
        }
        _ => None,
    }
}
