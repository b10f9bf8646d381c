//! Where a compiler keeps the values of locals at a place of its code (`src/hotspot/share/code/{debugInfo,location}`, JDK 11
//! to 25).
//!
//! A value is at a place of the frame or in a register, or known without one, or an object that is nowhere as a whole: its
//! fields are values themselves. Such objects have numbers, since a value may be one of which another one tells the fields.

use super::stream::Stream;

/// Values in one list, objects in all of them, and objects that tell of each other, at most.
const MAX_VALUES: u32 = 1 << 16;
const MAX_OBJECTS: usize = 1 << 12;
const MAX_DEPTH: u32 = 32;

const LOCATION: u32 = 0;
const INT: u32 = 1;
const CONSTANT: u32 = 2;
const LONG: u32 = 3;
const DOUBLE: u32 = 4;
const OBJECT: u32 = 5;
const SAME_OBJECT: u32 = 6;
const BOX: u32 = 7;
const MARKER: u32 = 8;
const MERGED_OBJECT: u32 = 9;

/// In a word that says where a value is.
const TYPE_BITS: u32 = 0xf;
const IN_REGISTER: u32 = 1 << 4;
const NUMBER_SHIFT: u32 = 5;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScopeValue {
    /// Nowhere: no later code needs it.
    Dead,
    /// At so many words of 32 bits from the stack pointer, as it is kept there.
    Stack(u32, Form),
    /// In the register of a number of the virtual machine's.
    Register(u32, Form),
    /// It is this number.
    Number(u64),
    /// It is the object that the compiled code names by this number; 0 of null.
    Constant(u32),
    /// It is the object of this number that is nowhere as a whole.
    Object(u32),
    /// It says nothing of itself.
    Marker,
}

/// How a value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In 32 bits.
    Narrow,
    /// In 64 bits.
    Wide,
    /// A number with a fraction of 32 bits, as one of 64.
    FloatInDouble,
    /// A reference of 64 bits.
    Reference,
    /// A reference as objects have it, of 32 bits.
    NarrowReference,
    /// Otherwise: a vector, or a place in bytecodes.
    Other,
}

/// An object that is nowhere as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplacedObject {
    /// Its number.
    pub number: u32,
    /// What it is.
    pub parts: ObjectParts,
}

/// What an object is that is nowhere as a whole.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectParts {
    /// Of a class, whose object the compiled code names by a number, with these fields or elements.
    Apart {
        /// The class.
        class: ScopeValue,
        /// The values of fields; of one of 64 bits two, of which the second has it.
        values: Vec<ScopeValue>,
    },
    /// One of several: as a number says that is known when the code runs, or else the one that is whole.
    OneOf {
        /// Which; -1 of the whole one.
        selector: ScopeValue,
        /// The whole one.
        whole: ScopeValue,
        /// The numbers of the others.
        objects: Vec<u32>,
    },
}

/// Reads values, and collects the objects among them.
pub struct ValueReader {
    /// Those that were read.
    pub objects: Vec<ReplacedObject>,
    coding: ValueCoding,
}

/// How versions write values.
#[derive(Clone, Copy, Debug)]
pub struct ValueCoding {
    /// Whether they tell of objects that are one of several: since JDK 22.
    pub has_merges: bool,
    /// The number of the form of references as objects have them: vectors came before it in JDK 16.
    pub narrow_reference: u32,
}

impl ValueReader {
    /// Of a version.
    pub const fn new(coding: ValueCoding) -> Self {
        Self { objects: Vec::new(), coding }
    }

    /// Reads the objects that a place has.
    pub fn read_objects(&mut self, stream: &mut Stream<'_>) -> Option<()> {
        self.values(stream).map(|_| ())
    }

    /// Reads a list of values.
    pub fn values(&mut self, stream: &mut Stream<'_>) -> Option<Vec<ScopeValue>> {
        self.list(stream, 0)
    }

    fn list(&mut self, stream: &mut Stream<'_>, depth: u32) -> Option<Vec<ScopeValue>> {
        let count = stream.unsigned().filter(|count| *count <= MAX_VALUES)?;
        (0..count).map(|_| self.value(stream, depth)).collect()
    }

    fn value(&mut self, stream: &mut Stream<'_>, depth: u32) -> Option<ScopeValue> {
        Some(match stream.unsigned()? {
            LOCATION => self.coding.location(stream.unsigned()?),
            INT => ScopeValue::Number(u64::from(stream.signed()? as u32)),
            CONSTANT => ScopeValue::Constant(stream.unsigned()?),
            LONG => ScopeValue::Number(stream.long()? as u64),
            DOUBLE => ScopeValue::Number(stream.double()?),
            OBJECT | BOX => self.object(stream, depth)?,
            SAME_OBJECT => ScopeValue::Object(stream.unsigned()?),
            MARKER => ScopeValue::Marker,
            MERGED_OBJECT if self.coding.has_merges => self.one_of(stream, depth)?,
            _ => return None,
        })
    }

    fn object(&mut self, stream: &mut Stream<'_>, depth: u32) -> Option<ScopeValue> {
        let below = depth.checked_add(1).filter(|depth| *depth <= MAX_DEPTH)?;
        let number = stream.unsigned()?;
        if self.coding.has_merges {
            // Whether something but another object refers to it.
            stream.byte()?;
        }
        let class = self.value(stream, below)?;
        let values = self.list(stream, below)?;
        self.add(number, ObjectParts::Apart { class, values })
    }

    fn one_of(&mut self, stream: &mut Stream<'_>, depth: u32) -> Option<ScopeValue> {
        let below = depth.checked_add(1).filter(|depth| *depth <= MAX_DEPTH)?;
        let number = stream.unsigned()?;
        let selector = self.value(stream, below)?;
        let whole = self.value(stream, below)?;
        let candidates = self.list(stream, below)?.into_iter();
        let objects = candidates.map(|value| match value {
            ScopeValue::Object(number) => Some(number),
            _ => None,
        });
        let objects = objects.collect::<Option<_>>()?;
        self.add(number, ObjectParts::OneOf { selector, whole, objects })
    }

    fn add(&mut self, number: u32, parts: ObjectParts) -> Option<ScopeValue> {
        (self.objects.len() < MAX_OBJECTS).then_some(())?;
        self.objects.push(ReplacedObject { number, parts });
        Some(ScopeValue::Object(number))
    }
}

impl ValueCoding {
    /// What a word says of where a value is.
    fn location(self, word: u32) -> ScopeValue {
        let number = word >> NUMBER_SHIFT;
        let form = match word & TYPE_BITS {
            0 => return ScopeValue::Dead,
            1 => Form::Narrow,
            2 => Form::Reference,
            3 | 4 | 6 => Form::Wide,
            5 => Form::FloatInDouble,
            other if other == self.narrow_reference => Form::NarrowReference,
            _ => Form::Other,
        };
        match word & IN_REGISTER {
            0 => ScopeValue::Stack(number, form),
            _ => ScopeValue::Register(number, form),
        }
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::Addr;

    use super::*;
    use crate::{Host, anchor::made_host::MadeHost, java::stream::Coding};

    const OLD: ValueCoding = ValueCoding { has_merges: false, narrow_reference: 8 };
    const NEW: ValueCoding = ValueCoding { has_merges: true, narrow_reference: 9 };

    /// Reads a list of values whose last byte is the last byte of memory.
    fn read(coding: ValueCoding, bytes: &[u8]) -> Option<(Vec<ScopeValue>, Vec<ReplacedObject>)> {
        let mut host = MadeHost::new(&[0x1000]);
        let at = 0x3000 - bytes.len() as u64;
        host.put(at, bytes);
        let mut reader = ValueReader::new(coding);
        let values =
            reader.values(&mut Stream::new(host.space(), Addr::new(at), Coding::FromZero))?;
        Some((values, reader.objects))
    }

    #[test]
    fn a_value_is_somewhere_or_known_or_dead() {
        let bytes = [8, 0, 0x41, 0, 0xb2, 0, 0, 1, 3, 2, 7, 3, 2, 0, 4, 2, 0, 8];
        let (values, objects) = read(OLD, &bytes).unwrap();
        let expected = [
            ScopeValue::Stack(2, Form::Narrow),
            ScopeValue::Register(5, Form::Reference),
            ScopeValue::Dead,
            ScopeValue::Number(0xffff_fffe),
            ScopeValue::Constant(7),
            ScopeValue::Number(1),
            ScopeValue::Number(2.0_f64.to_bits()),
            ScopeValue::Marker,
        ];
        assert_eq!((values.as_slice(), objects.len()), (expected.as_slice(), 0));
    }

    #[test]
    fn versions_number_forms_otherwise() {
        let of = |coding, word| read(coding, &[1, 0, word]).unwrap().0[0];
        assert_eq!(of(OLD, 0x28), ScopeValue::Stack(1, Form::NarrowReference));
        assert_eq!(of(NEW, 0x28), ScopeValue::Stack(1, Form::Other));
        assert_eq!(of(NEW, 0x29), ScopeValue::Stack(1, Form::NarrowReference));
    }

    #[test]
    fn objects_are_collected() {
        // An object of a class with a number and itself.
        let old = [2, 5, 9, 2, 1, 2, 1, 4, 6, 9, 6, 9];
        let new = [2, 5, 9, 1, 2, 1, 2, 1, 4, 6, 9, 6, 9];
        for (coding, bytes) in [(OLD, &old[..]), (NEW, &new[..])] {
            let (values, objects) = read(coding, bytes).unwrap();
            assert_eq!(values, [ScopeValue::Object(9), ScopeValue::Object(9)]);
            let values = vec![ScopeValue::Number(2), ScopeValue::Object(9)];
            let parts = ObjectParts::Apart { class: ScopeValue::Constant(1), values };
            assert_eq!(objects, [ReplacedObject { number: 9, parts }]);
        }
    }

    #[test]
    fn one_of_several_is_told_by_newer_versions() {
        // The selector is the number 1, the merged object is a constant, and both candidates were read before.
        let bytes = [1, 9, 4, 1, 2, 2, 5, 2, 6, 7, 6, 8];
        assert_eq!(read(OLD, &bytes), None);
        let (_, objects) = read(NEW, &bytes).unwrap();
        let parts = ObjectParts::OneOf {
            selector: ScopeValue::Number(1),
            whole: ScopeValue::Constant(5),
            objects: vec![7, 8],
        };
        assert_eq!(objects, [ReplacedObject { number: 4, parts }]);
    }

    #[test]
    fn what_is_damaged_says_nothing() {
        assert_eq!(read(NEW, &[1, 10]), None, "no such value");
        assert_eq!(read(NEW, &[2, 1, 3]), None, "memory ends");
        assert_eq!(read(NEW, &[255, 255, 255, 255, 255]), None, "too many");
        // Objects in objects without an end.
        assert_eq!(read(OLD, &[[1].as_slice(), &[5; 200]].concat()), None);
        for at in 0..12 {
            let mut bytes = [2, 5, 9, 1, 2, 1, 2, 1, 4, 6, 9, 6];
            bytes[at] = !bytes[at];
            let _ = read(NEW, &bytes);
        }
    }
}
