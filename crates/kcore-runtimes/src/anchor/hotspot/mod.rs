//! The way out of HotSpot's code, on x86-64: compiled methods, the interpreter, and the stub by which the virtual machine
//! calls Java.
//!
//! Facts come from openjdk/jdk, `src/hotspot/cpu/x86/{frame_x86,stubGenerator_x86_64,templateInterpreterGenerator_x86}`,
//! JDK 17 to 25. A compiled method uses the frame pointer for anything, and saves its caller's right below the return
//! address; its frame has one size. The interpreter keeps the frame pointer, and the stub saves what C++ wants back.

mod interpreter;
#[cfg(test)]
mod tests;

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, CodeAddr};
use kcore_unwind::{Phase, RegisterId, Regs, RuleFrame, RuleStep};

use super::Anchor;
use crate::{
    Host,
    java::{
        blobs::{Blob, BlobKind, CodeCache},
        vm_structs::VmStructs,
    },
};

const RBX: RegisterId = RegisterId(3);
const RBP: RegisterId = RegisterId(6);
const RSP: RegisterId = RegisterId(7);
/// Where the interpreter keeps the place in the bytecodes.
const R13: RegisterId = RegisterId(13);

/// What the stub saved, by words from its frame pointer.
const SAVED_BY_STUB: [(RegisterId, i64); 5] =
    [(RBX, -7), (RegisterId(12), -8), (R13, -9), (RegisterId(14), -10), (RegisterId(15), -11)];
/// Where the stub keeps the `JavaCallWrapper` of whoever called it, by words from its frame pointer.
const CALL_WRAPPER: i64 = -6;
/// By words from the frame pointer of the interpreter: the stack pointer of the caller, and the method.
const SENDER_SP: i64 = -1;
const METHOD: i64 = -3;
/// Bytes of the locals of a method, at most, which lie between its frame and that of its caller.
const MAX_LOCALS: u64 = 1 << 20;

const CALL_STUB: &str = "StubRoutines._call_stub_return_address";
const CONST_METHOD: &str = "ConstMethod";

/// The smallest virtual machine, `--with-jvm-variants=minimal`, has more code.
const MIN_CODE: u64 = 1 << 20;

/// Where HotSpot's code lies and what it looks like.
struct HotSpot {
    library: AddrRange,
    cache: CodeCache,
    /// What the stub that calls Java returns to.
    call_stub: Addr,
    methods: Methods,
}

/// Where the fields of a method lie.
struct Methods {
    const_method: u64,
    code_size: u64,
    /// Bytes before the bytecodes.
    header: u64,
}

/// The anchor of the Java virtual machine that a process holds, if it holds one.
pub fn find(host: &dyn Host) -> Option<Box<dyn Anchor>> {
    let space = host.space();
    (space.target().arch == Arch::X86_64).then_some(())?;
    let modules = host.modules().into_iter().filter(|module| module.code_size() >= MIN_CODE);
    { modules }.find_map(|module| {
        let tables = VmStructs::read(module, space)?;
        let found = HotSpot::of(&tables, module.span(), space)?;
        Some(Box::new(found) as Box<dyn Anchor>)
    })
}

impl Anchor for HotSpot {
    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        // Where a thread was stopped inside of what makes or leaves a frame, the code itself tells.
        let wanted = if frame.pc.is_return() { Phase::AfterCfi } else { Phase::AfterCode };
        (phase == wanted).then_some(())?;
        let at = At { space: host.space(), regs: frame.regs };
        if frame.pc.is_return() && frame.pc.addr() == self.call_stub {
            return self.leave_stub(at, caller);
        }
        let blob = self.cache.at(frame.pc.lookup(), at.space)?;
        let cfa = match (blob.kind, frame.pc.is_return()) {
            (BlobKind::Interpreter, true) => self.leave_interpreter(at, caller),
            (BlobKind::Interpreter, false) => self.leave_interpreted(at, caller),
            (BlobKind::Method | BlobKind::Other, true) => {
                self.leave_frame(at, blob.frame, true, caller)
            }
            (BlobKind::Method, false) => self.leave_stopped(at, &blob, caller),
            _ => None,
        }?;
        Some(RuleStep::Caller { cfa, interrupted: false })
    }
}

impl HotSpot {
    fn of(tables: &VmStructs, library: AddrRange, space: &dyn AddressSpace) -> Option<Self> {
        let call_stub = space.read_addr(tables.variable(CALL_STUB)?).ok()?;
        let methods = Methods {
            const_method: tables.offset("Method._constMethod")?,
            code_size: tables.offset("ConstMethod._code_size")?,
            header: tables.size(CONST_METHOD)?,
        };
        Some(Self { library, cache: CodeCache::read(tables, space)?, call_stub, methods })
    }

    /// Whether a return address is in Java's code. Nothing else calls that but the stub, which is part of it.
    fn is_ours(&self, pc: Addr, space: &dyn AddressSpace) -> bool {
        pc == self.call_stub || self.cache.at(CodeAddr::Return(pc).lookup(), space).is_some()
    }

    fn leave_stub(&self, at: At<'_>, caller: &mut Regs) -> Option<RuleStep> {
        let (fp, pc) = (at.frame_pointer()?, at.word_by_fp(1)?);
        let cfa = fp.checked_add(16)?;
        // It is a variable of the function that called.
        let is_caller = self.library.contains(Addr::new(pc))
            && at.word_by_fp(CALL_WRAPPER).is_some_and(|wrapper| wrapper >= cfa.get());
        is_caller.then_some(())?;
        *caller = Regs::new(Addr::new(pc));
        caller.set(RSP, Some(cfa.get()));
        caller.set(RBP, at.word_by_fp(0));
        for (register, words) in SAVED_BY_STUB {
            caller.set(register, at.word_by_fp(words));
        }
        Some(RuleStep::Caller { cfa, interrupted: false })
    }

    fn leave_interpreter(&self, at: At<'_>, caller: &mut Regs) -> Option<Addr> {
        // A method that was called by a method handle's linker has one word less of its caller's stack: the linker took its
        // last argument (`MethodHandles::generate_method_handle_dispatch`).
        let end = at.frame_pointer()?.checked_add(8)?;
        let cfa = Addr::new(at.word_by_fp(SENDER_SP)?);
        let is_near = cfa.offset_from(end).is_some_and(|locals| locals <= MAX_LOCALS);
        let pc = Addr::new(at.word_by_fp(1)?);
        (is_near && self.is_ours(pc, at.space)).then_some(())?;
        *caller = at.caller(pc, cfa, at.word_by_fp(0));
        Some(cfa)
    }

    /// Out of a frame of `len` bytes, the last of which are the return address and, where it was saved, the frame
    /// pointer of the caller below it.
    fn leave_frame(&self, at: At<'_>, len: u64, saved: bool, caller: &mut Regs) -> Option<Addr> {
        let cfa = at.stack_pointer()?.checked_add(len)?;
        let word = |by: i64| at.space.read_word(cfa.wrapping_offset(by)).ok();
        let pc = Addr::new(word(-8)?);
        (len >= 8 && self.is_ours(pc, at.space)).then_some(())?;
        let fp = if saved { word(-16) } else { at.regs.get(RBP) };
        *caller = at.caller(pc, cfa, fp);
        Some(cfa)
    }

    /// Whether it is where a method goes on that is no longer valid, whose callees return there: a call of the next
    /// instruction pushes where it was (`HandlerImpl::emit_deopt_handler`).
    fn is_deoptimized(&self, at: At<'_>) -> bool {
        const CALL_LEN: u64 = 5;
        let pushed = at.stack_pointer().and_then(|sp| at.space.read_addr(sp).ok());
        pushed.is_some_and(|pc| at.regs.pc().offset_from(pc).is_some_and(|by| by <= CALL_LEN))
    }

    /// Out of a method that was stopped, whose instructions say how much of its frame there is.
    fn leave_stopped(&self, at: At<'_>, blob: &Blob, caller: &mut Regs) -> Option<Addr> {
        let done = at.regs.pc().offset_from(blob.code)?;
        (blob.frame_complete < blob.span.len()).then_some(())?;
        if self.is_deoptimized(at) {
            return self.leave_frame(at, blob.frame.checked_add(8)?, true, caller);
        }
        let (len, saved) = match at.code(3).as_slice() {
            // `pop %rbp`, and `sub LEN,%rsp` behind `push %rbp`.
            [0x5d, ..] => (16, true),
            [0x48, 0x81 | 0x83, 0xec] if done < blob.frame_complete => (16, true),
            // `ret`; `cmp POLL(%r15),%rsp` and `ja` before it.
            [0xc3, ..] | [0x49, 0x3b, 0xa7] | [0x0f, 0x87, _] => (8, false),
            _ if done < blob.frame_complete => (8, false),
            _ => (blob.frame, true),
        };
        self.leave_frame(at, len, saved, caller)
    }
}

/// A frame and the memory that it is in.
#[derive(Clone, Copy)]
struct At<'a> {
    space: &'a dyn AddressSpace,
    regs: &'a Regs,
}

impl At<'_> {
    fn stack_pointer(self) -> Option<Addr> {
        self.regs.get(RSP).map(Addr::new)
    }

    /// The frame pointer, where it is one: above the stack pointer.
    fn frame_pointer(self) -> Option<Addr> {
        let fp = Addr::new(self.regs.get(RBP)?);
        let is_above = self.stack_pointer().is_none_or(|sp| fp >= sp);
        is_above.then_some(fp)
    }

    fn word_by_fp(self, words: i64) -> Option<u64> {
        let at = self.frame_pointer()?.wrapping_offset(words.checked_mul(8)?);
        self.space.read_word(at).ok()
    }

    fn code(self, len: usize) -> Vec<u8> {
        self.space.read_held(self.regs.pc(), len as u64)
    }

    /// The registers that Java's code leaves to its caller: no others.
    fn caller(self, pc: Addr, cfa: Addr, fp: Option<u64>) -> Regs {
        let mut caller = Regs::new(pc);
        caller.set(RSP, Some(cfa.get()));
        caller.set(RBP, fp);
        caller
    }
}
