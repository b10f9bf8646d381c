//! Objects of a dump.

use std::io;

use kcore_mem::Addr;

use super::{Dump, HeapDumpError, classes::NO_TRACE, output::Parts};
use crate::{
    java::{element::ElementType, klass::Shape, walk::JavaObject},
    objects::Watch,
};

const INSTANCE: u8 = 0x21;
const ARRAY_OF_REFERENCES: u8 = 0x22;
const ARRAY_OF_NUMBERS: u8 = 0x23;
/// Bytes of an array that are held, and of one that fit into a record.
const HELD: u64 = 1 << 20;
const MAX_ARRAY: u64 = u32::MAX as u64 - 64;
/// Elements that are written at a time.
const PIECE: u64 = 1 << 16;

impl Dump<'_> {
    /// All objects but the `java.lang.Class` of classes, which stand as classes.
    pub(super) fn write_objects(&mut self, watch: Watch<'_>) -> Result<(), HeapDumpError> {
        let (java, host) = (self.java, self.host);
        let mut failed = None;
        java.each_found(host, watch, &mut |found| {
            if failed.is_none() {
                failed = self.write_object(&found).err();
            }
        })?;
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    fn write_object(&mut self, found: &JavaObject) -> io::Result<()> {
        self.starts.add(found.at);
        let of_class = matches!(found.class.shape, Shape::Mirror(_))
            && self.klasses.of_mirror(self.objects.memory, found.at).is_some();
        if of_class {
            return Ok(());
        }
        if !self.classes.contains_key(&found.class.at) && self.name_class(found.class.at)?.is_some()
        {
            self.write_class(found.class.at)?;
        }
        self.told.objects = self.told.objects.saturating_add(1);
        match found.class.shape {
            Shape::Array { header, element } => self.write_array(found, header, element),
            _ => self.write_instance(found),
        }
    }

    fn write_instance(&mut self, found: &JavaObject) -> io::Result<()> {
        let Some((mirror, fields)) = self.classes.get(&found.class.at).cloned() else {
            return Ok(());
        };
        let mut values = Vec::new();
        for (offset, element) in fields.iter() {
            self.value(found.at, *offset, *element, &mut values);
        }
        let mut body = vec![INSTANCE];
        body.id(Some(found.at));
        body.u4(NO_TRACE);
        body.id(Some(mirror));
        body.u4(u32::try_from(values.len()).unwrap_or_default());
        body.append(&mut values);
        self.out.part(&body)
    }

    fn write_array(
        &mut self,
        found: &JavaObject,
        header: u64,
        element: ElementType,
    ) -> io::Result<()> {
        let length = self.objects.oops.length(self.objects.memory, found.at).unwrap_or_default();
        let width = element.size(8);
        let length = length.min(MAX_ARRAY.checked_div(width).unwrap_or_default());
        let mut body = Vec::new();
        let is_of_references = element == ElementType::Reference;
        body.u1(if is_of_references { ARRAY_OF_REFERENCES } else { ARRAY_OF_NUMBERS });
        body.id(Some(found.at));
        body.u4(NO_TRACE);
        body.u4(u32::try_from(length).unwrap_or_default());
        match (is_of_references, self.classes.get(&found.class.at)) {
            (true, Some((mirror, _))) => body.id(Some(*mirror)),
            (true, None) => body.id(None),
            (false, _) => body.u1(element.number()),
        }
        let bytes = length.saturating_mul(width);
        if bytes <= HELD {
            self.elements(found.at, header, element, 0..length, &mut body);
            return self.out.part(&body);
        }
        self.out.big_part(&body, usize::try_from(bytes).unwrap_or(usize::MAX))?;
        for start in (0..length).step_by(usize::try_from(PIECE).unwrap_or(1)) {
            let mut piece = Vec::new();
            let end = start.saturating_add(PIECE).min(length);
            self.elements(found.at, header, element, start..end, &mut piece);
            self.out.more(&piece)?;
        }
        Ok(())
    }

    fn elements(
        &self,
        array: Addr,
        header: u64,
        element: ElementType,
        indices: std::ops::Range<u64>,
        to: &mut Vec<u8>,
    ) {
        let width = element.size(self.objects.oops.reference_size());
        for index in indices {
            let offset = header.saturating_add(index.saturating_mul(width));
            self.value(array, offset, element, to);
        }
    }
}
