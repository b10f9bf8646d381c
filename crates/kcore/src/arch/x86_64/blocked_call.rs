//! The system call that a thread is blocked in.

use kcore_mem::{Addr, AddressSpace};
use kcore_unwind::UserRegister;

use crate::arch::blocked_call::{CallRegisters, is_interrupted, is_restarted};

/// The instruction `syscall`.
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// The numbers of calls that wait and that a stop ends with `EINTR`, in ascending order: those that signal(7) says are
/// never restarted, and those of sockets, if they have a limit of time.
const NEVER_RESTARTED: [u64; 24] = [
    0,   // read
    1,   // write
    19,  // readv
    20,  // writev
    42,  // connect
    43,  // accept
    44,  // sendto
    45,  // recvfrom
    46,  // sendmsg
    47,  // recvmsg
    65,  // semop
    69,  // msgsnd
    70,  // msgrcv
    128, // rt_sigtimedwait
    208, // io_getevents
    220, // semtimedop
    232, // epoll_wait
    281, // epoll_pwait
    288, // accept4
    299, // recvmmsg
    307, // sendmmsg
    333, // io_pgetevents
    426, // io_uring_enter
    441, // epoll_pwait2
];

const ARGUMENTS: [&str; 6] = ["rdi", "rsi", "rdx", "r10", "r8", "r9"];

/// The kernel clobbers rax, rcx and r11 alone. `orig_rax` keeps its value after a call has returned, so the result
/// tells whether it did.
pub fn blocked(registers: &[UserRegister], space: &dyn AddressSpace) -> Option<CallRegisters> {
    let value = |wanted: &str| registers.iter().find(|it| it.name == wanted).map(|it| it.value);
    let number = value("orig_rax").filter(|number| number.cast_signed() >= 0)?;
    let result = value("rax")?;
    let is_stopped = || {
        is_interrupted(result)
            && NEVER_RESTARTED.binary_search(&number).is_ok()
            && value("rip").is_some_and(|pc| is_after_call(Addr::new(pc), space))
    };
    let is_blocked = is_restarted(result) || is_stopped();
    is_blocked.then(|| CallRegisters { number, arguments: ARGUMENTS.map(value) })
}

/// Whether a thread stands right behind a system call. Whatever stops a thread that runs on makes `orig_rax` negative,
/// and a handler of a signal would have been entered first: what made the call return is what the thread stands still for.
fn is_after_call(pc: Addr, space: &dyn AddressSpace) -> bool {
    let mut code = [0; SYSCALL.len()];
    let at = pc.get().checked_sub(code.len() as u64).map(Addr::new);
    at.is_some_and(|at| space.read(at, &mut code).is_ok()) && code == SYSCALL
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
    fn a_call_that_a_stop_ends_is_one_that_the_thread_was_in() {
        let in_call = |number, result, code: [u8; 2]| {
            let memory = MadeMemory::default().bytes(0x2000, &code);
            let mut registers = registers(number, result);
            registers.push(UserRegister { name: "rip", value: 0x2002 });
            blocked(&registers, &memory).is_some()
        };
        assert!(NEVER_RESTARTED.is_sorted());
        assert!(in_call(232, -4, SYSCALL), "epoll_wait");
        assert!(!in_call(232, -4, [0x90, 0x90]), "it has run on");
        assert!(!in_call(232, -11, SYSCALL), "it has returned");
        assert!(!in_call(3, -4, SYSCALL), "close does not wait");
        assert!(blocked(&registers(232, -4), &MadeMemory::default()).is_none(), "no code");
    }

    #[test]
    fn a_call_that_returned_or_never_was_is_none() {
        for (number, result) in [(202, 0), (202, -11), (-1, -512), (0, 5)] {
            assert_eq!(blocked(&registers(number, result), &MadeMemory::default()), None);
        }
    }
}
