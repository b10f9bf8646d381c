//! The tables by which `libjvm.so` describes itself (`src/hotspot/share/runtime/vmStructs.cpp`, JDK 8 to 25).
//!
//! A symbol holds a pointer to an array, others the size of its entries and where the fields of an entry lie. The array
//! ends with an entry without a name.

use kcore_mem::{Addr, AddressSpace};
use rustc_hash::FxHashMap;

use crate::HostModule;

/// Entries of a table that are read, at most: JDK 21 has 813 fields.
const MAX_ENTRIES: u64 = 4096;
/// Bytes of an entry, at most.
const MAX_STRIDE: u64 = 256;
/// Bytes of a name, at most.
const MAX_NAME: usize = 256;
/// What a library exports that has them.
pub const EXPORTED: &str = "gHotSpotVMStructs";

/// Where a field lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldPlace {
    /// So far into each object.
    Offset(u64),
    /// There, once.
    Static(Addr),
}

/// What the tables say of fields (`TYPE.FIELD`), types and constants.
#[derive(Default)]
pub struct VmStructs {
    fields: FxHashMap<String, FieldPlace>,
    sizes: FxHashMap<String, u64>,
    constants: FxHashMap<String, u64>,
}

/// A library that describes itself.
struct Library<'a> {
    module: &'a dyn HostModule,
    space: &'a dyn AddressSpace,
}

/// What a table says of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableEntry {
    /// `TYPE.FIELD` lies so far into each object.
    Offset(u64),
    /// `TYPE.FIELD` lies there, once.
    Variable(Addr),
    /// A type has so many bytes.
    Size(u64),
    /// A constant has this value.
    Constant(u64),
}

impl VmStructs {
    /// Tables that say this.
    pub(super) fn of(entries: &[(&str, TableEntry)]) -> Self {
        let mut tables = Self::default();
        for (name, entry) in entries {
            let name = (*name).to_owned();
            match *entry {
                TableEntry::Offset(by) => {
                    tables.fields.insert(name, FieldPlace::Offset(by));
                }
                TableEntry::Variable(at) => {
                    tables.fields.insert(name, FieldPlace::Static(at));
                }
                TableEntry::Size(size) => {
                    tables.sizes.insert(name, size);
                }
                TableEntry::Constant(value) => {
                    tables.constants.insert(name, value);
                }
            }
        }
        tables
    }

    /// Reads what a library says of itself; `None` where it has no such tables.
    pub fn read(module: &dyn HostModule, space: &dyn AddressSpace) -> Option<Self> {
        module.exported(EXPORTED)?;
        let library = Library { module, space };
        let mut tables = Self::default();
        library.read_fields(&mut tables)?;
        library.read_types(&mut tables)?;
        // Nothing of a stack hangs on constants.
        let _ = library.read_constants("Int", 4, &mut tables);
        let _ = library.read_constants("Long", 8, &mut tables);
        Some(tables)
    }

    /// Where a variable lies that is there once.
    pub fn variable(&self, field: &str) -> Option<Addr> {
        match self.fields.get(field)? {
            FieldPlace::Static(at) => Some(*at),
            FieldPlace::Offset(_) => None,
        }
    }

    /// How far into an object a field lies.
    pub fn offset(&self, field: &str) -> Option<u64> {
        match self.fields.get(field)? {
            FieldPlace::Offset(offset) => Some(*offset),
            FieldPlace::Static(_) => None,
        }
    }

    /// The bytes of a type.
    pub fn size(&self, name: &str) -> Option<u64> {
        self.sizes.get(name).copied()
    }

    /// The value of a constant.
    pub fn constant(&self, name: &str) -> Option<u64> {
        self.constants.get(name).copied()
    }

    /// How far into an object a field lies.
    ///
    /// # Errors
    /// In words, where the tables do not say.
    pub fn need(&self, field: &str) -> Result<u64, String> {
        self.offset(field).ok_or_else(|| undescribed(field))
    }

    /// The first of some fields, which versions name otherwise.
    ///
    /// # Errors
    /// In words, where the tables have none of them.
    pub fn need_one(&self, fields: &[&str]) -> Result<u64, String> {
        let found = fields.iter().find_map(|field| self.offset(field));
        found.ok_or_else(|| undescribed(fields.first().copied().unwrap_or_default()))
    }

    /// The bytes of a type.
    ///
    /// # Errors
    /// In words, where the tables do not say.
    pub fn need_size(&self, name: &str) -> Result<u64, String> {
        self.size(name).ok_or_else(|| undescribed(name))
    }
}

fn undescribed(what: &str) -> String {
    format!("the virtual machine does not describe {what}")
}

impl Library<'_> {
    fn read_fields(&self, tables: &mut VmStructs) -> Option<()> {
        let at = |field: &str| self.number(&format!("gHotSpotVMStructEntry{field}Offset"));
        let (kind, name) = (at("TypeName")?, at("FieldName")?);
        let (is_static, offset, address) = (at("IsStatic")?, at("Offset")?, at("Address")?);
        self.each_entry("gHotSpotVMStruct", kind, |entry| {
            let names = (self.text(entry, kind), self.text(entry, name));
            let (Some(kind), Some(name)) = names else { return };
            let field = match self.int(entry, is_static) {
                Some(0) => self.word(entry, offset).map(FieldPlace::Offset),
                _ => self.word(entry, address).map(Addr::new).map(FieldPlace::Static),
            };
            tables.fields.extend(field.map(|field| (format!("{kind}.{name}"), field)));
        })
    }

    fn read_types(&self, tables: &mut VmStructs) -> Option<()> {
        let at = |field: &str| self.number(&format!("gHotSpotVMTypeEntry{field}Offset"));
        let (name, size) = (at("TypeName")?, at("Size")?);
        self.each_entry("gHotSpotVMType", name, |entry| {
            let Some(name) = self.text(entry, name) else { return };
            tables.sizes.extend(self.word(entry, size).map(|size| (name, size)));
        })
    }

    /// The constants of one width, `Int` or `Long`.
    fn read_constants(&self, width: &str, size: usize, tables: &mut VmStructs) -> Option<()> {
        let table = format!("gHotSpotVM{width}Constant");
        let at = |field: &str| self.number(&format!("{table}Entry{field}Offset"));
        let (name, value) = (at("Name")?, at("Value")?);
        self.each_entry(&table, name, |entry| {
            let value = || self.space.read_uint(entry.checked_add(value)?, size).ok();
            tables.constants.extend(self.text(entry, name).zip(value()));
        })
    }

    /// Shows the entries of a table, up to the first without a name at `name`.
    fn each_entry(&self, table: &str, name: u64, mut show: impl FnMut(Addr)) -> Option<()> {
        let first = Addr::new(self.number(&format!("{table}s"))?);
        let stride = self.number(&format!("{table}EntryArrayStride"))?;
        (1..=MAX_STRIDE).contains(&stride).then_some(())?;
        for index in 0..MAX_ENTRIES {
            let entry = first.checked_add(index.checked_mul(stride)?)?;
            if self.word(entry, name)? == 0 {
                break;
            }
            show(entry);
        }
        Some(())
    }

    /// What an exported variable holds.
    fn number(&self, name: &str) -> Option<u64> {
        let (svma, _) = self.module.exported(name)?;
        self.space.read_word(self.module.addr(svma)?).ok()
    }

    fn word(&self, entry: Addr, offset: u64) -> Option<u64> {
        self.space.read_word(entry.checked_add(offset)?).ok()
    }

    fn int(&self, entry: Addr, offset: u64) -> Option<u64> {
        self.space.read_uint(entry.checked_add(offset)?, 4).ok()
    }

    fn text(&self, entry: Addr, offset: u64) -> Option<String> {
        let at = Addr::new(self.word(entry, offset)?);
        String::from_utf8(self.space.read_cstr(at, MAX_NAME).ok()?).ok()
    }
}
