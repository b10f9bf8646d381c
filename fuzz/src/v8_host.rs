//! A process of some memory that exports V8's version, and V8's metadata where the memory has any; or that exports nothing,
//! and has the version among its constants.

use std::{collections::BTreeMap, sync::Arc};

use kcore_elf::Image;
use kcore_mem::{Addr, AddrRange, AddressSpace, Svma};
use kcore_runtimes::{Host, HostModule, HostRange};
use kcore_symbols::ModuleSymbols;
use kcore_unwind::{Regs, Tid};

use crate::{memory::Memory, sections};

/// The versions that V8 may have: those of Node.js 16, 18, 20, 22, 24, 25 and 26.
pub const VERSIONS: [[u32; 2]; 7] = [[9, 4], [10, 2], [11, 3], [12, 4], [13, 6], [14, 1], [14, 6]];

/// The versions that V8 may have where nothing is exported: those of Deno 2.4 to 2.9, and one that is not known.
const EMBEDDED: [&str; 5] =
    ["13.7.152.14-rusty", "14.5.201.2-rusty", "14.9.207.2-rusty", "15.0.245.2-rusty", "15.9.1.1"];
/// What every V8 can say.
const MESSAGE: &str = "Fatal JavaScript invalid size error";
/// How much code a program has that V8 was linked into.
const EMBEDDED_CODE: u64 = 16 << 20;
/// Pages of V8's heap begin at multiples of this.
const PAGE: u64 = 256 << 10;

/// Where the module lies, and its version in it.
const MODULE: AddrRange = AddrRange::new(Addr::new(0x40_0000), Addr::new(0x100_0000));
const VERSION: u64 = 0x40_1000;

/// Where metadata lies, as far as there is memory: the sums of names, and what these constants are.
pub const METADATA: u64 = 0x41_0000;

/// The names of the four parts of the version.
const PARTS: [&str; 4] = [
    "_ZN2v88internal7Version6major_E",
    "_ZN2v88internal7Version6minor_E",
    "_ZN2v88internal7Version6build_E",
    "_ZN2v88internal7Version6patch_E",
];

/// The process.
pub struct V8Host {
    memory: Memory,
    module: Module,
}

impl V8Host {
    /// A process with this memory, and V8 of the version of this number.
    pub fn new(version: u8, mut memory: Memory) -> Self {
        let number = usize::from(version) % (VERSIONS.len() + EMBEDDED.len());
        let Some([major, minor]) = VERSIONS.get(number) else {
            return Self::embedded(EMBEDDED[number - VERSIONS.len()], memory);
        };
        let parts = [*major, *minor, 0, 0].map(u32::to_le_bytes);
        memory.0.insert(0, (VERSION, parts.concat()));
        let constants = places(&memory);
        let symbols = ModuleSymbols::new(None, None);
        Self { memory, module: Module { symbols, constants, image: None } }
    }

    /// A process with this memory whose module has V8 in itself, and exports nothing.
    fn embedded(version: &str, memory: Memory) -> Self {
        let texts = format!("\0{MESSAGE}\0{version}\0");
        let file = sections::elf(&[(".rodata", texts.as_bytes())]);
        let image = Image::parse(file.into()).expect("an ELF file");
        let (symbols, constants) = (ModuleSymbols::new(None, None), BTreeMap::new());
        Self { memory, module: Module { symbols, constants, image: Some(Arc::new(image)) } }
    }
}

impl Host for V8Host {
    fn space(&self) -> &dyn AddressSpace {
        &self.memory
    }

    fn modules(&self) -> Vec<&dyn HostModule> {
        vec![&self.module]
    }

    fn module_at(&self, at: Addr) -> Option<&dyn HostModule> {
        MODULE.contains(at).then_some(&self.module as &dyn HostModule)
    }

    fn range_at(&self, at: Addr) -> Option<HostRange> {
        self.ranges().into_iter().find(|range| range.range.contains(at))
    }

    fn ranges(&self) -> Vec<HostRange> {
        let regions = self.memory.regions().into_iter();
        let range = |range: AddrRange| HostRange {
            range,
            readable: true,
            // Pages of the heap are none where they are looked for.
            executable: self.module.image.is_none() || !range.start.get().is_multiple_of(PAGE),
            is_file: MODULE.contains(range.start),
        };
        regions.map(|region| range(region.range)).collect()
    }

    /// What is exported need not tell the layouts.
    fn allows_nearest(&self) -> bool {
        true
    }

    fn threads(&self) -> Vec<Tid> {
        Vec::new()
    }

    fn registers(&self, _: Tid) -> Option<Regs> {
        None
    }
}

/// The module that V8 is in.
struct Module {
    symbols: ModuleSymbols,
    /// Where constants lie, by the sums of their names.
    constants: BTreeMap<u32, u64>,
    /// Its file, where it exports nothing.
    image: Option<Arc<Image>>,
}

impl HostModule for Module {
    fn name(&self) -> &str {
        "node"
    }

    fn span(&self) -> AddrRange {
        MODULE
    }

    fn code_size(&self) -> u64 {
        if self.image.is_some() { EMBEDDED_CODE } else { MODULE.len() }
    }

    fn symbols(&self) -> &ModuleSymbols {
        &self.symbols
    }

    fn exported(&self, name: &str) -> Option<(Svma, u64)> {
        self.image.is_none().then_some(())?;
        let part = PARTS.iter().position(|part| *part == name);
        let constant = || self.constants.get(&sum_of(name.strip_prefix("v8dbg_")?)).copied();
        let at = part.map(|part| VERSION + 4 * part as u64).or_else(constant)?;
        Some((Svma::new(at), 4))
    }

    fn image(&self) -> Option<&Arc<Image>> {
        self.image.as_ref()
    }

    fn svma(&self, at: Addr) -> Option<Svma> {
        MODULE.contains(at).then(|| Svma::new(at.get()))
    }

    fn addr(&self, svma: Svma) -> Option<Addr> {
        Some(Addr::new(svma.get()))
    }
}

/// The sum of the name of a constant.
pub fn sum_of(name: &str) -> u32 {
    name.bytes().fold(0, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
}

/// Where the constants lie that memory has.
fn places(memory: &Memory) -> BTreeMap<u32, u64> {
    let held = memory.read_held(Addr::new(METADATA), MODULE.len());
    let (words, _) = held.as_chunks::<4>();
    let (pairs, _) = words.as_chunks::<2>();
    let place = |(index, [sum, _]): (usize, &[[u8; 4]; 2])| {
        (u32::from_le_bytes(*sum), METADATA + 8 * index as u64 + 4)
    };
    pairs.iter().enumerate().map(place).collect()
}
