//! The system call that a thread is blocked in.

use kcore_mem::AddressSpace;
use kcore_unwind::UserRegister;

use crate::arch::blocked_call::{CallRegisters, is_restarted};

const ARGUMENTS: [&str; 6] = ["rdi", "rsi", "rdx", "r10", "r8", "r9"];

/// The kernel clobbers rax, rcx and r11 alone. `orig_rax` keeps its value after a call has returned, so the result
/// tells whether it did.
pub fn blocked(registers: &[UserRegister], _space: &dyn AddressSpace) -> Option<CallRegisters> {
    let value = |wanted: &str| registers.iter().find(|it| it.name == wanted).map(|it| it.value);
    let number = value("orig_rax").filter(|number| number.cast_signed() >= 0)?;
    is_restarted(value("rax")?).then(|| CallRegisters { number, arguments: ARGUMENTS.map(value) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::made_memory::MadeMemory;

    fn registers(number: i64, result: i64) -> Vec<UserRegister> {
        let named = [("orig_rax", number), ("rax", result), ("rdi", 0x1000), ("rsi", 0x80)];
        let register = |(name, value): (&'static str, i64)| UserRegister {
            name,
            value: value.cast_unsigned(),
        };
        named.map(register).to_vec()
    }

    #[test]
    fn a_call_that_is_to_go_on_is_one_that_the_thread_is_in() {
        let call = blocked(&registers(202, -512), &MadeMemory::default()).unwrap();
        assert_eq!(
            (call.number, call.arguments[0], call.arguments[1]),
            (202, Some(0x1000), Some(0x80))
        );
        assert_eq!(call.arguments[2], None);
        assert!(blocked(&registers(230, -516), &MadeMemory::default()).is_some());
    }

    #[test]
    fn a_call_that_returned_or_never_was_is_none() {
        for (number, result) in [(202, 0), (202, -11), (-1, -512), (0, 5)] {
            assert_eq!(blocked(&registers(number, result), &MadeMemory::default()), None);
        }
    }
}
