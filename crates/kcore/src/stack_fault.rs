//! Stacks that are full, and stack pointers that lie in no stack.

use kcore_mem::{Access, Addr, AddrRange};

use crate::{
    AccessKind, Core,
    handled::Stop,
    mapping::{Mapping, MappingKind},
};

/// A fault this far below the stack pointer, in bytes, is still a fault of the stack: a frame's
/// locals may be touched before they are all allocated.
const REACH: u64 = 64 << 10;
const PAGE: u64 = 4096;
/// The most by which one instruction moves the stack pointer below a stack: its displacement has 32 bits with a sign.
const MAX_FRAME: u64 = 2 << 30;
/// The entry of the auxiliary vector with the size of the largest frame of a signal (Linux `include/uapi/linux/auxvec.h`).
const AT_MINSIGSTKSZ: u64 = 51;
/// `MINSIGSTKSZ` of kernels that do not tell it.
const LEAST_SIGNAL_FRAME: u64 = 2048;
/// Bytes of a first thread's stack, which grows, from which on it may be full: the usual limit is 8 MiB, of which arguments
/// and environment take a part.
const NEARLY_FULL: u64 = 7 << 20;
/// Bytes below the stack pointer that a signal's frame leaves alone on x86-64; machines without have none.
const RED_ZONE: u64 = 128;

/// What is wrong with the stack at a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StackTrouble {
    /// It is full.
    Overflow,
    /// The stack pointer lies in no stack.
    NoStack(Addr),
}

/// A fault that the kernel's signal does not tell, since it could not place the frame of the fault's handler (Linux
/// `kernel/signal.c`, `force_sigsegv`).
pub(crate) struct ForcedFault {
    /// The access that failed.
    pub access: Access,
    /// Whether memory is mapped there.
    pub is_mapped: bool,
    /// Why the frame had no place, if it was for the thread's own stack.
    pub trouble: Option<StackTrouble>,
}

impl Core {
    /// What a fault near the stack pointer says of the stack, where no memory can be reached: in the guard page, or
    /// below the stack's limit.
    pub(crate) fn stack_trouble(&self, sp: Option<Addr>, address: Addr) -> Option<StackTrouble> {
        let sp = sp?;
        let low = sp.get().saturating_sub(REACH);
        // A frame that reaches from the stack to far below it may be touched anywhere between.
        let stack = self.stack_of(sp).map_or(0, |stack| stack.start.get());
        let high = sp.get().saturating_add(PAGE).max(stack);
        let near = (low..high).contains(&address.get());
        let reachable = self.mapping_at(address).is_some_and(|mapping| {
            let may_write = mapping.permits(AccessKind::Write).unwrap_or(true);
            may_write && self.space().slice(address).is_ok()
        });
        (near && !reachable).then(|| self.overflow_or_no_stack(sp))
    }

    /// Whether a stack pointer lies in no stack, as far as is known.
    pub(crate) fn is_on_no_stack(&self, sp: Addr) -> bool {
        !self.has_lost_mappings() && self.stack_of(sp).is_none()
    }

    fn overflow_or_no_stack(&self, sp: Addr) -> StackTrouble {
        match self.is_on_no_stack(sp) {
            true => StackTrouble::NoStack(sp),
            false => StackTrouble::Overflow,
        }
    }

    /// The memory that a stack pointer lies in, or below, if it may be that of a stack.
    pub(crate) fn stack_of(&self, sp: Addr) -> Option<AddrRange> {
        let mappings = self.mappings();
        let from = mappings.partition_point(|mapping| mapping.range.end <= sp);
        let mut above = mappings.get(from..)?.iter().skip_while(|mapping| is_guard(mapping));
        let stack = above.next().filter(|it| it.permits(AccessKind::Write) == Some(true))?;
        let is_near = stack.range.start.get() <= sp.get().saturating_add(MAX_FRAME);
        is_near.then_some(stack.range)
    }

    /// Bytes that the stack has left, if these are fewer than the frame of a signal may need, and the kernel would not
    /// have made it larger.
    pub(crate) fn too_little_stack(&self, sp: Option<Addr>) -> Option<u64> {
        let sp = sp?;
        let stack = self.stack_of(sp)?;
        let grows = self.mapping_at(stack.start).is_some_and(|it| it.kind == MappingKind::Stack);
        if grows && stack.len() < NEARLY_FULL {
            return None;
        }
        let left = sp.get().saturating_sub(stack.start.get());
        let frame = self.process().aux(AT_MINSIGSTKSZ).unwrap_or(LEAST_SIGNAL_FRAME);
        (left < frame.saturating_add(RED_ZONE)).then_some(left)
    }

    /// The fault at which a thread stands whose signal comes from the kernel without an address; `None` if the
    /// instruction may have failed without touching memory that it may not.
    pub(crate) fn forced_fault(&self, stop: &Stop) -> Option<ForcedFault> {
        if self.has_lost_mappings() {
            return None;
        }
        let accesses = self.accesses_of_instruction(stop.pc?, &stop.registers);
        let access = accesses.into_iter().find(|access| !self.may_access(access))?;
        if access.is_non_canonical() || is_misaligned(&access) {
            return None;
        }
        let full = || self.too_little_stack(stop.sp).map(|_| StackTrouble::Overflow);
        let trouble = self.stack_trouble(stop.sp, access.addr).or_else(full);
        Some(ForcedFault { access, is_mapped: self.mapping_at(access.addr).is_some(), trouble })
    }

    /// Whether the permissions of the memory allow an access, as far as they are known.
    pub(crate) fn may_access(&self, access: &Access) -> bool {
        let mapping = self.mapping_at(access.addr);
        mapping.is_some_and(|mapping| mapping.permits(access.kind).unwrap_or(true))
    }
}

fn is_guard(mapping: &Mapping) -> bool {
    !matches!(mapping.kind, MappingKind::File { .. }) && mapping.flags == Some(0)
}

/// Whether it may have failed by its alignment, which the processor asks for in wide accesses.
const fn is_misaligned(access: &Access) -> bool {
    matches!(access.size, 16 | 32 | 64) && !access.addr.get().is_multiple_of(access.size)
}

#[cfg(all(test, feature = "compression"))]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{OpenOptions, Tid};

    fn open(scenario: &str) -> Core {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(scenario);
        let core = Some(folder.join("x86_64/core.zst"));
        Core::open(&OpenOptions { core, ..OpenOptions::default() }).unwrap()
    }

    fn trouble(core: &Core, sp: u64, address: u64) -> Option<StackTrouble> {
        core.stack_trouble(Some(Addr::new(sp)), Addr::new(address))
    }

    fn stack_of(core: &Core, tid: Tid) -> AddrRange {
        core.mapping_at(core.registers().stack_pointer(tid).unwrap()).unwrap().range
    }

    #[test]
    fn below_a_stack_it_has_overflowed() {
        let core = open("nodes");
        let start = stack_of(&core, core.threads()[0].tid).start.get();
        for (sp, address) in [
            (start, start - 8),
            (start + 16, start - 0x1000),
            (start - 8, start - 8),
            // One frame of 9 MiB, touched at its top, in its middle and at its end.
            (start - (9 << 20), start - 8),
            (start - (9 << 20), start - (5 << 20)),
            (start - (9 << 20), start - (9 << 20)),
        ] {
            assert_eq!(trouble(&core, sp, address), Some(StackTrouble::Overflow), "{sp:x}");
        }
        assert_eq!(trouble(&core, start + 16, start + 8), None, "memory is there");
        assert_eq!(
            trouble(&core, start + (2 << 20), start - 8),
            None,
            "far from the stack pointer"
        );
    }

    #[test]
    fn in_a_guard_page_it_has_overflowed() {
        let core = open("workers");
        let is_guard = |mapping: &&Mapping| is_guard(mapping);
        let guard = core.mappings().iter().find(is_guard).expect("threads have guard pages").range;
        assert_eq!(core.mapping_at(guard.end).unwrap().flags, Some(6));
        let (first, end) = (guard.start.get(), guard.end.get());
        assert_eq!(trouble(&core, end, end - 8), Some(StackTrouble::Overflow));
        assert_eq!(trouble(&core, first + 16, first + 8), Some(StackTrouble::Overflow));
    }

    #[test]
    fn a_stack_pointer_in_code_or_at_no_memory_is_in_no_stack() {
        let core = open("nodes");
        let code = core.registers().of_thread(core.threads()[0].tid).unwrap().pc().get();
        for sp in [0x10, code, 0x4141_4141_4140, 0x8000_0000_0000_1000] {
            let wanted = Some(StackTrouble::NoStack(Addr::new(sp)));
            assert_eq!(trouble(&core, sp, sp - 8), wanted, "{sp:x}");
        }
    }

    #[test]
    fn a_stack_without_room_for_a_signal_is_told_by_what_it_has_left() {
        let core = open("workers");
        let frame = core.process().aux(AT_MINSIGSTKSZ).expect("the kernel told it");
        let is_other = |thread: &&crate::Thread| Some(thread.tid.get()) != core.process().pid();
        let other = core.threads().iter().find(is_other).expect("a thread beside the first");
        let start = stack_of(&core, other.tid).start;
        let left = |bytes| core.too_little_stack(start.checked_add(bytes));
        assert_eq!((left(0), left(0x210)), (Some(0), Some(0x210)));
        assert_eq!(left(frame + RED_ZONE), None);
        assert_eq!(core.too_little_stack(Some(Addr::new(0x10))), None, "no stack");
        let core = open("nodes");
        let first = stack_of(&core, core.threads()[0].tid).start;
        assert_eq!(core.too_little_stack(Some(first)), None, "the kernel makes it larger");
    }
}
