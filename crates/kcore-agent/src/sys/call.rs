//! The system-call instruction.

use std::arch::asm;

/// Calls the system. A negative answer is an error number.
///
/// # Safety
/// As the call: what pointers among `args` point to.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn call(number: libc::c_long, args: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = args;
    let mut answer = number as isize;
    // SAFETY: the kernel changes rax, rcx and r11 alone, and the memory that the caller answers for.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") answer,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

/// Calls the system. A negative answer is an error number.
///
/// # Safety
/// As the call: what pointers among `args` point to.
#[cfg(target_arch = "aarch64")]
#[inline]
pub unsafe fn call(number: libc::c_long, args: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = args;
    let mut answer = a as isize;
    // SAFETY: the kernel changes x0 alone, and the memory that the caller answers for.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") answer,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    answer
}
