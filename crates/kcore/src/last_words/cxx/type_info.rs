//! Types as the Itanium C++ ABI describes them (2.9.5), which libstdc++ and libc++abi share.
//!
//! A `std::type_info` is its vtable and the mangled name. A `__si_class_type_info` has the one base behind that. A
//! `__vmi_class_type_info` has flags and a count of 4 bytes each, then the bases: the type, and a word whose upper 56 bits are
//! the offset of the base in the object; of a virtual one, where the vtable has that offset.

use kcore_mem::Addr;

use crate::Core;

const WORD: u64 = 8;
const NAME: u64 = 8;
const ONLY_BASE: u64 = 16;
const COUNT: u64 = 20;
const BASES: u64 = 24;
const BASE_SIZE: u64 = 16;
const VIRTUAL: u64 = 1;
const OFFSET_SHIFT: u32 = 8;
const MAX_NAME: usize = 4096;
/// Classes that are looked at for one base.
const MAX_CLASSES: usize = 64;

/// The address of a `std::type_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeInfo(pub Addr);

impl TypeInfo {
    /// The mangled name. A leading `*` says that names are compared by address, and is no part of it.
    pub fn name(self, core: &Core) -> Option<String> {
        let name = core.space().read_addr(self.0.checked_add(NAME)?).ok()?;
        let bytes = core.space().read_cstr(name, MAX_NAME).ok()?;
        let name = String::from_utf8(bytes).ok()?;
        let name = name.strip_prefix('*').unwrap_or(&name);
        (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()))
            .then(|| name.to_owned())
    }

    /// The direct bases of an object of the class, each with where it lies.
    fn bases(self, core: &Core, object: Addr) -> Vec<(Self, Addr)> {
        match self.kind(core) {
            Some(Kind::OneBase) => {
                let base = self.0.checked_add(ONLY_BASE).and_then(|at| word(core, at));
                base.map(|base| (Self(Addr::new(base)), object)).into_iter().collect()
            }
            Some(Kind::Bases) => self.several(core, object),
            None => Vec::new(),
        }
    }

    fn several(self, core: &Core, object: Addr) -> Vec<(Self, Addr)> {
        let count = self.0.checked_add(COUNT).and_then(|at| core.space().read_uint(at, 4).ok());
        let count = count.unwrap_or(0).min(MAX_CLASSES as u64);
        let base = |index: u64| {
            let at = self.0.checked_add(BASES.checked_add(index.checked_mul(BASE_SIZE)?)?)?;
            let (class, place) = (word(core, at)?, word(core, at.checked_add(WORD)?)?);
            let offset = place.cast_signed() >> OFFSET_SHIFT;
            let offset = match place & VIRTUAL {
                0 => offset,
                _ => {
                    let vtable = Addr::new(word(core, object)?);
                    word(core, vtable.wrapping_offset(offset))?.cast_signed()
                }
            };
            Some((Self(Addr::new(class)), object.wrapping_offset(offset)))
        };
        (0..count).map_while(base).collect()
    }

    /// Of which kind it is: the symbol of its own vtable tells.
    fn kind(self, core: &Core) -> Option<Kind> {
        let vtable = Addr::new(word(core, self.0)?);
        let symbol = core.symbols().at(vtable.wrapping_offset(-1))?;
        let is = |name: &str| symbol.name.contains(name);
        match () {
            () if is("__si_class_type_info") => Some(Kind::OneBase),
            () if is("__vmi_class_type_info") => Some(Kind::Bases),
            () => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    OneBase,
    Bases,
}

/// Where the base of an object lies that is one of the classes of these names, or the object itself if it is one.
pub fn base(core: &Core, class: TypeInfo, object: Addr, names: &[&str]) -> Option<Addr> {
    let mut left = vec![(class, object)];
    for _ in 0..MAX_CLASSES {
        let (class, object) = left.pop()?;
        if class.name(core).is_some_and(|name| names.contains(&name.as_str())) {
            return Some(object);
        }
        left.extend(class.bases(core, object).into_iter().rev());
    }
    None
}

fn word(core: &Core, at: Addr) -> Option<u64> {
    core.space().read_word(at).ok()
}
