//! The tables that Go's linker makes of all functions of a module (`.gopclntab`), and the head of the module's
//! `runtime.moduledata`, which says where they lie in memory (`runtime/symtab.go`, `cmd/link/internal/ld/pcln.go`).

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::layout::Layout;

/// How the tables begin since Go 1.18, and since Go 1.20.
pub const MAGIC_18: u32 = 0xffff_fff0;
pub const MAGIC_20: u32 = 0xffff_fff1;
/// Fields of the header, `runtime.pcHeader`.
const QUANTUM: u64 = 6;
const POINTER_SIZE: u64 = 7;
const FUNCTION_COUNT: u64 = 8;
/// Fields of `runtime.moduledata`, which lie alike from Go 1.18 to 1.27: slices of a pointer, a length and a capacity.
const NAMES: u64 = 8;
const UNITS: u64 = 32;
const FILES: u64 = 56;
const VALUES: u64 = 80;
const FUNCTIONS: u64 = 104;
const INDEX: u64 = 128;
const TEXT: u64 = 176;
/// Modules that share a runtime, at most: the program and its plugins.
const MAX_MODULES: usize = 256;
/// Bytes of an entry of the index.
const ENTRY: u64 = 8;

/// How functions and inlined calls are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// As in Go 1.18 and 1.19.
    Go18,
    /// As since Go 1.20.
    Go20,
}

/// The tables of one module, in the memory of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// How functions are described.
    pub format: TableFormat,
    /// Whether the lowest bit of a field's offset says that the field is embedded: until Go 1.18 (`runtime/type.go`,
    /// `structfield.offsetAnon`).
    pub has_flagged_offsets: bool,
    /// Bytes of the shortest instruction.
    pub quantum: u64,
    /// The code of all functions.
    pub text: AddrRange,
    /// `funcnametab`, texts that end with a zero.
    pub names: AddrRange,
    /// `cutab`, for each file of each unit where its name lies.
    pub units: AddrRange,
    /// `filetab`, texts that end with a zero.
    pub files: AddrRange,
    /// `pctab`.
    pub values: AddrRange,
    /// `pclntable`.
    pub functions: AddrRange,
    /// What offsets of `funcdata` are relative to.
    pub function_data: Addr,
    /// Types with their names, of this module and of those that share its runtime: offsets are relative to where they
    /// begin.
    pub types: Arc<[AddrRange]>,
    /// `ftab`: pairs of where a function begins and where it is described, lowest first.
    index: Addr,
    count: u64,
}

impl Tables {
    /// The tables that a module's `runtime.moduledata` names.
    ///
    /// # Errors
    /// In words, where it is none, cannot be read, or what it says does not hold together.
    pub fn load(space: &dyn AddressSpace, module: Addr, layout: &Layout) -> Result<Self, String> {
        let head = Head { space, module };
        let header = head.addr(0)?;
        let (format, quantum) = read_header(space, header)?;
        let text = AddrRange::new(head.addr(TEXT)?, head.addr(TEXT + 8)?);
        let count = head.word(INDEX + 8)?.checked_sub(1).ok_or("its index is empty")?;
        let named = header.checked_add(FUNCTION_COUNT).map(|at| space.read_word(at));
        if text.is_empty() || named != Some(Ok(count)) || count > text.len() {
            return Err("its index does not fit its code".to_owned());
        }
        Ok(Self {
            format,
            has_flagged_offsets: layout.minor <= 18,
            quantum,
            text,
            names: head.slice(NAMES, 1)?,
            units: head.slice(UNITS, 4)?,
            files: head.slice(FILES, 1)?,
            values: head.slice(VALUES, 1)?,
            functions: head.slice(FUNCTIONS, 1)?,
            function_data: head.addr(layout.function_data)?,
            types: all_types(space, module, layout),
            index: head.addr(INDEX)?,
            count,
        })
    }

    /// Where the function that holds `at` begins and ends, and where it is described.
    pub fn find(&self, space: &dyn AddressSpace, at: Addr) -> Option<(AddrRange, Addr)> {
        let offset = at.offset_from(self.text.start).filter(|_| self.text.contains(at))?;
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match u64::from(self.entry(space, middle)?.0) <= offset {
                true => low = middle.checked_add(1)?,
                false => high = middle,
            }
        }
        let found = low.checked_sub(1)?;
        let (start, described) = self.entry(space, found)?;
        let (end, _) = self.entry(space, low)?;
        let at = |offset: u32| self.text.start.checked_add(u64::from(offset));
        let range = AddrRange::new(at(start)?, at(end)?);
        let described = self.functions.start.checked_add(u64::from(described))?;
        self.functions.contains(described).then_some((range, described))
    }

    fn entry(&self, space: &dyn AddressSpace, number: u64) -> Option<(u32, u32)> {
        let entry = space.read_uint(self.index.checked_add(number.checked_mul(ENTRY)?)?, 8).ok()?;
        Some((entry as u32, (entry >> 32) as u32))
    }
}

/// The types of a module and of those behind it in the list of the runtime.
fn all_types(space: &dyn AddressSpace, module: Addr, layout: &Layout) -> Arc<[AddrRange]> {
    let (mut found, mut next) = (Vec::new(), Some(module));
    while let Some(module) = next.filter(|at| at.get() != 0 && found.len() < MAX_MODULES) {
        let head = Head { space, module };
        let types =
            head.addr(layout.types).and_then(|start| Ok((start, head.addr(layout.types_end)?)));
        let Ok((start, end)) = types else { break };
        if start < end {
            found.push(AddrRange::new(start, end));
        }
        next = head.addr(layout.next_module).ok().filter(|next| *next != module);
    }
    found.into()
}

/// The format of the tables that begin at `header`, and the length of the shortest instruction.
fn read_header(space: &dyn AddressSpace, header: Addr) -> Result<(TableFormat, u64), String> {
    let field = |offset, size| {
        let at = header.checked_add(offset).ok_or("its tables lie nowhere")?;
        space.read_uint(at, size).map_err(|fault| format!("its tables cannot be read: {fault}"))
    };
    let magic = field(0, 4)?;
    let format = match u32::try_from(magic) {
        Ok(MAGIC_18) => TableFormat::Go18,
        Ok(MAGIC_20) => TableFormat::Go20,
        _ => return Err(format!("tables of functions that begin with {magic:#x} are not known")),
    };
    let (quantum, pointer) = (field(QUANTUM, 1)?, field(POINTER_SIZE, 1)?);
    if !matches!(quantum, 1 | 2 | 4) || pointer != 8 {
        return Err(format!(
            "its tables are for pointers of {pointer} bytes, in steps of {quantum}"
        ));
    }
    Ok((format, quantum))
}

/// A `runtime.moduledata`.
struct Head<'a> {
    space: &'a dyn AddressSpace,
    module: Addr,
}

impl Head<'_> {
    fn word(&self, offset: u64) -> Result<u64, String> {
        let at = self.module.checked_add(offset).ok_or("it lies nowhere")?;
        self.space.read_word(at).map_err(|fault| format!("its moduledata cannot be read: {fault}"))
    }

    fn addr(&self, offset: u64) -> Result<Addr, String> {
        self.word(offset).map(Addr::new)
    }

    /// A slice of things of `size` bytes, of at most 4 GiB: offsets into it have 32 bits.
    fn slice(&self, offset: u64, size: u64) -> Result<AddrRange, String> {
        let (start, len) = (self.addr(offset)?, self.word(offset.saturating_add(8))?);
        let bytes = len.checked_mul(size).filter(|bytes| *bytes <= u64::from(u32::MAX));
        let end = bytes.and_then(|bytes| start.checked_add(bytes));
        let end = end.ok_or_else(|| format!("a table of it has {len} entries"))?;
        Ok(AddrRange::new(start, end))
    }
}
