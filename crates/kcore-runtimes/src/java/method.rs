//! Methods: what they are called, where their source is, and their bytecodes (`src/hotspot/share/oops/{method,constMethod,
//! constantPool,symbol}.hpp`, JDK 11 to 25).

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};

use super::{
    local_table::LocalTables, memory::Memory, modified_utf8, stream::Coding, vm_structs::VmStructs,
};

/// Entries of a constant pool, at most: class files number them with 16 bits.
const MAX_ENTRIES: u64 = 1 << 16;
/// In a word of a constant pool: bits that are none of an address.
const TAG_BITS: u64 = 3;
/// A field of 16 bits.
const SHORT: usize = 2;

/// Where the fields of methods and of what they name lie.
#[derive(Clone, Debug)]
pub struct MethodLayout {
    pub(super) const_method: u64,
    pub(super) constants: u64,
    code_size: u64,
    name: u64,
    signature: u64,
    pub(super) flags: u64,
    has_lines: u64,
    /// Bytes before the bytecodes.
    header: u64,
    pool_length: u64,
    pool_holder: u64,
    pool_header: u64,
    class_name: u64,
    symbol_length: u64,
    symbol_body: u64,
    source_file: SourceFile,
    /// Tables of local variables; `None` where they are not described.
    pub(super) locals: Option<LocalTables>,
    /// How tables of lines write numbers.
    pub coding: Coding,
}

/// What has the number of the name of the source file.
#[derive(Clone, Copy, Debug)]
enum SourceFile {
    /// The class, to JDK 11 and some after it.
    Class(u64),
    /// The constant pool.
    Pool(u64),
}

/// A method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its class, with its packages and dots: `java.lang.Thread`.
    pub class: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters and what it returns, in the words of class files: `(J)V`.
    pub signature: Arc<str>,
    /// The name of its source file, where its class has it.
    pub file: Option<Arc<str>>,
    /// Its bytecodes; a native one has none.
    pub bytecodes: AddrRange,
    /// How its table of lines writes numbers, if it has one.
    pub lines: Option<Coding>,
}

impl MethodLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something.
    pub fn of(tables: &VmStructs, coding: Coding) -> Result<Self, String> {
        let of_class =
            || tables.need("InstanceKlass._source_file_name_index").map(SourceFile::Class);
        let of_pool = tables.need("ConstantPool._source_file_name_index").map(SourceFile::Pool);
        let has_lines = tables
            .constant("ConstMethodFlags::_misc_has_linenumber_table")
            .or_else(|| tables.constant("ConstMethod::_has_linenumber_table"));
        Ok(Self {
            const_method: tables.need("Method._constMethod")?,
            constants: tables.need("ConstMethod._constants")?,
            code_size: tables.need("ConstMethod._code_size")?,
            name: tables.need("ConstMethod._name_index")?,
            signature: tables.need("ConstMethod._signature_index")?,
            flags: tables.need_one(&["ConstMethod._flags", "ConstMethod._flags._flags"])?,
            has_lines: has_lines.unwrap_or_default(),
            header: tables.need_size("ConstMethod")?,
            pool_length: tables.need("ConstantPool._length")?,
            pool_holder: tables.need("ConstantPool._pool_holder")?,
            pool_header: tables.need_size("ConstantPool")?,
            class_name: tables.need("Klass._name")?,
            symbol_length: tables.need("Symbol._length")?,
            symbol_body: tables.need_one(&["Symbol._body", "Symbol._body[0]"])?,
            locals: LocalTables::of(tables),
            source_file: of_pool.or_else(|_| of_class())?,
            coding,
        })
    }

    /// The method whose `Method` lies at an address; `None` where none does: a method proves itself by its names.
    pub fn method(&self, memory: Memory<'_>, at: Addr) -> Option<Method> {
        let constant = memory.pointer(at, self.const_method)?;
        let pool = memory.pointer(constant, self.constants)?;
        let number = |offset| memory.uint(constant, offset, SHORT);
        let class = memory.pointer(pool, self.pool_holder)?;
        let bytecodes = constant.checked_add(self.header)?;
        Some(Method {
            class: self.class(memory, class)?,
            name: self.constant(memory, pool, number(self.name)?)?,
            signature: self.constant(memory, pool, number(self.signature)?)?,
            file: self.file(memory, class, pool),
            bytecodes: AddrRange::with_len(bytecodes, number(self.code_size)?),
            lines: (number(self.flags)? & self.has_lines != 0).then_some(self.coding),
        })
    }

    /// The class whose `Klass` lies at an address, with dots.
    pub fn class(&self, memory: Memory<'_>, at: Addr) -> Option<Arc<str>> {
        let name = self.symbol(memory, memory.pointer(at, self.class_name)?)?;
        Some(dotted(&name).into())
    }

    /// The symbol that a constant pool has at an index.
    pub fn constant(&self, memory: Memory<'_>, pool: Addr, index: u64) -> Option<Arc<str>> {
        let length = memory.uint(pool, self.pool_length, 4)?;
        (index > 0 && index < length && length <= MAX_ENTRIES).then_some(())?;
        let entry = pool.checked_add(self.pool_header)?;
        let word = memory.pointer(entry, index.checked_mul(8)?)?.get() & !TAG_BITS;
        self.symbol(memory, Addr::new(word))
    }

    /// The text of a `Symbol`.
    pub fn symbol(&self, memory: Memory<'_>, at: Addr) -> Option<Arc<str>> {
        let length = memory.uint(at, self.symbol_length, SHORT)?;
        let bytes = memory.0.read_held(at.checked_add(self.symbol_body)?, length);
        (length > 0 && bytes.len() as u64 == length).then_some(())?;
        modified_utf8::text(&bytes)
    }

    fn file(&self, memory: Memory<'_>, class: Addr, pool: Addr) -> Option<Arc<str>> {
        let index = match self.source_file {
            SourceFile::Class(offset) => memory.uint(class, offset, SHORT),
            SourceFile::Pool(offset) => memory.uint(pool, offset, SHORT),
        };
        self.constant(memory, pool, index?)
    }
}

impl Method {
    /// Class and method, as traces of Java print them.
    pub fn function(&self) -> Arc<str> {
        format!("{}.{}", self.class, self.name).into()
    }

    /// The index of a place in its bytecodes.
    pub fn index_of(&self, place: Addr) -> Option<u32> {
        let index = self.bytecodes.contains(place).then(|| place.offset_from(self.bytecodes.start));
        u32::try_from(index??).ok()
    }

    /// Whether it is native: it has no bytecodes.
    pub const fn is_native(&self) -> bool {
        self.bytecodes.is_empty()
    }
}

/// A class's name with dots. Behind the name of a hidden class stands what tells it from others, which traces of Java
/// print behind a slash.
fn dotted(name: &str) -> String {
    match name.split_once('+') {
        Some((name, rest)) => format!("{}/{rest}", name.replace('/', ".")),
        None => name.replace('/', "."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_dots() {
        assert_eq!(dotted("java/lang/Thread"), "java.lang.Thread");
        assert_eq!(dotted("T$$Lambda$2+0x00007f0a"), "T$$Lambda$2/0x00007f0a");
    }
}
