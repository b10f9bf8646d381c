//! Which function an address of code belongs to, and which line: `beam_ranges.c`, `beam_code.h`.

use std::sync::{Arc, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange, CodeAddr};
use rustc_hash::FxHashMap;

use super::{atoms, memory::Memory, roots, term::Terms};
use crate::{FrameKind, LanguageFrame};

/// `BeamCodeHeader`: how many functions, and where its lines are.
const LINES: u64 = 72;
/// Functions of a module, at most.
const MAX_FUNCTIONS: u64 = 1 << 20;
/// `ErtsCodeInfo.mfa`.
const MFA: u64 = 16;
/// `BeamCodeLineTab`: names of files, bytes of a location, locations, and where each function's begin.
const FILES: u64 = 0;
const LOCATION_SIZE: u64 = 8;
const LOCATIONS: u64 = 16;
const BY_FUNCTION: u64 = 24;
/// A location: the line, and above it the file.
const LINE_BITS: u32 = 24;
/// Bytes of a name of a file, at most.
const MAX_FILE: u64 = 1024;
/// Places in code that are remembered, at most.
const MAX_PLACES: usize = 1 << 16;

/// Module, function and arity: two atoms and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mfa {
    /// The module, an atom.
    pub module: u64,
    /// The function, an atom.
    pub function: u64,
    /// How many arguments it takes.
    pub arity: u64,
}

impl Mfa {
    /// That which lies at an address, if it is one.
    pub fn load(memory: &Memory<'_>, at: Addr) -> Option<Self> {
        let word = |index| memory.element(at, index);
        let found = Self { module: word(0)?, function: word(1)?, arity: word(2)? };
        (atoms::is_atom(found.module) && atoms::is_atom(found.function) && found.arity < 256)
            .then_some(found)
    }
}

/// A place in code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErlangPlace {
    /// Where the function's code begins.
    pub start: Addr,
    /// The function.
    pub mfa: Mfa,
    /// As Erlang prints it: `lists:map/2`.
    pub name: Arc<str>,
    /// The file of its source, as far as it is known.
    pub file: Option<Arc<str>>,
    /// The line, from 1.
    pub line: Option<u32>,
}

impl ErlangPlace {
    /// A frame that runs there.
    pub fn frame(&self) -> LanguageFrame {
        let file = self.line.and(self.file.clone());
        LanguageFrame { file, line: self.line, ..frame(Some(self.name.clone()), None) }
    }
}

/// A frame of a function.
pub fn frame(function: Option<Arc<str>>, doubt: Option<Arc<str>>) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Beam,
        function,
        language: Some("erlang"),
        doubt,
        ..LanguageFrame::default()
    }
}

/// The code of all modules.
#[derive(Default)]
pub struct Code {
    /// Where modules lie, in order.
    modules: Vec<AddrRange>,
    places: RwLock<FxHashMap<CodeAddr, Option<Arc<ErlangPlace>>>>,
    names: RwLock<FxHashMap<Mfa, Arc<str>>>,
}

impl Code {
    /// That of the active one of three tables.
    pub fn load(memory: &Memory<'_>, tables: Addr, active: Addr) -> Result<Self, &'static str> {
        const UNREAD: &str = "the ranges of its code were not dumped, or are damaged";
        let index = memory.uint32(active, 0).filter(|index| *index < 3).ok_or(UNREAD)?;
        let table = tables.checked_add(u64::from(index).saturating_mul(32)).ok_or(UNREAD)?;
        let ranges = || roots::ranges_at(memory, memory.pointer(table, 0)?, memory.word(table, 8)?);
        Ok(Self { modules: ranges().ok_or(UNREAD)?, ..Self::default() })
    }

    /// Whether an address lies in the code of a module.
    pub fn has(&self, at: Addr) -> bool {
        self.module(at).is_some()
    }

    fn module(&self, at: Addr) -> Option<AddrRange> {
        let behind = self.modules.partition_point(|module| module.start <= at);
        let module = self.modules.get(behind.checked_sub(1)?)?;
        module.contains(at).then_some(*module)
    }

    /// What runs at an address. It is looked for once.
    pub fn at(&self, terms: &Terms<'_>, at: CodeAddr) -> Option<Arc<ErlangPlace>> {
        let known = self.places.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&at) {
            return known.clone();
        }
        drop(known);
        let module = self.module(at.lookup())?;
        let place = self.look(terms, module, at.lookup()).map(Arc::new);
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        if places.len() < MAX_PLACES {
            places.insert(at, place.clone());
        }
        place
    }

    fn look(&self, terms: &Terms<'_>, module: AddrRange, at: Addr) -> Option<ErlangPlace> {
        let memory = &terms.memory;
        let count = memory.word(module.start, 0).filter(|count| *count <= MAX_FUNCTIONS)?;
        let functions = module.start.checked_add(memory.layout.functions)?;
        let index = last_not_above(memory, functions, (0, count), at)?;
        let start = Addr::new(memory.element(functions, index)?);
        let mfa = Mfa::load(memory, start.checked_add(MFA)?)?;
        let name = self.name(terms, mfa)?;
        let found = lines(terms, module.start, index, at);
        let (file, line) = match found {
            Some((0, line)) => (terms.atom(mfa.module).map(|it| format!("{it}.erl").into()), line),
            Some((file, line)) => (self.file(terms, module.start, file), line),
            None => (None, 0),
        };
        Some(ErlangPlace { start, mfa, name, file, line: Some(line).filter(|line| *line != 0) })
    }

    /// The name of a file, by its number from 1 on: what its path ends with.
    fn file(&self, terms: &Terms<'_>, header: Addr, number: u64) -> Option<Arc<str>> {
        let files = terms.memory.pointer(terms.memory.pointer(header, LINES)?, FILES)?;
        let name = terms.memory.element(files, number.checked_sub(1)?)?;
        terms.text(name, MAX_FILE).map(Into::into)
    }

    /// A function as Erlang prints it. It is read once.
    pub fn name(&self, terms: &Terms<'_>, mfa: Mfa) -> Option<Arc<str>> {
        let known = self.names.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&mfa) {
            return Some(known.clone());
        }
        drop(known);
        let atom = |term| terms.atom(term).map(|text| atoms::quoted(&text));
        let name = || {
            let (module, function) = (atom(mfa.module)?, atom(mfa.function)?);
            Some(format!("{module}:{function}/{}", mfa.arity).into())
        };
        // One that cannot be read is read again: who asks may want to know why.
        let name: Arc<str> = name()?;
        let mut names = self.names.write().unwrap_or_else(PoisonError::into_inner);
        if names.len() < MAX_PLACES {
            names.insert(mfa, name.clone());
        }
        Some(name)
    }
}

/// The index of the last address of a sorted array that is not above another, of those from a first index to an end.
fn last_not_above(
    memory: &Memory<'_>,
    array: Addr,
    (mut low, mut high): (u64, u64),
    at: Addr,
) -> Option<u64> {
    let first = low;
    while low < high {
        let middle = low.checked_add(high)?.checked_div(2)?;
        match memory.element(array, middle)? <= at.get() {
            true => low = middle.checked_add(1)?,
            false => high = middle,
        }
    }
    low.checked_sub(1).filter(|index| *index >= first)
}

/// The number of the file and the line of an address in a function: nothing where neither is known.
fn lines(terms: &Terms<'_>, header: Addr, function: u64, at: Addr) -> Option<(u64, u32)> {
    let memory = &terms.memory;
    let table = memory.pointer(header, LINES)?;
    let by_function = table.checked_add(BY_FUNCTION)?;
    let first = Addr::new(memory.element(by_function, 0)?);
    let from = |index| Addr::new(memory.element(by_function, index)?).offset_from(first);
    let (start, end) = (from(function)?, from(function.checked_add(1)?)?);
    let size = memory.uint32(table, LOCATION_SIZE).filter(|size| matches!(size, 2 | 4))?;
    let index = last_not_above(memory, first, (start / 8, end / 8), at)?;
    let offset = index.checked_mul(u64::from(size))?;
    let location = memory.uint(memory.pointer(table, LOCATIONS)?, offset, size as usize)?;
    let line = u32::try_from(location).ok()? & ((1 << LINE_BITS) - 1);
    (location != 0).then_some((location >> LINE_BITS, line))
}
