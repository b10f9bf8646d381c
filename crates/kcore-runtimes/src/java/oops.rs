//! Objects of Java: their class, what they refer to, and the length of arrays (`src/hotspot/share/oops/{oop,arrayOop,
//! compressedOops,compressedKlass,markWord}`, JDK 11 to 25).

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{
    colors::Colors, evacuation::Evacuation, flags::Flags, memory::Memory, vm_structs::VmStructs,
    words::Words,
};

/// The first version whose arrays begin right behind their length.
const UNALIGNED_ARRAYS: u8 = 23;
/// Bits by which narrow pointers are shifted, at most.
const MAX_SHIFT: u64 = 10;
/// Bytes of the header of an object that is no array, at most.
const MAX_HEADER: u64 = 16;
/// In a header of one word, the lowest bit of the class where the tables do not say (`markWord::klass_shift`, JDK 24).
const CLASS_SHIFT: u64 = 42;

/// How objects lie in memory.
#[derive(Clone, Copy, Debug)]
pub struct Oops {
    class: ClassWord,
    /// How references in objects are narrowed, if they are.
    narrow: Option<Narrow>,
    /// What else than an address is in references, if anything.
    colors: Option<Colors>,
    /// Where objects went that threads may still know by their old places.
    evacuation: Option<Evacuation>,
    /// Where the length of an array lies.
    length: u64,
    /// Where the bytes of an array of bytes begin.
    bytes: u64,
    /// Where the first reference of an array of references lies.
    references: u64,
}

/// A pointer of 32 bits: what is added, and by how many bits it is shifted before.
#[derive(Clone, Copy, Debug)]
struct Narrow {
    base: u64,
    shift: u32,
}

/// Where an object says what its class is.
#[derive(Clone, Copy, Debug)]
enum ClassWord {
    Full(u64),
    Narrow(u64, Narrow),
    /// In the upper bits of the header, `-XX:+UseCompactObjectHeaders`.
    InHeader(u32, Narrow),
}

impl Narrow {
    fn read(space: &dyn AddressSpace, base: Option<Addr>, shift: Option<Addr>) -> Option<Self> {
        let shift = Memory(space).uint(shift?, 0, 4).filter(|shift| *shift <= MAX_SHIFT)?;
        Some(Self { base: space.read_word(base?).ok()?, shift: u32::try_from(shift).ok()? })
    }

    /// The whole pointer; zero is null.
    fn widen(self, narrow: u64) -> Option<Addr> {
        let by = narrow.checked_shl(self.shift).filter(|_| narrow != 0)?;
        self.base.checked_add(by).map(Addr::new)
    }
}

impl Oops {
    /// Reads how the virtual machine was told to lay out objects.
    ///
    /// # Errors
    /// In words, where that is not known, or where what refers to an object is no plain pointer.
    pub fn read(tables: &VmStructs, space: &dyn AddressSpace, major: u8) -> Result<Self, String> {
        let flags = Flags::read(tables, space);
        let is_on = |name| flags.is_on(space, name);
        let colors = match is_on("UseZGC") {
            Some(true) => Some(Colors::read(tables, space, is_on("ZGenerational"))?),
            _ => None,
        };
        let unknown = |what: &str| format!("whether {what} are narrow cannot be read");
        let narrow = is_on("UseCompressedOops").ok_or_else(|| unknown("references"))?;
        let narrow_class =
            is_on("UseCompressedClassPointers").ok_or_else(|| unknown("pointers to classes"))?;
        let is_compact = is_on("UseCompactObjectHeaders") == Some(true);
        let of = |names: [&str; 3], field: &str| {
            let read = |owner: &str| tables.variable(&format!("{owner}{field}"));
            names.into_iter().find_map(read)
        };
        let narrowing = |names: [&str; 3]| {
            Narrow::read(space, of(names, "_base"), of(names, "_shift"))
                .ok_or_else(|| "how pointers are narrowed cannot be read".to_owned())
        };
        let classes = [
            "CompressedKlassPointers.",
            "CompressedKlassPointers._narrow_klass.",
            "Universe._narrow_klass.",
        ];
        let oops = ["CompressedOops.", "CompressedOops._narrow_oop.", "Universe._narrow_oop."];
        let class = match (is_compact, narrow_class) {
            (true, _) => {
                let shift = tables.constant("markWord::klass_shift").unwrap_or(CLASS_SHIFT);
                ClassWord::InHeader(u32::try_from(shift).unwrap_or_default(), narrowing(classes)?)
            }
            (_, true) => {
                let field = tables.need("oopDesc._metadata._compressed_klass")?;
                ClassWord::Narrow(field, narrowing(classes)?)
            }
            _ => ClassWord::Full(tables.need("oopDesc._metadata._klass")?),
        };
        let length = match class {
            ClassWord::InHeader(..) => 8,
            ClassWord::Narrow(..) => 12,
            ClassWord::Full(..) => 16,
        };
        let is_aligned = major < UNALIGNED_ARRAYS && matches!(class, ClassWord::Full(_));
        let bytes = if is_aligned { 24 } else { 4_u64.saturating_add(length) };
        let narrow = if narrow { Some(narrowing(oops)?) } else { None };
        let behind = length.saturating_add(4);
        let width = if narrow.is_some() { 4 } else { 8 };
        let references = if is_aligned { 24 } else { behind.next_multiple_of(width) };
        let evacuation = Evacuation::read(tables, &flags, space);
        Ok(Self { class, narrow, colors, evacuation, length, bytes, references })
    }

    /// Whether objects that were moved may not be found by references that the collector has not updated yet.
    pub const fn may_lose_moved(&self) -> bool {
        matches!(
            self.colors,
            Some(Colors::Shifted { moved: None, .. } | Colors::Views { moved: None, .. })
        )
    }

    /// The `Klass` of an object.
    pub fn class_of(&self, memory: Memory<'_>, object: Addr) -> Option<Addr> {
        match self.class {
            ClassWord::Full(offset) => memory.pointer(object, offset),
            ClassWord::Narrow(offset, narrow) => narrow.widen(memory.uint(object, offset, 4)?),
            ClassWord::InHeader(shift, narrow) => {
                narrow.widen(memory.uint(object, 0, 8)?.checked_shr(shift)?)
            }
        }
    }

    /// The word of an object that says its class, which may say more: [`Oops::class_in`].
    pub fn class_word(&self, words: &mut Words<'_>, object: Addr) -> Option<u64> {
        match self.class {
            ClassWord::Full(offset) => words.uint(object.checked_add(offset)?, 8),
            ClassWord::Narrow(offset, _) => words.uint(object.checked_add(offset)?, 4),
            ClassWord::InHeader(shift, _) => words.uint(object, 8)?.checked_shr(shift),
        }
    }

    /// The `Klass` that such a word says.
    pub fn class_in(&self, word: u64) -> Option<Addr> {
        match self.class {
            ClassWord::Full(_) => Some(Addr::new(word)).filter(|at| at.get() != 0),
            ClassWord::Narrow(_, narrow) | ClassWord::InHeader(_, narrow) => narrow.widen(word),
        }
    }

    /// The bytes of a reference in an object.
    pub const fn reference_size(&self) -> u64 {
        if self.narrow.is_some() { 4 } else { 8 }
    }

    /// How far into an array its length lies.
    pub const fn length_offset(&self) -> u64 {
        self.length
    }

    /// The object that a reference means, as it stands in an object; `None` of null.
    pub fn referred(&self, memory: Memory<'_>, word: u64) -> Option<Addr> {
        match self.narrow {
            Some(narrow) => narrow.widen(word).map(|at| self.resolved(memory, at)),
            None => self.referred_in_full(memory, word),
        }
    }

    /// The object that a reference means which is never narrow: on a stack, or in a handle.
    pub fn referred_in_full(&self, memory: Memory<'_>, word: u64) -> Option<Addr> {
        let at = self.colors.map_or(word, |colors| colors.address(memory, word));
        let at = Some(Addr::new(at)).filter(|at| at.get() != 0);
        at.map(|at| self.resolved(memory, at))
    }

    fn resolved(&self, memory: Memory<'_>, at: Addr) -> Addr {
        self.evacuation.map_or(at, |evacuation| evacuation.resolve(memory, at))
    }

    /// The object that a word of a chunk of frames means, which a collector may have narrowed.
    pub fn in_chunk(&self, memory: Memory<'_>, word: u64, is_narrowed: bool) -> Option<Addr> {
        match self.narrow.filter(|_| is_narrowed) {
            Some(narrow) => {
                narrow.widen(word & u64::from(u32::MAX)).map(|at| self.resolved(memory, at))
            }
            None => self.referred_in_full(memory, word),
        }
    }

    /// The object that a handle of the virtual machine leads to.
    pub fn in_handle(&self, memory: Memory<'_>, handle: Addr) -> Option<Addr> {
        self.referred_in_full(memory, memory.uint(handle, 0, 8)?)
    }

    /// Calls for every address of a range at which the header of an object of the class may stand.
    pub fn each_header_of(
        &self,
        memory: Memory<'_>,
        range: AddrRange,
        class: Addr,
        tell: &mut dyn FnMut(Addr),
    ) {
        let bytes = memory.0.read_held(range.start, range.len().saturating_add(MAX_HEADER));
        let target = memory.0.target();
        let (offset, size) = match self.class {
            ClassWord::Full(offset) => (offset, 8),
            ClassWord::Narrow(offset, _) => (offset, 4),
            ClassWord::InHeader(..) => (0, 8),
        };
        let wanted = |word: u64| match self.class {
            ClassWord::Full(_) => word == class.get(),
            ClassWord::Narrow(_, narrow) => narrow.widen(word) == Some(class),
            ClassWord::InHeader(shift, narrow) => {
                word.checked_shr(shift).and_then(|it| narrow.widen(it)) == Some(class)
            }
        };
        for start in (0..range.len()).step_by(8) {
            let from = usize::try_from(start.saturating_add(offset)).unwrap_or(usize::MAX);
            let word = bytes.get(from..).and_then(|rest| rest.get(..size));
            let Some(word) = word else { break };
            if wanted(target.uint(word)) {
                tell(range.start.saturating_add(start));
            }
        }
    }

    /// The object to which the reference refers that lies so far into another one; `None` of null.
    pub fn reference(&self, memory: Memory<'_>, object: Addr, offset: u64) -> Option<Addr> {
        let size = if self.narrow.is_some() { 4 } else { 8 };
        self.referred(memory, memory.uint(object, offset, size)?)
    }

    /// How many elements an array has.
    pub fn length(&self, memory: Memory<'_>, array: Addr) -> Option<u64> {
        memory.uint(array, self.length, 4).filter(|length| *length <= i32::MAX as u64)
    }

    /// How far into an array of references the first one lies.
    pub const fn elements_offset(&self) -> u64 {
        self.references
    }

    /// Where the first of the numbers of 64 bits of an array lies.
    pub fn longs(&self, array: Addr) -> Option<Addr> {
        array.checked_add(self.length.checked_add(4)?.checked_next_multiple_of(8)?)
    }

    /// Where the bytes of an array of bytes begin, or the numbers of 32 bits.
    pub fn bytes(&self, array: Addr) -> Option<Addr> {
        array.checked_add(self.bytes)
    }
}
