//! Arguments and locals of frames of the interpreter; those of compiled code are in `compiled_variables`.
//!
//! `src/hotspot/cpu/x86/frame_x86.hpp`, JDK 11 to 25: at -7 words from the frame pointer is where the first local lies, since
//! JDK 22 in words from the frame pointer; the others follow towards lower addresses.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Frame;

use super::{
    Java,
    blobs::BlobKind,
    element::ElementType,
    local_table::LocalVariable,
    memory::Memory,
    value::{Limits, UNREAD, note, number},
};
use crate::{
    Dialect, FrameKind, FrameOfLanguage, Host, ScriptNode, ScriptVariable, ScriptVariables,
    VariableLimits,
};

/// Bytes of a frame of the interpreter with its locals, at most.
const MAX_FRAME: u64 = 1 << 20;
const SENDER: i64 = -8;
const METHOD: i64 = -3 * 8;
const LOCALS: i64 = -7 * 8;
const PLACE: i64 = -8 * 8;
/// No address is as low as the highest distance of locals from their frame, in words.
const MAX_DISTANCE: u64 = MAX_FRAME / 8;

/// What stands in the place of a zero that may be none. Compiled code keeps no local that is not read any more; when the
/// virtual machine gives such code up, frames of the interpreter take its place, which have zeros for these.
const LOST: &str = "not known: its zero may stand for what compiled code dropped";

/// A frame of the interpreter.
struct Interpreted {
    /// The first local.
    locals: Addr,
    /// The place in the bytecodes, where it was written down.
    place: Option<Addr>,
}

impl Interpreted {
    /// Whether a local has nothing but zeros.
    fn has_zero(&self, memory: Memory<'_>, local: &LocalVariable) -> bool {
        let element = ElementType::of_signature(&local.signature);
        element.and_then(|element| self.raw(memory, local.slot, element)) == Some(0)
    }

    /// The bits of a local.
    fn raw(&self, memory: Memory<'_>, slot: u16, element: ElementType) -> Option<u64> {
        let is_wide = matches!(element, ElementType::Long | ElementType::Double);
        let slots = u64::from(slot).checked_add(u64::from(is_wide))?;
        let at = self.locals.get().checked_sub(slots.checked_mul(8)?)?;
        memory.uint(Addr::new(at), 0, 8)
    }
}

impl Java {
    /// Those of a frame of Java; `None` of a native method, and where its frame cannot be read.
    pub(super) fn variables_of(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        let at = frame.object.filter(|_| frame.kind == FrameKind::Java)?;
        let memory = Memory(host.space());
        let blob = self.cache.at(frame.native?.pc.lookup(), memory.0)?;
        if blob.kind == BlobKind::Method {
            return self.compiled_variables(host, frame, &blob, limits);
        }
        let found = self.interpreted_frame(memory, frame.native?, at)?;
        let method = self.method(host.space(), at)?;
        let index = found.place.and_then(|place| method.index_of(place));
        let locals = self.layout.methods.locals(memory, at, &method);
        let is_wanted =
            |local: &LocalVariable| (limits.locals || local.is_argument) && local.is_there(index);
        let of_value = Limits::from(limits);
        let code = self.layout.methods.bytecodes(memory, at, &method);
        let may_be_lost = |local: &LocalVariable| {
            let is_read = || code.as_ref()?.reads(index?, local.slot);
            self.layout.compiles && is_read() != Some(true)
        };
        let variables = locals.into_iter().filter(is_wanted).map(|local| {
            let is_lost = found.has_zero(memory, &local) && may_be_lost(&local);
            let value =
                if is_lost { note(LOST) } else { self.local(host, &found, &local, of_value) };
            let name: Arc<str> = local.name;
            ScriptVariable { name, is_argument: local.is_argument, value }
        });
        Some(ScriptVariables { dialect: Dialect::Java, variables: variables.collect() })
    }

    fn local(
        &self,
        host: &dyn Host,
        frame: &Interpreted,
        local: &LocalVariable,
        limits: Limits,
    ) -> ScriptNode {
        let Some(element) = ElementType::of_signature(&local.signature) else {
            return note("its type cannot be read");
        };
        match (frame.raw(Memory(host.space()), local.slot, element), element) {
            (None, _) => note(UNREAD),
            (Some(raw), ElementType::Reference) => self.referred_value(host, raw, limits),
            (Some(raw), element) => number::of_raw(raw, element).unwrap_or_else(|| note(UNREAD)),
        }
    }

    /// The frame of the interpreter: its words name where it returns to, and the method.
    fn interpreted_frame(
        &self,
        memory: Memory<'_>,
        frame: &Frame,
        method: Addr,
    ) -> Option<Interpreted> {
        let blob = self.cache.at(frame.pc.lookup(), memory.0)?;
        (blob.kind == BlobKind::Interpreter).then_some(())?;
        let (sp, cfa) = (frame.sp?, frame.cfa?);
        let len = cfa.offset_from(sp)?.min(MAX_FRAME);
        let offsets = (0..len).step_by(8);
        let slot = |fp: Addr, by: i64| memory.0.read_addr(fp.wrapping_offset(by)).ok();
        let is_it = |fp: &Addr| slot(*fp, METHOD) == Some(method) && slot(*fp, SENDER) == Some(cfa);
        let fp = offsets.filter_map(|by| sp.checked_add(by)).find(is_it)?;
        let locals = slot(fp, LOCALS)?;
        let locals = match locals.get() {
            distance @ 0..=MAX_DISTANCE => fp.checked_add(distance.checked_mul(8)?)?,
            _ => locals,
        };
        // Arguments lie where the caller put them.
        locals.offset_from(fp).filter(|by| *by <= MAX_FRAME)?;
        let place = slot(fp, PLACE).filter(|_| frame.pc.is_return());
        Some(Interpreted { locals, place })
    }
}
