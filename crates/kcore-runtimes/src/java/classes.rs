//! Classes as kcore learnt them, and what their objects hold by the names of fields.

use std::sync::{Arc, PoisonError, RwLock};

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    element::ElementType,
    fields::{DeclaredFields, Field, FieldLayout},
    memory::Memory,
    method::MethodLayout,
    oops::Oops,
};

/// Classes that extend each other, at most.
const MAX_DEPTH: usize = 64;
/// Classes that are remembered, at most.
const MAX_KNOWN: usize = 1 << 16;
/// Bytes of a text, at most.
const MAX_TEXT: u64 = 64 << 10;

/// How objects and their classes are read.
pub struct Objects<'a> {
    /// The memory that they are in.
    pub memory: Memory<'a>,
    /// How objects lie in it.
    pub oops: Oops,
    /// How classes keep fields.
    pub fields: FieldLayout,
    /// How classes are named.
    pub methods: &'a MethodLayout,
    /// What was learnt.
    pub known: &'a Classes,
}

/// What of an object cannot be read, or of the class that says where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread;

/// What a reference leads to; `None` of null.
pub type Referred = Result<Option<Addr>, Unread>;

/// The fields of all objects of a class, those that it declares first.
#[derive(Default)]
pub struct Classes(RwLock<FxHashMap<Addr, ClassFields>>);

/// Those that can be read, and whether these are all.
#[derive(Clone)]
struct ClassFields {
    fields: Arc<[Field]>,
    is_whole: bool,
}

impl Objects<'_> {
    /// The class of an object, which proves itself by its name.
    pub fn class_of(&self, object: Addr) -> Option<(Addr, Arc<str>)> {
        let class = self.oops.class_of(self.memory, object)?;
        Some((class, self.methods.class(self.memory, class)?))
    }

    /// Whether an object is of a class of this name, or of one that extends it.
    pub fn is_a(&self, object: Addr, name: &str) -> bool {
        let class = self.oops.class_of(self.memory, object);
        class.is_some_and(|class| self.class_is_a(class, name))
    }

    /// Whether the class of an object has this name or extends one that has; `None` where that cannot be read.
    pub fn extends(&self, object: Addr, name: &str) -> Option<bool> {
        let mut class = self.oops.class_of(self.memory, object)?;
        for _ in 0..MAX_DEPTH {
            if &*self.methods.class(self.memory, class)? == name {
                return Some(true);
            }
            class = match self.fields.parent(self.memory, class) {
                Some(parent) => parent,
                None if self.fields.tells_parent(self.memory, class) => return Some(false),
                None => return None,
            };
        }
        None
    }

    /// Whether a class has this name, or extends one that has.
    pub fn class_is_a(&self, class: Addr, name: &str) -> bool {
        let parent = |class: &Addr| self.fields.parent(self.memory, *class);
        let mut classes = std::iter::successors(Some(class), parent).take(MAX_DEPTH);
        classes.any(|class| self.methods.class(self.memory, class).as_deref() == Some(name))
    }

    /// The field of this name that objects of a class have.
    pub fn field(&self, class: Addr, name: &str) -> Option<Field> {
        let fields = self.fields_of(class);
        fields.iter().find(|field| !field.is_static && &*field.name == name).cloned()
    }

    /// The fields of the objects of a class, those that it declares first.
    pub fn fields_of(&self, class: Addr) -> Arc<[Field]> {
        self.known_fields(class).fields
    }

    /// Whether all fields of the objects of a class can be read.
    pub fn has_all_fields(&self, class: Addr) -> bool {
        self.known_fields(class).is_whole
    }

    fn known_fields(&self, class: Addr) -> ClassFields {
        let known =
            self.known.0.read().unwrap_or_else(PoisonError::into_inner).get(&class).cloned();
        known.unwrap_or_else(|| {
            let parent = |class: &Addr| self.fields.parent(self.memory, *class);
            let classes = std::iter::successors(Some(class), parent).take(MAX_DEPTH);
            let mut is_whole = true;
            let declared = |class| {
                let own = self.fields.declared(self.memory, self.methods, class);
                is_whole &= own.is_whole && self.fields.tells_parent(self.memory, class);
                own.fields
            };
            let fields: Arc<[Field]> = classes.flat_map(declared).collect();
            let fields = ClassFields { fields, is_whole };
            let mut known = self.known.0.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
            known.insert(class, fields.clone());
            fields
        })
    }

    /// The field of this name that an object has.
    pub fn field_of(&self, object: Addr, name: &str) -> Option<Field> {
        self.field(self.oops.class_of(self.memory, object)?, name)
    }

    /// The class that a class extends, if it does.
    pub fn parent(&self, class: Addr) -> Option<Addr> {
        self.fields.parent(self.memory, class)
    }

    /// The fields that a class declares itself.
    pub fn declared(&self, class: Addr) -> Vec<Field> {
        self.declared_by(class).fields
    }

    /// The same, with whether these are all.
    pub fn declared_by(&self, class: Addr) -> DeclaredFields {
        self.fields.declared(self.memory, self.methods, class)
    }

    /// The values of static numbers of 32 bits of a class, by their names, given the object of that.
    pub fn static_numbers(&self, class: Addr, mirror: Addr) -> Vec<(Arc<str>, u64)> {
        let fields = self.fields_of(class);
        let numbers = fields.iter().filter(|field| field.is_static && &*field.signature == "I");
        { numbers }
            .filter_map(|field| {
                Some((field.name.clone(), self.memory.uint(mirror, field.offset, 4)?))
            })
            .collect()
    }

    /// How far into an object a field of this name lies.
    fn offset(&self, object: Addr, name: &str) -> Option<u64> {
        let class = self.oops.class_of(self.memory, object)?;
        let fields = self.fields_of(class);
        let field = fields.iter().find(|field| !field.is_static && &*field.name == name)?;
        Some(field.offset)
    }

    /// The object that a field of another one refers to.
    pub fn reference(&self, object: Addr, name: &str) -> Option<Addr> {
        self.oops.reference(self.memory, object, self.offset(object, name)?)
    }

    /// What a field of an object refers to, where it matters why nothing is there.
    ///
    /// # Errors
    /// Where the object or its class cannot be read. A field that its class has not is null.
    pub fn referred(&self, object: Addr, name: &str) -> Referred {
        let class = self.oops.class_of(self.memory, object).ok_or(Unread)?;
        match self.field(class, name) {
            Some(field) => self.referred_at(object, field.offset),
            None if self.has_all_fields(class) => Ok(None),
            None => Err(Unread),
        }
    }

    /// What the reference refers to that lies so far into an object.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn referred_at(&self, object: Addr, offset: u64) -> Referred {
        let size = usize::try_from(self.oops.reference_size()).map_err(|_| Unread)?;
        let word = self.memory.uint(object, offset, size).ok_or(Unread)?;
        Ok(self.oops.referred(self.memory, word))
    }

    /// A number of `size` bytes in a field.
    pub fn number(&self, object: Addr, name: &str, size: usize) -> Option<u64> {
        self.memory.uint(object, self.offset(object, name)?, size)
    }

    /// The number in a field of an integral type, with its sign; a truth value is 0 or 1.
    pub fn integer(&self, object: Addr, name: &str) -> Option<i64> {
        let field = self.field_of(object, name)?;
        let element = ElementType::of_signature(&field.signature)?;
        let size = usize::try_from(element.size(8)).ok()?;
        let raw = self.memory.uint(object, field.offset, size)?;
        element.integer(raw)
    }

    /// The text of a field that refers to a string.
    pub fn text(&self, object: Addr, name: &str) -> Option<Arc<str>> {
        self.string(self.reference(object, name)?)
    }

    /// The text of a `java.lang.String`; of a long one its beginning.
    pub fn string(&self, object: Addr) -> Option<Arc<str>> {
        let array = self.reference(object, "value")?;
        let is_wide = self.number(object, "coder", 1)? != 0;
        let length = self.oops.length(self.memory, array)?;
        let bytes = self.memory.0.read_held(self.oops.bytes(array)?, length.min(MAX_TEXT));
        (bytes.len() as u64 == length.min(MAX_TEXT)).then_some(())?;
        Some(match is_wide {
            false => bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into(),
            true => {
                let pairs = bytes.chunks_exact(2);
                let units: Vec<u16> = pairs
                    .filter_map(|pair| Some(u16::from_le_bytes(pair.try_into().ok()?)))
                    .collect();
                String::from_utf16_lossy(&units).into()
            }
        })
    }
}
