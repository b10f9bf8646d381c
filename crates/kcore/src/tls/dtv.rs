//! The vector of a thread that holds where each module's block lies (DTV).
//!
//! glibc: entries of two words, `dtv[-1]` has their number, `dtv[0]` the generation, `dtv[n]` the
//! block of module n; -1 is one that was not allocated (`sysdeps/generic/dl-dtv.h`). A vector older
//! than the module's own generation may hold the block of an unloaded one. musl: entries of a word,
//! of which the first has the number of modules (`src/internal/pthread_impl.h`).

use kcore_elf::ImageSegment;
use kcore_mem::Addr;

use super::{
    TlsError,
    place::{Libc, TlsPlacement},
    thread_db,
};
use crate::{
    Core, Module,
    arch::{TlsLayout, facts},
};

impl Core {
    /// The block of a module that is not the executable, for the thread at `pointer`.
    pub(super) fn block_of_library(
        &self,
        pointer: Addr,
        module: &Module,
        segment: &ImageSegment,
    ) -> Result<Addr, TlsError> {
        let place = self.tls_place(module, segment);
        let known = facts(self.target()).tls.as_ref().zip(place);
        let (layout, place) =
            known.ok_or_else(|| TlsError::UnknownPlace(module.name().to_owned()))?;
        let block = match self.libc() {
            Libc::Glibc => self.glibc_block(layout, pointer, &place)?,
            Libc::Musl => self.musl_block(layout, pointer, &place)?,
        };
        let fixed = || place.offset.map(|offset| (layout.static_block)(pointer, offset));
        block.or_else(fixed).ok_or(TlsError::NotAllocated)
    }

    fn glibc_block(
        &self,
        layout: &TlsLayout,
        pointer: Addr,
        place: &TlsPlacement,
    ) -> Result<Option<Addr>, TlsError> {
        let space = self.space();
        let entry = i64::from(self.target().word).wrapping_mul(2);
        let vector = space.read_addr(pointer.wrapping_offset(layout.glibc_dtv))?;
        let count = space.read_word(vector.wrapping_offset(entry.wrapping_neg()))?;
        let generation = space.read_word(vector)?;
        let is_stale = thread_db::generation(self, place).is_some_and(|needs| needs > generation);
        if is_stale || place.number > count {
            return Ok(None);
        }
        let slot = entry.wrapping_mul(place.number.cast_signed());
        let block = space.read_word(vector.wrapping_offset(slot))?;
        Ok((block & 1 == 0 && block != 0).then_some(Addr::new(block)))
    }

    /// musl allocates blocks of loaded modules with the thread, so that they have no fixed distance.
    fn musl_block(
        &self,
        layout: &TlsLayout,
        pointer: Addr,
        place: &TlsPlacement,
    ) -> Result<Option<Addr>, TlsError> {
        let space = self.space();
        let vector = space.read_addr(pointer.wrapping_offset(layout.musl_dtv))?;
        let count = space.read_word(vector)?;
        if place.number > count {
            return Err(TlsError::NotAllocated);
        }
        let slot = i64::from(self.target().word).wrapping_mul(place.number.cast_signed());
        let block = space.read_addr(vector.wrapping_offset(slot))?;
        if block.get() == 0 { Err(TlsError::NotAllocated) } else { Ok(Some(block)) }
    }
}
