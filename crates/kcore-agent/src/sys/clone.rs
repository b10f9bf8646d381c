//! Making a kernel thread, or a process, by one system call.

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
pub unsafe fn clone_thread(plan: &Plan) -> isize {
    let Plan { stack, pointer, id, alive, run } = *plan;
    let run = run as *const () as usize;
    // SAFETY: the caller promises it; the function takes no argument, and one that it is given is nothing to it.
    unsafe { clone(&Made { flags: THREAD as usize, stack, id, alive, pointer, run, argument: 0 }) }
}

/// Makes a process that has the memory of this one and nothing else of it, and waits until it has ended or started
/// another program. The answer is its id, negative an error number. To the rest of the process it is no child: nobody is
/// told when it ends, and only who knows of it waits for it (`__WCLONE`, waitpid(2)).
///
/// # Safety
/// Nobody uses the stack below its upper end, 64-byte aligned. The function uses nothing of the C library, for it has the
/// thread pointer of the thread that waits.
pub unsafe fn clone_process<T>(stack: usize, run: extern "C" fn(&T) -> !, argument: &T) -> isize {
    let flags = (libc::CLONE_VM | libc::CLONE_VFORK) as usize;
    let (run, argument) = (run as *const () as usize, std::ptr::from_ref(argument).addr());
    // SAFETY: the caller promises it; the argument is borrowed for as long as the new process has this memory.
    unsafe { clone(&Made { flags, stack, id: 0, alive: 0, pointer: 0, run, argument }) }
}

/// What the kernel makes, and what that begins with.
struct Made {
    flags: usize,
    stack: usize,
    id: usize,
    alive: usize,
    pointer: usize,
    run: usize,
    argument: usize,
}

/// Asks the kernel; the answer is an id, negative an error number.
///
/// # Safety
/// The new thread may use its stack, calls `run` with the argument on it, and that does not return.
#[cfg(target_arch = "x86_64")]
unsafe fn clone(made: &Made) -> isize {
    let mut answer = libc::SYS_clone as isize;
    // SAFETY: in the thread that calls, the kernel changes rax, rcx and r11 alone. The new one has nothing but
    // its registers and its own stack, and calls on it.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r9",
            "ud2",
            "2:",
            inlateout("rax") answer,
            in("rdi") made.flags,
            in("rsi") made.stack,
            in("rdx") made.id,
            in("r10") made.alive,
            in("r8") made.pointer,
            in("r9") made.run,
            in("r12") made.argument,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    answer
}

/// Asks the kernel; the answer is an id, negative an error number.
///
/// # Safety
/// As on x86-64.
#[cfg(target_arch = "aarch64")]
unsafe fn clone(made: &Made) -> isize {
    let mut answer = made.flags as isize;
    // SAFETY: as on x86-64; here the kernel changes x0 alone.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x10",
            "blr x9",
            "brk 1",
            "2:",
            in("x8") libc::SYS_clone,
            inlateout("x0") answer,
            in("x1") made.stack,
            in("x2") made.id,
            in("x3") made.pointer,
            in("x4") made.alive,
            in("x9") made.run,
            in("x10") made.argument,
            lateout("x30") _,
        );
    }
    answer
}
