//! One function of a module, as the linker describes it (`runtime._func`, `internal/abi/symtab.go`).

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{
    pc_value::value_at,
    tables::{TableFormat, Tables},
};

/// Bytes of a name or a path, at most. Longer ones are cut.
const MAX_TEXT: usize = 4 << 10;
/// No file.
const NO_FILE: u32 = u32::MAX;
/// No `funcdata` of this kind.
const NO_DATA: u32 = u32::MAX;
/// Tables of a function, at most: there are less than ten kinds of each.
const MAX_TABLES: u32 = 64;

/// Flags of functions.
const TOP_FRAME: u8 = 1;
const WRITES_SP: u8 = 2;
const IS_ASSEMBLY: u8 = 4;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its code.
    pub code: AddrRange,
    /// Its `funcID`.
    pub id: u8,
    name: u32,
    flags: u8,
    stack: u32,
    file: u32,
    line: u32,
    unit: u32,
    /// Where its `pcdata` lie: as many numbers of 32 bits.
    pcdata: Addr,
    pcdata_count: u32,
    funcdata_count: u32,
}

impl Function {
    /// The function that holds `at`.
    pub fn at(tables: &Tables, space: &dyn AddressSpace, at: Addr) -> Option<Self> {
        let (code, described) = tables.find(space, at)?;
        let half = |offset: u64| {
            let value = space.read_uint(described.checked_add(offset)?, 4).ok()?;
            u32::try_from(value).ok()
        };
        let (kinds, size) = match tables.format {
            TableFormat::Go18 => (36, 40),
            TableFormat::Go20 => (40, 44),
        };
        let [id, flags, _, funcdata_count] = half(kinds)?.to_le_bytes();
        Some(Self {
            code,
            id,
            flags,
            name: half(4)?,
            stack: half(16)?,
            file: half(20)?,
            line: half(24)?,
            pcdata_count: half(28).filter(|count| *count <= MAX_TABLES)?,
            unit: half(32)?,
            pcdata: described.checked_add(size)?,
            funcdata_count: u32::from(funcdata_count),
        })
    }

    /// Its name, as the linker has it.
    pub fn name(&self, tables: &Tables, space: &dyn AddressSpace) -> Option<Arc<str>> {
        text(space, tables.names, self.name)
    }

    /// Whether nothing called it: stacks end with it.
    pub const fn is_top(&self) -> bool {
        self.flags & TOP_FRAME != 0
    }

    /// Whether it sets the stack pointer as it likes, so that its table tells nothing but where it was
    /// interrupted.
    pub const fn writes_sp(&self) -> bool {
        self.flags & WRITES_SP != 0
    }

    /// Whether it is written in assembly, which need not save a frame pointer.
    pub const fn is_assembly(&self) -> bool {
        self.flags & IS_ASSEMBLY != 0
    }

    /// How far the stack pointer lies below the return address at `at`.
    pub fn stack_delta(&self, tables: &Tables, space: &dyn AddressSpace, at: Addr) -> Option<u64> {
        let delta = self.value(tables, space, self.stack, at)?;
        u64::try_from(delta).ok()
    }

    /// File and line at `at`.
    pub fn place(
        &self,
        tables: &Tables,
        space: &dyn AddressSpace,
        at: Addr,
    ) -> (Option<Arc<str>>, Option<u32>) {
        let line = self.value(tables, space, self.line, at);
        let line = line.and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0);
        (self.file(tables, space, at), line)
    }

    fn file(&self, tables: &Tables, space: &dyn AddressSpace, at: Addr) -> Option<Arc<str>> {
        let number = u64::try_from(self.value(tables, space, self.file, at)?).ok()?;
        let entry = u64::from(self.unit).checked_add(number)?.checked_mul(4)?;
        let entry =
            tables.units.start.checked_add(entry).filter(|at| tables.units.contains(*at))?;
        let offset = u32::try_from(space.read_uint(entry, 4).ok()?).ok()?;
        (offset != NO_FILE).then_some(())?;
        text(space, tables.files, offset)
    }

    /// The value of its `pcdata` of a kind at `at`.
    pub fn pcdata(
        &self,
        tables: &Tables,
        space: &dyn AddressSpace,
        kind: u32,
        at: Addr,
    ) -> Option<i32> {
        (kind < self.pcdata_count).then_some(())?;
        let table = self.pcdata.checked_add(u64::from(kind).checked_mul(4)?)?;
        let table = u32::try_from(space.read_uint(table, 4).ok()?).ok()?;
        self.value(tables, space, table, at)
    }

    /// Where its `funcdata` of a kind lies.
    pub fn funcdata(&self, tables: &Tables, space: &dyn AddressSpace, kind: u32) -> Option<Addr> {
        (kind < self.funcdata_count).then_some(())?;
        let number = self.pcdata_count.checked_add(kind)?;
        let entry = self.pcdata.checked_add(u64::from(number).checked_mul(4)?)?;
        let offset = u32::try_from(space.read_uint(entry, 4).ok()?).ok()?;
        (offset != NO_DATA).then_some(())?;
        tables.function_data.checked_add(u64::from(offset))
    }

    /// The value at `at` of the table that lies at an offset in `pctab`; 0 stands for no table.
    fn value(
        &self,
        tables: &Tables,
        space: &dyn AddressSpace,
        table: u32,
        at: Addr,
    ) -> Option<i32> {
        (table != 0).then_some(())?;
        let start = tables.values.start.checked_add(u64::from(table))?;
        tables.values.contains(start).then_some(())?;
        value_at(space, start, tables.quantum, at.offset_from(self.code.start)?)
    }
}

/// The text at an offset of a table, up to its zero.
pub fn text(space: &dyn AddressSpace, table: AddrRange, offset: u32) -> Option<Arc<str>> {
    let at = table.start.checked_add(u64::from(offset)).filter(|at| table.contains(*at))?;
    let most = usize::try_from(table.end.offset_from(at)?).unwrap_or(MAX_TEXT).min(MAX_TEXT);
    let text = space.read_cstr(at, most).ok().filter(|text| !text.is_empty())?;
    Some(String::from_utf8_lossy(&text).into())
}
