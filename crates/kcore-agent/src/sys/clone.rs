//! A thread that is made beforehand and does not run.
//!
//! A handler cannot make a thread as the C library does, which takes locks and memory for it. So one is made
//! when the agent is installed, and ends at once, but only for the kernel: what the C library holds for it (its
//! descriptor, its thread-local storage) stays. [`Dormant::wake`] makes a kernel thread for these again, by one
//! system call, from anywhere. Between two requests the process so has no thread that it did not make.

use std::{
    arch::asm,
    ffi::c_void,
    mem::zeroed,
    ptr::{from_ref, null_mut},
    sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering},
};

use super::{call::call, futex, sanitizer, thread_id, thread_pointer};

/// What is left of the thread while it does not run.
pub struct Dormant {
    /// The stack that was mapped for it.
    mapping: AtomicUsize,
    /// Its thread pointer; 0 before it was made.
    pointer: AtomicUsize,
    /// Where it may begin on its stack.
    stack: AtomicUsize,
    /// Where the C library keeps its id. The kernel puts 0 there when it has ended.
    id: AtomicUsize,
    /// Where restartable sequences of the thread stand, and bytes there; 0 where the C library has none.
    sequences: (AtomicUsize, AtomicUsize),
    /// Changes when the thread has told of itself.
    told: AtomicU32,
}

/// Bytes below the stack that may not be touched.
const GUARD: usize = 64 << 10;
/// Bytes of the stack that are left to the C library's first frames of the thread.
const FIRST_FRAMES: usize = 1024;
/// `PR_GET_TID_ADDRESS`.
const GET_TID_ADDRESS: usize = 40;
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

impl Dormant {
    /// One that was not made yet.
    pub const fn new() -> Self {
        Self {
            mapping: AtomicUsize::new(0),
            pointer: AtomicUsize::new(0),
            stack: AtomicUsize::new(0),
            id: AtomicUsize::new(0),
            sequences: (AtomicUsize::new(0), AtomicUsize::new(0)),
            told: AtomicU32::new(0),
        }
    }

    /// Maps a stack of so many bytes, makes the thread, and waits until it has ended. Not for a handler. Says
    /// whether that went well.
    pub fn make(&'static self, bytes: usize) -> bool {
        let Some(stack) = self.stack(bytes) else { return false };
        self.told.store(0, Ordering::Relaxed);
        // SAFETY: the attributes are initialized before they are used; the stack is the caller's, of that
        // size, and stays; the function has the signature of one that a thread begins with.
        let made = unsafe {
            let mut attributes: libc::pthread_attr_t = zeroed();
            let mut thread: libc::pthread_t = zeroed();
            libc::pthread_attr_init(&raw mut attributes) == 0
                && libc::pthread_attr_setstack(&raw mut attributes, stack, bytes) == 0
                && libc::pthread_attr_setdetachstate(
                    &raw mut attributes,
                    libc::PTHREAD_CREATE_DETACHED,
                ) == 0
                && libc::pthread_create(
                    &raw mut thread,
                    &raw const attributes,
                    begin,
                    from_ref(self).cast_mut().cast(),
                ) == 0
        };
        if !made {
            return false;
        }
        while self.told.load(Ordering::Acquire) == 0 {
            futex::wait(&self.told, 0, None);
        }
        self.wait_until_gone();
        self.id.load(Ordering::Acquire) != 0
    }

    /// The stack, mapped if there is none yet.
    fn stack(&self, bytes: usize) -> Option<*mut c_void> {
        let mapped = self.mapping.load(Ordering::Acquire);
        if mapped != 0 {
            return Some(std::ptr::with_exposed_provenance_mut(mapped));
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping touches no other; its first part becomes the guard, and the rest is the stack.
        let stack = unsafe {
            let mapping = libc::mmap(null_mut(), GUARD.checked_add(bytes)?, access, flags, -1, 0);
            if mapping == libc::MAP_FAILED {
                return None;
            }
            libc::mprotect(mapping, GUARD, libc::PROT_NONE);
            mapping.byte_add(GUARD)
        };
        sanitizer::keep_what_is_pointed_to_from(stack, bytes);
        self.mapping.store(stack.expose_provenance(), Ordering::Release);
        Some(stack)
    }

    /// Whether it was made, and can be woken.
    pub fn is_made(&self) -> bool {
        self.id.load(Ordering::Acquire) != 0
    }

    /// Forgets the thread but not its stack, in a process that was forked off while it ran: what the C library
    /// holds for it stays as it was in the middle of something.
    pub fn forget(&self) {
        self.id.store(0, Ordering::Release);
    }

    /// Waits until the kernel has ended the thread, and its stack is free.
    pub fn wait_until_gone(&self) {
        let Some(id) = self.id() else { return };
        loop {
            let now = id.load(Ordering::Acquire);
            if now == 0 {
                return;
            }
            futex::wait(
                as_word(id),
                now.cast_unsigned(),
                Some(std::time::Duration::from_millis(1)),
            );
        }
    }

    /// Lets the thread run, from [`enter_thread`]'s function on. It must not run already. A handler may call it.
    /// Says whether that went well.
    pub fn wake(&'static self, run: extern "C" fn() -> !) -> bool {
        let (stack, pointer) =
            (self.stack.load(Ordering::Acquire), self.pointer.load(Ordering::Acquire));
        let id = self.id.load(Ordering::Acquire);
        if id == 0 {
            return false;
        }
        self.wait_until_gone();
        // SAFETY: the thread has ended, so that its stack and its thread-local storage are nobody's; `run` is
        // a function that does not return.
        unsafe { clone_thread(stack, id, pointer, run as *const () as usize) > 0 }
    }

    /// What the thread does first that was woken: what the kernel forgot when it ended is said again. Words
    /// of restartable sequences would else tell of a processor that the thread left long ago, and be believed.
    pub fn enter(&self) {
        const SIGNATURE: usize = 0x5305_3053;
        std::mem::forget(super::HeldBack::begin());
        let at = self.sequences.0.load(Ordering::Relaxed);
        let size = self.sequences.1.load(Ordering::Relaxed);
        if at != 0 {
            // SAFETY: the words are those of this thread, which the C library has set aside for them.
            unsafe { call(libc::SYS_rseq, [at, size, 0, SIGNATURE, 0, 0]) };
        }
    }

    fn id(&self) -> Option<&AtomicI32> {
        let id = self.id.load(Ordering::Acquire);
        // SAFETY: the C library's word for the thread's id, in a descriptor that is never freed.
        (id != 0).then(|| unsafe { &*std::ptr::with_exposed_provenance::<AtomicI32>(id) })
    }
}

/// The same word, to wait for.
fn as_word(id: &AtomicI32) -> &AtomicU32 {
    // SAFETY: both are four bytes that are only accessed atomically.
    unsafe { &*from_ref(id).cast() }
}

/// What the thread begins with when it is made: it tells of itself, and ends for the kernel.
extern "C" fn begin(dormant: *mut c_void) -> *mut c_void {
    // SAFETY: `make` gives itself, which is static.
    let dormant = unsafe { &*dormant.cast::<Dormant>() };
    std::mem::forget(super::HeldBack::begin());
    let local = 0_u8;
    let below = from_ref(&local).addr().saturating_sub(FIRST_FRAMES) & !63;
    dormant.pointer.store(thread_pointer(), Ordering::Release);
    dormant.stack.store(below, Ordering::Release);
    let (at, size) = sequences().unwrap_or_default();
    dormant.sequences.0.store(at, Ordering::Relaxed);
    dormant.sequences.1.store(size, Ordering::Relaxed);
    dormant.id.store(id_address().unwrap_or(0), Ordering::Release);
    dormant.told.store(1, Ordering::Release);
    futex::wake(&dormant.told);
    leave_thread()
}

/// Where the C library keeps the thread's id: where the kernel was told to clear it.
fn id_address() -> Option<usize> {
    let mut at: usize = 0;
    let args = [GET_TID_ADDRESS, std::ptr::from_mut(&mut at).addr(), 0, 0, 0, 0];
    // SAFETY: the kernel writes one word to `at`.
    let answer = unsafe { call(libc::SYS_prctl, args) };
    if answer != 0 || at == 0 {
        return None;
    }
    // SAFETY: the C library gave the kernel this address, so there is such a word.
    let id = unsafe { *std::ptr::with_exposed_provenance::<i32>(at) };
    (id == thread_id()).then_some(at)
}

/// Where restartable sequences of this thread stand, and bytes there, if the C library has them (glibc 2.35).
fn sequences() -> Option<(usize, usize)> {
    const LEAST: usize = 32;
    // SAFETY: both symbols are looked for by name; where they exist they are what glibc documents, an offset
    // from the thread pointer and a size.
    unsafe {
        let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast::<isize>();
        let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()).cast::<u32>();
        if offset.is_null() || size.is_null() || *size == 0 {
            return None;
        }
        Some((thread_pointer().wrapping_add_signed(*offset), (*size as usize).max(LEAST)))
    }
}

/// Ends the thread for the kernel alone.
pub fn leave_thread() -> ! {
    loop {
        // SAFETY: nothing of the thread is used any more.
        unsafe { call(libc::SYS_exit, [0; 6]) };
    }
}

/// Makes a kernel thread that calls `run`; the answer is its id.
///
/// # Safety
/// `stack`, 64-byte aligned, is the upper end of memory that nobody else uses; `id` is a word and `pointer` a
/// thread pointer that no thread has; `run` is a function that does not return.
#[cfg(target_arch = "x86_64")]
unsafe fn clone_thread(stack: usize, id: usize, pointer: usize, run: usize) -> isize {
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
            in("rsi") stack,
            in("rdx") id,
            in("r10") id,
            in("r8") pointer,
            in("r9") run,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    answer
}

/// Makes a kernel thread that calls `run`; the answer is its id.
///
/// # Safety
/// As on x86-64.
#[cfg(target_arch = "aarch64")]
unsafe fn clone_thread(stack: usize, id: usize, pointer: usize, run: usize) -> isize {
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
            in("x1") stack,
            in("x2") id,
            in("x3") pointer,
            in("x4") id,
            in("x9") run,
            lateout("x30") _,
        );
    }
    answer
}
