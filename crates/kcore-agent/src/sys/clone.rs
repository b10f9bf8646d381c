//! Making a kernel thread by one system call.

use std::arch::asm;

use super::call::call;

/// Flags of a thread as the C library makes one (glibc `sysdeps/unix/sysv/linux/createthread.c`).
const THREAD: i32 = libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SYSVSEM
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SETTLS
    | libc::CLONE_PARENT_SETTID
    | libc::CLONE_CHILD_CLEARTID;

/// What a kernel thread is made with.
pub struct Plan {
    /// The upper end of its stack, 64-byte aligned.
    pub stack: usize,
    /// Its thread pointer.
    pub pointer: usize,
    /// A word of four bytes that gets its id.
    pub id: usize,
    /// A word of four bytes that gets 0 when it has ended, after which nothing of it is used any more.
    pub alive: usize,
    /// The function that it calls, which does not return.
    pub run: extern "C" fn() -> !,
}

/// Ends the thread for the kernel alone.
pub fn leave_thread() -> ! {
    loop {
        // SAFETY: nothing of the thread is used any more.
        unsafe { call(libc::SYS_exit, [0; 6]) };
    }
}

/// Makes a kernel thread; the answer is its id, negative an error number.
///
/// # Safety
/// Nobody else uses the stack below its upper end; no thread has the thread pointer; both words stay.
#[cfg(target_arch = "x86_64")]
pub unsafe fn clone_thread(plan: &Plan) -> isize {
    let mut answer = libc::SYS_clone as isize;
    // SAFETY: in the thread that calls, the kernel changes rax, rcx and r11 alone. The new one has nothing but
    // its registers and its own stack, and calls on it.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "call r9",
            "ud2",
            "2:",
            inlateout("rax") answer,
            in("rdi") THREAD as usize,
            in("rsi") plan.stack,
            in("rdx") plan.id,
            in("r10") plan.alive,
            in("r8") plan.pointer,
            in("r9") plan.run as *const () as usize,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    answer
}

/// Makes a kernel thread; the answer is its id, negative an error number.
///
/// # Safety
/// As on x86-64.
#[cfg(target_arch = "aarch64")]
pub unsafe fn clone_thread(plan: &Plan) -> isize {
    let mut answer = THREAD as isize;
    // SAFETY: as on x86-64; here the kernel changes x0 alone.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "blr x9",
            "brk 1",
            "2:",
            in("x8") libc::SYS_clone,
            inlateout("x0") answer,
            in("x1") plan.stack,
            in("x2") plan.id,
            in("x3") plan.pointer,
            in("x4") plan.alive,
            in("x9") plan.run as *const () as usize,
            lateout("x30") _,
        );
    }
    answer
}
