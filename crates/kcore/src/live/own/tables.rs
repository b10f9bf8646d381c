//! Unwind tables of the process, copied so that a library may be unloaded while they are read.

use std::{collections::HashMap, sync::Arc};

use kcore_elf::{MemoryImage, core_file::MapLine};
use kcore_live::LiveError;
use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_unwind::{
    Cfi, CfiBuilder, Machine,
    in_place::{Tables, TablesBuilder},
};

use super::{OwnProcess, space::OwnSpace};
use crate::module_cfi;

/// `p_flags` of what may be executed.
const EXECUTE: u32 = 1;
/// Bytes of a header by which a module is told from another one that was loaded in its place.
const HEADER: u64 = 4096;

/// Unwind information of modules, by where they lie and the bytes of their headers.
#[derive(Default)]
pub struct CopiedCfi {
    modules: HashMap<AddrRange, Copied>,
    /// Where code may run.
    code: Vec<AddrRange>,
}

/// What was copied of one module.
struct Copied {
    header: Vec<u8>,
    /// Nothing where it has none.
    cfi: Option<Arc<Cfi>>,
}

/// A module in memory.
struct Mapped {
    /// From its first mapping to its last one.
    range: AddrRange,
}

impl OwnProcess {
    /// Tables for walks in signal handlers, of the code that is mapped now; `None` when that is the same as
    /// the last time. What was copied before is not copied again.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn changed_tables(
        &mut self,
        machine: Box<dyn Machine>,
    ) -> Result<Option<Tables>, LiveError> {
        // The first thread, by which the process is known, may have ended.
        self.process.look_again();
        let maps = self.maps()?;
        let code = maps.iter().filter(|map| map.flags & EXECUTE != 0).map(|map| map.range);
        let code: Vec<AddrRange> = code.collect();
        let is_new = self.copy_modules(&modules(&maps)) | (code != self.copied.code);
        if !is_new {
            return Ok(None);
        }
        let mut tables = TablesBuilder::new(machine, code.clone());
        for (range, copied) in &self.copied.modules {
            if let Some(cfi) = &copied.cfi {
                tables = tables.module(*range, cfi.clone());
            }
        }
        self.copied.code = code;
        Ok(Some(tables.build()))
    }

    /// Copies what is new, and forgets what is gone; says whether there was any.
    fn copy_modules(&mut self, mapped: &[Mapped]) -> bool {
        let mut old = std::mem::take(&mut self.copied.modules);
        let mut is_new = false;
        for Mapped { range } in mapped {
            let header = self.read(range.start, HEADER.min(range.len()));
            if !header.starts_with(b"\x7fELF") {
                continue;
            }
            let known = old.remove(range).filter(|known| known.header == header);
            is_new |= known.is_none();
            let copy = || self.copy(range.start).map(Arc::new);
            let copied = known.unwrap_or_else(|| Copied { header, cfi: copy() });
            self.copied.modules.insert(*range, copied);
        }
        is_new || !old.is_empty()
    }

    fn copy(&self, base: Addr) -> Option<Cfi> {
        let pages = self.pages();
        let space = OwnSpace { pages: &pages, target: self.process.target() };
        let image = MemoryImage::load(&space, base)?;
        let builder = CfiBuilder::new(space.target(), image.bias);
        let read = |at, len| self.read(at, len);
        module_cfi::from_memory(builder, &image, space.target(), &read).map(CfiBuilder::build)
    }

    /// The bytes from `at` on as far as they can be read.
    fn read(&self, at: Addr, len: u64) -> Vec<u8> {
        self.memory.read_held(AddrRange::with_len(at, len))
    }
}

/// What is mapped from the beginning of a file, and the mappings of the same file behind it; the vdso.
fn modules(maps: &[MapLine]) -> Vec<Mapped> {
    let mut found: Vec<Mapped> = Vec::new();
    let mut last: Option<&MapLine> = None;
    for map in maps {
        let begins = map.name == b"[vdso]" || (map.is_file() && map.offset.get() == 0);
        let goes_on = last.is_some_and(|last| last.inode == map.inode && last.name == map.name);
        if begins && !(goes_on && map.offset.get() != 0) {
            found.push(Mapped { range: map.range });
            last = Some(map);
        } else if goes_on && let Some(module) = found.last_mut() {
            module.range.end = map.range.end;
        }
    }
    found
}
