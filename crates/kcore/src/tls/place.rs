//! Which number a module has in the vectors of threads, and how far from the thread pointer its
//! block lies, if that is the same for all threads.

use std::collections::HashMap;

use kcore_elf::{ImageSegment, LinkMapEntry};
use kcore_mem::Addr;

use crate::{Core, Module, tls::thread_db::LinkMapFields};

/// Bytes of a link-map entry that are searched: glibc's have 1160, musl's fewer.
const ENTRY_SIZE: u64 = 2048;

/// The C library of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Libc {
    /// glibc, of any version.
    Glibc,
    /// musl.
    Musl,
}

/// What a link-map entry says of a module's thread-local storage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TlsPlacement {
    /// Its number in the vectors of threads, from 1.
    pub number: u64,
    /// Its distance from the thread pointer, for a module that was there from the start.
    pub offset: Option<i64>,
    /// The link-map entry.
    pub entry: Addr,
}

/// What all threads have in common: found once.
#[derive(Debug)]
pub struct Linker {
    libc: Libc,
    fields: Option<LinkMapFields>,
    /// Link-map entries by the base address of their module.
    entries: HashMap<Addr, Addr>,
}

impl Linker {
    fn load(core: &Core) -> Self {
        let module_of = |entry: &LinkMapEntry| {
            core.modules().at(entry.dynamic).map(|module| (module.base(), entry.at))
        };
        // Of two entries for one module the first counts.
        let entries = core.process().link_map().iter().rev().filter_map(module_of).collect();
        Self { libc: find_libc(core), fields: LinkMapFields::load(core), entries }
    }
}

/// The C library by the names of modules, and of a static program by a function with which every
/// program of musl begins.
fn find_libc(core: &Core) -> Libc {
    let is_musl = |name: &str| name.starts_with("ld-musl-") || name == "libc.so";
    let modules = core.modules();
    let named = modules.all().iter().any(|module| is_musl(module.name()));
    let begins = |exe: &Module| exe.symbols().table().lookup("__init_libc").is_some();
    match named || (core.process().link_map().is_empty() && modules.exe().is_some_and(begins)) {
        true => Libc::Musl,
        false => Libc::Glibc,
    }
}

impl Core {
    fn linker(&self) -> &Linker {
        self.linker.get_or_build(self.budget(), || Linker::load(self))
    }

    /// Which C library the process has.
    pub(crate) fn libc(&self) -> Libc {
        self.linker().libc
    }

    /// Where a module has its thread-local storage, as the dynamic linker noted it.
    pub(super) fn tls_place(
        &self,
        module: &Module,
        segment: &ImageSegment,
    ) -> Option<TlsPlacement> {
        let linker = self.linker();
        let entry = *linker.entries.get(&module.base())?;
        let place = linker.fields.as_ref().and_then(|fields| fields.read(self, entry));
        place.or_else(|| self.place_by_content(module, segment, entry))
    }

    /// The fields of an entry by those beside them, whose values the program header tells. glibc:
    /// `l_tls_initimage`, `l_tls_initimage_size`, `l_tls_blocksize`, `l_tls_align`,
    /// `l_tls_firstbyte_offset`, then `l_tls_offset` and `l_tls_modid` (`include/link.h`). musl:
    /// `image`, `len`, `size`, `align`, then `offset` and `tls_id` (`src/internal/libc.h`,
    /// `ldso/dynlink.c`).
    fn place_by_content(
        &self,
        module: &Module,
        segment: &ImageSegment,
        entry: Addr,
    ) -> Option<TlsPlacement> {
        let image = module.addr(segment.svma)?.get();
        let align = segment.align.max(1);
        let first_byte = segment.svma.get() & align.wrapping_sub(1);
        let before = match self.libc() {
            Libc::Glibc => {
                vec![image, segment.file_size, segment.mem_size, segment.align, first_byte]
            }
            Libc::Musl => vec![image, segment.file_size, segment.mem_size, segment.align],
        };
        let words = self.words_of_entry(entry);
        let at = words.windows(before.len()).position(|window| window == before)?;
        let after = words.get(at.checked_add(before.len())?..)?;
        let (offset, number) = (*after.first()?, *after.get(1)?);
        TlsPlacement::checked(number, offset, entry)
    }

    fn words_of_entry(&self, at: Addr) -> Vec<u64> {
        let bytes = self.space().read_held(at, ENTRY_SIZE);
        let word = self.target().word_size().max(1);
        bytes.chunks_exact(word).map(|word| self.target().uint(word)).collect()
    }
}

impl TlsPlacement {
    /// A place with a number that the dynamic linker gives. It says 0, -1 or -2 where there is no
    /// distance (`NO_TLS_OFFSET`, `FORCED_DYNAMIC_TLS_OFFSET`).
    pub fn checked(number: u64, offset: u64, entry: Addr) -> Option<Self> {
        let offset = offset.cast_signed();
        let offset = (![0, -1, -2].contains(&offset)).then_some(offset);
        (number != 0).then_some(Self { number, offset, entry })
    }
}
