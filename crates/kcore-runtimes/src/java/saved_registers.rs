//! Registers of compiled code that pieces of code save which it calls: those that stop a thread, and those that leave it to
//! the virtual machine (`src/hotspot/share/compiler/oopMap.{hpp,cpp}`, `code/vmreg.hpp`, JDK 11 to 25).
//!
//! At each place where a piece calls on, a map says which words of its frame hold registers of its caller.

use kcore_mem::Addr;
use kcore_unwind::Frame;

use super::{
    blobs::Blob,
    memory::Memory,
    stream::{Coding, Stream},
    vm_structs::VmStructs,
};

/// Maps of a piece, and entries of a map, at most.
const MAX_MAPS: u64 = 1 << 16;
const MAX_ENTRIES: u64 = 1 << 12;
/// Bytes that places of a frame are counted in.
const SLOT: u64 = 4;
/// The numbers of registers lie below it, and those of places of a frame not far above.
const MAX_NUMBER: u64 = 1 << 12;

/// Where pieces of code keep their maps.
#[derive(Clone, Copy, Debug)]
pub struct SavedLayout {
    maps: u64,
    count: u64,
    /// Bytes before the pairs, of a pair, and before the entries of a map.
    headers: [u64; 3],
    place: u64,
    map: u64,
    entries: u64,
    type_bits: u32,
    type_mask: u32,
    saved: u32,
    derived: u32,
    /// The number of the first place of a frame.
    first: u32,
}

/// A register that was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedRegister {
    /// The virtual machine's number of it.
    pub number: u32,
    /// Where it was saved.
    pub at: Addr,
}

impl SavedLayout {
    /// The layout that the tables of a virtual machine describe.
    pub fn of(tables: &VmStructs, memory: Memory<'_>) -> Option<Self> {
        let constant = |name: &str| {
            u32::try_from(tables.constant(&format!("OopMapValue::{name}"))? & 0xffff_ffff).ok()
        };
        let first = memory.uint(tables.variable("VMRegImpl.stack0")?, 0, 8)?;
        Some(Self {
            maps: tables.offset("CodeBlob._oop_maps")?,
            count: tables.offset("ImmutableOopMapSet._count")?,
            headers: [
                tables.size("ImmutableOopMapSet")?,
                tables.size("ImmutableOopMapPair")?,
                tables.size("ImmutableOopMap")?,
            ],
            place: tables.offset("ImmutableOopMapPair._pc_offset")?,
            map: tables.offset("ImmutableOopMapPair._oopmap_offset")?,
            entries: tables.offset("ImmutableOopMap._count")?,
            type_bits: constant("type_bits")?,
            type_mask: constant("type_mask_in_place")?,
            saved: constant("callee_saved_value")?,
            derived: constant("derived_oop_value")?,
            first: u32::try_from(first).ok().filter(|first| u64::from(*first) < MAX_NUMBER)?,
        })
    }

    /// The registers that a piece of code saved which was called, in the frame that it has.
    pub fn of_frame(
        &self,
        memory: Memory<'_>,
        blob: &Blob,
        frame: &Frame,
        coding: Coding,
    ) -> Option<Vec<SavedRegister>> {
        let map = self.map_at(memory, blob, frame.pc.addr())?;
        let count = memory.uint(map, self.entries, 4)?.min(MAX_ENTRIES);
        let mut stream = Stream::new(memory.0, map.checked_add(self.headers[2])?, coding);
        let sp = frame.sp?;
        let mut found = Vec::new();
        for _ in 0..count {
            let word = stream.unsigned()?;
            let kind = word & self.type_mask;
            let number =
                if kind == self.saved || kind == self.derived { stream.unsigned()? } else { 0 };
            if kind != self.saved {
                continue;
            }
            let slot = (word & 0xffff).checked_shr(self.type_bits)?.checked_sub(self.first);
            let by = slot.map(|slot| u64::from(slot).saturating_mul(SLOT));
            let at = by.filter(|by| *by < blob.frame).and_then(|by| sp.checked_add(by));
            found.extend(at.map(|at| SavedRegister { number, at }));
        }
        Some(found)
    }

    /// The map of a place of a piece of code.
    fn map_at(&self, memory: Memory<'_>, blob: &Blob, pc: Addr) -> Option<Addr> {
        let all = memory.pointer(blob.span.start, self.maps)?;
        let [header, pair_size, _] = self.headers;
        let count = memory.uint(all, self.count, 4)?.min(MAX_MAPS);
        let pairs = all.checked_add(header)?;
        let wanted = pc.offset_from(blob.code)?;
        let pair = |index: u64| pairs.checked_add(index.checked_mul(pair_size)?);
        let pair = (0..count)
            .filter_map(pair)
            .find(|pair| memory.uint(*pair, self.place, 4) == Some(wanted))?;
        let behind = pairs.checked_add(count.checked_mul(pair_size)?)?;
        behind.checked_add(memory.uint(pair, self.map, 4)?)
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::{AddrRange, CodeAddr};
    use kcore_unwind::Trust;

    use super::*;
    use crate::{Host, anchor::made_host::MadeHost, java::blobs::BlobKind};

    const PIECE: u64 = 0x1_0000;
    const CODE: u64 = PIECE + 0x100;
    const MAPS: u64 = 0x2_0000;
    const STACK: u64 = 0x3_0000;
    const LAYOUT: SavedLayout = SavedLayout {
        maps: 8,
        count: 0,
        headers: [8, 8, 4],
        place: 0,
        map: 4,
        entries: 0,
        type_bits: 2,
        type_mask: 3,
        saved: 2,
        derived: 3,
        first: 0x240,
    };

    /// The registers that are found of a map with these entries.
    fn saved(count: u8, entries: &[u8], pc: u64) -> Option<Vec<SavedRegister>> {
        let mut host = MadeHost::new(&[PIECE, MAPS, STACK]);
        host.words(PIECE + 8, &[MAPS]);
        // One pair, of the place 16 bytes into the code.
        host.put(MAPS, &[1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, count, 0, 0, 0]);
        host.put(MAPS + 20, entries);
        let blob = Blob {
            kind: BlobKind::Other,
            span: AddrRange::with_len(Addr::new(PIECE), 0x1000),
            code: Addr::new(CODE),
            frame: 64,
            frame_complete: 0,
        };
        let frame = Frame {
            pc: CodeAddr::Return(Addr::new(pc)),
            sp: Some(Addr::new(STACK)),
            cfa: None,
            frame_pointer: None,
            trust: Trust::Context,
            guess: false,
            signal_trampoline: false,
            on_other_stack: false,
            calls_elsewhere: false,
        };
        LAYOUT.of_frame(Memory(host.space()), &blob, &frame, Coding::FromZero)
    }

    #[test]
    fn a_map_says_where_registers_were_saved() {
        // An object in the fourth place, r15 in the same, and a register beyond the frame.
        let entries = [208, 33, 210, 33, 30, 210, 60, 10];
        let found = saved(3, &entries, CODE + 16).unwrap();
        assert_eq!(found, [SavedRegister { number: 30, at: Addr::new(STACK + 16) }]);
    }

    #[test]
    fn another_place_or_a_damaged_map_says_nothing() {
        assert_eq!(saved(1, &[210, 33, 30], CODE + 17), None);
        assert_eq!(saved(1, &[210, 33, 30], CODE - 1), None);
        assert_eq!(saved(0, &[], CODE + 16), Some(Vec::new()));
        assert_eq!(saved(200, &[], CODE + 16), Some(Vec::new()), "no register has such a place");
    }
}
