//! Where in its source text a frame of JavaScript is, whatever compiled it.

use kcore_mem::CodeAddr;

use super::{
    Code, CodeKind, Function, Heap,
    bytecode::BytecodeSizes,
    frame::FrameSlots,
    inlined::{Inlined, Inlinings},
};
use crate::Host;

/// How the code of a frame was made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tier {
    /// It is bytecode, which the interpreter runs.
    Interpreted,
    /// By Sparkplug.
    Baseline,
    /// By Maglev.
    Maglev,
    /// By TurboFan.
    Turbofan,
    /// It came with V8.
    Builtin,
}

impl Tier {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interpreted => "interpreted",
            Self::Baseline => "baseline",
            Self::Maglev => "maglev",
            Self::Turbofan => "turbofan",
            Self::Builtin => "builtin",
        }
    }
}

/// Where a frame is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// What made its code.
    pub tier: Tier,
    /// The functions that its code holds inside of itself there, innermost first.
    pub inlined: Vec<Inlined>,
    /// The offset in its function's script; `None` where nothing tells.
    pub script_offset: Option<u64>,
}

impl Location {
    const fn plain(tier: Tier, script_offset: Option<u64>) -> Self {
        Self { tier, inlined: Vec::new(), script_offset }
    }

    /// That of the frame of `function`, which is at `pc`. `sizes` is asked for baseline code only.
    pub fn find(
        heap: &Heap<'_>,
        host: &dyn Host,
        pc: CodeAddr,
        frame: FrameSlots,
        function: Function,
        sizes: &dyn Fn() -> Option<BytecodeSizes>,
    ) -> Self {
        let code = Code::at(heap, host, pc.lookup());
        match code.map(|code| (code, code.kind)) {
            Some((code, CodeKind::Baseline)) => Self::in_baseline(heap, &code, pc, frame, sizes),
            Some((code, CodeKind::Maglev)) => {
                Self::in_optimized(heap, &code, pc, frame, Tier::Maglev, function)
            }
            Some((code, CodeKind::Turbofan)) => {
                Self::in_optimized(heap, &code, pc, frame, Tier::Turbofan, function)
            }
            _ => Self::in_bytecode(heap, frame, function),
        }
    }

    fn in_baseline(
        heap: &Heap<'_>,
        code: &Code,
        pc: CodeAddr,
        frame: FrameSlots,
        sizes: &dyn Fn() -> Option<BytecodeSizes>,
    ) -> Self {
        let offset = || {
            let (bytecode, table) = (frame.bytecode(heap)?, code.positions(heap)?);
            let offset = code.offset(pc.lookup())?;
            let offset = heap.baseline_offset(bytecode, table, &sizes()?, offset)?;
            heap.bytecode_position(bytecode, offset)?.script_offset()
        };
        Self::plain(Tier::Baseline, offset())
    }

    fn in_optimized(
        heap: &Heap<'_>,
        code: &Code,
        pc: CodeAddr,
        frame: FrameSlots,
        tier: Tier,
        function: Function,
    ) -> Self {
        let told = || Inlinings::told(heap, code, pc, frame, function.shared);
        let at = |offset| Inlinings::at(heap, code, offset, function.shared);
        match told().or_else(|| at(code.offset(pc.lookup())?)) {
            Some(Inlinings { inlined, script_offset }) => Self { tier, inlined, script_offset },
            None => Self::plain(tier, None),
        }
    }

    /// Of bytecode, or of a builtin. What runs bytecode is told by what lies in the frame: the names
    /// of its code may be stripped.
    fn in_bytecode(heap: &Heap<'_>, frame: FrameSlots, function: Function) -> Self {
        let Some(bytecode) = frame.bytecode(heap) else {
            return Self::plain(Tier::Builtin, None);
        };
        let Some(held) = frame.bytecode_offset(heap) else {
            // A frame of baseline code that is in a builtin without a frame.
            return Self::plain(Tier::Baseline, None);
        };
        let offset = heap.bytecode_offset(held);
        let position = offset.and_then(|offset| heap.bytecode_position(bytecode, offset));
        let start = || function.shared.positions(heap).map(|(start, _)| start);
        let script_offset = position.and_then(|position| position.script_offset()).or_else(start);
        Self::plain(Tier::Interpreted, script_offset)
    }
}
