//! Words of memory that are addresses of code.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Machine, Modules};
use rustc_hash::FxHashSet;

use crate::Core;

/// Return addresses and pointers are looked for by pages of this size.
const PAGE: u64 = 4096;

/// Where code lies, for a look at many words.
pub struct CodeWords<'a> {
    core: &'a Core,
    machine: &'a dyn Machine,
    /// Mappings that may hold code, lowest first.
    ranges: Vec<AddrRange>,
}

impl<'a> CodeWords<'a> {
    pub fn new(core: &'a Core, machine: &'a dyn Machine) -> Self {
        let mappings = core.mappings().iter().filter(|mapping| mapping.may_hold_code());
        let mut ranges: Vec<AddrRange> = mappings.map(|mapping| mapping.range).collect();
        ranges.sort_unstable();
        Self { core, machine, ranges }
    }

    /// Whether a word is an address of code.
    pub fn is_code(&self, word: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.end.get() <= word);
        let may_be = self.ranges.get(after).is_some_and(|range| range.start.get() <= word);
        may_be && Modules::is_code(self.core.modules(), Addr::new(word))
    }

    /// The address that a word is, if something may return there.
    pub fn return_address(&self, word: u64) -> Option<Addr> {
        let at = self.machine.strip_code(Addr::new(word));
        let returns = self.is_code(at.get()) && self.machine.follows_call(at, self.core.space());
        returns.then_some(at)
    }

    /// The address that a word is, if a function begins there that nothing calls in front of it.
    pub fn function_start(&self, word: u64) -> Option<Addr> {
        let at = Addr::new(word);
        let modules = self.core.modules();
        // Functions whose symbols were stripped lie behind others.
        let begins = |function: AddrRange| function.start == at || !function.contains(at);
        // A mapping of code may begin with the header of its file, that of the vdso does.
        let is_header = || self.core.space().read_uint(at, 4).is_ok_and(|word| word == ELF);
        let is_start = self.is_code(word)
            && Modules::is_in_module(modules, at)
            && !is_header()
            && !self.machine.follows_call(at, self.core.space())
            && Modules::function_before(modules, at).is_none_or(begins);
        is_start.then_some(at)
    }

    /// The pages of memory that hold return addresses.
    pub fn pages(&self, memory: &[AddrRange]) -> Pages {
        let returns =
            self.core.each_word(memory, |at, word| self.return_address(word).map(|_| page_of(at)));
        Pages(returns.into_iter().collect())
    }
}

/// What a file begins with, `ELFMAG` of `elf.h`.
const ELF: u64 = 0x464c_457f;

/// Pages of memory.
pub struct Pages(FxHashSet<u64>);

impl Pages {
    /// Whether one of them holds an address.
    pub fn hold(&self, at: u64) -> bool {
        self.0.contains(&page_of(Addr::new(at)))
    }
}

const fn page_of(at: Addr) -> u64 {
    at.get() & !(PAGE - 1)
}
