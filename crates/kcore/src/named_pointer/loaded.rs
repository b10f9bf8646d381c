//! What a register held that a call went through, by the load before it.

use kcore_disasm::{Disassembler, RegisterWrite};
use kcore_mem::Addr;
use kcore_unwind::Frame;

use crate::Core;

/// What gdb calls the stack pointers of 64-bit machines.
const STACK_POINTERS: [&str; 2] = ["rsp", "sp"];

impl Core {
    /// What the code before the call at `call` loaded into a register from the stack of its frame or from an address that it
    /// states. `None` where it did something else, or the code does not tell. Memory may have changed since.
    pub(crate) fn loaded_before_call(
        &self,
        frame: &Frame,
        call: Addr,
        register: &str,
    ) -> Option<u64> {
        let disassembler = Disassembler::new(self.target()).ok()?;
        let code = self.crash().straight_code(&disassembler, call)?;
        let mut moved = false;
        for it in code.instructions.iter().rev() {
            let writes = |register: &str| disassembler.write_to(it.addr, &it.bytes, register);
            let at = match writes(register) {
                Some(RegisterWrite::Loaded { base, displacement })
                    if !moved && STACK_POINTERS.contains(&base.as_str()) =>
                {
                    frame.sp?.wrapping_offset(displacement)
                }
                Some(RegisterWrite::LoadedFrom(at)) => at,
                Some(_) => return None,
                None => {
                    moved |= STACK_POINTERS.into_iter().any(|it| writes(it).is_some());
                    continue;
                }
            };
            return self.space().read_word(at).ok();
        }
        None
    }
}
