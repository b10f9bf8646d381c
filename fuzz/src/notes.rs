//! The notes of a core, in a core that is otherwise right.

use kcore_elf::{CoreFile, core_file::notes};
use kcore_mem::{Arch, Target};
use kcore_unwind::machine;

use crate::{core_file::read_all, input::Input, synthetic::core_for};

/// A byte that chooses the machine, then notes.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let arch = if input.byte() & 1 == 0 { Arch::X86_64 } else { Arch::Aarch64 };
    let target = Target { arch, ..Target::X86_64 };
    let bytes = input.rest();
    let _ = notes::build_id(bytes, target);
    let Ok(core) = CoreFile::parse(core_for(target, bytes, &[]).into()) else { return };
    read_all(&core);
    let Some(machine) = machine(target, None) else { return };
    for thread in core.threads() {
        let range = thread.registers.start as usize..thread.registers.end as usize;
        let Some(raw) = core.bytes().get(range) else { continue };
        let _ = (machine.user_registers(raw, target), machine.regs(raw, target));
    }
}
