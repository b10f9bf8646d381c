//! Steps without call frame information: by code, by frame pointer, by scanning the stack.

use kcore_mem::{Addr, AddressSpace, CodeAddr};

use crate::{
    Machine, Modules, Reading, Regs, Trust,
    code_paths::{CodePaths, FrameState},
};

/// Words that a scan looks at: 8 KiB of stack on a 64-bit machine, more than any function without
/// unwind information was seen to use.
const SCAN_WORDS: u64 = 1024;

/// Bytes of the longest instruction that calls.
const LONGEST_CALL: i64 = 8;

/// Words of a scan that can be return addresses, and are compared.
const MAX_SCANNED: usize = 6;

/// A caller that was found without call frame information.
#[derive(Clone, Copy, Debug)]
pub struct Guess {
    /// Its registers.
    pub regs: Regs,
    /// The CFA of the frame that was left, if it is known.
    pub cfa: Option<Addr>,
    /// What the frame that was left ends at, or above.
    pub floor: Addr,
    /// How it was found.
    pub trust: Trust,
    /// Whether something else may be the caller.
    pub is_guess: bool,
    /// Whether its pc is where it will begin, and not behind a call.
    pub begins: bool,
}

/// What a fallback looks at.
pub struct Fallback<'a> {
    /// Memory.
    pub space: &'a dyn AddressSpace,
    /// Code.
    pub modules: &'a dyn Modules,
    /// Architecture.
    pub machine: &'a dyn Machine,
    /// What the code before the pc tells, read in the order of addresses.
    pub readings: &'a [Reading],
    /// Where the paths through the code at the pc lead.
    pub paths: &'a CodePaths,
}

impl Fallback<'_> {
    /// The caller of the frame at `regs` where the code leaves no doubt: all its paths lead to one place.
    pub fn exact(&self, regs: &Regs) -> Option<Guess> {
        let (caller, cfa) = self.paths.exact(self.found(regs))?;
        // Where a thread begins, its first function may return to 0.
        let is_end = caller.pc().get() == 0 && self.is_above(regs, cfa);
        let is_caller = is_end || self.is_plausible(regs, &caller, cfa);
        is_caller.then(|| self.guess(caller, Some(cfa), cfa, Trust::Code).sure())
    }

    /// The caller where the code went to another stack, which its instructions tell in order.
    pub fn on_another_stack(&self, regs: &Regs) -> Option<Guess> {
        self.by_code(regs).map(Guess::sure)
    }

    /// Leaves in `all` whatever may be the caller, the likeliest first.
    pub fn candidates(&self, regs: &Regs, all: &mut Vec<Guess>) {
        all.clear();
        let record = self.by_frame_pointer(regs);
        if self.space.slice(regs.pc()).is_err() && record.is_some() {
            // In a core whose files are elsewhere nothing else leads on.
            return all.extend(record);
        }
        let by_code = |(caller, cfa)| self.guess(caller, Some(cfa), cfa, Trust::Prologue);
        let by_paths = self.paths.callers(self.found(regs));
        let by_paths = by_paths.filter(|(caller, cfa)| self.is_plausible(regs, caller, *cfa));
        all.extend(by_paths.map(by_code));
        all.extend(self.by_code(regs));
        all.extend(record);
        all.extend(self.by_scan(regs));
    }

    const fn found<'r>(&'r self, regs: &'r Regs) -> FrameState<'r> {
        FrameState { regs, machine: self.machine, space: self.space }
    }

    /// Whether the code before the pc left the stack that it was called on. The frame pointer may be one of that
    /// stack then, and a scan finds what is left of others.
    pub fn is_on_another_stack(&self) -> bool {
        self.readings.iter().any(|reading| reading.switched)
    }

    /// Whether the frame pointer is 0, as the ABI wants it in the outermost frame, and the code can be read.
    /// Optimised code keeps anything in the frame pointer, so this alone proves nothing.
    pub fn has_no_frame_pointer(&self, regs: &Regs, lookup: Addr) -> bool {
        regs.get(self.machine.frame_pointer()) == Some(0) && self.space.slice(lookup).is_ok()
    }

    /// Whether a frame pointer of 0 tells that the frame is the outermost one: its function is known, or its code
    /// never returns.
    pub fn ends_at_no_frame_pointer(&self, regs: &Regs, lookup: Addr) -> bool {
        let function = self.modules.function_before(lookup);
        let is_known = self.modules.is_in_module(lookup)
            && (function.is_some_and(|function| function.contains(lookup))
                || self.paths.to_return.never_returns());
        is_known && self.by_code(regs).is_none()
    }

    /// Whether the return address `pc` can be read to be none that a call left, in code of a module. A function may
    /// have been made to return there (the stack of a coroutine begins so: `__start_context` of glibc), or entered
    /// as if it had been called from there.
    pub fn was_put_there(&self, pc: Addr) -> bool {
        let pc = self.machine.strip_code(pc);
        self.modules.is_in_module(pc)
            && self.space.slice(pc.wrapping_offset(-LONGEST_CALL)).is_ok()
            && self.space.slice(pc).is_ok()
            && !self.can_return_to(pc)
    }

    /// The caller by what the code before the pc tells, read in the order of addresses.
    pub fn by_code(&self, regs: &Regs) -> Option<Guess> {
        // Code that took its return address off the stack is about to jump to it. Where it called something
        // since, the address of that return lies there.
        let sp = regs.get(self.machine.stack_pointer());
        let is_plausible = |caller: &Regs, cfa: Addr| {
            self.is_plausible(regs, caller, cfa)
                || (Some(cfa.get()) == sp
                    && caller.pc() != regs.pc()
                    && self.can_return_to(self.machine.strip_code(caller.pc())))
        };
        let by_code = |is_caller: &dyn Fn(&Regs, Addr) -> bool| {
            self.machine.caller_by_code(regs, self.readings, self.space, is_caller)
        };
        if let Some((caller, cfa)) = by_code(&is_plausible) {
            return Some(self.guess(caller, Some(cfa), cfa, Trust::Prologue));
        }
        // A stack that nothing ran on begins with a function that nothing called.
        let begins = |caller: &Regs, cfa: Addr| {
            self.is_on_another_stack()
                && self.modules.is_code(caller.pc())
                && self.machine.begins_context(caller, cfa, self.space)
        };
        let (caller, cfa) = by_code(&begins)?;
        Some(Guess { begins: true, ..self.guess(caller, Some(cfa), cfa, Trust::Prologue) })
    }

    /// The caller by the frame pointer alone.
    pub fn by_frame_pointer(&self, regs: &Regs) -> Option<Guess> {
        let (caller, cfa) = self.machine.caller_by_frame_pointer(regs, self.space)?;
        let pc = self.machine.strip_code(caller.pc());
        let record = Addr::new(regs.get(self.machine.frame_pointer())?);
        let word = self.space.target().register_size() as u64;
        let floor = cfa.or_else(|| record.checked_add(word.checked_mul(2)?))?;
        if !cfa.is_none_or(|cfa| self.is_above(regs, cfa)) {
            return None;
        }
        let can_be = self.can_return_to(pc)
            || (self.is_made_at_run_time(pc) && self.chains_on(&caller))
            || self.may_return_to(pc);
        can_be.then(|| self.guess(caller, cfa, floor, Trust::UncheckedFramePointer))
    }

    /// The caller of a frame that called another one, where the ABI wants it linked. What the code tells of the
    /// registers that it saved is taken if it leads there too.
    pub fn by_link(&self, regs: &Regs, pc: CodeAddr) -> Option<Guess> {
        let is_linked = pc.is_return() && self.machine.links_frames();
        let linked = is_linked.then(|| self.by_frame_pointer(regs)).flatten()?;
        let leads_there =
            |by_code: &Guess| (by_code.regs.pc(), by_code.cfa) == (linked.regs.pc(), linked.cfa);
        let found = self.by_code(regs).filter(leads_there).unwrap_or(linked);
        Some(Guess { trust: Trust::FramePointer, ..found }.sure())
    }

    /// The caller of code that nothing is known of, such as what was made at run time, if it is as its call left it.
    pub fn by_link_register(&self, regs: &Regs, pc: CodeAddr) -> Option<Guess> {
        let is_unknown = !pc.is_return() && !self.modules.is_in_module(pc.lookup());
        let may_tell = is_unknown && self.machine.link_register().is_some();
        let entry = may_tell.then(|| self.machine.caller_at_entry(regs, self.space));
        let (caller, cfa) = entry.flatten()?;
        let is_caller = self.is_plausible(regs, &caller, cfa);
        is_caller.then(|| self.guess(caller, Some(cfa), cfa, Trust::Prologue))
    }

    fn guess(&self, caller: Regs, cfa: Option<Addr>, floor: Addr, trust: Trust) -> Guess {
        let regs = caller.with_pc(self.machine.strip_code(caller.pc()));
        Guess { regs, cfa, floor, trust, is_guess: true, begins: false }
    }

    /// A caller counts only when its pc can be one: code, right behind a call; and when it lies
    /// above the frame that it called.
    fn is_plausible(&self, regs: &Regs, caller: &Regs, cfa: Addr) -> bool {
        self.is_above(regs, cfa) && self.can_return_to(self.machine.strip_code(caller.pc()))
    }

    fn is_above(&self, regs: &Regs, cfa: Addr) -> bool {
        let sp = regs.get(self.machine.stack_pointer());
        let takes_no_stack = self.machine.link_register().is_some();
        sp.is_some_and(|sp| cfa.get() > sp || (takes_no_stack && cfa.get() == sp))
    }

    /// Whether `pc` is in code that belongs to no module. Such code need not call: interpreters push
    /// the place to go on at, and jump.
    fn is_made_at_run_time(&self, pc: Addr) -> bool {
        self.modules.is_code(pc) && !self.modules.is_in_module(pc)
    }

    /// Whether the frame pointer of a caller leads to a frame record as well.
    fn chains_on(&self, caller: &Regs) -> bool {
        let above = self.machine.caller_by_frame_pointer(caller, self.space);
        above.is_some_and(|(above, _)| self.modules.is_code(self.machine.strip_code(above.pc())))
    }

    /// Whether a return to `pc` cannot be ruled out, since its code has no bytes: in a core whose
    /// files are elsewhere, frame pointers are all that is left.
    fn may_return_to(&self, pc: Addr) -> bool {
        self.modules.is_code(pc) && self.space.slice(pc.wrapping_offset(-1)).is_err()
    }

    /// Whether a call may return to `pc`.
    pub fn can_return_to(&self, pc: Addr) -> bool {
        // A call to a function that never returns may be the last instruction of a module: then no code is at `pc`.
        let follows_call = self.modules.is_code(pc.wrapping_offset(-1))
            && self.machine.follows_call(pc, self.space);
        follows_call
            || (self.modules.is_code(pc) && self.machine.is_signal_restorer(pc, self.space))
    }

    /// The first words above the stack pointer that can be return addresses. The frame pointer is
    /// kept when it still points into the stack above: code without frame pointers leaves it
    /// alone.
    fn by_scan(&self, regs: &Regs) -> impl Iterator<Item = Guess> {
        let word = self.space.target().register_size() as u64;
        let sp = regs.get(self.machine.stack_pointer()).map(Addr::new);
        let slots = (0..SCAN_WORDS).map_while(move |index| {
            let slot = sp?.checked_add(index.checked_mul(word)?)?;
            Some((slot.checked_add(word)?, self.space.read_addr(slot).ok()?))
        });
        slots
            .map(|(behind, pc)| (behind, self.machine.strip_code(pc)))
            .filter(|(_, pc)| self.can_return_to(*pc))
            .map(|(behind, pc)| self.scanned(regs, pc, behind))
            .take(MAX_SCANNED)
    }

    /// `behind` is the address behind the return address: the CFA, where a call pushes that; where
    /// a function stores it, there is no telling how much of its frame lies above.
    fn scanned(&self, regs: &Regs, pc: Addr, behind: Addr) -> Guess {
        let frame_pointer = self.machine.frame_pointer();
        let kept = regs
            .get(frame_pointer)
            .filter(|fp| *fp >= behind.get() && self.space.read_register(Addr::new(*fp)).is_ok());
        let mut caller = Regs::new(pc);
        caller.set(frame_pointer, kept);
        let cfa = self.machine.link_register().is_none().then_some(behind);
        caller.set(self.machine.stack_pointer(), cfa.map(Addr::get));
        let trust = Trust::Scan;
        Guess { regs: caller, cfa, floor: behind, trust, is_guess: true, begins: false }
    }
}

impl Guess {
    /// The same where nothing else can be the caller.
    #[must_use]
    pub const fn sure(mut self) -> Self {
        self.is_guess = false;
        self
    }
}
