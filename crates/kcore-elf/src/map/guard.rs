//! Maps that outlive the loss of their file: when it shrinks, or its disk fails, touching the lost
//! bytes raises SIGBUS. The handler here puts zeros in their place and remembers that it did, so
//! that readers can say so.
//!
//! The handler runs wherever the signal strikes, so it takes no lock and no memory: maps stand in a
//! list whose links are never freed, only used again.

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::{
        Once, OnceLock,
        atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
    },
};

use memmap2::Mmap;

/// Bytes in a page of this machine; the handler replaces the lost page and all behind it.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

static MAPS: AtomicPtr<Link> = AtomicPtr::new(ptr::null_mut());
static INSTALL: Once = Once::new();
static ALONE: AtomicBool = AtomicBool::new(false);
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// Leaves the signal alone from now on, in a process that is another program's own: its handlers are its
/// own too. Then a file that shrinks while it is read ends the process, as one that it maps itself does.
pub fn leave_signal_alone() {
    ALONE.store(true, Ordering::Relaxed);
}

/// A map that the handler knows.
pub struct GuardedMap {
    map: Mmap,
    link: &'static Link,
}

/// The handler's knowledge of one map.
#[derive(Default)]
struct Link {
    taken: AtomicBool,
    start: AtomicUsize,
    len: AtomicUsize,
    /// Offset of the first byte that was lost; the length while none was.
    intact: AtomicUsize,
    next: AtomicPtr<Link>,
}

impl GuardedMap {
    /// Guards a map. The first one installs the handler; signals that are not about a guarded map
    /// go to whom they went before.
    pub fn new(map: Mmap) -> Self {
        if !ALONE.load(Ordering::Relaxed) {
            INSTALL.call_once(install);
        }
        let link = free_link();
        link.intact.store(map.len(), Ordering::Relaxed);
        link.len.store(map.len(), Ordering::Release);
        link.start.store(map.as_ptr().addr(), Ordering::Release);
        Self { map, link }
    }

    /// Advises the kernel to read no more than what is asked for. That it refuses only costs time.
    pub fn read_here_and_there(&self) {
        let _ = self.map.advise(memmap2::Advice::Random);
    }

    /// The bytes. Those that were lost are zeros.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Bytes at its beginning of which none was lost since it was mapped, as far as was noticed.
    pub fn intact_len(&self) -> usize {
        self.link.intact.load(Ordering::Relaxed)
    }
}

impl Drop for GuardedMap {
    fn drop(&mut self) {
        self.link.start.store(0, Ordering::Release);
        self.link.taken.store(false, Ordering::Release);
    }
}

impl Link {
    /// Start and length of the map, if it holds `at`. Both are of one map: `start` is 0 while a link
    /// passes from one to another.
    fn range_with(&self, at: usize) -> Option<(usize, usize)> {
        let start = self.start.load(Ordering::Acquire);
        let len = self.len.load(Ordering::Acquire);
        let is_one_map = start != 0 && self.start.load(Ordering::Acquire) == start;
        (is_one_map && at.checked_sub(start)? < len).then_some((start, len))
    }
}

fn links() -> impl Iterator<Item = &'static Link> {
    let mut next = MAPS.load(Ordering::Acquire);
    std::iter::from_fn(move || {
        // SAFETY: links are leaked boxes that are published whole and never freed.
        let link = unsafe { next.as_ref() }?;
        next = link.next.load(Ordering::Acquire);
        Some(link)
    })
}

/// A link that no map uses, for the caller alone.
fn free_link() -> &'static Link {
    let take = |link: &&Link| {
        !link.taken.load(Ordering::Relaxed) && !link.taken.swap(true, Ordering::AcqRel)
    };
    links().find(take).unwrap_or_else(new_link)
}

fn new_link() -> &'static Link {
    let link: &'static Link =
        Box::leak(Box::new(Link { taken: AtomicBool::new(true), ..Link::default() }));
    let mut head = MAPS.load(Ordering::Acquire);
    loop {
        link.next.store(head, Ordering::Release);
        let own = ptr::from_ref(link).cast_mut();
        match MAPS.compare_exchange_weak(head, own, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return link,
            Err(now) => head = now,
        }
    }
}

fn install() {
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE.store(usize::try_from(page).unwrap_or(4096), Ordering::Relaxed);
    // SAFETY: `sigaction` is plain data for which zeros are valid, and the handler has the
    // signature that SA_SIGINFO asks for. SA_ONSTACK serves threads that have such a stack.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        let mut previous: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut previous) == 0 {
            let _ = PREVIOUS.set(previous);
            libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
        }
    }
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo to a handler with SA_SIGINFO.
    let (code, at) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    // What a process sent has no address, and nothing raises it again.
    let is_sent = code <= 0;
    if is_sent || !replace_lost(at) {
        pass_on(signal, is_sent, info, context);
    }
}

/// Puts zeros where `at` lies in a guarded map, from its page to the end of the map.
fn replace_lost(at: usize) -> bool {
    let holder = links().find_map(|link| Some((link, link.range_with(at)?)));
    let Some((link, (start, len))) = holder else { return false };
    let page = PAGE.load(Ordering::Relaxed);
    let into = at.wrapping_sub(start) & !page.wrapping_sub(1);
    let len = len.wrapping_sub(into);
    link.intact.fetch_min(into, Ordering::Relaxed);
    // SAFETY: the range lies within a map that is alive, since this thread is reading its bytes. Fresh
    // anonymous pages are readable and zero, as the lost bytes of a file would be.
    let replaced = unsafe {
        libc::mmap(
            ptr::with_exposed_provenance_mut(start.wrapping_add(into)),
            len,
            libc::PROT_READ,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    replaced != libc::MAP_FAILED
}

/// Does what would have been done without this handler.
fn pass_on(signal: c_int, is_sent: bool, info: *mut libc::siginfo_t, context: *mut c_void) {
    let previous = PREVIOUS.get();
    let handler = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
    let with_info = previous.is_some_and(|previous| previous.sa_flags & libc::SA_SIGINFO != 0);
    if is_sent && handler == libc::SIG_IGN {
        return;
    }
    // SAFETY: a handler that `sigaction` gave has the signature that its flags say. Without one,
    // the default action is put back, and the signal is raised again: by the access that raised
    // it, or, if a process sent it, here.
    unsafe {
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            libc::signal(signal, libc::SIG_DFL);
            if is_sent {
                libc::raise(signal);
            }
        } else if with_info {
            let call: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(handler);
            call(signal, info, context);
        } else {
            let call: extern "C" fn(c_int) = std::mem::transmute(handler);
            call(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// What these tests take for a page: every page size is a multiple of it.
    const PAGE: usize = 64 << 10;

    fn mapped(bytes: &[u8]) -> (tempfile::NamedTempFile, GuardedMap) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        // SAFETY: the test alone changes the file, and reads nothing of it but bytes.
        let map = unsafe { Mmap::map(file.as_file()) }.unwrap();
        (file, GuardedMap::new(map))
    }

    #[test]
    fn bytes_of_a_file_that_shrank_read_as_zeros_and_are_known_to_be_lost() {
        let (file, map) = mapped(&[7; 3 * PAGE]);
        assert_eq!((map.bytes()[2 * PAGE], map.intact_len()), (7, 3 * PAGE));
        file.as_file().set_len(PAGE as u64).unwrap();
        assert_eq!((map.bytes()[0], map.intact_len()), (7, 3 * PAGE), "what is left");
        assert_eq!((map.bytes()[2 * PAGE + 5], map.intact_len()), (0, 2 * PAGE), "what is gone");
        assert_eq!((map.bytes()[PAGE], map.intact_len()), (0, PAGE), "and more of it");
        assert_eq!(map.bytes()[3 * PAGE - 1], 0);
    }

    #[test]
    fn the_loss_of_one_map_is_no_other_ones() {
        let (file, lost) = mapped(&[1; 2 * PAGE]);
        let (_other, whole) = mapped(&[2; 2 * PAGE]);
        file.as_file().set_len(0).unwrap();
        assert_eq!(lost.bytes()[PAGE], 0);
        assert_eq!((lost.intact_len(), whole.intact_len()), (PAGE, 2 * PAGE));
        drop(lost);
        let (_new, again) = mapped(&[3; PAGE]);
        assert_eq!(again.intact_len(), PAGE, "a link that is used again forgets");
    }
}
