//! Control frames: `vm_core.h` (`rb_control_frame_t`, `VM_FRAME_MAGIC_*`), `vm_backtrace.c`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Ruby,
    code::{Code, CodeKind},
    heap::{Heap, pointer},
    version::Version,
    vm::Context,
};

/// Frames of one stack, at most.
const MAX_FRAMES: usize = 1 << 20;
/// `pc`, `iseq`, `self`, `ep` of `rb_control_frame_t`.
const PC: u64 = 0;
const CODE: u64 = 16;
const SELF: u64 = 24;
const ENVIRONMENT: u64 = 32;
/// What a frame is, in the flags of its environment.
const MAGIC_MASK: u64 = 0x7fff_0001;
const TOP: u64 = 0x4444_0001;
const C_METHOD: u64 = 0x5555_0001;
const C_BLOCK: u64 = 0x6666_0001;
const FINISH: u64 = 0x20;
const C_FRAME: u64 = 0x80;
/// The reason that is shown where a frame cannot be read.
const UNREADABLE: &str = "its control frame is damaged, or was not dumped";

/// A frame of Ruby, or of a method written in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubyFrame {
    /// `rb_control_frame_t`.
    pub at: Addr,
    /// What is called, with its class: `block in Account#run`, `Array#each`.
    pub function: Option<Arc<str>>,
    /// Its code; a method in C has none.
    pub code: Option<Arc<Code>>,
    /// The file; that of the caller where the method is in C.
    pub file: Option<Arc<str>>,
    /// The line, likewise.
    pub line: Option<u32>,
    /// `self`.
    pub receiver: u64,
    /// Why something is not known.
    pub doubt: Option<&'static str>,
}

/// The frames that one native activation of the VM runs, with those in C that they called last, innermost first.
pub type Group = Vec<RubyFrame>;

/// The frames of one stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The groups, innermost first.
    pub groups: Vec<Group>,
    /// Frames outside of all groups.
    pub rest: Group,
    /// Why they end before the outermost.
    pub broken: Option<&'static str>,
}

impl Chain {
    /// All frames, innermost first.
    pub fn frames(&self) -> impl Iterator<Item = &RubyFrame> {
        self.groups.iter().flatten().chain(&self.rest)
    }
}

/// Words of a control frame.
#[derive(Clone, Copy)]
pub struct ControlFrame {
    pub pc: u64,
    pub code: u64,
    pub receiver: u64,
    pub environment: Addr,
    flags: u64,
}

impl ControlFrame {
    /// What lies at an address.
    pub fn load(heap: &Heap<'_>, at: Addr) -> Option<Self> {
        let environment = heap.pointer(at, ENVIRONMENT)?;
        Some(Self {
            pc: heap.word(at, PC)?,
            code: heap.word(at, CODE)?,
            receiver: heap.word(at, SELF)?,
            environment,
            flags: heap.word(environment, 0)?,
        })
    }

    const fn magic(self) -> u64 {
        self.flags & MAGIC_MASK
    }

    /// Whether it only stands for a call of C from C that needs a frame.
    const fn is_unseen(self) -> bool {
        self.code != 0 && self.pc == 0 && self.magic() == TOP
    }

    /// Whether the native activation that runs it was begun for it.
    const fn finishes(self) -> bool {
        self.flags & FINISH != 0 && !self.is_unseen()
    }

    const fn is_c_method(self) -> bool {
        self.code == 0 && self.flags & C_FRAME != 0 && self.magic() == C_METHOD
    }
}

impl Ruby {
    /// The frames of a context, innermost first.
    pub(super) fn chain(&self, heap: &Heap<'_>, context: &Context) -> Chain {
        let mut chain = Chain::default();
        let mut group = Group::new();
        let mut without_line = 0_usize;
        let mut is_handled = false;
        let size = heap.layout.frame_size;
        let mut at = context.frame;
        // The outermost frame is a dummy.
        let outermost = Addr::new(context.end.get().saturating_sub(size));
        for count in 0.. {
            if at >= outermost {
                break;
            }
            let Some(control) = ControlFrame::load(heap, at).filter(|_| count < MAX_FRAMES) else {
                chain.broken = Some(UNREADABLE);
                break;
            };
            let frame = self.frame(heap, at, control).filter(|_| !is_handled);
            is_handled = control.code != 0 && self.is_merged(heap, &control);
            if let Some(frame) = frame {
                match frame.code.is_some() {
                    true => tell_callees(&mut chain.groups, &mut group, &mut without_line, &frame),
                    false => without_line = without_line.saturating_add(1),
                }
                group.push(frame);
            }
            if control.finishes() {
                chain.groups.push(std::mem::take(&mut group));
            }
            at = at.saturating_add(size);
        }
        chain.rest = group;
        chain
    }

    /// Whether a frame stands for the next one too: since 3.4 what handles exceptions and the code that it is in are one.
    fn is_merged(&self, heap: &Heap<'_>, control: &ControlFrame) -> bool {
        let code = || self.code(heap, pointer(control.code)?);
        heap.layout.version >= Version::new(3, 4)
            && code().is_some_and(|code| matches!(code.kind, CodeKind::Rescue | CodeKind::Ensure))
    }

    /// The innermost frames of a context that Ruby shows, at most `count`; those of methods in C without a place.
    pub(super) fn innermost(
        &self,
        heap: &Heap<'_>,
        context: &Context,
        count: usize,
    ) -> Vec<RubyFrame> {
        /// Control frames that are looked at: few of them are not shown.
        const MAX_TRIED: u64 = 8;
        let at = |index: u64| {
            let at = context.frame.checked_add(index.checked_mul(heap.layout.frame_size)?)?;
            (at < context.end).then_some(at)
        };
        let control = |at: Addr| Some((at, ControlFrame::load(heap, at)?));
        let all = (0..MAX_TRIED).map_while(at).map_while(control);
        all.filter_map(|(at, control)| self.frame(heap, at, control)).take(count).collect()
    }

    /// The frame that a control frame stands for; `None` of one that Ruby does not show.
    fn frame(&self, heap: &Heap<'_>, at: Addr, control: ControlFrame) -> Option<RubyFrame> {
        let entry = || heap.method_entry(control.environment);
        let receiver = control.receiver;
        let empty = RubyFrame {
            at,
            function: None,
            code: None,
            file: None,
            line: None,
            receiver,
            doubt: None,
        };
        if control.is_c_method() {
            let named = entry().and_then(|entry| {
                let method = heap.method(entry)?;
                Some(
                    heap.owner(entry)
                        .map_or_else(|| method.clone(), |owner| heap.method_name(owner, &method)),
                )
            });
            let doubt = named.is_none().then_some("the name of its method cannot be read");
            return Some(RubyFrame { function: named.map(Arc::from), doubt, ..empty });
        }
        if control.code == 0 || control.is_unseen() || control.magic() == C_BLOCK {
            return None;
        }
        let code = pointer(control.code).and_then(|code| self.code(heap, code));
        let Some(code) = code else {
            return Some(RubyFrame {
                doubt: Some("its code is damaged, or was not dumped"),
                ..empty
            });
        };
        let line = heap.line(code.body, control.pc);
        // What runs as machine code does not always keep its place.
        let doubt = line.is_none().then_some("its line is that where its code begins");
        Some(RubyFrame {
            function: Some(code.qualified(heap, entry().and_then(|entry| heap.owner(entry)))),
            file: Some(code.file.clone()),
            line: line.or(code.first_line),
            doubt,
            code: Some(code),
            ..empty
        })
    }
}

/// Methods in C have the place from which they are called.
fn tell_callees(groups: &mut [Group], group: &mut Group, count: &mut usize, caller: &RubyFrame) {
    let inner = group
        .iter_mut()
        .rev()
        .chain(groups.iter_mut().rev().flat_map(|group| group.iter_mut().rev()));
    for callee in inner.take(*count) {
        callee.file.clone_from(&caller.file);
        callee.line = caller.line;
    }
    *count = 0;
}
