//! Reads values, as deep and as much of them as is wanted.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    super::{
        Python,
        dict::Entries,
        fields::ARGUMENTS,
        heap::{BYTES, DICT, EXCEPTION, Heap, INT, LIST, Object, STR, TUPLE, TYPE},
        text::Text,
    },
    Items, Limits, Value, ValueKind,
    number::{MAX_DIGITS, decimal},
};
use crate::Host;

/// Slots of a set that are looked at, at most.
const MAX_SLOTS: u64 = 1 << 26;
/// Values that are told at once: objects may refer to the same ones over and over.
const MAX_VALUES: u64 = 1 << 20;

/// Reads values of one process.
pub struct Reader<'a> {
    python: &'a Python,
    host: &'a dyn Host,
    heap: Heap<'a>,
    limits: Limits,
    /// The objects that the one which is read lies in.
    around: Vec<Addr>,
    /// How many values may be told yet.
    left: u64,
}

impl<'a> Reader<'a> {
    /// A reader.
    pub fn new(python: &'a Python, host: &'a dyn Host, limits: Limits) -> Self {
        Self { python, host, heap: python.heap(host), limits, around: Vec::new(), left: MAX_VALUES }
    }

    /// A value.
    pub fn value(&mut self, object: Object) -> Value {
        self.left = self.left.saturating_sub(1);
        Value {
            at: Some(object.at),
            class: self.python.class_name(self.host, object.class),
            kind: self.kind(object).unwrap_or(ValueKind::Unreadable("its memory is damaged")),
        }
    }

    /// The value that an address refers to.
    fn at(&mut self, at: Addr) -> Value {
        match self.heap.object(at) {
            Some(object) => self.value(object),
            None => {
                let why = match self.heap.space.read_word(at) {
                    Err(fault) => fault.reason(),
                    Ok(_) => "no object lies there",
                };
                Value { at: Some(at), class: None, kind: ValueKind::Unreadable(why) }
            }
        }
    }

    fn kind(&mut self, object: Object) -> Option<ValueKind> {
        match () {
            () if object.is(STR) => {
                self.heap.text(object, self.limits.characters).map(ValueKind::Str)
            }
            () if object.is(INT) => self.int(object),
            () if object.is(BYTES) => {
                let length = self.heap.size(object)?;
                let bytes = self.heap.bytes(object, self.limits.characters)?;
                Some(ValueKind::Bytes { bytes, length })
            }
            () if object.is(TYPE) => {
                let name = self.python.class_name(self.host, object.at);
                Some(ValueKind::Type(name.unwrap_or_else(|| "<unknown>".into())))
            }
            () => self.other(object),
        }
    }

    fn int(&self, object: Object) -> Option<ValueKind> {
        let is_bool = || {
            let name = self.python.class_name(self.host, object.class);
            name.is_some_and(|name| &*name == "bool")
        };
        let word = self.heap.word(object.at, 16)?;
        let (count, is_negative) = match self.heap.layout.minor {
            ..=11 => (word.cast_signed().unsigned_abs(), word.cast_signed() < 0),
            _ => (word >> 3, word & 3 == 2),
        };
        if count > MAX_DIGITS {
            return Some(ValueKind::Unreadable("it has too many digits"));
        }
        let bytes = self.heap.space.read_held(object.at.checked_add(24)?, count.checked_mul(4)?);
        let digits: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|digit| u32::from_le_bytes(*digit)).collect();
        (digits.len() as u64 == count).then_some(())?;
        let digits = decimal(&digits, is_negative);
        Some(match (digits.as_str(), is_bool()) {
            ("0", true) => ValueKind::Word("False"),
            ("1", true) => ValueKind::Word("True"),
            _ => ValueKind::Int(digits.into()),
        })
    }

    /// What holds other values, or is known by its type's name alone.
    fn other(&mut self, object: Object) -> Option<ValueKind> {
        let builtin = self.python.builtin_name(self.host, object.class);
        let leaf = match builtin.as_deref() {
            Some("NoneType") => Some(ValueKind::Word("None")),
            Some("ellipsis") => Some(ValueKind::Word("Ellipsis")),
            Some("NotImplementedType") => Some(ValueKind::Word("NotImplemented")),
            Some("float") => Some(ValueKind::Float(self.float(object, 16)?)),
            Some("complex") => {
                Some(ValueKind::Complex(self.float(object, 16)?, self.float(object, 24)?))
            }
            Some("bytearray") => self.byte_array(object),
            Some("function") => self.function(object),
            Some("method") => self.function(self.heap.field(object.at, 16)?),
            Some("builtin_function_or_method") => self.builtin(object),
            Some("code") => self.code(object),
            Some("module") => Some(self.module(object)),
            _ => None,
        };
        if leaf.is_some() {
            return leaf;
        }
        if self.around.contains(&object.at) {
            return Some(ValueKind::Circular);
        }
        if self.left == 0 || self.around.len() as u64 >= u64::from(self.limits.depth) {
            return Some(ValueKind::Elided);
        }
        self.around.push(object.at);
        let kind = self.holder(object, builtin.as_deref());
        self.around.pop();
        kind
    }

    fn holder(&mut self, object: Object, builtin: Option<&str>) -> Option<ValueKind> {
        match (builtin, ()) {
            (_, ()) if object.is(LIST) => self.items(object, Items::List),
            (_, ()) if object.is(TUPLE) => self.items(object, Items::Tuple),
            (_, ()) if object.is(DICT) => self.dict(object),
            (Some("set"), ()) => self.set(object, Items::Set),
            (Some("frozenset"), ()) => self.set(object, Items::FrozenSet),
            _ => Some(self.object(object)),
        }
    }

    fn float(&self, object: Object, offset: u64) -> Option<f64> {
        self.heap.word(object.at, offset).map(f64::from_bits)
    }

    fn items(&mut self, object: Object, of: Items) -> Option<ValueKind> {
        let length = self.heap.size(object)?;
        let first = match length {
            0 => object.at,
            _ => self.heap.items(object)?,
        };
        let mut items = Vec::new();
        for index in 0..length.min(self.limits.entries) {
            let Some(word) = self.heap.word(first, index.checked_mul(8)?) else { break };
            if self.left == 0 {
                break;
            }
            items.push(self.at(Addr::new(word)));
        }
        Some(ValueKind::Items { of, items, length })
    }

    fn dict(&mut self, object: Object) -> Option<ValueKind> {
        let length = self.heap.word(object.at, 16)?;
        let mut entries = Vec::new();
        for entry in Entries::of(&self.heap, object)? {
            if entries.len() as u64 >= self.limits.entries || self.left == 0 {
                break;
            }
            entries.push((self.at(entry.key), self.at(entry.value)));
        }
        Some(ValueKind::Dict { entries, length })
    }

    /// `PySetObject`, `Include/cpython/setobject.h`: a table of keys and their hashes. What was taken out
    /// has the hash -1.
    fn set(&mut self, object: Object, of: Items) -> Option<ValueKind> {
        let (length, mask) = (self.heap.word(object.at, 24)?, self.heap.word(object.at, 32)?);
        let table = self.heap.pointer(object.at, 40)?;
        let mut items = Vec::new();
        for slot in 0..mask.saturating_add(1).min(MAX_SLOTS) {
            if items.len() as u64 >= self.limits.entries.min(length) {
                break;
            }
            let at = table.checked_add(slot.checked_mul(16)?)?;
            let Some(key) = self.heap.word(at, 0) else { break };
            if key != 0 && self.heap.word(at, 8)? != u64::MAX {
                items.push(self.at(Addr::new(key)));
            }
        }
        Some(ValueKind::Items { of, items, length })
    }

    /// `PyByteArrayObject`, `Include/cpython/bytearrayobject.h`.
    fn byte_array(&self, object: Object) -> Option<ValueKind> {
        let length = self.heap.size(object)?;
        let start = Addr::new(self.heap.word(object.at, 40)?);
        let bytes = self.heap.space.read_held(start, length.min(self.limits.characters));
        Some(ValueKind::Bytes { bytes, length })
    }

    fn function(&self, object: Object) -> Option<ValueKind> {
        let [code, name] = self.heap.layout.objects.function;
        let name = self.heap.field_of(object.at, name, STR).and_then(|name| self.heap.name(name));
        let code =
            self.heap.pointer(object.at, code).and_then(|code| self.python.code(&self.heap, code));
        Some(ValueKind::Function {
            name: name.map(Arc::from),
            file: code.as_ref().map(|code| code.file.clone()),
            line: code.and_then(|code| u32::try_from(code.first_line).ok()),
        })
    }

    /// `PyCFunctionObject`: `ml_name` of its `PyMethodDef` lies in constant memory.
    fn builtin(&self, object: Object) -> Option<ValueKind> {
        let definition = Addr::new(self.heap.word(object.at, 16)?);
        let name = self.heap.word(definition, 0).and_then(|name| {
            let name = self.heap.space.read_cstr(Addr::new(name), 256).ok()?;
            String::from_utf8(name).ok()
        });
        Some(ValueKind::Function { name: name.map(Arc::from), file: None, line: None })
    }

    fn code(&self, object: Object) -> Option<ValueKind> {
        let code = self.python.code(&self.heap, object.at)?;
        Some(ValueKind::Function {
            name: Some(code.name.clone()),
            file: Some(code.file.clone()),
            line: u32::try_from(code.first_line).ok(),
        })
    }

    fn module(&self, object: Object) -> ValueKind {
        let name = self.heap.field_of(object.at, self.heap.layout.objects.module_name, STR);
        ValueKind::Module(name.and_then(|name| self.heap.name(name)).map(Arc::from))
    }

    fn object(&mut self, object: Object) -> ValueKind {
        let arguments = match object.is(EXCEPTION) {
            true => self.heap.field_of(object.at, ARGUMENTS, TUPLE),
            false => None,
        };
        let arguments = arguments.and_then(|arguments| {
            let kind = self.items(arguments, Items::Tuple)?;
            Some(Box::new(Value { at: Some(arguments.at), class: None, kind }))
        });
        let mut attributes = Vec::new();
        let mut has_more = false;
        if let Some(frame) = self.python.own_frame(self.host, &self.heap, object) {
            attributes.extend(frame.told());
        }
        let own = self.python.attributes(&self.heap, object).into_iter();
        for (name, at) in own.chain(self.fields(object)) {
            has_more = attributes.len() as u64 >= self.limits.entries;
            if has_more {
                break;
            }
            attributes.push((name, self.at(at)));
        }
        ValueKind::Object { arguments, attributes, has_more }
    }

    /// The fields of an object of a builtin type that say what it is. Of an exception that is what it was raised
    /// from, or else in whose handling.
    fn fields(&self, object: Object) -> Vec<(Arc<str>, Addr)> {
        let mut fields = self.python.fields(self.host, &self.heap, object);
        if object.is(EXCEPTION) {
            let has_cause = fields.iter().any(|(name, _)| &**name == "__cause__");
            fields.retain(|(name, _)| match &**name {
                "__cause__" => true,
                "__context__" => !has_cause,
                _ => false,
            });
        }
        fields
    }
}

impl Value {
    /// What is not there.
    pub const fn unreadable(why: &'static str) -> Self {
        Self { at: None, class: None, kind: ValueKind::Unreadable(why) }
    }
}

impl Text {
    /// Whether it is told as a whole.
    pub fn is_complete(&self) -> bool {
        self.is_whole && self.text.chars().count() as u64 == self.length
    }
}
