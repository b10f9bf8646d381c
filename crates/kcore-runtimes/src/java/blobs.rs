//! The pieces of code in HotSpot's code cache (`src/hotspot/share/memory/heap.{hpp,cpp}`, `code/codeBlob.hpp`).
//!
//! The cache is up to four heaps. Each is cut into segments, and has a byte for each of them: how many segments before it
//! the piece began, or at least that many; 0xff where none is.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::vm_structs::VmStructs;

/// What a heap keeps before each piece.
const HEADER: &str = "HeapBlock";

/// Heaps, at most.
const MAX_HEAPS: u64 = 16;
/// Steps back from a segment to the first of its piece, at most: each is 254 segments.
const MAX_BACK: usize = 4096;
/// In the map: no piece.
const FREE: u64 = 0xff;
/// Bytes of a name, at most.
const MAX_NAME: usize = 64;
/// Words of a frame, at most.
const MAX_FRAME: u64 = 1 << 16;

/// The code cache.
pub struct CodeCache {
    heaps: Vec<Heap>,
    layout: Layout,
}

struct Heap {
    code: AddrRange,
    map: AddrRange,
    log2_segment: u32,
}

/// Where the fields of a piece lie.
struct Layout {
    header: u64,
    name: u64,
    size: u64,
    frame_size: u64,
    frame_complete: u64,
    begin: Begin,
}

/// How a piece says where its instructions begin: by an address, or since JDK 23 by an offset.
enum Begin {
    Address(u64),
    Offset(u64),
}

/// A piece of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blob {
    /// What it is.
    pub kind: BlobKind,
    /// From its description, the `CodeBlob`, to the end of all that belongs to it.
    pub span: AddrRange,
    /// Where its instructions begin.
    pub code: Addr,
    /// The bytes of a frame of it, its return address among them; 0 where it has none.
    pub frame: u64,
    /// How far into its instructions a frame is complete.
    pub frame_complete: u64,
}

/// What a piece of code is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlobKind {
    /// The interpreter.
    Interpreter,
    /// A compiled method, or the code by which Java calls a native one.
    Method,
    /// What calls the virtual machine from compiled code, and others that keep a frame of one size.
    Other,
    /// Stubs, each with conventions of its own.
    Stubs,
}

impl CodeCache {
    /// The cache, as the tables describe it.
    pub fn read(tables: &VmStructs, space: &dyn AddressSpace) -> Option<Self> {
        let layout = Layout::of(tables)?;
        let array = space.read_addr(tables.variable("CodeCache._heaps")?).ok()?;
        let len = tables.offset("GrowableArrayBase._len");
        let len = len.or_else(|| tables.offset("GenericGrowableArray._len"))?;
        let len = space.read_uint(array.checked_add(len)?, 4).ok()?;
        let data = array.checked_add(tables.offset("GrowableArray<int>._data")?)?;
        let data = space.read_addr(data).ok()?;
        let heap = |index: u64| {
            let at = space.read_addr(data.checked_add(index.checked_mul(8)?)?).ok()?;
            Heap::read(at, tables, space)
        };
        let heaps: Vec<Heap> = (0..len.min(MAX_HEAPS)).filter_map(heap).collect();
        (!heaps.is_empty()).then_some(Self { heaps, layout })
    }

    /// Whether an address lies in the cache, whatever is there.
    pub fn contains(&self, at: Addr) -> bool {
        self.heaps.iter().any(|heap| heap.code.contains(at))
    }

    /// What a piece of code is called.
    pub fn name(&self, blob: &Blob, space: &dyn AddressSpace) -> Option<String> {
        let name = space.read_addr(blob.span.start.checked_add(self.layout.name)?).ok()?;
        String::from_utf8(space.read_cstr(name, MAX_NAME).ok()?).ok()
    }

    /// The piece of code that contains the address `at`.
    pub fn at(&self, at: Addr, space: &dyn AddressSpace) -> Option<Blob> {
        let heap = self.heaps.iter().find(|heap| heap.code.contains(at))?;
        let block = heap.block(at, space)?;
        let blob = self.layout.load(block.checked_add(self.layout.header)?, space)?;
        (blob.span.contains(at) && blob.code <= at && heap.code.contains(blob.code)).then_some(blob)
    }
}

impl Heap {
    fn read(at: Addr, tables: &VmStructs, space: &dyn AddressSpace) -> Option<Self> {
        let field = |name: &str| at.checked_add(tables.offset(name)?);
        let range = |name: &str| {
            let end = |field: &str| {
                let at = at.checked_add(tables.offset(name)?)?;
                space.read_addr(at.checked_add(tables.offset(field)?)?).ok()
            };
            Some(AddrRange::new(end("VirtualSpace._low")?, end("VirtualSpace._high")?))
        };
        let log2_segment = space.read_uint(field("CodeHeap._log2_segment_size")?, 4).ok()?;
        let log2_segment =
            u32::try_from(log2_segment).ok().filter(|log2| (3..=16).contains(log2))?;
        Some(Self {
            code: range("CodeHeap._memory")?,
            map: range("CodeHeap._segmap")?,
            log2_segment,
        })
    }

    /// Where the piece begins that holds `at`, with what the heap keeps of it.
    fn block(&self, at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
        let mut segment = at.offset_from(self.code.start)?.checked_shr(self.log2_segment)?;
        for _ in 0..MAX_BACK {
            let place = self.map.start.checked_add(segment).filter(|at| self.map.contains(*at))?;
            match space.read_uint(place, 1).ok()? {
                0 => return self.code.start.checked_add(segment.checked_shl(self.log2_segment)?),
                FREE => return None,
                back => segment = segment.checked_sub(back)?,
            }
        }
        None
    }
}

impl Layout {
    fn of(tables: &VmStructs) -> Option<Self> {
        let by_address = tables.offset("CodeBlob._code_begin").map(Begin::Address);
        let by_offset = || tables.offset("CodeBlob._code_offset").map(Begin::Offset);
        Some(Self {
            header: tables.size(HEADER)?,
            name: tables.offset("CodeBlob._name")?,
            size: tables.offset("CodeBlob._size")?,
            frame_size: tables.offset("CodeBlob._frame_size")?,
            frame_complete: tables.offset("CodeBlob._frame_complete_offset")?,
            begin: by_address.or_else(by_offset)?,
        })
    }

    fn load(&self, at: Addr, space: &dyn AddressSpace) -> Option<Blob> {
        let int = |offset| space.read_uint(at.checked_add(offset)?, 4).ok();
        let name = space.read_addr(at.checked_add(self.name)?).ok()?;
        let name = space.read_cstr(name, MAX_NAME).ok()?;
        let code = match self.begin {
            Begin::Address(offset) => space.read_addr(at.checked_add(offset)?).ok()?,
            Begin::Offset(offset) => at.checked_add(int(offset)?)?,
        };
        let frame = int(self.frame_size)?;
        Some(Blob {
            kind: BlobKind::of(&name),
            span: AddrRange::with_len(at, int(self.size)?),
            code,
            frame: if frame <= MAX_FRAME { frame.checked_mul(8)? } else { 0 },
            // 16 bits since JDK 23.
            frame_complete: match self.begin {
                Begin::Address(_) => int(self.frame_complete)?,
                Begin::Offset(_) => {
                    space.read_uint(at.checked_add(self.frame_complete)?, 2).ok()?
                }
            },
        })
    }
}

impl BlobKind {
    fn of(name: &[u8]) -> Self {
        match name {
            b"Interpreter" => Self::Interpreter,
            b"nmethod" | b"native nmethod" => Self::Method,
            _ if name.starts_with(b"StubRoutines") => Self::Stubs,
            _ => Self::Other,
        }
    }
}
