//! The system call that a thread is blocked in.

use kcore_mem::{Addr, AddressSpace};
use kcore_unwind::UserRegister;

use crate::arch::blocked_call::{CallRegisters, is_restarted};

const ARGUMENTS: [&str; 6] = ["x0", "x1", "x2", "x3", "x4", "x5"];
/// `svc #0`.
const SVC: u64 = 0xd400_0001;

/// No register says whether the thread is in a call, so the instruction has to. A kernel that is to restart the call
/// moves the pc back to it, with the first argument in x0 (Linux `arch/arm64/kernel/signal.c`, `do_signal`); else x0
/// holds the result. qemu's user mode leaves the pc behind the instruction, with the first argument in x0, which a
/// call that returned does not: no call returns the address of mapped memory.
pub fn blocked(registers: &[UserRegister], space: &dyn AddressSpace) -> Option<CallRegisters> {
    let value = |wanted: &str| registers.iter().find(|it| it.name == wanted).map(|it| it.value);
    let pc = Addr::new(value("pc")?);
    let is_call = |at: Addr| space.read_uint(at, 4) == Ok(SVC);
    let (number, first) = (value("x8")?, value("x0")?);
    let mut arguments = ARGUMENTS.map(value);
    if is_call(pc) {
        return Some(CallRegisters { number, arguments });
    }
    if !is_call(pc.wrapping_offset(-4)) {
        return None;
    }
    let keeps_argument = space.read_uint(Addr::new(first), 4).is_ok();
    if is_restarted(first) {
        arguments = [None, arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]];
    }
    (is_restarted(first) || keeps_argument).then_some(CallRegisters { number, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::made_memory::MadeMemory;

    const CODE: u64 = 0x4000;
    const DATA: u64 = 0x8000;

    fn call(pc: u64, first: u64) -> Option<CallRegisters> {
        let memory = MadeMemory::default()
            .words32(CODE, &[0xd280_0c48, 0xd400_0001, 0xd65f_03c0])
            .words32(DATA, &[2]);
        let named = [("pc", pc), ("x8", 98), ("x0", first), ("x1", 0x80)];
        let registers = named.map(|(name, value)| UserRegister { name, value });
        blocked(&registers, &memory)
    }

    #[test]
    fn a_call_that_is_to_be_made_again_has_all_arguments() {
        let call = call(CODE + 4, DATA).unwrap();
        assert_eq!(
            (call.number, call.arguments[0], call.arguments[1]),
            (98, Some(DATA), Some(0x80))
        );
    }

    #[test]
    fn a_result_takes_the_place_of_the_first_argument() {
        let call = call(CODE + 8, (-512_i64).cast_unsigned()).unwrap();
        assert_eq!((call.arguments[0], call.arguments[1]), (None, Some(0x80)));
    }

    #[test]
    fn qemu_keeps_the_first_argument_behind_the_instruction() {
        assert_eq!(call(CODE + 8, DATA).unwrap().arguments[0], Some(DATA));
    }

    #[test]
    fn a_call_that_returned_or_never_was_is_none() {
        assert_eq!(call(CODE + 8, 1), None);
        assert_eq!(call(CODE + 8, (-4_i64).cast_unsigned()), None);
        assert_eq!(call(CODE, DATA), None);
    }
}
