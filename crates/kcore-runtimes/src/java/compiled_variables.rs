//! Arguments and locals of frames of compiled code, inlined ones too.
//!
//! Of registers only the frame pointer outlives a call between compiled methods; others are known where a signal or a piece
//! of the virtual machine's own code saved them.

use std::{borrow::Cow, sync::Arc};

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{RegisterId, Regs};

use super::{
    Java,
    blobs::{Blob, BlobKind},
    classes::Objects,
    compiled::{FieldOrder, ScopeLocals},
    element::{ElementType, source_name},
    fields::Field,
    local_table::LocalVariable,
    memory::Memory,
    saved_registers::SavedRegister,
    scope_values::{Form, ObjectParts, ScopeValue},
    value::{Limits, note, number},
};
use crate::{
    Dialect, FrameOfLanguage, Host, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar,
    ScriptVariable, ScriptVariables, VariableLimits,
};

/// What stands in the place of a value that is not to be had.
const DEAD: &str = "optimized out";
const UNDESCRIBED: &str = "not known at this place in the code";
const REGISTER: &str = "in a register that was not saved";
const UNREADABLE: &str = "it cannot be read";
/// What tells that an object is none of the heap.
const REPLACED: &str = "scalar-replaced";
/// The numbers of DWARF for the first registers as the virtual machine numbers them: it gives each two numbers.
const DWARF_NUMBERS: [u16; 8] = [0, 2, 1, 3, 7, 6, 4, 5];
const REGISTERS: u32 = 16;
/// Classes that extend each other, at most.
const MAX_DEPTH: usize = 64;

/// A method that runs in a frame of compiled code.
struct CompiledFrame<'a> {
    java: &'a Java,
    host: &'a dyn Host,
    blob: &'a Blob,
    sp: Option<Addr>,
    registers: Option<&'a Regs>,
    saved: Vec<SavedRegister>,
    locals: ScopeLocals,
    limits: Limits,
}

impl Java {
    /// Those of a frame of compiled code; `None` of how Java calls a native method.
    pub(super) fn compiled_variables(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        blob: &Blob,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        let memory = Memory(host.space());
        let (layout, native, at) = (&self.layout.compiled, frame.native?, frame.object?);
        layout.compiler(memory, blob)?;
        let original = layout.original_pc(memory, blob, native.pc.addr(), native.sp?);
        let pc = original.map_or(native.pc, CodeAddr::Return);
        let scopes = layout.scopes_at(memory, blob, pc);
        let last = scopes.chain.len().checked_sub(1)?;
        let scope = scopes.chain.get(last.checked_sub(frame.depth)?)?;
        (scope.method == at).then_some(())?;
        let method = self.method(host.space(), at)?;
        let is_wanted = |local: &LocalVariable| {
            (limits.locals || local.is_argument) && local.is_there(scope.index)
        };
        let named = self.layout.methods.locals(memory, at, &method).into_iter().filter(is_wanted);
        let locals = layout.locals_at(memory, blob, pc, scope);
        let read = CompiledFrame {
            java: self,
            host,
            blob,
            sp: native.sp,
            registers: frame.registers,
            saved: self.saved_by(memory, frame).unwrap_or_default(),
            locals: locals.clone().unwrap_or_default(),
            limits: limits.into(),
        };
        let variables = named.map(|local| ScriptVariable {
            value: match locals {
                Some(_) => read.local(&local),
                None => note(UNDESCRIBED),
            },
            name: local.name,
            is_argument: local.is_argument,
        });
        Some(ScriptVariables { dialect: Dialect::Java, variables: variables.collect() })
    }

    /// The registers that the piece of code saved which the frame called.
    fn saved_by(
        &self,
        memory: Memory<'_>,
        frame: &FrameOfLanguage<'_>,
    ) -> Option<Vec<SavedRegister>> {
        let callee = frame.callee?;
        let blob = self.cache.at(callee.pc.lookup(), memory.0)?;
        (blob.kind == BlobKind::Other).then_some(())?;
        self.layout.saved?.of_frame(memory, &blob, callee, self.layout.methods.coding)
    }
}

impl CompiledFrame<'_> {
    fn local(&self, local: &LocalVariable) -> ScriptNode {
        let Some(element) = ElementType::of_signature(&local.signature) else {
            return note(UNREADABLE);
        };
        let slot = usize::from(local.slot).saturating_add(usize::from(is_wide(element)));
        match self.locals.values.get(slot) {
            Some(value) => self.value(*value, element, self.limits.depth),
            None => note(DEAD),
        }
    }

    /// What a value says in a type.
    fn value(&self, value: ScopeValue, element: ElementType, depth: u32) -> ScriptNode {
        let limits = Limits { depth, ..self.limits };
        match value {
            ScopeValue::Dead | ScopeValue::Marker => note(DEAD),
            ScopeValue::Object(number) => self.replaced(number, depth),
            ScopeValue::Constant(number) => match self.constant(number) {
                Some(word) => self.java.referred_value(self.host, word, limits),
                None => note(UNREADABLE),
            },
            ScopeValue::Number(bits) => {
                number::of_raw(bits, element).unwrap_or_else(|| note(UNREADABLE))
            }
            ScopeValue::Stack(_, form) | ScopeValue::Register(_, form) => {
                match (self.raw(value), form) {
                    (Err(why), _) => note(why),
                    (_, Form::Other) => note(UNREADABLE),
                    (Ok(raw), Form::NarrowReference) => {
                        self.java.narrow_value(self.host, raw & 0xffff_ffff, limits)
                    }
                    (Ok(raw), Form::Reference) => self.java.referred_value(self.host, raw, limits),
                    (Ok(raw), Form::FloatInDouble) if element == ElementType::Float => {
                        let float = f64::from_bits(raw) as f32;
                        of_number(float.to_bits().into(), element)
                    }
                    (Ok(raw), _) => of_number(raw, element),
                }
            }
        }
    }

    /// The bits of a value that is in the frame or in a register.
    fn raw(&self, value: ScopeValue) -> Result<u64, &'static str> {
        match value {
            ScopeValue::Stack(slot, form) => {
                let by = u64::from(slot).saturating_mul(4);
                let size = if matches!(form, Form::Narrow | Form::NarrowReference) { 4 } else { 8 };
                let read = || Memory(self.host.space()).uint(self.sp?, by, size);
                read().ok_or(UNREADABLE)
            }
            ScopeValue::Register(number, _) => self.register(number).ok_or(REGISTER),
            ScopeValue::Number(bits) => Ok(bits),
            _ => Err(UNREADABLE),
        }
    }

    fn register(&self, number: u32) -> Option<u64> {
        let saved = self.saved.iter().find(|saved| saved.number == number);
        if let Some(saved) = saved {
            return self.host.space().read_word(saved.at).ok();
        }
        let own = Some(number >> 1).filter(|own| *own < REGISTERS)?;
        let own = usize::try_from(own).ok()?;
        let dwarf = DWARF_NUMBERS.get(own).copied().or_else(|| u16::try_from(own).ok())?;
        self.registers?.get(RegisterId(dwarf))
    }

    /// The reference that the compiled code has at a number.
    fn constant(&self, number: u32) -> Option<u64> {
        if number == 0 {
            return Some(0);
        }
        let memory = Memory(self.host.space());
        memory.uint(self.java.layout.compiled.constant(memory, self.blob, number)?, 0, 8)
    }

    /// An object that is nowhere as a whole.
    fn replaced(&self, number: u32, depth: u32) -> ScriptNode {
        let found = self.locals.objects.iter().find(|object| object.number == number);
        match found.map(|object| &object.parts) {
            Some(ObjectParts::Apart { class, values }) => self.apart(*class, values, depth),
            Some(ObjectParts::OneOf { selector, whole, objects }) => {
                let selected = self.raw(*selector).map(|raw| raw as u32 as i32);
                match selected.map(|selected| (selected, usize::try_from(selected))) {
                    Ok((-1, _)) => self.value(*whole, ElementType::Reference, depth),
                    Ok((_, Ok(index))) => match (objects.get(index), depth.checked_sub(1)) {
                        (Some(one), Some(below)) => self.replaced(*one, below),
                        _ => note(UNREADABLE),
                    },
                    _ => note(UNREADABLE),
                }
            }
            None => note(UNREADABLE),
        }
    }

    fn apart(&self, class: ScopeValue, values: &[ScopeValue], depth: u32) -> ScriptNode {
        let Some((class, name)) = self.class(class) else { return note(UNREADABLE) };
        let node = ScriptNode {
            kind: if name.starts_with('[') { "array" } else { "object" },
            class: Some(source_name(&name).into()),
            ..ScriptNode::default()
        };
        let Some(below) = depth.checked_sub(1) else {
            return ScriptNode { scalar: Some(ScriptScalar::Elided), ..node };
        };
        let Some(named) = self.named(class, &name, values) else {
            let told = ScriptScalar::Note(Cow::Borrowed("its fields are not told"));
            return ScriptNode { scalar: Some(told), ..node };
        };
        let is_list = name.starts_with('[');
        let shown = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let is_cut = named.len() > shown;
        let length = is_list.then_some(named.len() as u64);
        let parts = named.into_iter().take(shown).map(|(label, element, value)| {
            ScriptPart::new(label, self.value(value, element, below))
        });
        // Behind the elements of an array.
        let parts = parts.chain([ScriptPart::new(
            ScriptLabel::Fact(REPLACED),
            ScriptNode::scalar("boolean", ScriptScalar::Word("true")),
        )]);
        let parts = parts.collect();
        ScriptNode { parts: Some(ScriptParts { is_list, parts, is_cut }), length, ..node }
    }

    /// The class that an object of the heap stands for.
    fn class(&self, class: ScopeValue) -> Option<(Addr, Arc<str>)> {
        let ScopeValue::Constant(number) = class else { return None };
        let objects = self.objects()?;
        let word = self.constant(number)?;
        let mirror = objects.oops.referred_in_full(objects.memory, word)?;
        let class = self.java.layout.klasses.as_ref()?.of_mirror(objects.memory, mirror)?;
        Some((class, objects.methods.class(objects.memory, class)?))
    }

    fn objects(&self) -> Option<Objects<'_>> {
        self.java.objects_in(self.host.space())
    }

    /// The values of an object with what they are called; `None` where they are not as many as its class has.
    fn named(
        &self,
        class: Addr,
        name: &str,
        values: &[ScopeValue],
    ) -> Option<Vec<(ScriptLabel, ElementType, ScopeValue)>> {
        if let Some(element) = name.strip_prefix('[') {
            let element = ElementType::of_signature(element)?;
            let width = if is_wide(element) { 2 } else { 1 };
            let last = values.chunks_exact(width).filter_map(|one| one.last());
            let labelled = (0_u64..).zip(last);
            return Some(
                labelled
                    .map(|(index, value)| (ScriptLabel::Index(index), element, *value))
                    .collect(),
            );
        }
        let order = self.java.layout.compiled.field_order;
        let fields = in_order(&self.objects()?, class, order)?;
        let mut rest = values.iter();
        let mut named = Vec::new();
        for field in fields {
            let element = ElementType::of_signature(&field.signature)?;
            let mut value = rest.next()?;
            if is_wide(element) {
                value = rest.next()?;
            }
            named.push((ScriptLabel::Name(field.name), element, *value));
        }
        rest.next().is_none().then_some(named)
    }
}

/// The fields of objects of a class as compilers number them; `None` where that is not known.
fn in_order(objects: &Objects<'_>, class: Addr, order: FieldOrder) -> Option<Vec<Field>> {
    let parent = |class: &Addr| objects.parent(*class);
    let classes = std::iter::successors(Some(class), parent).take(MAX_DEPTH);
    let mut classes: Vec<Addr> = classes.collect();
    classes.reverse();
    let all = classes.into_iter().flat_map(|class| objects.declared(class));
    let declared: Vec<Field> =
        all.filter(|field| !field.is_static && !field.name.is_empty()).collect();
    let mut by_place = declared.clone();
    by_place.sort_by_key(|field| field.offset);
    match order {
        FieldOrder::Declared => Some(declared),
        FieldOrder::ByPlace => Some(by_place),
        FieldOrder::Either => (declared == by_place).then_some(declared),
    }
}

fn of_number(raw: u64, element: ElementType) -> ScriptNode {
    number::of_raw(raw, element).unwrap_or_else(|| note(UNREADABLE))
}

const fn is_wide(element: ElementType) -> bool {
    matches!(element, ElementType::Long | ElementType::Double)
}
