//! Running on another stack.
//!
//! A handler runs on whatever stack the thread has, or on the one that it keeps for signals: of some kilobytes,
//! most of which the kernel has filled with registers. A walk needs more.

use std::{arch::asm, ffi::c_void};

/// Memory that is a stack; of none by default.
#[derive(Default)]
pub struct Stack(Vec<u128>);

impl Stack {
    /// One of so many bytes. No page of it is touched before it is used.
    pub fn new(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes >> 4))
    }

    /// Calls `run` on it. Nobody else may use it until that returns.
    pub fn call(&mut self, run: extern "C" fn(*mut c_void), argument: *mut c_void) {
        let top = self.0.spare_capacity_mut().as_mut_ptr_range().end;
        // SAFETY: the memory below `top` is this stack's and borrowed for writing; `top` is aligned to 16
        // bytes. The registers that hold the old stack pointer survive calls, all others are said to change.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            asm!(
                "mov r12, rsp",
                "mov rsp, {top}",
                "call {run}",
                "mov rsp, r12",
                top = in(reg) top,
                run = in(reg) run,
                in("rdi") argument,
                out("r12") _,
                clobber_abi("C"),
            );
            #[cfg(target_arch = "aarch64")]
            asm!(
                "mov x20, sp",
                "mov sp, {top}",
                "blr {run}",
                "mov sp, x20",
                top = in(reg) top,
                run = in(reg) run,
                in("x0") argument,
                out("x20") _,
                clobber_abi("C"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn use_much(argument: *mut c_void) {
        let room = std::hint::black_box([7_u8; 20_000]);
        // SAFETY: the test gives a number that it owns.
        unsafe { *argument.cast::<u64>() = room.iter().map(|byte| u64::from(*byte)).sum() };
    }

    #[test]
    fn what_runs_there_has_its_room_and_returns() {
        let (mut stack, mut sum) = (Stack::new(64 << 10), 0_u64);
        for _ in 0..3 {
            stack.call(use_much, (&raw mut sum).cast());
        }
        assert_eq!(sum, 140_000);
    }
}
