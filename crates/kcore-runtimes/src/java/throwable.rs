//! Where exceptions were thrown: the stack that a `java.lang.Throwable` carries
//! (`src/hotspot/share/classfile/javaClasses.cpp`, `BacktraceBuilder`, JDK 11 to 25).
//!
//! It is a chain of arrays of objects: first numbers of methods within their classes, then places in their bytecodes, the
//! classes, the symbols of the methods' names, and behind them the next such array.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{Java, classes::Objects, lines, memory::Memory, vm_structs::VmStructs};

/// What all that can be thrown extends.
pub(super) const THROWABLE: &str = "java.lang.Throwable";
/// Frames of one stack, and chunks of it, at most.
const MAX_FRAMES: u64 = 1 << 12;
const MAX_CHUNKS: usize = 256;
/// Methods of one class, at most: class files number them with 16 bits.
const MAX_METHODS: u64 = 1 << 16;
/// The elements of a chunk.
const NUMBERS: u64 = 0;
const PLACES: u64 = 1;
const CLASSES: u64 = 2;
const NAMES: u64 = 3;
/// The first that may be the next chunk, and the last.
const NEXT: std::ops::RangeInclusive<u64> = 4..=6;
/// The class of the first element of a chunk, and of a chunk.
const SHORTS: &str = "[S";
const CHUNK: &str = "[Ljava.lang.Object;";

/// Where classes keep their methods.
#[derive(Clone, Copy, Debug)]
pub struct TraceLayout {
    methods: u64,
    length: u64,
    first: u64,
    number: u64,
}

/// A chunk of a stack.
struct Chunk<'a> {
    objects: &'a Objects<'a>,
    at: Addr,
}

impl TraceLayout {
    /// The layout that the tables of a virtual machine describe; `None` where they do not.
    pub fn of(tables: &VmStructs) -> Option<Self> {
        Some(Self {
            methods: tables.offset("InstanceKlass._methods")?,
            length: tables.offset("Array<int>._length")?,
            first: tables.offset("Array<Method*>._data")?,
            number: tables.offset("ConstMethod._method_idnum")?,
        })
    }
}

impl Chunk<'_> {
    /// An element: an array, or the next chunk.
    fn element(&self, index: u64) -> Option<Addr> {
        let Objects { oops, memory, .. } = self.objects;
        (index < oops.length(*memory, self.at)?).then_some(())?;
        let by = index.checked_mul(oops.reference_size())?;
        self.objects.referred_at(self.at, oops.elements_offset().checked_add(by)?).ok()?
    }

    fn number(&self, element: u64, index: u64, size: usize) -> Option<u64> {
        let array = self.element(element)?;
        let bytes = u64::try_from(size).ok()?;
        let first = match size {
            8 => self.objects.oops.longs(array)?,
            _ => self.objects.oops.bytes(array)?,
        };
        let at = first.checked_add(index.checked_mul(bytes)?)?;
        self.objects.memory.uint(at, 0, size)
    }

    fn class(&self, index: u64) -> Option<Addr> {
        let Objects { oops, .. } = self.objects;
        let by = index.checked_mul(oops.reference_size())?;
        let classes = self.element(CLASSES)?;
        self.objects.referred_at(classes, oops.elements_offset().checked_add(by)?).ok()?
    }

    /// How many frames there is room for.
    fn room(&self) -> Option<u64> {
        let numbers = self.element(NUMBERS)?;
        let (_, class) = self.objects.class_of(numbers)?;
        (&*class == SHORTS).then_some(())?;
        self.objects.oops.length(self.objects.memory, numbers)
    }

    fn next(&self) -> Option<Self> {
        let is_chunk =
            |at: &Addr| self.objects.class_of(*at).is_some_and(|(_, class)| &*class == CHUNK);
        let mut others = NEXT.filter_map(|index| self.element(index));
        others.find(is_chunk).map(|at| Self { objects: self.objects, at })
    }
}

impl Java {
    /// The stack that an exception carries, innermost first, as Java prints it: `Main.run(Main.java:12)`; `None` where it
    /// carries none, or not all of that can be read.
    pub(super) fn trace_of(&self, objects: &Objects<'_>, exception: Addr) -> Option<Vec<Arc<str>>> {
        objects.is_a(exception, THROWABLE).then_some(())?;
        let first = objects.reference(exception, "backtrace")?;
        let depth = u64::try_from(objects.integer(exception, "depth")?).ok()?.min(MAX_FRAMES);
        let mut trace = Vec::new();
        let mut chunk = Some(Chunk { objects, at: first });
        for _ in 0..MAX_CHUNKS {
            let Some(own) = chunk else { break };
            for index in 0..own.room()? {
                if trace.len() as u64 == depth {
                    return Some(trace);
                }
                trace.push(self.line_of(&own, index)?);
            }
            chunk = own.next();
        }
        (trace.len() as u64 == depth).then_some(trace)
    }

    fn line_of(&self, chunk: &Chunk<'_>, index: u64) -> Option<Arc<str>> {
        let memory = chunk.objects.memory;
        let class = self.layout.klasses.as_ref()?.of_mirror(memory, chunk.class(index)?)?;
        let symbol = Addr::new(chunk.number(NAMES, index, 8)?);
        let name = self.layout.methods.symbol(memory, symbol)?;
        let number = chunk.number(NUMBERS, index, 2)?;
        let place = u32::try_from(chunk.number(PLACES, index, 4)? >> 16).ok()?;
        let function = format!("{}.{name}", self.layout.methods.class(memory, class)?);
        let source = self.source_of(memory.0, class, number, &name, place);
        Some(format!("{function}({})", source.as_deref().unwrap_or("Unknown Source")).into())
    }

    /// The place in the source of a place in the bytecodes of a method, as Java prints it.
    fn source_of(
        &self,
        space: &dyn AddressSpace,
        class: Addr,
        number: u64,
        name: &str,
        place: u32,
    ) -> Option<String> {
        let method = self.method_numbered(Memory(space), class, number)?;
        let method = self.method(space, method).filter(|method| &*method.name == name)?;
        if method.is_native() {
            return Some("Native Method".to_owned());
        }
        let file = method.file.clone()?;
        Some(match lines::line_at(&method, space, place) {
            Some(line) => format!("{file}:{line}"),
            None => file.to_string(),
        })
    }

    /// The method of a class that has a number; one that was replaced has another.
    fn method_numbered(&self, memory: Memory<'_>, class: Addr, number: u64) -> Option<Addr> {
        let layout = self.layout.traces?;
        let methods = memory.pointer(class, layout.methods)?;
        let count = memory.uint(methods, layout.length, 4)?.min(MAX_METHODS);
        let method = |index: u64| {
            let by = layout.first.checked_add(index.checked_mul(8)?)?;
            memory.pointer(methods, by)
        };
        let is_it = |method: &Addr| {
            let constant = memory.pointer(*method, self.layout.methods.const_method);
            constant.and_then(|it| memory.uint(it, layout.number, 2)) == Some(number)
        };
        (0..count).filter_map(method).find(is_it)
    }
}
