//! What the C library holds for a thread, kept as it was when the thread began.
//!
//! The upper end of the thread's stack has it all: first frames, thread-local storage, the thread's descriptor. It
//! points to what lies elsewhere in one place, the vector by which thread-local storage of modules is found (glibc
//! `sysdeps/generic/dl-dtv.h`). The C library frees that when the thread ends, so it is given room of our own.

use std::{
    arch::asm,
    ptr::{with_exposed_provenance, with_exposed_provenance_mut},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Entries of the vector that there is room for: as many modules with thread-local storage may be loaded, but for two.
const ENTRIES: usize = 4096;
/// Bytes of an entry: two words.
const ENTRY: usize = 16;
/// Bytes of the vector.
const VECTOR: usize = ENTRIES * ENTRY;
/// `TLS_DTV_UNALLOCATED`: the C library finds room when the module's storage is first used.
const UNALLOCATED: usize = usize::MAX;
/// Where the thread pointer's header has the address of the vector (glibc `tcbhead_t`).
const VECTOR_AT: usize = if cfg!(target_arch = "x86_64") { 8 } else { 0 };

/// Bytes that are needed besides the upper end of the stack.
pub const LEAST: usize = 2 * VECTOR;

/// What is kept, in memory that begins with the vector in use and the vector as it was.
pub struct Image {
    memory: AtomicUsize,
    /// The upper end of the stack that is kept: where it begins, and its bytes.
    from: AtomicUsize,
    bytes: AtomicUsize,
    /// Entries that the vector had; 0 where it is none of glibc's.
    entries: AtomicUsize,
}

impl Image {
    /// One that keeps nothing yet.
    pub const fn new() -> Self {
        Self {
            memory: AtomicUsize::new(0),
            from: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            entries: AtomicUsize::new(0),
        }
    }

    /// Gives it memory that is its own from now on, aligned to 16 bytes.
    pub fn lies_at(&self, memory: usize) {
        self.memory.store(memory, Ordering::Release);
    }

    /// Keeps what lies from `from` to `end` on the stack of the thread that asks; there is room for so many bytes.
    /// Says whether that was enough, also for the vector.
    pub fn keep(&self, (from, end): (usize, usize), room: usize, pointer: usize) -> bool {
        let bytes = end.saturating_sub(from);
        let vector = word(pointer.wrapping_add(VECTOR_AT));
        let is_elsewhere = !(from..end).contains(&vector);
        if bytes > room || (is_elsewhere && !self.keep_vector(vector)) {
            return false;
        }
        self.from.store(from, Ordering::Release);
        self.bytes.store(bytes, Ordering::Release);
        // SAFETY: `room` bytes are there, and the stack is the thread's own.
        unsafe { copy(from, self.stack(), bytes) };
        true
    }

    /// Puts all of it back: the thread has ended, or is another process's.
    pub fn put_back(&self, pointer: usize) {
        let (from, bytes) = (self.from.load(Ordering::Acquire), self.bytes.load(Ordering::Acquire));
        // SAFETY: nobody runs on this stack.
        unsafe { copy(self.stack(), from, bytes) };
        let memory = self.memory.load(Ordering::Acquire);
        let entries = self.entries.load(Ordering::Acquire);
        if entries == 0 {
            return;
        }
        let used = entries.saturating_mul(ENTRY);
        // SAFETY: both vectors are this image's.
        unsafe { copy(memory.wrapping_add(VECTOR), memory, used) };
        // What is nothing stays untouched: no page is made for it.
        for at in (used..VECTOR).step_by(size_of::<usize>()) {
            let at = memory.wrapping_add(at);
            if word(at) != 0 {
                set_word(at, 0);
            }
        }
        set_word(pointer.wrapping_add(VECTOR_AT), memory.wrapping_add(ENTRY));
    }

    /// Keeps a vector: the number of its modules, a number that rises with each that is loaded, and two words for each
    /// module: where its storage is, and what is freed when the thread ends.
    fn keep_vector(&self, vector: usize) -> bool {
        let old = vector.wrapping_sub(ENTRY);
        let entries = word(old).saturating_add(2);
        if entries > ENTRIES {
            return false;
        }
        let kept = self.memory.load(Ordering::Acquire).wrapping_add(VECTOR);
        for at in (0..entries.saturating_mul(ENTRY)).step_by(ENTRY) {
            let (from, to) = (old.wrapping_add(at), kept.wrapping_add(at));
            let (first, second) = (word(from), word(from.wrapping_add(size_of::<usize>())));
            let is_freed = at >= 2 * ENTRY && second != 0;
            set_word(to, if is_freed { UNALLOCATED } else { first });
            set_word(to.wrapping_add(size_of::<usize>()), if is_freed { 0 } else { second });
        }
        set_word(kept, ENTRIES - 2);
        self.entries.store(entries, Ordering::Release);
        true
    }

    /// Where the stack is kept.
    fn stack(&self) -> usize {
        self.memory.load(Ordering::Acquire).wrapping_add(LEAST)
    }
}

fn word(at: usize) -> usize {
    // SAFETY: callers ask for words of the thread's header, of its vector, and of the image's own memory.
    unsafe { with_exposed_provenance::<usize>(at).read_volatile() }
}

fn set_word(at: usize, word: usize) {
    // SAFETY: as above; and nobody else uses what is written.
    unsafe { with_exposed_provenance_mut::<usize>(at).write_volatile(word) };
}

/// Copies bytes, a multiple of 16, so that no sanitizer looks at what lies between variables.
///
/// # Safety
/// `from` can be read and `to` written, and they do not overlap.
unsafe fn copy(from: usize, to: usize, bytes: usize) {
    // SAFETY: the caller promises it; only what is said is changed.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!(
            "rep movsb",
            inout("rcx") bytes => _, inout("rsi") from => _, inout("rdi") to => _,
            options(nostack, preserves_flags),
        );
        #[cfg(target_arch = "aarch64")]
        asm!(
            "cbz {bytes}, 3f",
            "2:",
            "ldp {first}, {second}, [{from}], #16",
            "stp {first}, {second}, [{to}], #16",
            "subs {bytes}, {bytes}, #16",
            "b.ne 2b",
            "3:",
            bytes = inout(reg) bytes => _, from = inout(reg) from => _, to = inout(reg) to => _,
            first = out(reg) _, second = out(reg) _,
            options(nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(16))]
    struct Memory([usize; (LEAST + 4096) / 8]);

    fn address(of: &[usize]) -> usize {
        of.as_ptr().expose_provenance()
    }

    #[test]
    fn what_was_kept_comes_back_with_a_vector_of_its_own() {
        let mut memory = Box::new(Memory([0; (LEAST + 4096) / 8]));
        let image = Image::new();
        image.lies_at(memory.0.as_mut_ptr().expose_provenance());
        // Two modules: one whose storage is static, and one whose storage is freed with the thread.
        let vector = [2, 0, 7, 0, 0x1000, 0, 0x2000, 0x2000];
        let mut stack = Memory([0; (LEAST + 4096) / 8]);
        let from = stack.0.as_mut_ptr().expose_provenance();
        let end = from + 128;
        let pointer = from + 64;
        set_word(pointer + VECTOR_AT, address(&vector) + ENTRY);
        set_word(from + 8, 42);
        assert!(image.keep((from, end), 4096, pointer));
        set_word(from + 8, 0);
        image.put_back(pointer);
        assert_eq!((word(from + 8), word(pointer + VECTOR_AT)), (42, address(&memory.0) + ENTRY));
        let now = &memory.0[..10];
        assert_eq!(now, [ENTRIES - 2, 0, 7, 0, 0x1000, 0, UNALLOCATED, 0, 0, 0]);
        // As it was, whatever was done with it.
        set_word(address(&memory.0) + 8 * ENTRY, 5);
        image.put_back(pointer);
        assert_eq!(word(address(&memory.0) + 8 * ENTRY), 0);
    }

    #[test]
    fn what_there_is_no_room_for_is_not_kept() {
        let memory = Memory([0; (LEAST + 4096) / 8]);
        let image = Image::new();
        image.lies_at(address(&memory.0));
        let stack = [0_usize; 16];
        let from = address(&stack);
        assert!(!image.keep((from, from + 128), 64, from));
    }
}
