//! The symbols of one module: collected as the files list them, sorted when first asked for.

mod among_all;

use std::{
    cmp::Ordering,
    sync::{PoisonError, RwLock, atomic::AtomicU32},
};

use kcore_elf::{Image, ImageSection, ImageSymbol, SymbolBinding, SymbolKind, SymbolTableKind};
use kcore_mem::{Budget, Built, Svma, Watch, sorted_within};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    aliases::{Aliases, AliasesByAddress, Choice, FEW},
    cover::{Cover, Span},
    go_functions::GoFunctions,
    lookup::NameIndex,
    names::{Arena, NameAt, NameStore},
    nearby::Nearby,
    plt,
    preference::{compare, is_marker},
    symbol::{Entry, RawSymbol, SymbolId, SymbolRef, SymbolSource},
};

const SHF_EXECINSTR: u64 = 4;
/// Names whose search is remembered; beyond it all are forgotten.
const MAX_KNOWN: usize = 1 << 10;

/// The symbols of one module.
///
/// Collecting copies no name and demangles none: names stay in the files, which the table keeps
/// mapped. What needs an order is made when it is first needed.
#[derive(Debug, Default)]
pub struct SymbolTable {
    entries: Vec<Entry>,
    names: NameStore,
    sections: Vec<SectionEnd>,
    /// Says when what is made of the symbols has to end.
    budget: Budget,
    nearby: Built<Nearby>,
    aliases: AliasesByAddress,
    order: Built<Order>,
    by_name: Built<NameIndex>,
    /// Names that were searched for among those of languages, and what they name.
    demangled: RwLock<FxHashMap<Box<str>, Option<SymbolId>>>,
    /// How many addresses were searched for among all symbols.
    searches: AtomicU32,
}

/// How far symbols of a section without a size may reach.
#[derive(Clone, Copy, Debug)]
struct SectionEnd {
    end: u64,
    code: bool,
}

/// The symbols that have an address, by address.
#[derive(Debug, Default)]
struct Order {
    by_start: Vec<u32>,
    cover: Built<Cover>,
}

impl SymbolTable {
    /// The symbols of a module's file and of its separate debug file: `.symtab` of both without
    /// duplicates, `.dynsym`, and names for the entries of the procedure linkage table; of a file that Go's linker made
    /// and that has no `.symtab`, the functions that its runtime knows. Of none when the command has to end: what lies
    /// between two symbols that are known would be taken for a part of the first.
    pub fn from_images(image: Option<&Image>, debug: Option<&Image>) -> Self {
        let budget = image.or(debug).map(|image| image.budget().clone()).unwrap_or_default();
        let nothing = Self { budget, ..Self::default() };
        let mut table = Self { budget: nothing.budget.clone(), ..Self::default() };
        if table.add_images(image, debug).is_some() { table } else { nothing }
    }

    /// `None` when the command has to end.
    fn add_images(&mut self, image: Option<&Image>, debug: Option<&Image>) -> Option<()> {
        for file in [image, debug].into_iter().flatten() {
            self.add_full(file)?;
        }
        if self.entries.is_empty() {
            self.add_go_functions(image)?;
        }
        for file in [image, debug].into_iter().flatten() {
            self.add(file, SymbolTableKind::Dynamic)?;
        }
        let sections = image.or(debug).map(Image::sections).unwrap_or_default();
        self.sections = sections.iter().map(SectionEnd::of).collect();
        self.add_linkage_entries(image);
        Some(())
    }

    /// The symbols that were read elsewhere, such as the dynamic symbols in the memory of a
    /// process. Without section headers, code without a size reaches to the next symbol.
    pub fn from_raw(symbols: Vec<RawSymbol>) -> Self {
        let mut table = Self::default();
        let mut arena = Arena::new(0);
        table.entries = symbols
            .iter()
            .map(|symbol| Entry {
                value: symbol.value,
                size: symbol.size,
                name: arena.keep(&symbol.name),
                index: symbol.index,
                section: symbol.section,
                other: symbol.other,
                kind: symbol.kind,
                binding: symbol.binding,
                source: SymbolSource::Memory,
                loaded: true,
            })
            .collect();
        table.names.add(arena.into_bytes());
        table
    }

    /// The symbol that covers `svma`: of those that reach it the one that begins last, at equal
    /// starts by MDB's preferences. Code without a size covers what lies before the next symbol
    /// and within its section; data without a size covers nothing.
    pub fn find(&self, svma: Svma) -> Option<SymbolRef<'_>> {
        self.find_nearby(svma)
            .or_else(|| self.find_among_all(svma))
            .or_else(|| self.find_covering(svma))
    }

    /// Makes ready what an address is looked up in.
    pub(crate) fn prepare(&self) {
        self.last_before(0);
    }

    /// The answer where no other can be: of the symbols that begin last before `svma` all have a
    /// size, and some reach it.
    fn find_nearby(&self, svma: Svma) -> Option<SymbolRef<'_>> {
        let here = self.last_before(svma.get())?;
        if here.len() > FEW {
            return self.find_in_group(&here, svma);
        }
        let here: Vec<SymbolRef<'_>> =
            here.into_iter().filter_map(|id| self.get(SymbolId(id))).collect();
        if here.iter().any(|symbol| symbol.size() == 0) {
            return None;
        }
        let end = |symbol: &SymbolRef<'_>| symbol.value().get().saturating_add(symbol.size());
        here.into_iter()
            .filter(|symbol| svma.get() < end(symbol))
            .max_by(|a, b| compare(&self.names, a.entry, b.entry))
    }

    /// The same of many symbols at one address.
    fn find_in_group(&self, here: &[u32], svma: Svma) -> Option<SymbolRef<'_>> {
        let start = self.start(*here.first()?);
        let group = || {
            let mut ids = here.to_vec();
            ids.sort_unstable_by(|a, b| self.prefer(*b, *a));
            let sized =
                ids.iter().filter_map(|id| Some((self.entries.get(*id as usize)?.size, *id)));
            Aliases::new(start, sized.map(|(size, id)| (start.saturating_add(size), id)))
        };
        match self.aliases.choose(start, svma.get(), group) {
            Choice::Known(id) => self.get(SymbolId(id?)),
            Choice::Unsized => None,
        }
    }

    fn find_covering(&self, svma: Svma) -> Option<SymbolRef<'_>> {
        let order = self.order();
        let cover = order.cover.get_or_build(&self.budget, || {
            let spans: Vec<_> = order.by_start.iter().filter_map(|id| self.span(*id)).collect();
            Cover::new(&spans)
        });
        cover.find(svma.get()).and_then(|id| self.get(SymbolId(id)))
    }

    /// The symbol whose start is nearest to `svma` on either side; at equal distance the one
    /// before it.
    pub fn find_nearest(&self, svma: Svma) -> Option<SymbolRef<'_>> {
        let by_start = &self.order().by_start;
        let after = by_start.partition_point(|id| self.start(*id) <= svma.get());
        let next = by_start.get(after).copied();
        let next = next.and_then(|id| self.find_exact(self.start(id)));
        let before = after.checked_sub(1).and_then(|at| by_start.get(at)).copied();
        let before = before.and_then(|id| self.get(SymbolId(id)));
        let distance = |symbol: &SymbolRef<'_>| symbol.value().get().abs_diff(svma.get());
        [before, next].into_iter().flatten().min_by_key(distance)
    }

    /// The last symbol that begins at or before `svma`, whether it reaches that far or not.
    pub fn find_before(&self, svma: Svma) -> Option<SymbolRef<'_>> {
        let by_start = &self.order().by_start;
        let after = by_start.partition_point(|id| self.start(*id) <= svma.get());
        let last = *by_start.get(after.checked_sub(1)?)?;
        self.get(SymbolId(last))
    }

    /// The preferred symbol that begins at `start`.
    fn find_exact(&self, start: u64) -> Option<SymbolRef<'_>> {
        let last = match self.last_before(start) {
            Some(here) => here.into_iter().max_by(|a, b| self.prefer(*a, *b))?,
            None => {
                let by_start = &self.order().by_start;
                let after = by_start.partition_point(|id| self.start(*id) <= start);
                *by_start.get(after.checked_sub(1)?)?
            }
        };
        self.get(SymbolId(last)).filter(|symbol| symbol.value().get() == start)
    }

    /// The symbols that begin last at or before `at`; `None` where the order must be asked.
    fn last_before(&self, at: u64) -> Option<Vec<u32>> {
        let nearby = self.nearby.get_or_build(&self.budget, || Nearby::new(self.placed(0)));
        nearby.last_before(at, |id| self.start(id))
    }

    /// The symbols from the entry `first` on that have an address and a name for people, by start.
    fn placed(&self, first: usize) -> impl Iterator<Item = (u64, u32)> + Clone {
        let entries = (0..).zip(&self.entries).skip(first);
        let placed = entries.filter(|(_, entry)| entry.has_address() && !self.is_marker(entry));
        placed.map(|(id, entry)| (entry.value.get(), id))
    }

    /// The symbol of this name, a defined one before an undefined one, by MDB's preferences. With
    /// or without a version; a C++ or Rust name as the source spells it, with or without its
    /// parameters, is found too.
    pub fn lookup(&self, name: &str) -> Option<SymbolRef<'_>> {
        let index = self.by_name.get_or_build(&self.budget, || NameIndex::new(self));
        index.find(self, name.as_bytes()).or_else(|| self.lookup_demangled(name))
    }

    /// The symbols of data that have this raw name and an address, each address once. With versions or
    /// without.
    pub fn data_named(&self, name: &str) -> Vec<SymbolRef<'_>> {
        let index = self.by_name.get_or_build(&self.budget, || NameIndex::new(self));
        let all = index.all(self, name.as_bytes());
        let is_data =
            |kind| matches!(kind, SymbolKind::Object | SymbolKind::Common | SymbolKind::Tls);
        let mut found: Vec<SymbolRef<'_>> =
            all.filter(|symbol| symbol.is_defined() && is_data(symbol.kind())).collect();
        found.sort_by_key(|symbol| (symbol.value(), symbol.id()));
        found.dedup_by_key(|symbol| symbol.value());
        found
    }

    /// Where the one function begins that has this raw name, without a version: `None` where there is none, where
    /// several that lie apart have it, or where the code chooses one when the program starts. What
    /// `is_external` is seen by other files, and no function of the same name that one file keeps to itself is it.
    pub fn only_function(&self, name: &str, is_external: bool) -> Option<Svma> {
        let index = self.by_name.get_or_build(&self.budget, || NameIndex::new(self));
        // An index that was not read to its end tells of none that it is the only one.
        if self.budget.is_halted() {
            return None;
        }
        let all = index.all(self, name.as_bytes());
        let mut all = all.filter(|symbol| {
            symbol.is_defined() && (!is_external || symbol.binding() != SymbolBinding::Local)
        });
        let first = all.next()?;
        let is_function = |it: &SymbolRef<'_>| {
            it.value() == first.value()
                && matches!(it.kind(), SymbolKind::Function | SymbolKind::NoType)
        };
        (is_function(&first) && all.all(|it| is_function(&it))).then(|| first.value())
    }

    /// The symbol of this name in the words of its language, remembered: modules that are one file have one
    /// table, and each may be asked for the same name.
    fn lookup_demangled(&self, name: &str) -> Option<SymbolRef<'_>> {
        let known =
            self.demangled.read().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        let id = known.unwrap_or_else(|| {
            let found = crate::lookup::find_demangled(self, name).map(|symbol| symbol.id());
            if self.budget.is_halted() {
                return found;
            }
            let mut known = self.demangled.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
            known.insert(name.into(), found);
            found
        });
        self.get(id?)
    }

    /// The symbol of this name that the source file `file` keeps to itself. The file goes by the
    /// last part of its path, or by the whole of it; `None` when the table names no such file,
    /// `Some(None)` when the file has no such symbol.
    pub fn lookup_in_file(&self, file: &str, name: &str) -> Option<Option<SymbolRef<'_>>> {
        crate::lookup::find_in_file(self, file, name)
    }

    /// Names of functions and data that begin with `prefix`, sorted, without versions, each once: at
    /// most `max`, the first ones and the very last, so that what all of them begin with can be seen.
    /// `go_on` is asked every now and then; `None` when it said no.
    pub fn complete(
        &self,
        prefix: &str,
        max: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Option<Vec<String>> {
        crate::complete::complete(self, prefix, max, go_on)
    }

    /// All symbols, table by table in the order of the files; undefined ones, sections and source
    /// files too.
    pub fn iter(&self) -> impl Iterator<Item = SymbolRef<'_>> {
        (0..self.entries.len()).filter_map(|at| self.get(SymbolId(u32::try_from(at).ok()?)))
    }

    /// The symbol of this number.
    pub fn get(&self, id: SymbolId) -> Option<SymbolRef<'_>> {
        let entry = self.entries.get(usize::try_from(id.0).ok()?)?;
        Some(SymbolRef { table: self, entry, id })
    }

    /// How many symbols there are.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no symbol.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Says when what is made of the symbols has to end.
    pub(crate) const fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(crate) const fn names(&self) -> &NameStore {
        &self.names
    }

    /// Bytes that `entry` covers; see [`SymbolRef::extent`].
    pub(crate) fn extent(&self, entry: &Entry) -> u64 {
        if entry.size > 0 {
            return entry.size;
        }
        let start = entry.value.get();
        let by_start = &self.order().by_start;
        if by_start.is_empty() && self.budget.is_halted() {
            return 0;
        }
        let after = by_start.partition_point(|id| self.start(*id) <= start);
        let next = by_start.get(after).map_or(u64::MAX, |id| self.start(*id));
        let end = self.reach(entry).min(next);
        if end == u64::MAX { 0 } else { end.saturating_sub(start) }
    }

    fn start(&self, id: u32) -> u64 {
        self.entries.get(id as usize).map_or(0, |entry| entry.value.get())
    }

    /// Adds `.symtab`, without the symbols that a file before had already.
    fn add_full(&mut self, image: &Image) -> Option<()> {
        let mut watch = Watch::new(&self.budget);
        let known =
            self.entries.iter().map(|entry| (!watch.is_over()).then(|| self.identity(entry)));
        let known: FxHashSet<(Svma, Vec<u8>)> = known.collect::<Option<_>>()?;
        let first_new = self.entries.len();
        self.add(image, SymbolTableKind::Full)?;
        if !known.is_empty() {
            let mut added = self.entries.split_off(first_new.min(self.entries.len()));
            added.retain(|entry| !known.contains(&self.identity(entry)));
            self.entries.append(&mut added);
        }
        Some(())
    }

    fn add_go_functions(&mut self, image: Option<&Image>) -> Option<()> {
        let Some(functions) = image.and_then(GoFunctions::of) else { return Some(()) };
        let file = self.names.add(functions.names());
        let mut watch = Watch::new(&self.budget);
        for entry in functions.entries(file) {
            if watch.is_over() {
                return None;
            }
            self.entries.push(entry);
        }
        Some(())
    }

    fn identity(&self, entry: &Entry) -> (Svma, Vec<u8>) {
        (entry.value, self.names.get(entry.name).to_vec())
    }

    fn add(&mut self, image: &Image, kind: SymbolTableKind) -> Option<()> {
        let file = self.names.add(image.symbol_strings(kind));
        let sections = image.sections();
        // Each takes its own bytes in the file, so no table is longer than that allows.
        self.entries.reserve(image.symbol_count(kind));
        let mut watch = Watch::new(&self.budget);
        for symbol in image.symbols(kind) {
            if watch.is_over() {
                return None;
            }
            let name = NameAt::in_table(file, symbol.name_start);
            let section = sections.get(usize::from(symbol.section));
            let loaded = section.is_none_or(ImageSection::is_loaded);
            self.entries.extend(entry_of(&symbol, name, kind.into(), loaded));
        }
        Some(())
    }

    fn add_linkage_entries(&mut self, image: Option<&Image>) {
        let Some(image) = image else { return };
        let mut arena = Arena::new(self.names.next_file());
        let entries = plt::entries(image, |svma| {
            let symbol = self.find_exact(svma.get())?;
            Some(symbol.name().to_vec())
        });
        let entries: Vec<_> = entries
            .into_iter()
            .zip(0..)
            .map(|(entry, index)| entry.into_entry(index, &mut arena))
            .collect();
        let first_new = self.entries.len();
        self.entries.extend(entries);
        self.names.add(arena.into_bytes());
        // The names of resolvers may have needed to know where the others lie.
        self.nearby.take();
        self.aliases = AliasesByAddress::default();
        if let Some(order) = self.order.take() {
            self.order = Built::of(self.sort(&order.by_start, first_new));
        }
    }

    fn order(&self) -> &Order {
        self.order.get_or_build(&self.budget, || self.sort(&[], 0))
    }

    /// The order of all symbols. Those before the entry `first_new` are in order already, which
    /// the sort makes use of. No symbol is in it when the command has to end.
    fn sort(&self, sorted: &[u32], first_new: usize) -> Order {
        let old = sorted.iter().map(|id| (self.start(*id), *id));
        let all = sorted_within(old.chain(self.placed(first_new)).collect(), &self.budget);
        let (mut all, mut watch) = (all.unwrap_or_default(), Watch::new(&self.budget));
        // Names are read only of symbols that share an address.
        for same in all.chunk_by_mut(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            same.sort_unstable_by(|a, b| self.prefer(a.1, b.1));
            if watch.is_over() {
                return Order::default();
            }
        }
        let by_start = all.iter().map(|(_, id)| *id).collect();
        Order { by_start, cover: Built::new() }
    }

    /// Whether a symbol marks a place for tools; those have no type. Other names are not touched.
    fn is_marker(&self, entry: &Entry) -> bool {
        let suspect = entry.kind == SymbolKind::NoType || entry.name.is_empty();
        suspect && is_marker(self.names.get(entry.name))
    }

    fn prefer(&self, a: u32, b: u32) -> Ordering {
        match (self.entries.get(a as usize), self.entries.get(b as usize)) {
            (Some(a), Some(b)) => compare(&self.names, a, b),
            _ => Ordering::Equal,
        }
    }

    fn span(&self, id: u32) -> Option<Span> {
        let entry = self.entries.get(id as usize)?;
        let start = entry.value.get();
        let sized = entry.size > 0;
        let end = if sized { start.saturating_add(entry.size) } else { self.reach(entry) };
        Some(Span { start, end, sized, id })
    }

    /// The end of the addresses that a symbol without a size may cover.
    fn reach(&self, entry: &Entry) -> u64 {
        match self.sections.get(usize::from(entry.section)) {
            Some(section) if section.code => section.end,
            None if entry.kind.is_function() => u64::MAX,
            _ => entry.value.get(),
        }
    }
}

impl SectionEnd {
    fn of(section: &ImageSection) -> Self {
        Self {
            end: section.svma.get().saturating_add(section.size),
            code: section.flags & SHF_EXECINSTR != 0,
        }
    }
}

fn entry_of(
    symbol: &ImageSymbol<'_>,
    name: NameAt,
    source: SymbolSource,
    loaded: bool,
) -> Option<Entry> {
    Some(Entry {
        value: symbol.value,
        size: symbol.size,
        name,
        index: u32::try_from(symbol.index).ok()?,
        section: symbol.section,
        other: symbol.other,
        kind: symbol.kind,
        binding: symbol.binding,
        source,
        loaded,
    })
}
