//! Classes as the virtual machine lays out their objects: size, and where references lie (`src/hotspot/share/oops/{klass,
//! instanceKlass,instanceMirrorKlass,instanceStackChunkKlass}.hpp`, JDK 11 to 25).

use std::sync::{Arc, PoisonError, RwLock};

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    classes::Objects, element::ElementType, memory::Memory, oops::Oops, vm_structs::VmStructs,
    words::Words,
};

/// Classes that are remembered, and addresses where none is.
const MAX_KNOWN: usize = 1 << 18;
/// Classes that extend each other, at most.
const MAX_DEPTH: usize = 64;
/// Blocks of references of one class, and references of a block, at most.
const MAX_BLOCKS: u64 = 1 << 12;
const MAX_REFERENCES: u64 = 1 << 16;
/// Bytes of an object that is no array, at most.
const MAX_INSTANCE: u64 = 1 << 20;
/// What all classes extend.
const OBJECT: &str = "java.lang.Object";
/// Classes whose objects have parts that their fields do not tell.
const MIRROR: &str = "java.lang.Class";
const CHUNK: &str = "jdk.internal.vm.StackChunk";
/// Classes of references that do not keep their referent. A soft one does until memory is short.
const REFERENCE: &str = "java.lang.ref.Reference";
const SOFT: &str = "java.lang.ref.SoftReference";
/// The field of those.
pub const REFERENT: &str = "referent";

/// `Klass::_lh_array_tag_shift` and the tags behind it.
const TAG_SHIFT: u32 = 30;
const TAG_OF_PRIMITIVES: i32 = -1;
const TAG_OF_REFERENCES: i32 = -2;
/// `Klass::_lh_instance_slow_path_bit`, and what else is below the bytes of an object.
const LOW_BITS: u64 = 7;

/// Where classes say how their objects are laid out.
#[derive(Clone, Copy, Debug)]
pub struct KlassLayout {
    /// `Klass._layout_helper`.
    helper: u64,
    parent: u64,
    loader: Option<u64>,
    mirror: Option<u64>,
    maps: Option<OopMaps>,
    /// What the bytes of an object are a multiple of.
    alignment: u64,
    /// In a `java.lang.Class`: its own size in words, and the class that it is of.
    mirror_size: Option<u64>,
    mirror_class: Option<u64>,
    /// `InstanceKlass._constants`, `ConstantPool._cache`, `ConstantPoolCache._resolved_references`.
    constants: Option<[u64; 3]>,
}

/// Where classes say which fields are references: behind the tables of methods, of which these are the numbers of words.
#[derive(Clone, Copy, Debug)]
struct OopMaps {
    header: u64,
    virtuals: u64,
    interfaces: u64,
    maps: u64,
}

/// A class.
#[derive(Debug)]
pub struct Klass {
    /// Its `Klass`.
    pub at: Addr,
    /// Its name as the virtual machine has it, with dots: `[Ljava.lang.String;`.
    pub name: Arc<str>,
    /// How big its objects are.
    pub shape: Shape,
    /// How far into an object its references lie that keep something.
    pub references: Box<[u32]>,
    /// How far into an object the one lies that keeps nothing.
    pub weak: Option<u32>,
}

/// What the size of an object hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Its class alone.
    Instance(u64),
    /// A `java.lang.Class` says it itself: the fields of the class are behind it.
    Mirror(u64),
    /// Frames are behind it, as many words as its field at `words` says.
    Chunk {
        /// Bytes before them.
        size: u64,
        /// Where the field lies.
        words: u64,
    },
    /// An array, whose elements begin so far into it.
    Array {
        /// Bytes before the first element.
        header: u64,
        /// What it has.
        element: ElementType,
    },
}

/// Classes that were read.
#[derive(Default)]
pub struct Klasses(RwLock<FxHashMap<Addr, Option<Arc<Klass>>>>);

impl KlassLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something.
    pub fn of(tables: &VmStructs, memory: Memory<'_>, alignment: u64) -> Result<Self, String> {
        let maps = || {
            Some(OopMaps {
                header: tables.size("InstanceKlass")?,
                virtuals: tables.offset("Klass._vtable_len")?,
                interfaces: tables.offset("InstanceKlass._itable_len")?,
                maps: tables.offset("InstanceKlass._nonstatic_oop_map_size")?,
            })
        };
        let added = |name: &str| memory.uint(tables.variable(name)?, 0, 4);
        let constants = || {
            Some([
                tables.offset("InstanceKlass._constants")?,
                tables.offset("ConstantPool._cache")?,
                tables.offset("ConstantPoolCache._resolved_references")?,
            ])
        };
        Ok(Self {
            helper: tables.need("Klass._layout_helper")?,
            parent: tables.need("Klass._super")?,
            loader: tables.offset("Klass._class_loader_data"),
            mirror: tables.offset("Klass._java_mirror"),
            maps: maps(),
            alignment: if alignment.is_power_of_two() { alignment } else { 8 },
            mirror_size: added("java_lang_Class._oop_size_offset"),
            mirror_class: added("java_lang_Class._klass_offset"),
            constants: constants(),
        })
    }

    /// The `java.lang.Class` of a class.
    pub fn mirror(&self, oops: &Oops, memory: Memory<'_>, class: Addr) -> Option<Addr> {
        oops.in_handle(memory, memory.pointer(class, self.mirror?)?)
    }

    /// The class that a `java.lang.Class` is of; `None` of that of a primitive type.
    pub fn of_mirror(&self, memory: Memory<'_>, mirror: Addr) -> Option<Addr> {
        memory.pointer(mirror, self.mirror_class?)
    }

    /// The `ClassLoaderData` of a class.
    pub fn loader(&self, memory: Memory<'_>, class: Addr) -> Option<Addr> {
        memory.pointer(class, self.loader?)
    }

    /// The array of constants of a class that are objects: strings, and what calls are bound to.
    pub fn constants(&self, oops: &Oops, memory: Memory<'_>, class: Addr) -> Option<Addr> {
        let [pool, cache, resolved] = self.constants?;
        let cache = memory.pointer(memory.pointer(class, pool)?, cache)?;
        oops.in_handle(memory, memory.pointer(cache, resolved)?)
    }

    /// The bytes of an object of a class.
    pub fn size(&self, oops: &Oops, words: &mut Words<'_>, at: Addr, class: &Klass) -> Option<u64> {
        let bytes = match class.shape {
            Shape::Instance(size) => size,
            Shape::Mirror(size) => match self.mirror_size {
                Some(offset) => words.uint(at.checked_add(offset)?, 4)?.checked_mul(8)?,
                None => size,
            },
            Shape::Chunk { size, words: field } => {
                let frames = words.uint(at.checked_add(field)?, 4)?;
                // Behind the frames is a bit for each reference that they may have.
                let bits = frames.checked_mul(8)?.checked_div(oops.reference_size())?;
                frames.checked_add(bits.div_ceil(64))?.checked_mul(8)?.checked_add(size)?
            }
            Shape::Array { header, element } => {
                let length = words.uint(at.checked_add(oops.length_offset())?, 4)?;
                let bytes = length.checked_mul(element.size(oops.reference_size()))?;
                (length <= i32::MAX as u64).then_some(())?;
                header.checked_add(bytes)?
            }
        };
        Some(bytes.checked_next_multiple_of(self.alignment)?).filter(|bytes| *bytes >= 8)
    }
}

impl Klasses {
    /// The class whose `Klass` lies at an address; `None` where none does: it proves itself by its name, the sizes of its
    /// objects, and by extending `java.lang.Object`.
    pub fn at(&self, objects: &Objects<'_>, layout: &KlassLayout, at: Addr) -> Option<Arc<Klass>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&at).cloned();
        known.unwrap_or_else(|| {
            let class = layout.load(objects, at).map(Arc::new);
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
            known.insert(at, class.clone());
            class
        })
    }
}

impl KlassLayout {
    fn load(&self, objects: &Objects<'_>, at: Addr) -> Option<Klass> {
        at.get().is_multiple_of(8).then_some(())?;
        let memory = objects.memory;
        let helper = memory.int(at, self.helper)?;
        let name = objects.methods.class(memory, at)?;
        self.extends_object(objects, at).then_some(())?;
        let (shape, references, weak) = match helper {
            1.. => self.of_instances(objects, at, &name, u64::try_from(helper).ok()?)?,
            _ => (array(helper)?, Box::default(), None),
        };
        Some(Klass { at, name, shape, references, weak })
    }

    fn extends_object(&self, objects: &Objects<'_>, at: Addr) -> bool {
        let parent = |class: &Addr| objects.memory.pointer(*class, self.parent);
        let classes = std::iter::successors(Some(at), parent).take(MAX_DEPTH);
        let last = classes.last().unwrap_or(at);
        objects.methods.class(objects.memory, last).as_deref() == Some(OBJECT)
    }

    /// What is to be known of a class of objects that are no arrays.
    fn of_instances(
        &self,
        objects: &Objects<'_>,
        at: Addr,
        name: &str,
        helper: u64,
    ) -> Option<(Shape, Box<[u32]>, Option<u32>)> {
        let size = helper & !LOW_BITS;
        (size <= MAX_INSTANCE).then_some(())?;
        let shape = match name {
            MIRROR => Shape::Mirror(size),
            CHUNK => Shape::Chunk { size, words: objects.field(at, "size")?.offset },
            _ => Shape::Instance(size),
        };
        let referent = objects.class_is_a(at, REFERENCE).then(|| objects.field(at, REFERENT));
        let referent = referent.flatten().and_then(|field| u32::try_from(field.offset).ok());
        let is_soft = referent.is_some() && objects.class_is_a(at, SOFT);
        let mut references = self.references(objects, at)?;
        references.retain(|offset| Some(*offset) != referent);
        references.extend(referent.filter(|_| is_soft));
        Some((shape, references.into(), referent.filter(|_| !is_soft)))
    }

    /// Where the references of objects lie, as the collector knows it, else as the fields say.
    fn references(&self, objects: &Objects<'_>, at: Addr) -> Option<Vec<u32>> {
        if let Some(maps) = &self.maps {
            return maps.read(objects.memory, objects.oops.reference_size(), at);
        }
        let fields = objects.fields_of(at);
        let references = fields.iter().filter(|field| !field.is_static && field.is_reference());
        Some(references.filter_map(|field| u32::try_from(field.offset).ok()).collect())
    }
}

impl OopMaps {
    /// Each block says where its first reference lies, and how many there are.
    fn read(&self, memory: Memory<'_>, width: u64, class: Addr) -> Option<Vec<u32>> {
        let words = |offset| memory.uint(class, offset, 4);
        let before = words(self.virtuals)?.checked_add(words(self.interfaces)?)?;
        let first = class.checked_add(self.header.checked_add(before.checked_mul(8)?)?)?;
        let mut references = Vec::new();
        for block in 0..words(self.maps)?.min(MAX_BLOCKS) {
            let block = first.checked_add(block.checked_mul(8)?)?;
            let start = memory.uint(block, 0, 4)?;
            for index in 0..memory.uint(block, 4, 4)?.min(MAX_REFERENCES) {
                let offset = start.checked_add(index.checked_mul(width)?)?;
                references.push(u32::try_from(offset).ok()?);
            }
        }
        Some(references)
    }
}

/// What the layout helper of an array says.
fn array(helper: i32) -> Option<Shape> {
    let helper = helper.cast_unsigned();
    let header = u64::from((helper >> 16) & 0xff);
    let element = match helper.cast_signed() >> TAG_SHIFT {
        TAG_OF_REFERENCES => ElementType::Reference,
        TAG_OF_PRIMITIVES => ElementType::of_number((helper >> 8) & 0xff)?,
        _ => return None,
    };
    (8..=32).contains(&header).then_some(Shape::Array { header, element })
}
