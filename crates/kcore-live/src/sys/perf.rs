//! perf_event_open(2): a clock that counts while a thread runs, and the buffer that its samples come in.

use std::{
    fs::File,
    io,
    os::fd::{AsRawFd, FromRawFd},
    ptr::null_mut,
    sync::atomic::{AtomicU64, Ordering, fence},
};

use perf_event_open_sys::{bindings, perf_event_open};

/// Bytes of a page of a buffer.
const PAGE: usize = 4096;
/// Pages of a buffer behind its first one, which tells of it: a power of two.
const PAGES: usize = 128;

/// What is counted of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// Nanoseconds on a processor between two samples.
    pub period: u64,
    /// The registers, a bit each (`PERF_REG_*`).
    pub registers: u64,
    /// Bytes of the stack, from the stack pointer on.
    pub stack: u32,
    /// Whether time in the kernel counts.
    pub kernel: bool,
}

/// The counter of a thread, and the buffer that its samples come in.
#[derive(Debug)]
pub struct Counter {
    _file: File,
    first_page: *mut bindings::perf_event_mmap_page,
}

// SAFETY: the mapping belongs to the counter alone, and is as good in one thread as in another.
unsafe impl Send for Counter {}

impl Counter {
    /// Begins to count.
    ///
    /// # Errors
    /// `EACCES` or `EPERM` where a right is missing; `ESRCH` when the thread has ended.
    pub fn open(tid: libc::pid_t, wish: &Wish) -> io::Result<Self> {
        let mut attributes = attributes(wish);
        // SAFETY: the attributes are a local structure that is filled as perf_event_open(2) demands.
        let descriptor = unsafe {
            let close_on_exec = bindings::PERF_FLAG_FD_CLOEXEC.into();
            perf_event_open(&raw mut attributes, tid, -1, -1, close_on_exec)
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nobody else's.
        let file = unsafe { File::from_raw_fd(descriptor) };
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let mapped = unsafe {
            libc::mmap(null_mut(), LEN, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { _file: file, first_page: mapped.cast() })
    }

    /// Calls `take` with each record that has come: its kind and its bytes behind the header.
    pub fn drain(&mut self, take: &mut dyn FnMut(u32, &[u8])) {
        let (head, tail) = self.ends();
        let end = head.load(Ordering::Acquire);
        let mut at = tail.load(Ordering::Relaxed);
        let mut record = Vec::new();
        while at < end {
            let mut header = [0; HEADER];
            self.copy(at, &mut header);
            let [kind @ .., _, _, _, _] = header;
            let [.., low, high] = header;
            let len = usize::from(u16::from_ne_bytes([low, high]));
            if len < HEADER {
                break;
            }
            record.resize(len.saturating_sub(HEADER), 0);
            self.copy(at.saturating_add(HEADER as u64), &mut record);
            take(u32::from_ne_bytes(kind), &record);
            at = at.saturating_add(len as u64);
        }
        fence(Ordering::AcqRel);
        tail.store(end, Ordering::Release);
    }

    /// How far the kernel has written, and how far was read.
    fn ends(&self) -> (&AtomicU64, &AtomicU64) {
        // SAFETY: the first page is mapped as long as this lives; kernel and reader share its two
        // aligned words, each of which one of them writes.
        unsafe {
            let page = self.first_page;
            let head = AtomicU64::from_ptr(&raw mut (*page).data_head);
            (head, AtomicU64::from_ptr(&raw mut (*page).data_tail))
        }
    }

    /// Copies what was written, whose place wraps around.
    fn copy(&self, at: u64, to: &mut [u8]) {
        /// Places within the pages behind the first one, whose number is a power of two.
        const WITHIN: u64 = (PAGES * PAGE) as u64 - 1;
        for (offset, byte) in to.iter_mut().enumerate() {
            let place = at.wrapping_add(offset as u64) & WITHIN;
            let place = usize::try_from(place).unwrap_or_default().saturating_add(PAGE);
            // SAFETY: the place is within the mapping, and the kernel writes no more to it before the
            // tail is moved.
            *byte = unsafe { self.first_page.cast::<u8>().add(place).read() };
        }
    }
}

const LEN: usize = (PAGES + 1) * PAGE;
/// `struct perf_event_header`.
const HEADER: usize = 8;

impl Drop for Counter {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own.
        unsafe { libc::munmap(self.first_page.cast(), LEN) };
    }
}

fn attributes(wish: &Wish) -> bindings::perf_event_attr {
    let mut attributes = bindings::perf_event_attr {
        type_: bindings::PERF_TYPE_SOFTWARE,
        config: bindings::PERF_COUNT_SW_CPU_CLOCK.into(),
        size: u32::try_from(size_of::<bindings::perf_event_attr>()).unwrap_or_default(),
        sample_type: (bindings::PERF_SAMPLE_TID
            | bindings::PERF_SAMPLE_TIME
            | bindings::PERF_SAMPLE_REGS_USER
            | bindings::PERF_SAMPLE_STACK_USER)
            .into(),
        sample_regs_user: wish.registers,
        sample_stack_user: wish.stack,
        clockid: libc::CLOCK_MONOTONIC,
        ..bindings::perf_event_attr::default()
    };
    attributes.__bindgen_anon_1.sample_period = wish.period;
    attributes.set_use_clockid(1);
    attributes.set_exclude_kernel(u64::from(!wish.kernel));
    attributes.set_exclude_hv(1);
    attributes
}
