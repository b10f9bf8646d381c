//! Fields of classes by their names (`src/hotspot/share/oops/{instanceKlass,fieldInfo}`, JDK 11 to 25).

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    memory::Memory,
    method::MethodLayout,
    stream::{Coding, Stream},
    vm_structs::VmStructs,
};

/// Fields of a class, at most: class files number them with 16 bits.
const MAX_FIELDS: u32 = 1 << 16;
/// `JVM_ACC_STATIC`.
const STATIC: u32 = 8;
/// To JDK 20, numbers of 16 bits for each field: flags, name, signature, value, and an offset in two halves whose lowest
/// bits are a tag.
const SLOTS: u64 = 6;
const TAG_BITS: u32 = 2;
/// Since JDK 21, bits of flags of a field (`FieldInfo::FieldFlags`).
const INITIALIZED: u32 = 1;
const INJECTED: u32 = 2;
const GENERIC: u32 = 4;
const CONTENDED: u32 = 16;

/// The name of fields that the virtual machine added, which have none that can be read.
pub const ADDED: &str = "";

/// Where classes keep their fields.
#[derive(Clone, Copy, Debug)]
pub struct FieldLayout {
    constants: u64,
    form: Form,
    /// Where the elements of an array of the virtual machine begin.
    elements: u64,
    /// `Klass._super`.
    parent: u64,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// `InstanceKlass._fields`, and how many of them are those of the class file.
    Slots { fields: u64, count: u64 },
    /// `InstanceKlass._fieldinfo_stream`.
    Stream(u64),
}

/// The fields that a class declares itself.
#[derive(Debug, Default)]
pub struct DeclaredFields {
    /// Those that can be read.
    pub fields: Vec<Field>,
    /// Whether these are all.
    pub is_whole: bool,
}

/// A field of objects of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// Its type in the words of class files: `Ljava/lang/String;`.
    pub signature: Arc<str>,
    /// How far into an object it lies, or into that of the class if it is static.
    pub offset: u64,
    /// Whether it is the class's own.
    pub is_static: bool,
}

impl Field {
    /// Whether it refers to an object.
    pub fn is_reference(&self) -> bool {
        self.signature.starts_with(['L', '['])
    }
}

impl FieldLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something.
    pub fn of(tables: &VmStructs) -> Result<Self, String> {
        let form = match tables.offset("InstanceKlass._fieldinfo_stream") {
            Some(stream) => Form::Stream(stream),
            None => Form::Slots {
                fields: tables.need("InstanceKlass._fields")?,
                count: tables.need("InstanceKlass._java_fields_count")?,
            },
        };
        Ok(Self {
            constants: tables.need("InstanceKlass._constants")?,
            form,
            elements: tables.need_one(&["Array<u1>._data", "Array<u2>._data"])?,
            parent: tables.need("Klass._super")?,
        })
    }

    /// Whether it can be read which class a class extends, if any.
    pub fn tells_parent(&self, memory: Memory<'_>, class: Addr) -> bool {
        memory.uint(class, self.parent, 8).is_some()
    }

    /// The class that a class extends.
    pub fn parent(&self, memory: Memory<'_>, class: Addr) -> Option<Addr> {
        memory.pointer(class, self.parent)
    }

    /// The fields that a class declares itself, as far as they can be read.
    pub fn declared(
        &self,
        memory: Memory<'_>,
        methods: &MethodLayout,
        class: Addr,
    ) -> DeclaredFields {
        let mut declared = DeclaredFields::default();
        if let Some(pool) = memory.pointer(class, self.constants) {
            let names = Names { memory, methods, pool };
            // What could be read before the first that cannot.
            let read = match self.form {
                Form::Slots { fields: array, count } => {
                    self.of_slots(names, (class, array, count), &mut declared.fields)
                }
                Form::Stream(array) => self.of_stream(names, (class, array), &mut declared.fields),
            };
            declared.is_whole = read == Some(true);
        }
        declared
    }

    /// Reads them, and says whether all of them have their names.
    fn of_slots(
        &self,
        names: Names<'_>,
        (class, array, count): (Addr, u64, u64),
        fields: &mut Vec<Field>,
    ) -> Option<bool> {
        let memory = names.memory;
        let mut is_whole = true;
        let array = memory.pointer(class, array)?.checked_add(self.elements)?;
        for number in 0..memory.uint(class, count, 2)? {
            let first = number.checked_mul(SLOTS)?;
            let slot =
                |index: u64| memory.uint(array, first.checked_add(index)?.checked_mul(2)?, 2);
            let offset = (slot(5)? << 16 | slot(4)?) >> TAG_BITS;
            let is_static = slot(0)? as u32 & STATIC != 0;
            let field = names.field(slot(1)?, slot(2)?, offset, is_static);
            is_whole &= field.is_some();
            fields.extend(field);
        }
        Some(is_whole)
    }

    /// Reads them, and says whether all of them have their names.
    fn of_stream(
        &self,
        names: Names<'_>,
        (class, array): (Addr, u64),
        fields: &mut Vec<Field>,
    ) -> Option<bool> {
        let mut is_whole = true;
        let array = names.memory.pointer(class, array)?.checked_add(self.elements)?;
        // Such streams came with JDK 21.
        let mut stream = Stream::new(names.memory.0, array, Coding::FromOne);
        let count = stream.unsigned()?.min(MAX_FIELDS);
        // Fields that the virtual machine added stand behind those of the class file.
        let added = stream.unsigned()?.min(MAX_FIELDS);
        for _ in 0..count.checked_add(added)? {
            let (name, signature, offset) =
                (stream.unsigned()?, stream.unsigned()?, stream.unsigned()?);
            let (access, flags) = (stream.unsigned()?, stream.unsigned()?);
            for flag in [INITIALIZED, GENERIC, CONTENDED] {
                if flags & flag != 0 {
                    stream.unsigned()?;
                }
            }
            let is_static = access & STATIC != 0;
            if flags & INJECTED == 0 {
                let field = names.field(name.into(), signature.into(), offset.into(), is_static);
                is_whole &= field.is_some();
                fields.extend(field);
            } else {
                let (name, signature) = (ADDED.into(), "".into());
                fields.push(Field { name, signature, offset: offset.into(), is_static });
            }
        }
        Some(is_whole)
    }
}

/// What numbers of names mean in one class.
#[derive(Clone, Copy)]
struct Names<'a> {
    memory: Memory<'a>,
    methods: &'a MethodLayout,
    pool: Addr,
}

impl Names<'_> {
    fn field(self, name: u64, signature: u64, offset: u64, is_static: bool) -> Option<Field> {
        let text = |index| self.methods.constant(self.memory, self.pool, index);
        Some(Field { name: text(name)?, signature: text(signature)?, offset, is_static })
    }
}
