//! The area of the `XSAVE` instruction: which components it has, and where.

use kcore_mem::{Cursor, Target};

/// Bytes of the area of `FXSAVE`, with which it begins.
const LEGACY: usize = 512;
/// Where the kernel leaves, in bytes that `FXSAVE` does not use, which components it saves: the
/// processor's XCR0.
const SAVED: usize = 464;
/// Bytes of an entry of the note that tells the layout: type, size, offset, flags.
const ENTRY: usize = 16;

/// A component of the processor's state that holds registers shown here, by its bit in XCR0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Component {
    /// Upper halves of ymm0 to ymm15.
    Ymm = 2,
    /// k0 to k7.
    Masks = 5,
    /// Upper halves of zmm0 to zmm15.
    Zmm = 6,
    /// zmm16 to zmm31.
    HighZmm = 7,
    /// Rights of protection keys.
    Pkru = 9,
}

/// A component, its offset and its bytes.
type ComponentField = (Component, usize, usize);

/// Where processors of Intel have them.
const INTEL: [ComponentField; 5] = [
    (Component::Ymm, 576, 256),
    (Component::Masks, 1088, 64),
    (Component::Zmm, 1152, 512),
    (Component::HighZmm, 1664, 1024),
    (Component::Pkru, 2688, 8),
];

/// Where processors of AMD have them, which never had the bound registers of MPX. Areas of theirs
/// are told by their sizes, as gdb does (`i387-tdep.c`, `i387_guess_xsave_layout`).
const AMD: [ComponentField; 5] = [
    (Component::Ymm, 576, 256),
    (Component::Masks, 832, 64),
    (Component::Zmm, 896, 512),
    (Component::HighZmm, 1408, 1024),
    (Component::Pkru, 2432, 8),
];
const AMD_SIZES: [usize; 2] = [2432, 2440];
/// An area of AMD without AVX-512, whose protection keys follow AVX.
const AMD_SMALL: usize = 840;
const AMD_SMALL_PKRU: ComponentField = (Component::Pkru, 832, 8);

/// The area of one thread.
pub struct Xsave<'a> {
    area: &'a [u8],
    layout: Option<&'a [u8]>,
    saved: u64,
    in_use: u64,
}

impl<'a> Xsave<'a> {
    /// Reads its header; `None` when the area is too short for one. `layout` is the note that says
    /// where components lie, where the core has one.
    pub fn parse(area: &'a [u8], layout: Option<&'a [u8]>) -> Option<Self> {
        let word = |at: usize| area.get(at..)?.first_chunk().map(|it| u64::from_le_bytes(*it));
        Some(Self { area, layout, saved: word(SAVED)?, in_use: word(LEGACY)? })
    }

    /// The area of `FXSAVE`.
    pub fn legacy(&self) -> &'a [u8] {
        self.area.get(..LEGACY).unwrap_or_default()
    }

    /// The bytes of a component; `None` when the system does not save it, or they were cut off.
    pub fn component(&self, component: Component) -> Option<&'a [u8]> {
        let (offset, size) = self.place(component)?;
        let is_saved = self.saved & bit(component) != 0;
        is_saved.then(|| self.area.get(offset..)?.get(..size))?
    }

    /// Whether the processor said that a component is not in its initial state.
    pub const fn is_in_use(&self, component: Component) -> bool {
        self.in_use & bit(component) != 0
    }

    fn place(&self, component: Component) -> Option<(usize, usize)> {
        if let Some(layout) = self.layout {
            return told(layout, component);
        }
        let table = if AMD_SIZES.contains(&self.area.len()) { &AMD } else { &INTEL };
        let small = (self.area.len() == AMD_SMALL).then_some(&AMD_SMALL_PKRU);
        let mut places = small.into_iter().chain(table);
        let (_, offset, size) = places.find(|(known, ..)| *known == component)?;
        Some((*offset, *size))
    }
}

const fn bit(component: Component) -> u64 {
    1 << component as u64
}

/// What the note says of a component (Linux `arch/x86/include/uapi/asm/elf.h`,
/// `struct x86_xfeat_component`).
fn told(layout: &[u8], component: Component) -> Option<(usize, usize)> {
    layout.chunks_exact(ENTRY).find_map(|entry| {
        let mut cursor = Cursor::new(entry, Target::X86_64);
        let (kind, size, offset) = (cursor.u32().ok()?, cursor.u32().ok()?, cursor.u32().ok()?);
        (kind == component as u32).then_some((offset as usize, size as usize))
    })
}
