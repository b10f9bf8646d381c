//! Values that functions give: `mg.h`, `mg_vtable.h`, and of threads::shared `shared.xs`.

use kcore_mem::Addr;

use super::memory::Memory;

/// `SVt_PVMG`: only from it on values may have magic.
const FIRST: u8 = 7;
/// `SVs_GMG`, `SVs_SMG` and `SVs_RMG`.
const FLAGS: u64 = 0x00e0_0000;
/// `xmg_magic` of a body; `mg_moremagic`, `mg_type` and `mg_obj` of `MAGIC`.
const MAGIC: u64 = 8;
const NEXT: u64 = 0;
const TYPE: u64 = 18;
const OBJECT: u64 = 32;
/// `xlv_type` of `XPVLV`.
const LVALUE_TYPE: u64 = 72;
/// Magic of one value that is looked at, at most.
const MAX_MAGIC: usize = 64;
/// The class of what a shared array or hash is tied to.
const SHARED: &str = "threads::shared::tie";

impl Memory<'_> {
    /// What keeps the contents of a value where it is not the value itself: that it is tied, or shared between threads.
    pub fn kept_elsewhere(&self, value: Addr) -> Option<&'static str> {
        self.kind(value).filter(|kind| *kind >= FIRST)?;
        (self.flags(value)? & FLAGS != 0).then_some(())?;
        let first = self.pointer(self.body(value)?, MAGIC)?;
        let all = std::iter::successors(Some(first), |magic| self.pointer(*magic, NEXT));
        all.take(MAX_MAGIC).find_map(|magic| {
            match u8::try_from(self.uint(magic, TYPE, 1)?).ok()? {
                b'P' | b'p' | b'q' if self.is_shared(magic) => Some("shared"),
                b'P' | b'p' | b'q' => Some("tied"),
                b'N' | b'n' => Some("shared"),
                _ => None,
            }
        })
    }

    /// Whether a value of type `SVt_PVLV` stands for an element that is made when it is set: `$_[0]` of `f($hash{key})`.
    pub fn is_lazy_element(&self, place: Addr) -> bool {
        let kind = || self.uint(self.body(place)?, LVALUE_TYPE, 1);
        kind() == Some(u64::from(b'y'))
    }

    fn is_shared(&self, magic: Addr) -> bool {
        let object = || self.class(self.held(self.pointer(magic, OBJECT)?)?);
        object().as_deref() == Some(SHARED)
    }
}
