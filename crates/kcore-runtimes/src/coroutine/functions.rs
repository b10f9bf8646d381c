//! The functions into which compilers split a coroutine, by their symbols.
//!
//! gcc (12.2, `gcc/cp/coroutines.cc`, `act_des_fn`) names the part that goes on `NAME.actor` and the one that ends it
//! `NAME.destroy`, where NAME is mangled with the type of the frame as its parameter. clang (14 to 19,
//! `llvm/lib/Transforms/Coroutines/CoroSplit.cpp`) appends `.resume`, `.destroy` and `.cleanup` to the name of the
//! function itself; the last two are the destroyers of frames with memory of their own, and within others.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, Svma};
use rustc_hash::FxHashMap;

use crate::HostModule;

/// What symbols of resume functions have in them: a cheap sign that a module has coroutines.
pub const SIGNS: [&[u8]; 2] = [b".actor", b".resume"];
/// Coroutines of one process that are kept.
const MAX_FUNCTIONS: usize = 1 << 18;

/// Who compiled a coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// gcc.
    Gcc,
    /// clang.
    Clang,
}

/// A function that is a coroutine.
#[derive(Clone, Debug)]
pub struct CoroutineFunction {
    /// Its name, demangled and without parameters.
    pub name: Arc<str>,
    /// Who compiled it.
    pub compiler: Compiler,
    /// The part that goes on, half-open.
    pub resume: AddrRange,
    /// The unlikely rest of that part, which lies elsewhere, half-open.
    pub cold: Option<AddrRange>,
    /// The parts that end it.
    pub destroy: Vec<Addr>,
    /// The function that is called to make one, half-open, where its symbol is there.
    pub ramp: Option<AddrRange>,
}

/// The role of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Resume(Compiler),
    Cold,
    Destroy,
}

const PARTS: [(&str, Part); 6] = [
    (".actor.cold", Part::Cold),
    (".resume.cold", Part::Cold),
    (".actor", Part::Resume(Compiler::Gcc)),
    (".resume", Part::Resume(Compiler::Clang)),
    (".destroy", Part::Destroy),
    (".cleanup", Part::Destroy),
];
/// What link-time optimisation appends to local symbols.
const SUFFIXES: [&str; 2] = [".llvm.", ".lto_priv."];

/// The coroutines of a module.
pub fn of_module(module: &dyn HostModule) -> Vec<CoroutineFunction> {
    let mut parts: FxHashMap<&str, Vec<(Part, AddrRange)>> = FxHashMap::default();
    let table = module.symbols().table();
    for symbol in table.iter() {
        let Some((base, part)) = std::str::from_utf8(symbol.name()).ok().and_then(part_of) else {
            continue;
        };
        let range = range_of(module, symbol.value(), symbol.extent());
        parts.entry(base).or_default().extend(range.map(|range| (part, range)));
        if parts.len() >= MAX_FUNCTIONS {
            break;
        }
    }
    let mut found: Vec<_> =
        parts.into_iter().flat_map(|(base, parts)| of_parts(module, base, &parts)).collect();
    found.sort_by_key(|function| function.resume.start);
    found
}

fn range_of(module: &dyn HostModule, at: Svma, size: u64) -> Option<AddrRange> {
    let start = module.addr(at)?;
    (at.get() != 0).then(|| AddrRange::new(start, start.saturating_add(size.max(1))))
}

/// The coroutines of one name: local functions of several units may share it.
fn of_parts(
    module: &dyn HostModule,
    base: &str,
    parts: &[(Part, AddrRange)],
) -> Vec<CoroutineFunction> {
    let destroy: Vec<Addr> =
        parts.iter().filter(|(part, _)| *part == Part::Destroy).map(|it| it.1.start).collect();
    let cold = parts.iter().find(|(part, _)| *part == Part::Cold).map(|(_, range)| *range);
    let own = own_name(base);
    let name = module.symbols().demangled(&own.into());
    let ramp = module.symbols().table().lookup(own);
    let ramp = ramp.and_then(|symbol| range_of(module, symbol.value(), symbol.extent()));
    let one = |(part, resume): &(Part, AddrRange)| match part {
        Part::Resume(compiler) if !destroy.is_empty() => Some(CoroutineFunction {
            name: name.clone(),
            compiler: *compiler,
            resume: *resume,
            cold,
            destroy: destroy.clone(),
            ramp,
        }),
        _ => None,
    };
    parts.iter().filter_map(one).collect()
}

/// The name of a coroutine's symbols and which part of it this is.
fn part_of(name: &str) -> Option<(&str, Part)> {
    let cut = SUFFIXES.iter().find_map(|suffix| name.rfind(suffix));
    let name = cut.and_then(|cut| name.get(..cut)).unwrap_or(name);
    PARTS.iter().find_map(|(suffix, part)| Some((name.strip_suffix(suffix)?, *part)))
}

/// The mangled name of the function itself. gcc's parts have it in the name of the type of the frame,
/// `14_Z4leafi.Frame` of `_Z4leafPZ4leafiE14_Z4leafi.Frame`: a number of characters, and they.
fn own_name(base: &str) -> &str {
    let Some(rest) = base.strip_suffix(FRAME) else { return base };
    let starts = rest.match_indices("_Z").map(|(at, _)| at).filter(|at| *at > 0);
    let is_counted = |at: usize| {
        let digits = base.get(..at)?;
        let number = digits.trim_end_matches(|c: char| c.is_ascii_digit());
        let count: usize = digits.get(number.len()..)?.parse().ok()?;
        (count == base.len().checked_sub(at)?).then_some(rest.get(at..)?)
    };
    starts.filter_map(is_counted).last().unwrap_or(base)
}

const FRAME: &str = ".Frame";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_name_of_its_function() {
        let gcc = "_Z4leafPZ4leafiE14_Z4leafi.Frame.actor";
        let (base, part) = part_of(gcc).expect("a part");
        assert_eq!((own_name(base), part), ("_Z4leafi", Part::Resume(Compiler::Gcc)));
        let (base, part) = part_of("_Z3midIiE4TaskT_.resume").expect("a part");
        assert_eq!((own_name(base), part), ("_Z3midIiE4TaskT_", Part::Resume(Compiler::Clang)));
        let (base, part) = part_of("_Z4leafi.cleanup.llvm.17").expect("a part");
        assert_eq!((base, part), ("_Z4leafi", Part::Destroy));
    }

    #[test]
    fn other_names_are_no_parts() {
        for name in ["_Z4leafi", "_Z4leafi.actor.part", "resume", "", ".part.0"] {
            assert_eq!(part_of(name), None, "{name}");
        }
        assert_eq!(own_name("_Zx99_Z4leafi.Frame"), "_Zx99_Z4leafi.Frame");
    }
}
