//! Classes of a dump, with the values of their static fields.

use std::{io, sync::Arc};

use kcore_mem::Addr;

use super::{
    Dump,
    output::{LOAD_CLASS, Parts},
};
use crate::java::{element::ElementType, fields::Field};

const CLASS_DUMP: u8 = 0x20;
/// The trace that has no frames, which all that has no trace of its own refers to.
pub(super) const NO_TRACE: u32 = 1;
/// Fields of a class that are told, at most: their number has 16 bits.
const MAX_FIELDS: usize = (1 << 16) - 2;
/// The virtual machine's own name of the constants of a class.
const CONSTANTS: &str = "<resolved_references>";

/// The fields of the objects of a class, those that it declares first: where each lies, and of which type.
pub(super) type Fields = Arc<[(u64, ElementType)]>;

impl Dump<'_> {
    /// The names of all classes that are loaded and of their fields. Some readers take texts before the heap alone.
    pub(super) fn name_classes(&mut self) -> io::Result<Vec<Addr>> {
        let mut all = Vec::new();
        if let Some(heap) = &self.java.layout.heap {
            heap.each_class(self.objects, &mut |class, _| all.push(class));
        }
        let mut told = Vec::new();
        for class in all {
            told.extend(self.name_class(class)?.map(|()| class));
        }
        self.out.text(CONSTANTS)?;
        for class in &told {
            for field in self.objects.declared(*class) {
                self.out.text(&field.name)?;
            }
        }
        Ok(told)
    }

    /// Tells the name of a class; `None` where it was told before, or has no `java.lang.Class`.
    pub(super) fn name_class(&mut self, class: Addr) -> io::Result<Option<()>> {
        let (memory, oops) = (self.objects.memory, &self.objects.oops);
        let name = self.objects.methods.class(memory, class);
        let mirror = self.klasses.mirror(oops, memory, class);
        let (Some(name), Some(mirror)) = (name, mirror) else { return Ok(None) };
        if self.classes.contains_key(&class) {
            return Ok(None);
        }
        let serial = u32::try_from(self.classes.len()).unwrap_or(u32::MAX).saturating_add(1);
        let text = self.out.text(&name.replace('.', "/"))?;
        let mut body = Vec::new();
        body.u4(serial);
        body.id(Some(mirror));
        body.u4(NO_TRACE);
        body.u8(text);
        self.out.record(LOAD_CLASS, &body)?;
        self.serials.entry(name).or_insert(serial);
        self.classes.insert(class, (mirror, self.fields(class)));
        self.told.classes = self.told.classes.saturating_add(1);
        Ok(Some(()))
    }

    fn fields(&self, class: Addr) -> Fields {
        let fields = self.objects.fields_of(class);
        let own = fields.iter().filter(|field| !field.is_static);
        own.filter_map(|field| Some((field.offset, ElementType::of_signature(&field.signature)?)))
            .collect()
    }

    /// What a class holds, which was named before.
    pub(super) fn write_class(&mut self, class: Addr) -> io::Result<()> {
        let Some((mirror, _)) = self.classes.get(&class).cloned() else { return Ok(()) };
        let (memory, oops) = (self.objects.memory, self.objects.oops);
        let parent = self.objects.fields.parent(memory, class);
        let parent = parent.and_then(|parent| self.klasses.mirror(&oops, memory, parent));
        let loader = self.klasses.loader(memory, class);
        let heap = self.java.layout.heap.as_ref();
        let loader = heap.zip(loader).and_then(|(heap, at)| heap.loader_of(self.objects, at));
        let size = heap.and_then(|heap| heap.size_of(memory, class)).unwrap_or_default();
        let mut body = vec![CLASS_DUMP];
        body.id(Some(mirror));
        body.u4(NO_TRACE);
        body.id(parent);
        body.id(loader);
        // Signers and the domain of protection, and two words that are reserved.
        (0..4).for_each(|_| body.id(None));
        body.u4(u32::try_from(size).unwrap_or_default());
        // Constants of the pool, which nobody writes.
        body.u2(0);
        self.write_fields(class, mirror, &mut body)?;
        self.out.part(&body)
    }

    fn write_fields(&mut self, class: Addr, mirror: Addr, body: &mut Vec<u8>) -> io::Result<()> {
        let declared = self.objects.declared(class);
        let (statics, own): (Vec<&Field>, Vec<&Field>) =
            declared.iter().filter(|it| !it.name.is_empty()).partition(|field| field.is_static);
        let constants = self.klasses.constants(&self.objects.oops, self.objects.memory, class);
        let count = statics.len().min(MAX_FIELDS);
        let all = count.saturating_add(usize::from(constants.is_some()));
        body.u2(u16::try_from(all).unwrap_or_default());
        for field in statics.into_iter().take(count) {
            let element = ElementType::of_signature(&field.signature).unwrap_or(ElementType::Byte);
            body.u8(self.out.text(&field.name)?);
            body.u1(element.number());
            self.value(mirror, field.offset, element, body);
        }
        if constants.is_some() {
            body.u8(self.out.text(CONSTANTS)?);
            body.u1(ElementType::Reference.number());
            body.id(constants);
        }
        body.u2(u16::try_from(own.len().min(MAX_FIELDS)).unwrap_or_default());
        for field in own.into_iter().take(MAX_FIELDS) {
            let element = ElementType::of_signature(&field.signature).unwrap_or(ElementType::Byte);
            body.u8(self.out.text(&field.name)?);
            body.u1(element.number());
        }
        Ok(())
    }

    /// What of a type lies so far into an object; zeros where that cannot be read, since the format knows no absence.
    pub(super) fn value(&self, object: Addr, offset: u64, element: ElementType, to: &mut Vec<u8>) {
        let (memory, oops) = (self.objects.memory, &self.objects.oops);
        if element == ElementType::Reference {
            return to.id(oops.reference(memory, object, offset));
        }
        let size = usize::try_from(element.size(8)).unwrap_or(8);
        let raw = memory.uint(object, offset, size).unwrap_or_default().to_be_bytes();
        to.extend_from_slice(raw.get(8_usize.saturating_sub(size)..).unwrap_or_default());
    }
}
