//! Frames of Java among the native ones of a stack.
//!
//! `src/hotspot/cpu/x86/frame_x86.hpp`, JDK 11 to 25: by words from the frame pointer of the interpreter lie the stack pointer
//! of the caller at -1, the method at -3 and the place in the bytecodes at -8, which is written before each call. While bytecodes run, r13 has the place.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, CodeAddr};
use kcore_unwind::{Frame, RegisterId};

use super::{
    Java,
    blobs::{Blob, BlobKind},
    lines,
    memory::Memory,
    method::Method,
    probe::NAME,
};
use crate::{FrameKind, Host, LanguageFrame, Native, NativeStack, Span};

/// Bytes of a frame of the interpreter with its locals, at most.
const MAX_FRAME: u64 = 1 << 20;
const METHOD: i64 = -3 * 8;
const PLACE: i64 = -8 * 8;
const R13: RegisterId = RegisterId(13);
/// In what the kernel saves of a thread that handles a signal, `ucontext_t`: r13.
const SAVED_R13: u64 = 80;

const INTERPRETED: &str = "interpreted";
const NATIVE: &str = "native";
const CALL_STUB: &str = "~StubRoutines::call_stub";
/// By which a thread calls the virtual thread that it runs.
const ENTRY: &str = "jdk.internal.vm.Continuation.enterSpecial";

/// A stack, and the frame of it that is looked at.
#[derive(Clone, Copy)]
struct Seen<'a> {
    host: &'a dyn Host,
    stack: &'a NativeStack<'a>,
    index: usize,
    frame: &'a Frame,
}

impl Java {
    /// The frames that are Java's, and code that the virtual machine made.
    pub(super) fn spans(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        let frames = stack.frames.iter().enumerate();
        let ours = frames.filter(|(_, frame)| !frame.signal_trampoline);
        let spans = ours.filter_map(|(index, frame)| {
            let language = self.frames_at(Seen { host, stack, index, frame })?;
            Some(Span::replacing(index, language))
        });
        let mut spans: Vec<Span> = spans.collect();
        if stack.task.is_some_and(|task| task.runtime == NAME) {
            hide_carrier(&mut spans, stack.frames.len());
        }
        spans
    }

    fn frames_at(&self, seen: Seen<'_>) -> Option<Vec<LanguageFrame>> {
        let pc = seen.frame.pc;
        if pc.is_return() && pc.addr() == self.call_stub {
            return Some(vec![made_code(CALL_STUB.into())]);
        }
        self.cache.contains(pc.lookup()).then_some(())?;
        let blob = self.cache.at(pc.lookup(), seen.host.space())?;
        Some(match blob.kind {
            BlobKind::Interpreter => vec![self.interpreted(seen)],
            BlobKind::Method => self.compiled_at(seen.host.space(), &blob, pc, seen.frame.sp),
            BlobKind::Other | BlobKind::Stubs => {
                let name = self.cache.name(&blob, seen.host.space())?;
                vec![made_code(format!("~{name}").into())]
            }
        })
    }

    /// A frame of the interpreter.
    fn interpreted(&self, seen: Seen<'_>) -> LanguageFrame {
        let unknown = |why: &str| LanguageFrame {
            tier: Some(INTERPRETED),
            doubt: Some(why.into()),
            ..java_frame()
        };
        match seen.frame_pointer() {
            Some(fp) => self.interpreted_at(seen.host.space(), fp, seen.place_in_register()),
            None => unknown("stopped while its frame was made or left, or it cannot be read"),
        }
    }

    /// A frame of the interpreter by its frame pointer, with the place in the bytecodes where a register had it.
    pub(super) fn interpreted_at(
        &self,
        space: &dyn AddressSpace,
        fp: Addr,
        place: Option<Addr>,
    ) -> LanguageFrame {
        let slot = |offset| space.read_addr(fp.wrapping_offset(offset)).ok();
        let named = slot(METHOD).and_then(|at| Some((at, self.method(space, at)?)));
        let Some((at, method)) = named else {
            let doubt = Some("its method cannot be read".into());
            return LanguageFrame { tier: Some(INTERPRETED), doubt, ..java_frame() };
        };
        let index = [place, slot(PLACE)].into_iter().flatten().find_map(|it| method.index_of(it));
        let tier = if method.is_native() { NATIVE } else { INTERPRETED };
        LanguageFrame { tier: Some(tier), ..self.frame_of(space, at, &method, index) }
    }

    /// The frames of compiled code, innermost first. All but the last run in the frame of that.
    pub(super) fn compiled_at(
        &self,
        space: &dyn AddressSpace,
        blob: &Blob,
        pc: CodeAddr,
        sp: Option<Addr>,
    ) -> Vec<LanguageFrame> {
        let memory = Memory(space);
        let layout = &self.layout.compiled;
        let compiler = layout.compiler(memory, blob);
        let deoptimized = sp.and_then(|sp| layout.original_pc(memory, blob, pc.addr(), sp));
        let pc = deoptimized.map_or(pc, CodeAddr::Return);
        let scopes = layout.scopes_at(memory, blob, pc);
        let doubt: Option<&str> = match (compiler, scopes.exact, scopes.chain.is_empty()) {
            (None, ..) | (_, true, false) => None,
            (_, _, true) => Some("no place in its bytecodes is known here"),
            (_, false, false) => {
                Some("the place is that of the next one that the compiler described")
            }
        };
        let mut frames: Vec<LanguageFrame> = scopes
            .chain
            .iter()
            .map(|scope| match self.method(space, scope.method) {
                Some(method) => self.frame_of(space, scope.method, &method, scope.index),
                None => LanguageFrame {
                    doubt: Some("its method cannot be read".into()),
                    ..java_frame()
                },
            })
            .collect();
        if frames.is_empty() {
            frames.push(self.outermost_of(space, blob));
        }
        let last = frames.len().saturating_sub(1);
        for (index, frame) in frames.iter_mut().enumerate() {
            frame.inline = index < last;
            frame.tier = Some(tier(compiler, deoptimized.is_some()));
            frame.doubt = frame.doubt.take().or_else(|| doubt.map(Into::into));
        }
        frames
    }

    /// The frame of the method that a piece was compiled from, where nothing tells more.
    fn outermost_of(&self, space: &dyn AddressSpace, blob: &Blob) -> LanguageFrame {
        let at = self.layout.compiled.method(Memory(space), blob);
        let method = at.and_then(|at| Some((at, self.method(space, at)?)));
        match method {
            Some((at, method)) => self.frame_of(space, at, &method, None),
            None => {
                LanguageFrame { doubt: Some("its method cannot be read".into()), ..java_frame() }
            }
        }
    }

    /// The frame of a method that is at an index of its bytecodes.
    fn frame_of(
        &self,
        space: &dyn AddressSpace,
        at: Addr,
        method: &Method,
        index: Option<u32>,
    ) -> LanguageFrame {
        let index = index.filter(|_| !method.is_native());
        LanguageFrame {
            function: Some(method.function()),
            file: method.file.clone(),
            line: index.and_then(|index| lines::line_at(method, space, index)),
            bytecode: index,
            object: Some(at),
            ..java_frame()
        }
    }
}

impl Seen<'_> {
    /// The frame pointer of the interpreter: below it lies the stack pointer of the caller, and above it where the frame
    /// returns to. Locals lie between the frame and its caller, so that neither end of it tells.
    fn frame_pointer(self) -> Option<Addr> {
        let (sp, cfa) = (self.frame.sp?, self.frame.cfa?);
        let next = self.index.checked_add(1).and_then(|index| self.stack.frames.get(index));
        let returns = next.map(|next| next.pc.addr().get());
        let len = cfa.offset_from(sp)?.min(MAX_FRAME);
        let bytes = self.host.space().read_held(sp, len);
        let target = self.host.space().target();
        let words: Vec<u64> = bytes.chunks_exact(8).map(|word| target.uint(word)).collect();
        let is_it = |words: &[u64]| {
            let &[sender, _, to] = words else { return false };
            sender == cfa.get() && returns.is_none_or(|returns| returns == to)
        };
        let index = words.windows(3).position(is_it)? as u64;
        sp.checked_add(index.checked_add(1)?.checked_mul(8)?)
    }

    /// The place in the bytecodes that r13 has, where the frame itself was stopped or interrupted.
    fn place_in_register(self) -> Option<Addr> {
        (!self.frame.pc.is_return()).then_some(())?;
        let inner = match self.index.checked_sub(1) {
            Some(index) => self.stack.frames.get(index)?,
            None => {
                let regs = self.host.registers(self.stack.thread?)?;
                let is_it = regs.pc() == self.frame.pc.addr();
                return regs.get(R13).filter(|_| is_it).map(Addr::new);
            }
        };
        inner.signal_trampoline.then_some(())?;
        let saved = inner.sp?.checked_add(SAVED_R13)?;
        self.host.space().read_addr(saved).ok()
    }
}

/// Leaves of a stack on which a virtual thread runs what that does: the thread which runs it called it by one method.
fn hide_carrier(spans: &mut Vec<Span>, count: usize) {
    let is_entry = |frame: &LanguageFrame| frame.function.as_deref() == Some(ENTRY);
    let entry = spans.iter().position(|span| span.language.iter().any(is_entry));
    let Some((index, span)) = entry.and_then(|index| Some((index, spans.get(index)?))) else {
        return;
    };
    let beyond = span.frames.end..count;
    spans.truncate(index.saturating_add(1));
    if !beyond.is_empty() {
        spans.push(Span { frames: beyond, native: Native::Replaced, language: Vec::new() });
    }
}

/// The word for how a method was run: interpreted, or by which compiler it was compiled.
const fn tier(compiler: Option<&'static str>, deoptimized: bool) -> &'static str {
    match (compiler, deoptimized) {
        (None, _) => NATIVE,
        (Some(_), true) => "deoptimized",
        (Some(compiler), false) => compiler,
    }
}

fn java_frame() -> LanguageFrame {
    LanguageFrame { kind: FrameKind::Java, language: Some("java"), ..LanguageFrame::default() }
}

/// A frame of code that the virtual machine made for itself.
fn made_code(name: Arc<str>) -> LanguageFrame {
    LanguageFrame { kind: FrameKind::Trampoline, function: Some(name), ..LanguageFrame::default() }
}
