//! The references of one object.

use kcore_mem::{Addr, AddressSpace};

use super::{
    Heap,
    pointers::PointerWords,
    slots::{Slot, TypeReader},
    span::Span,
};

/// A reference: the word that has it, what that refers to by its type, if the type is known, and the value.
#[derive(Clone, Copy)]
pub struct Reference<'s> {
    /// Where the word lies, from the beginning of the object.
    pub offset: u64,
    /// The number of the element of an array, and the word of its type.
    pub slot: Option<(u64, &'s Slot)>,
    /// What the word holds.
    pub word: u64,
}

/// Reads references of objects.
pub struct References<'a> {
    pub heap: &'a Heap,
    pub reader: &'a TypeReader<'a>,
}

impl References<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self.reader.space
    }

    /// Tells each word of an object that refers to another one, if to any, by what the collector knows.
    pub fn each(&self, span: &Span, index: u32, tell: &mut dyn FnMut(Reference<'_>)) {
        let known = self.heap.known(self.space(), span, index);
        let (at, size, header) = self.heap.body(span, index);
        match known {
            PointerWords::Plain => {}
            PointerWords::Typed(ty) => self.each_typed((at, size, header), ty, true, tell),
            _ => self.each_word(known, (at, size, header), tell),
        }
    }

    /// The same by a type, of one value or of as many as there is room for. Where the type is not known, any word
    /// counts.
    pub fn each_typed(
        &self,
        (at, size, header): (Addr, u64, u64),
        ty: Addr,
        repeats: bool,
        tell: &mut dyn FnMut(Reference<'_>),
    ) {
        let words = self.reader.words(ty).filter(|words| words.shaped.ty.size > 0);
        let Some(words) = words else {
            return self.each_word(PointerWords::Nothing, (at, size, header), tell);
        };
        let step = words.shaped.ty.size;
        let count = if repeats { size.checked_div(step).unwrap_or_default() } else { 1 };
        let count = if words.slots.is_empty() { 0 } else { count };
        for number in 0..count {
            let start = number.saturating_mul(step);
            for slot in &words.slots {
                let offset = start.saturating_add(slot.data_offset());
                let Ok(word) = self.space().read_word(at.saturating_add(offset)) else { return };
                if word != 0 {
                    let offset = offset.saturating_add(header);
                    tell(Reference { offset, slot: Some((number, slot)), word });
                }
            }
        }
    }

    /// The same, of words of which the collector knows this.
    pub fn each_word(
        &self,
        known: PointerWords,
        (at, size, header): (Addr, u64, u64),
        tell: &mut dyn FnMut(Reference<'_>),
    ) {
        let space = self.space();
        for index in 0..size / 8 {
            if known.ends_before(space, at, index) {
                return;
            }
            if !known.has(space, at, index) {
                continue;
            }
            let offset = index.saturating_mul(8);
            let Ok(word) = space.read_word(at.saturating_add(offset)) else { return };
            if word != 0 {
                tell(Reference { offset: offset.saturating_add(header), slot: None, word });
            }
        }
    }
}

impl Heap {
    /// Where the object of a slot begins behind its header, how many bytes it has at most, and those of the header.
    pub(super) fn body(&self, span: &Span, index: u32) -> (Addr, u64, u64) {
        let header = self.header(span);
        let at = span.slot_at(index).saturating_add(header);
        (at, span.slot.saturating_sub(header), header)
    }
}
