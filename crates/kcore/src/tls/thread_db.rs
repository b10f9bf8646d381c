//! What glibc tells debuggers of its own structures: symbols `_thread_db_*`, each three words of 32
//! bits that say how wide a field is, how many of it there are, and its offset (`nptl_db/db_info.c`).

use kcore_mem::Addr;

use super::place::TlsPlacement;
use crate::{Core, Module};

/// Entries of a list of modules, and lists, that are read at most.
const MAX_ENTRIES: u64 = 1 << 16;
const MAX_LISTS: usize = 1024;

/// The address of a symbol of the C library. Only it, its thread library of old, and the executable
/// that may hold it are asked.
pub fn libc_symbol(core: &Core, name: &str) -> Option<Addr> {
    let modules = core.modules();
    let libraries = modules.named("libc").chain(modules.named("libpthread"));
    let mut modules = libraries.chain(modules.exe());
    modules.find_map(|module| defined(module, name))
}

fn defined(module: &Module, name: &str) -> Option<Addr> {
    let symbol = module.symbols().table().lookup(name).filter(|symbol| symbol.is_defined())?;
    module.addr(symbol.value())
}

/// The offset of a field.
pub fn field(core: &Core, name: &str) -> Option<u64> {
    let at = libc_symbol(core, &format!("_thread_db_{name}"))?;
    core.space().read_uint(at.checked_add(8)?, 4).ok()
}

/// The size of a structure.
pub fn size(core: &Core, name: &str) -> Option<u64> {
    let at = libc_symbol(core, &format!("_thread_db_sizeof_{name}"))?;
    core.space().read_uint(at, 4).ok()
}

/// The dynamic linker's variables, `struct rtld_global`.
pub fn rtld_global(core: &Core) -> Option<Addr> {
    core.space().read_addr(libc_symbol(core, "__nptl_rtld_global")?).ok()
}

/// Where link-map entries of glibc have what belongs to thread-local storage.
#[derive(Debug)]
pub struct LinkMapFields {
    number: u64,
    offset: u64,
}

impl LinkMapFields {
    /// What glibc tells of them; `None` of another C library.
    pub fn load(core: &Core) -> Option<Self> {
        Some(Self {
            number: field(core, "link_map_l_tls_modid")?,
            offset: field(core, "link_map_l_tls_offset")?,
        })
    }

    /// What an entry says.
    pub fn read(&self, core: &Core, entry: Addr) -> Option<TlsPlacement> {
        let word = |field: u64| core.space().read_word(entry.checked_add(field)?).ok();
        TlsPlacement::checked(word(self.number)?, word(self.offset)?, entry)
    }
}

/// The generation of vectors from which on module `place.number` is the one of its entry: numbers of
/// unloaded modules are given again. Lists are `len`, `next`, then pairs of generation and entry
/// (`struct dtv_slotinfo_list`).
pub fn generation(core: &Core, place: &TlsPlacement) -> Option<u64> {
    let word = u64::from(core.target().word);
    let head = field(core, "rtld_global__dl_tls_dtv_slotinfo_list")?;
    let read = |at: Addr, index: u64| {
        core.space().read_word(at.checked_add(index.checked_mul(word)?)?).ok()
    };
    let mut list = core.space().read_addr(rtld_global(core)?.checked_add(head)?).ok()?;
    let mut index = place.number;
    for _ in 0..MAX_LISTS {
        let len = read(list, 0)?.min(MAX_ENTRIES);
        if index < len {
            let pair = index.checked_mul(2)?.checked_add(2)?;
            let entry = read(list, pair.checked_add(1)?)?;
            return (entry == place.entry.get()).then(|| read(list, pair))?;
        }
        index = index.checked_sub(len)?;
        list = Addr::new(read(list, 1).filter(|next| *next != 0)?);
    }
    None
}
