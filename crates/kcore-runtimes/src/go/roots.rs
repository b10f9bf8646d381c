//! Where the roots lie from which a module is decoded: `runtime.moduledata` and `runtime.allgs`.
//!
//! By sections and symbols, or in their absence by a search of the module's data for what proves itself.

use kcore_elf::Image;
use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{
    goroutine::SELF,
    tables::{MAGIC_18, MAGIC_20},
};
use crate::{Host, HostModule};

/// Sections that hold the tables of functions; the second one in files that may lie anywhere.
const TABLES: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];
/// The section that is `runtime.moduledata`, since Go 1.26.
const MODULE: &str = ".go.module";
const MODULE_SYMBOL: &str = "runtime.firstmoduledata";
/// Sections that are searched.
const DATA: [&str; 5] = [".noptrdata", ".data", ".noptrbss", ".bss", ".data.rel.ro"];
const ZEROS: [&str; 4] = [".bss", ".noptrbss", ".data", ".noptrdata"];
/// How tables begin that are known.
const MAGICS: [u64; 2] = [MAGIC_18 as u64, MAGIC_20 as u64];
/// Where the header of the tables says where names begin, and where `runtime.moduledata` has that.
const NAMES_OFFSET: u64 = 32;

/// All goroutines, a slice, and more of them than any process has.
const GOROUTINES_SYMBOL: &str = "runtime.allgs";
pub const MAX_GOROUTINES: u64 = 1 << 26;
/// First goroutines that must prove themselves.
const PROVEN: u64 = 4;
/// Bytes of one section that are searched, at most.
const MAX_SEARCHED: u64 = 64 << 20;

/// The section of the tables of functions in a file that Go's linker made, where the system's linker left them one.
pub fn tables_section(image: &Image) -> Option<&'static str> {
    TABLES.into_iter().find(|name| image.section(name).is_some())
}

/// Where a section lies in the process.
pub fn section(module: &dyn HostModule, name: &str) -> Option<AddrRange> {
    let section = module.image()?.section(name)?;
    Some(AddrRange::with_len(module.addr(section.svma)?, section.size))
}

/// Where a module's `runtime.moduledata` lies: by its section, its symbol, or what it says of its tables, which lie at
/// `tables` if they have a section of their own.
pub fn module_data(host: &dyn Host, module: &dyn HostModule, tables: Option<Addr>) -> Option<Addr> {
    let (space, span) = (host.space(), module.span());
    let is_one = |at: Addr| {
        let head = space.read_addr(at).ok().filter(|head| tables.is_none_or(|it| it == *head));
        head.is_some_and(|head| span.contains(head) && names_follow(space, at, head) == Some(true))
    };
    let by_section = section(module, MODULE).map(|section| section.start);
    let known = by_section.or_else(|| symbol(module, MODULE_SYMBOL));
    known.filter(|at| is_one(*at)).or_else(|| {
        let words = |name: &str| search(host, section(module, name)?, &is_one);
        DATA.into_iter().find_map(words)
    })
}

/// Whether tables begin at `head`, and the word behind `at`, which points to them, is where they say that names lie.
fn names_follow(space: &dyn AddressSpace, at: Addr, head: Addr) -> Option<bool> {
    let names = space.read_addr(at.checked_add(8)?).ok()?;
    let offset = names.offset_from(head)?;
    let is_magic = MAGICS.contains(&space.read_uint(head, 4).ok()?);
    Some(is_magic && space.read_word(head.checked_add(NAMES_OFFSET)?).ok()? == offset)
}

/// Where the `runtime.allgs` of a module lies, if it has one of its own.
pub fn all_goroutines(host: &dyn Host, module: &dyn HostModule) -> Option<Addr> {
    if let Some(at) = symbol(module, GOROUTINES_SYMBOL) {
        return Some(at);
    }
    let space = host.space();
    search_zeros(host, module, &|at| proven(space, at).unwrap_or_default())
}

/// The first word that `is_it` accepts of a module's data, zeroed data first.
pub fn search_zeros(
    host: &dyn Host,
    module: &dyn HostModule,
    is_it: &dyn Fn(Addr) -> bool,
) -> Option<Addr> {
    ZEROS.into_iter().find_map(|name| search(host, section(module, name)?, is_it))
}

/// Whether a slice of goroutines lies at an address: each of the first ones points at itself.
fn proven(space: &dyn AddressSpace, at: Addr) -> Option<bool> {
    let word = |at: Addr, offset: u64| space.read_word(at.checked_add(offset)?).ok();
    let (start, len, capacity) = (word(at, 0)?, word(at, 8)?, word(at, 16)?);
    if start == 0 || start % 8 != 0 || len == 0 || len > capacity || capacity > MAX_GOROUTINES {
        return None;
    }
    let mut first = (0..len.min(PROVEN)).map(|number| {
        let goroutine = Addr::new(word(Addr::new(start), number.checked_mul(8)?)?);
        (word(goroutine, SELF)? == goroutine.get()).then_some(())
    });
    Some(first.all(|proof| proof.is_some()))
}

/// Where a symbol of a module lies.
pub fn symbol(module: &dyn HostModule, name: &str) -> Option<Addr> {
    module.addr(module.symbols().table().lookup(name)?.value())
}

/// Tells of each word of a module's data.
pub fn each_word(host: &dyn Host, module: &dyn HostModule, told: &mut dyn FnMut(Addr)) {
    for range in DATA.into_iter().filter_map(|name| section(module, name)) {
        let words = range.len().min(MAX_SEARCHED) / 8;
        let halted = || host.budget().is_some_and(|budget| budget.is_halted());
        let all = (0..words).map(|number| range.start.saturating_add(number.saturating_mul(8)));
        all.take_while(|at| at.get() % 0x1000 != 0 || !halted()).for_each(&mut *told);
    }
}

/// The first word of a range that `is_it` accepts.
fn search(host: &dyn Host, range: AddrRange, is_it: &dyn Fn(Addr) -> bool) -> Option<Addr> {
    let start = range.start.get().checked_next_multiple_of(8)?;
    let end = range.end.get().min(start.checked_add(MAX_SEARCHED)?);
    let halted = || host.budget().is_some_and(|budget| budget.is_halted());
    let mut words = (start..end).step_by(8);
    words
        .find(|at| (*at % 0x1000 == 0 && halted()) || is_it(Addr::new(*at)))
        .map(Addr::new)
        .filter(|at| is_it(*at))
}
