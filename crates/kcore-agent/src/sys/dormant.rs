//! A thread that is made beforehand and does not run.
//!
//! A handler cannot make a thread as the C library does, which takes locks and memory for it. So one is made when the
//! agent is installed, on a stack of the agent's, and ends at once. What the C library holds for a thread (its
//! descriptor, its thread-local storage) lies on that stack: it is kept as it was when the thread began ([`Image`]),
//! and put back when the thread has ended. [`Dormant::wake`] makes a kernel thread for it again, by one system call,
//! from anywhere. Between two requests the process so has no thread that it did not make.
//!
//! To the C library the thread has ended, and nothing else will do:
//!
//! - It counts threads, and the last one that ends runs `exit`. One that never ended would be waited for in vain.
//! - It sends signal 33 to every thread when one calls `setuid` and its like, and waits for all to answer (and 32 for
//!   `pthread_cancel`). A thread that blocks them, or ends without a word, would be waited for for ever. One that runs
//!   unknown to it is not asked; its credentials are those of the thread that woke it, until it ends. Where threads
//!   are known to it, for as long as the new one ends, both signals are left open.
//! - What the thread begins with asks the dynamic linker for nothing, so that an agent may be installed, and asked,
//!   while a constructor runs.
//!
//! In a process that was forked off while the thread ran, the image is put back again: what it was in the middle of is
//! forgotten.

use std::{
    ffi::c_void,
    mem::zeroed,
    ptr::{from_ref, null_mut, with_exposed_provenance_mut},
    sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering},
    time::Duration,
};

use super::{
    HeldBack,
    c_library::{CLibrary, Create},
    call::call,
    clone::{Plan, clone_thread},
    futex,
    image::{self, Image},
    sanitizer, thread_id, thread_pointer,
};

/// What is left of the thread while it does not run.
pub struct Dormant {
    /// Its thread pointer; 0 before it was made.
    pointer: AtomicUsize,
    /// Where it may begin on its stack, and the stack's end.
    stack: (AtomicUsize, AtomicUsize),
    /// Bytes that there are for what is kept of the stack.
    room: AtomicUsize,
    image: Image,
    /// Where the C library keeps its id, for locks.
    id: AtomicUsize,
    /// Its id when it was made.
    first_id: AtomicI32,
    /// Not 0 while it runs, or is about to. The kernel puts 0 there when it has ended.
    alive: AtomicU32,
    /// Where restartable sequences of the thread stand, and bytes there; 0 where the C library has none.
    sequences: (AtomicUsize, AtomicUsize),
    /// What the thread has told of itself.
    told: AtomicU32,
}

/// Nothing yet.
const NOTHING: u32 = 0;
/// All is kept, and it ends.
const KEPT: u32 = 1;
/// There is no room for what would have to be kept.
const NO_ROOM: u32 = 2;
/// The system does not say when a thread has ended.
const NO_END: u32 = 3;

/// Bytes below the stack that may not be touched.
const GUARD: usize = 64 << 10;
/// Bytes of the mapping besides, where threads have little storage of their own.
const MAPPING: usize = 2 << 20;
/// Bytes of it that are not stack.
const KEPT_BYTES: usize = 256 << 10;
/// Bytes of thread-local storage that it has room for as it is.
const STORAGE: usize = 64 << 10;
/// Bytes of the stack that are left to the C library's first frames of the thread.
const FIRST_FRAMES: usize = 1024;
/// Bytes by which mappings are made.
const PAGE: usize = 64 << 10;
/// `PR_GET_TID_ADDRESS`.
const GET_TID_ADDRESS: usize = 40;
/// Keys of thread-specific values (`PTHREAD_KEYS_MAX`).
const KEYS: u32 = 1024;

/// A mapping: room for what is kept, a guard, and a stack.
struct Mapping {
    kept: *mut c_void,
    kept_bytes: usize,
    stack: *mut c_void,
    stack_bytes: usize,
}

impl Mapping {
    /// One in which a thread of so much storage has what it needs.
    fn new(storage: usize) -> Result<Self, i32> {
        let more = match storage {
            ..=STORAGE => 0,
            more => more.checked_next_multiple_of(PAGE).ok_or(libc::ENOMEM)?,
        };
        let kept_bytes = KEPT_BYTES.checked_add(more).ok_or(libc::ENOMEM)?;
        let stack_bytes = (MAPPING - KEPT_BYTES).checked_add(more).ok_or(libc::ENOMEM)?;
        let bytes = GUARD.saturating_add(kept_bytes).saturating_add(stack_bytes);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping touches no other, and what is made the guard lies in it.
        unsafe {
            let kept = libc::mmap(null_mut(), bytes, access, flags, -1, 0);
            if kept == libc::MAP_FAILED {
                return Err(last_error());
            }
            libc::mprotect(kept.byte_add(kept_bytes), GUARD, libc::PROT_NONE);
            let stack = kept.byte_add(kept_bytes).byte_add(GUARD);
            Ok(Self { kept, kept_bytes, stack, stack_bytes })
        }
    }

    /// Gives it back. Nobody uses it.
    fn unmap(self) {
        let bytes = GUARD.saturating_add(self.kept_bytes).saturating_add(self.stack_bytes);
        // SAFETY: the whole of one mapping, which nobody uses.
        unsafe { libc::munmap(self.kept, bytes) };
    }
}

impl Dormant {
    /// One that was not made yet.
    pub const fn new() -> Self {
        Self {
            pointer: AtomicUsize::new(0),
            stack: (AtomicUsize::new(0), AtomicUsize::new(0)),
            room: AtomicUsize::new(0),
            image: Image::new(),
            id: AtomicUsize::new(0),
            first_id: AtomicI32::new(0),
            alive: AtomicU32::new(0),
            sequences: (AtomicUsize::new(0), AtomicUsize::new(0)),
            told: AtomicU32::new(NOTHING),
        }
    }

    /// Makes the thread, and waits until it has ended. Not for a handler, and for one thread at a time.
    ///
    /// # Errors
    /// The system's error number: `ENOMEM` where there is no room for the thread, `ENOSYS` where the C library or the
    /// system does not tell of it what has to be known.
    pub fn make(&'static self) -> Result<(), i32> {
        let library = CLibrary::look_up();
        let mapping = Mapping::new(library.storage)?;
        let made = self.make_in(&mapping, &library);
        match made {
            Ok(()) => {
                sanitizer::keep_what_is_pointed_to_from(mapping.kept, mapping.kept_bytes);
                sanitizer::keep_what_is_pointed_to_from(mapping.stack, mapping.stack_bytes);
            }
            Err(_) if self.alive.load(Ordering::Acquire) == 0 => mapping.unmap(),
            // It may run there still.
            Err(_) => {}
        }
        made
    }

    fn make_in(&'static self, mapping: &Mapping, library: &CLibrary) -> Result<(), i32> {
        let end = mapping.stack.expose_provenance().saturating_add(mapping.stack_bytes);
        self.stack.1.store(end, Ordering::Relaxed);
        self.room.store(mapping.kept_bytes.saturating_sub(image::LEAST), Ordering::Relaxed);
        self.image.lies_at(mapping.kept.expose_provenance());
        self.told.store(NOTHING, Ordering::Relaxed);
        self.alive.store(1, Ordering::Release);
        if let Err(error) = self.begin_in(mapping, library.create) {
            self.alive.store(0, Ordering::Release);
            return Err(error);
        }
        while self.told.load(Ordering::Acquire) == NOTHING {
            futex::wait(&self.told, NOTHING, None);
        }
        match self.told.load(Ordering::Acquire) {
            NO_END => return Err(libc::ENOSYS),
            told => {
                self.wait_until_gone();
                if told == NO_ROOM {
                    return Err(libc::ENOMEM);
                }
            }
        }
        let pointer = self.pointer.load(Ordering::Acquire);
        self.image.put_back(pointer);
        self.find_id(pointer)?;
        if let Some((offset, bytes)) = library.sequences {
            self.sequences.0.store(pointer.wrapping_add_signed(offset), Ordering::Relaxed);
            self.sequences.1.store(bytes, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Lets the C library make it. The program's handlers do not run on it.
    fn begin_in(&'static self, mapping: &Mapping, create: Create) -> Result<(), i32> {
        let _none_on_it = HeldBack::begin();
        // SAFETY: the attributes are initialized before they are used; the stack is the caller's, of that size, and
        // stays; the function has the signature of one that a thread begins with.
        unsafe {
            let mut attributes: libc::pthread_attr_t = zeroed();
            let mut thread: libc::pthread_t = zeroed();
            let attributes = &raw mut attributes;
            good(libc::pthread_attr_init(attributes))?;
            good(libc::pthread_attr_setstack(attributes, mapping.stack, mapping.stack_bytes))?;
            good(libc::pthread_attr_setdetachstate(attributes, libc::PTHREAD_CREATE_DETACHED))?;
            good(create(&raw mut thread, attributes, begin, from_ref(self).cast_mut().cast()))?;
            good(libc::pthread_attr_destroy(attributes))
        }
    }

    /// Finds where the C library keeps the id, if the system did not say it: where a word of the descriptor of this
    /// thread and of the other one has what the id of each is.
    fn find_id(&self, pointer: usize) -> Result<(), i32> {
        /// Bytes of a descriptor in which the word is looked for, all of which belong to it.
        const DESCRIPTOR: usize = 1600;
        if self.id.load(Ordering::Acquire) != 0 {
            return Ok(());
        }
        let (own, own_id) = (thread_pointer(), thread_id());
        let id = self.first_id.load(Ordering::Acquire);
        let begin = if cfg!(target_arch = "x86_64") { 0 } else { DESCRIPTOR };
        let start = |pointer: usize| pointer.wrapping_sub(begin);
        let mut found = (0..DESCRIPTOR).step_by(size_of::<i32>()).filter(|at| {
            let (own, other) = (start(own).wrapping_add(*at), start(pointer).wrapping_add(*at));
            word(own) == own_id && word(other) == id
        });
        let (Some(at), None) = (found.next(), found.next()) else { return Err(libc::ENOSYS) };
        self.id.store(start(pointer).wrapping_add(at), Ordering::Release);
        Ok(())
    }

    /// Forgets that it runs, in a process that was forked off; where it did, also what it was in the middle of.
    pub fn forget(&self, ran: bool) {
        self.alive.store(0, Ordering::Release);
        if ran {
            self.image.put_back(self.pointer.load(Ordering::Acquire));
        }
    }

    /// Whether it is this thread.
    pub fn is_current(&self) -> bool {
        self.pointer.load(Ordering::Relaxed) == thread_pointer()
    }

    /// Waits until the kernel has ended the thread, and its stack is free.
    fn wait_until_gone(&self) {
        loop {
            let now = self.alive.load(Ordering::Acquire);
            if now == 0 {
                return;
            }
            futex::wait(&self.alive, now, Some(Duration::from_millis(1)));
        }
    }

    /// Lets the thread run. It must have been made, and not run already. A handler may call it.
    ///
    /// # Errors
    /// The system's error number.
    pub fn wake(&'static self, run: extern "C" fn() -> !) -> Result<(), i32> {
        let id = self.id.load(Ordering::Acquire);
        if id == 0 {
            return Err(libc::ENOSYS);
        }
        self.wait_until_gone();
        self.alive.store(1, Ordering::Release);
        let plan = Plan {
            stack: self.stack.0.load(Ordering::Acquire),
            pointer: self.pointer.load(Ordering::Acquire),
            id,
            alive: from_ref(&self.alive).addr(),
            run,
        };
        // SAFETY: the thread has ended, so that its stack and its thread-local storage are nobody's; both words are
        // never freed.
        let made = unsafe { clone_thread(&plan) };
        if made > 0 {
            return Ok(());
        }
        self.alive.store(0, Ordering::Release);
        Err(i32::try_from(made.wrapping_neg()).unwrap_or(libc::EIO))
    }

    /// What the thread does first that was woken: what the kernel forgot when it ended is said again. Words
    /// of restartable sequences would else tell of a processor that the thread left long ago, and be believed.
    pub fn enter(&self) {
        const SIGNATURE: usize = 0x5305_3053;
        std::mem::forget(HeldBack::begin());
        let at = self.sequences.0.load(Ordering::Relaxed);
        let size = self.sequences.1.load(Ordering::Relaxed);
        if at != 0 {
            forget_sequences(at);
            // SAFETY: the words are those of this thread, which the C library has set aside for them.
            unsafe { call(libc::SYS_rseq, [at, size, 0, SIGNATURE, 0, 0]) };
        }
    }
}

/// Says of restartable sequences that they are not registered (`linux/rseq.h`), as it is until the system takes them.
fn forget_sequences(at: usize) {
    const FAILED: u32 = -2_i32 as u32;
    for (offset, value) in [(0, 0), (4, FAILED), (8, 0), (12, 0)] {
        let word = with_exposed_provenance_mut::<u32>(at.wrapping_add(offset));
        // SAFETY: the words are those of this thread.
        unsafe { word.write_volatile(value) };
    }
}

fn word(at: usize) -> i32 {
    // SAFETY: callers ask for words of a thread's descriptor.
    unsafe { with_exposed_provenance_mut::<i32>(at).read_volatile() }
}

fn good(error: i32) -> Result<(), i32> {
    if error == 0 { Ok(()) } else { Err(error) }
}

/// The error of the last call.
fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().filter(|it| *it != 0).unwrap_or(libc::EIO)
}

/// What the thread begins with when it is made: it tells of itself, and ends. It calls nothing that takes memory, or
/// that the dynamic linker has to find.
extern "C" fn begin(dormant: *mut c_void) -> *mut c_void {
    // SAFETY: `make` gives itself, which is static.
    let dormant = unsafe { &*dormant.cast::<Dormant>() };
    let told = dormant.keep();
    if told == KEPT {
        forget_values();
    }
    dormant.told.store(told, Ordering::Release);
    futex::wake(&dormant.told);
    null_mut()
}

impl Dormant {
    /// Keeps what the C library holds for this thread.
    fn keep(&self) -> u32 {
        let local = 0_u8;
        let below = from_ref(&local).addr().saturating_sub(FIRST_FRAMES) & !63;
        let (pointer, id) = (thread_pointer(), thread_id());
        self.pointer.store(pointer, Ordering::Release);
        self.stack.0.store(below, Ordering::Release);
        self.first_id.store(id, Ordering::Release);
        self.id.store(id_address(id).unwrap_or(0), Ordering::Release);
        let alive = [from_ref(&self.alive).addr(), 0, 0, 0, 0, 0];
        // SAFETY: the kernel writes to that word, which is static, when the thread has ended.
        if unsafe { call(libc::SYS_set_tid_address, alive) } != id as isize {
            return NO_END;
        }
        let room = self.room.load(Ordering::Acquire);
        let end = self.stack.1.load(Ordering::Acquire);
        if self.image.keep((below, end), room, pointer) { KEPT } else { NO_ROOM }
    }
}

/// Where the C library keeps the id of this thread: where the kernel was told to clear it, if it says so.
fn id_address(id: i32) -> Option<usize> {
    let mut at: usize = 0;
    let args = [GET_TID_ADDRESS, std::ptr::from_mut(&mut at).addr(), 0, 0, 0, 0];
    // SAFETY: the kernel writes one word to `at`.
    let answer = unsafe { call(libc::SYS_prctl, args) };
    (answer == 0 && at != 0 && word(at) == id).then_some(at)
}

/// Forgets values that sanitizers gave this thread, so that they are not told of its end: to them it goes on.
fn forget_values() {
    if !sanitizer::is_there() {
        return;
    }
    for key in 0..KEYS {
        // SAFETY: keys that nobody made are refused.
        unsafe {
            if !libc::pthread_getspecific(key).is_null() {
                libc::pthread_setspecific(key, std::ptr::null());
            }
        }
    }
}
