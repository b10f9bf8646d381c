//! From a name to a symbol: raw names by an index of hashes, demangled ones by a search.

use std::hash::{Hash, Hasher};

use kcore_elf::{SymbolBinding, SymbolKind};
use kcore_mem::{Watch, sorted_within};
use rustc_hash::{FxHashMap, FxHasher};

use crate::{
    demangle::{Mangling, demangle, is_of_demanglers, without_clone},
    names::{NameAt, SHORT},
    preference,
    sought::SoughtName,
    symbol::SymbolRef,
    table::SymbolTable,
};

/// Bytes of a name that are hashed at its beginning, in its middle and at its end.
const SAMPLE: usize = 16;

/// Symbols by the hash of their name without version: eight bytes a symbol, and the names are
/// compared when asked.
#[derive(Debug)]
pub struct NameIndex {
    by_hash: Vec<(u32, u32)>,
}

impl NameIndex {
    /// Hashes every name of the table. Knows none when the command has to end.
    pub fn new(table: &SymbolTable) -> Self {
        let mut watch = Watch::new(table.budget());
        let named = table.iter().filter(|symbol| !symbol.name().is_empty());
        let hashed =
            named.map(|symbol| (!watch.is_over()).then(|| (hash(symbol.name()), symbol.id().0)));
        let by_hash = hashed.collect::<Option<_>>();
        let by_hash = by_hash.and_then(|all| sorted_within(all, table.budget()));
        Self { by_hash: by_hash.unwrap_or_default() }
    }

    /// The best symbol of this name, which may carry a version.
    pub fn find<'a>(&self, table: &'a SymbolTable, name: &[u8]) -> Option<SymbolRef<'a>> {
        let bare = crate::symbol::without_version(name);
        self.all(table, bare)
            .filter(|symbol| bare.len() == name.len() || symbol.versioned_name() == name)
            .max_by(|a, b| prefer(table, a, b))
    }

    /// All symbols of this name, whatever their versions.
    pub fn all<'a>(
        &self,
        table: &'a SymbolTable,
        bare: &[u8],
    ) -> impl Iterator<Item = SymbolRef<'a>> {
        let wanted = hash(bare);
        let first = self.by_hash.partition_point(|(hash, _)| *hash < wanted);
        let same_hash = self.by_hash.get(first..).unwrap_or_default().iter();
        same_hash
            .take_while(move |(hash, _)| *hash == wanted)
            .filter_map(|(_, id)| table.get(crate::symbol::SymbolId(*id)))
            .filter(move |symbol| symbol.name() == bare)
    }
}

/// The best symbol whose demangled name is `wanted`, with or without parameters. A copy that the
/// compiler made is found by the name of its function, as debug information has it: `wait` is
/// `wait.isra.0` if nothing else is called so. The part that is seldom run comes last.
///
/// No name is demangled that does not hold the words of `wanted`: manglings spell identifiers out.
pub fn find_demangled<'a>(table: &'a SymbolTable, wanted: &str) -> Option<SymbolRef<'a>> {
    let hints = Hints::of(wanted);
    let sought = SoughtName::new(wanted);
    let mut verdicts = Verdicts::new(table);
    let is_called = |name: &[u8]| hints.may_be(name) && is_called(name, &sought, wanted);
    let mut watch = Watch::new(table.budget());
    table
        .iter()
        .take_while(|_| !watch.is_over())
        .filter(|symbol| verdicts.of(symbol, is_called))
        .max_by(|a, b| is_cold(b).cmp(&is_cold(a)).then_with(|| prefer(table, a, b)))
}

/// Whether a name is that of a function in the words of its language, or of a copy of a C function.
fn is_called(name: &[u8], sought: &SoughtName, typed: &str) -> bool {
    let names = demangle(name);
    match names.mangling {
        Mangling::None => without_clone(name) == Some(typed.as_bytes()),
        _ => sought.is_one_of(&names),
    }
}

/// What was found of names that are not short: any number of symbols may have one long name, or each a
/// part of it.
struct Verdicts {
    known: FxHashMap<NameAt, bool>,
    /// Bytes of long names that may still be looked at. Linkers put names that end alike at one place, so
    /// that all together may be longer than their table.
    left: usize,
}

/// How many times the length of their table long names may be together.
const OVERLAP: usize = 8;

impl Verdicts {
    fn new(table: &SymbolTable) -> Self {
        let left = table.names().size().saturating_mul(OVERLAP);
        Self { known: FxHashMap::default(), left }
    }

    fn of(&mut self, symbol: &SymbolRef<'_>, is_wanted: impl FnOnce(&[u8]) -> bool) -> bool {
        let name = symbol.name();
        if name.len() <= SHORT {
            return is_wanted(name);
        }
        if let Some(known) = self.known.get(&symbol.entry.name) {
            return *known;
        }
        let Some(left) = self.left.checked_sub(name.len()) else { return false };
        self.left = left;
        let verdict = is_wanted(name);
        self.known.insert(symbol.entry.name, verdict);
        verdict
    }
}

/// Whether a symbol is the part of a function that compilers expect not to run.
fn is_cold(symbol: &SymbolRef<'_>) -> bool {
    contains(symbol.name(), b".cold")
}

/// The local symbol `name` of the source file `file`, which the table names by its last part or by
/// a path; `None` without such a file, `Some(None)` when it has no such symbol.
pub fn find_in_file<'a>(
    table: &'a SymbolTable,
    file: &str,
    name: &str,
) -> Option<Option<SymbolRef<'a>>> {
    let (mut in_file, mut file_found, mut found) = (false, false, None);
    let (sought, mut verdicts) = (SoughtName::new(name), Verdicts::new(table));
    let mut watch = Watch::new(table.budget());
    for symbol in table.iter().take_while(|_| !watch.is_over()) {
        if symbol.kind() == SymbolKind::File {
            in_file = is_file(symbol.name(), file);
            file_found |= in_file;
        } else if in_file
            && symbol.binding() == SymbolBinding::Local
            && found.is_none()
            && symbol.entry.has_address()
            && verdicts.of(&symbol, |raw| is_named(raw, &sought, name))
        {
            found = Some(symbol);
        }
    }
    file_found.then_some(found)
}

fn is_file(name: &[u8], wanted: &str) -> bool {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    name == wanted.as_bytes() || last == wanted.as_bytes()
}

fn is_named(name: &[u8], sought: &SoughtName, typed: &str) -> bool {
    name == typed.as_bytes() || (is_mangled(name) && sought.is_symbol(name))
}

fn prefer(table: &SymbolTable, a: &SymbolRef<'_>, b: &SymbolRef<'_>) -> std::cmp::Ordering {
    let addressed = a.entry.has_address().cmp(&b.entry.has_address());
    let defined = a.is_defined().cmp(&b.is_defined());
    addressed.then(defined).then_with(|| preference::compare(table.names(), a.entry, b.entry))
}

/// A hash of a name's length, beginning, middle and end. Mangled names are long, and reading all of
/// them is what an index would cost most.
fn hash(name: &[u8]) -> u32 {
    let mut hasher = FxHasher::default();
    let middle = name.len() / 2;
    let last = name.len().saturating_sub(SAMPLE);
    hasher.write_usize(name.len());
    for start in [0, middle, last] {
        let rest = name.get(start..).unwrap_or_default();
        rest.get(..SAMPLE).unwrap_or(rest).hash(&mut hasher);
    }
    // The upper half of an FxHash is the better mixed one.
    (hasher.finish() >> 32) as u32
}

/// What a mangled name must look like to be the wanted one.
enum Hints {
    /// A copy of a C function, or a C++ function outside of all namespaces: the raw name begins
    /// with one of these.
    Beginnings([String; 3]),
    /// The mangled name holds these.
    Words(Vec<String>),
    /// A function of Go whose package has a path. The name in the table holds these words, and a dot as `%2e`.
    PathWords(Vec<String>),
}

impl Hints {
    fn of(wanted: &str) -> Self {
        if wanted.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            let len = wanted.len();
            let (global, local) = (format!("_Z{len}{wanted}"), format!("_ZL{len}{wanted}"));
            return Self::Beginnings([format!("{wanted}."), global, local]);
        }
        match wanted.contains('/') {
            true => Self::PathWords(words(wanted)),
            false => Self::Words(words(wanted)),
        }
    }

    fn may_be(&self, name: &[u8]) -> bool {
        match self {
            Self::Beginnings(all) => all.iter().any(|one| name.starts_with(one.as_bytes())),
            Self::Words(words) => {
                is_mangled(name) && words.iter().all(|word| contains(name, word.as_bytes()))
            }
            Self::PathWords(words) => {
                (is_mangled(name) || contains(name, b"%2e"))
                    && words.iter().all(|word| contains(name, word.as_bytes()))
            }
        }
    }
}

fn is_mangled(name: &[u8]) -> bool {
    name.starts_with(b"_Z") || name.starts_with(b"_R")
}

/// The identifiers of a demangled name that its mangled form must spell out: those outside of
/// parameters and template arguments, without the ones that demanglers write of their own.
fn words(name: &str) -> Vec<String> {
    let mut outside = String::new();
    let mut depth: usize = 0;
    for letter in name.chars() {
        match letter {
            '(' | '<' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        outside.push(if depth == 0 { letter } else { ' ' });
    }
    let words = outside.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let spelled = words.filter(|word| word.len() > 2 && !is_of_demanglers(word));
    spelled.filter(|word| word.is_ascii()).map(str::to_owned).collect()
}

fn contains(name: &[u8], word: &[u8]) -> bool {
    name.windows(word.len().max(1)).any(|window| window == word)
}
