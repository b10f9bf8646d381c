//! The process as allocators see it.

use kcore_heap::{HeapHost, HeapMapping, HeapModule};
use kcore_mem::{Addr, AddrRange, AddressSpace, Budget};
use kcore_symbols::{Member, MemberPlace, Type, TypeKind};

use crate::{Core, Mapping, MappingKind, Module, SymbolKind, Tid};

/// Symbols with a suffix that are told of, at most.
const MAX_SYMBOLS: usize = 64;

impl HeapHost for Core {
    fn space(&self) -> &dyn AddressSpace {
        Self::space(self)
    }

    fn budget(&self) -> Option<&Budget> {
        Some(Self::budget(self))
    }

    fn regions(&self) -> Vec<AddrRange> {
        let mut held = Self::space(self).regions();
        self.cut_repetitions(&mut held);
        held.into_iter().map(|region| region.range).collect()
    }

    fn modules(&self) -> Vec<&dyn HeapModule> {
        Self::modules(self).in_scope_order().map(|module| module as &dyn HeapModule).collect()
    }

    fn mappings(&self) -> &[HeapMapping] {
        let mappings = || joined(Self::mappings(self).iter().map(heap_mapping));
        self.native_heaps.mappings.get_or_init(mappings)
    }

    fn threads(&self) -> Vec<Tid> {
        self.tids()
    }

    fn thread_pointer(&self, thread: Tid) -> Option<Addr> {
        self.tls().pointer(thread)
    }

    fn thread_local(&self, thread: Tid, module: &dyn HeapModule, name: &str) -> Option<Addr> {
        let module = Self::modules(self).at(module.span().start)?;
        let symbol = module.symbols().table().lookup(name)?;
        self.tls().symbol(thread, module, &symbol).ok()
    }
}

/// Mappings of no file that follow each other with the same rights, as one. The kernel keeps neighbours apart that have
/// different histories: what a child adds by `brk` lies behind what it has from its parent.
fn joined(mappings: impl Iterator<Item = HeapMapping>) -> Vec<HeapMapping> {
    let mut all: Vec<HeapMapping> = Vec::new();
    for mapping in mappings {
        let last = all.last_mut().filter(|last| is_more_of(last, &mapping));
        match last {
            Some(last) => {
                last.range.end = mapping.range.end;
                last.is_brk |= mapping.is_brk;
            }
            None => all.push(mapping),
        }
    }
    all
}

fn is_more_of(last: &HeapMapping, next: &HeapMapping) -> bool {
    let rights = |it: &HeapMapping| (it.readable, it.writable);
    last.range.end == next.range.start
        && !last.is_file
        && !next.is_file
        && rights(last) == rights(next)
}

fn heap_mapping(mapping: &Mapping) -> HeapMapping {
    HeapMapping {
        range: mapping.range,
        readable: mapping.may_be_read(),
        writable: mapping.flags.is_none_or(|flags| flags & 2 != 0),
        is_file: matches!(mapping.kind, MappingKind::File { .. }),
        is_brk: mapping.kind == MappingKind::Heap,
    }
}

impl HeapModule for Module {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn span(&self) -> AddrRange {
        Self::span(self)
    }

    fn data(&self) -> Vec<AddrRange> {
        let data = self.segments().iter().filter(|it| it.is_load() && it.is_writable());
        { data }
            .filter_map(|it| Some(AddrRange::with_len(Self::addr(self, it.svma)?, it.mem_size)))
            .collect()
    }

    /// Linkers that do not keep code apart put constants into the segment of the code: that comes last.
    fn constants(&self) -> Vec<AddrRange> {
        let constants = self.segments().iter().filter(|it| it.is_load() && !it.is_writable());
        let mut constants: Vec<_> = constants.collect();
        constants.sort_by_key(|segment| segment.is_executable());
        { constants.into_iter() }
            .filter_map(|it| Some(AddrRange::with_len(Self::addr(self, it.svma)?, it.file_size)))
            .collect()
    }

    fn exported(&self, name: &str) -> Option<(Addr, u64)> {
        let (svma, size) = kcore_runtimes::HostModule::exported(self, name)?;
        Some((Self::addr(self, svma)?, size))
    }

    fn symbol(&self, name: &str) -> Option<(Addr, u64)> {
        let symbol = Self::symbols(self).table().lookup(name)?;
        let at = Self::addr(self, symbol.value())?;
        (symbol.kind() != SymbolKind::Tls).then(|| (at, symbol.size()))
    }

    fn symbols_ending(&self, suffix: &str) -> Vec<(String, Addr, u64)> {
        let symbols = Self::symbols(self).table().iter();
        let ending = symbols.filter(|symbol| symbol.name().ends_with(suffix.as_bytes()));
        let told = ending.filter_map(|symbol| {
            let name = String::from_utf8_lossy(symbol.name()).into_owned();
            Some((name, Self::addr(self, symbol.value())?, symbol.size()))
        });
        told.take(MAX_SYMBOLS).collect()
    }

    fn type_size(&self, name: &str) -> Option<u64> {
        defined(self, name)?.size()
    }

    fn member(&self, of: &str, path: &[&str]) -> Option<(u64, u64)> {
        let mut ty = defined(self, of)?;
        let mut offset = 0_u64;
        for name in path {
            let (at, member) = member_of(&ty, name, 0)?;
            offset = offset.checked_add(at)?;
            ty = member;
        }
        Some((offset, ty.size()?))
    }
}

/// The definition of a type in a module's debug information.
fn defined(module: &Module, name: &str) -> Option<Type> {
    let types = module.symbols().debug_info()?.find_types(name);
    types.into_iter().find(|ty| !ty.node().is_declaration && ty.size().is_some())
}

/// Where a member lies in a type, and its own type. Those of anonymous members are those of the whole.
fn member_of(ty: &Type, name: &str, depth: u32) -> Option<(u64, Type)> {
    const MAX_DEPTH: u32 = 8;
    let ty = ty.stripped().ok()?;
    let TypeKind::Composite(composite) = &ty.node().kind else { return None };
    let within = |member: &Member| {
        let MemberPlace::Offset(at) = member.place else { return None };
        let own = ty.follow(&member.ty).ok()?;
        match &member.name {
            Some(own_name) => (own_name.as_ref() == name).then_some((at, own)),
            None if depth < MAX_DEPTH => {
                let (inner, found) = member_of(&own, name, depth.saturating_add(1))?;
                Some((at.checked_add(inner)?, found))
            }
            None => None,
        }
    };
    composite.members.iter().find_map(within)
}
