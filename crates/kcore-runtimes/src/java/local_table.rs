//! Names, types and places of the local variables of methods (`src/hotspot/share/oops/constMethod.{hpp,cpp}`, JDK 11 to 25).
//!
//! Tables that a method may have stand behind its bytecodes, from the end: each is followed by its length.

use std::{ops::Range, sync::Arc};

use kcore_mem::Addr;

use super::{
    liveness::Bytecodes,
    memory::Memory,
    method::{Method, MethodLayout},
    vm_structs::VmStructs,
};

/// Bytes of an entry of the table of variables, and in it: where the variable begins, for how many bytes of code it is
/// there, its name, its type, and its slot (`LocalVariableTableElement`).
const ENTRY: u64 = 12;
const START: u64 = 0;
const LENGTH: u64 = 2;
const NAME: u64 = 4;
const TYPE: u64 = 6;
const SLOT: u64 = 10;
/// Entries, at most: their number has 16 bits.
const MAX_PARAMETERS: usize = 255;
/// `JVM_ACC_STATIC`.
const STATIC: u64 = 8;

/// Which tables methods have, and where these end.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalTables {
    /// `ConstMethod._constMethod_size`, in words.
    size: u64,
    /// `ConstMethod._size_of_parameters`, in slots.
    parameters: u64,
    /// `Method._access_flags`.
    access: u64,
    /// Flags of pointers at the end.
    pointers: [u64; 4],
    generic: u64,
    /// Flags of tables, those at the end first, with the bytes of an entry.
    tables: [(u64, u64); 3],
    variables: u64,
}

/// A variable of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// Its name; `slot` and its number where that cannot be read.
    pub name: Arc<str>,
    /// Its type, in the words of class files; nothing where that cannot be read.
    pub signature: Arc<str>,
    /// Where it lies among the locals.
    pub slot: u16,
    /// Whether it is an argument.
    pub is_argument: bool,
    /// The bytecodes in which it is there; `None` of one that always is.
    pub range: Option<Range<u32>>,
}

impl LocalVariable {
    /// Whether it is there at an index of the bytecodes, where that is known.
    pub fn is_there(&self, index: Option<u32>) -> bool {
        let Some(range) = &self.range else { return true };
        index.is_some_and(|index| range.contains(&index))
    }
}

impl LocalTables {
    /// The layout that the tables of a virtual machine describe.
    pub fn of(tables: &VmStructs) -> Option<Self> {
        let flag = |name: &str| {
            let own = tables.constant(&format!("ConstMethodFlags::_misc_has_{name}"));
            own.or_else(|| tables.constant(&format!("ConstMethod::_has_{name}")))
        };
        Some(Self {
            size: tables.offset("ConstMethod._constMethod_size")?,
            parameters: tables.offset("ConstMethod._size_of_parameters")?,
            access: tables.offset("Method._access_flags")?,
            pointers: [
                flag("method_annotations")?,
                flag("parameter_annotations")?,
                flag("type_annotations")?,
                flag("default_annotations")?,
            ],
            generic: flag("generic_signature")?,
            tables: [
                (flag("method_parameters")?, 4),
                (flag("checked_exceptions")?, 2),
                (flag("exception_table")?, 8),
            ],
            variables: flag("localvariable_table")?,
        })
    }

    /// Where the table of variables begins, and how many entries it has.
    fn variables(&self, memory: Memory<'_>, constant: Addr, flags: u64) -> Option<(Addr, u64)> {
        (flags & self.variables != 0).then_some(())?;
        let at = self.length_behind(memory, constant, flags, &self.tables)?;
        let length = memory.uint(at, 0, 2)?;
        Some((back(at, length.checked_mul(ENTRY)?)?, length))
    }

    /// Ranges of bytecodes with where an exception that is thrown there is handled.
    fn handlers(
        &self,
        memory: Memory<'_>,
        constant: Addr,
        flags: u64,
    ) -> Option<Vec<(Range<u32>, u32)>> {
        let [before @ .., (flag, size)] = &self.tables;
        if flags & flag == 0 {
            return Some(Vec::new());
        }
        let at = self.length_behind(memory, constant, flags, before)?;
        let length = memory.uint(at, 0, 2)?;
        let first = back(at, length.checked_mul(*size)?)?;
        let entry = |index: u64| {
            let number = |field| {
                let number =
                    memory.uint(first, index.checked_mul(*size)?.checked_add(field)?, 2)?;
                u32::try_from(number).ok()
            };
            Some((number(0)?..number(2)?, number(4)?))
        };
        (0..length).map(entry).collect()
    }

    /// Where the length lies of the table that stands before these.
    fn length_behind(
        &self,
        memory: Memory<'_>,
        constant: Addr,
        flags: u64,
        tables: &[(u64, u64)],
    ) -> Option<Addr> {
        let words = memory.uint(constant, self.size, 4)?;
        let pointers = self.pointers.iter().filter(|flag| flags & **flag != 0).count() as u64;
        let end = constant.checked_add(words.checked_sub(pointers)?.checked_mul(8)?)?;
        let mut at = back(end, 2)?;
        if flags & self.generic != 0 {
            at = back(at, 2)?;
        }
        for (_, entry) in tables.iter().filter(|(flag, _)| flags & flag != 0) {
            let length = memory.uint(at, 0, 2)?;
            at = back(at, length.checked_mul(*entry)?.checked_add(2)?)?;
        }
        Some(at)
    }
}

fn back(at: Addr, by: u64) -> Option<Addr> {
    at.get().checked_sub(by).map(Addr::new)
}

impl MethodLayout {
    /// The bytecodes of a method whose `Method` lies at an address, with who handles exceptions.
    pub fn bytecodes(&self, memory: Memory<'_>, at: Addr, method: &Method) -> Option<Bytecodes> {
        let constant = memory.pointer(at, self.const_method)?;
        let flags = memory.uint(constant, self.flags, 4)?;
        let handlers = self.locals?.handlers(memory, constant, flags)?;
        let (start, len) = (method.bytecodes.start, method.bytecodes.len());
        let code = memory.0.read_held(start, len);
        (code.len() as u64 == len).then_some(Bytecodes { code, handlers })
    }

    /// The variables of a method whose `Method` lies at an address: those that its class file tells of, else its
    /// arguments by their number.
    pub fn locals(&self, memory: Memory<'_>, at: Addr, method: &Method) -> Vec<LocalVariable> {
        let Some(tables) = &self.locals else { return Vec::new() };
        let told = || {
            let constant = memory.pointer(at, self.const_method)?;
            let flags = memory.uint(constant, self.flags, 4)?;
            let (first, count) = tables.variables(memory, constant, flags)?;
            let pool = memory.pointer(constant, self.constants)?;
            let arguments = memory.uint(constant, tables.parameters, 2)?;
            let entry = |index: u64| {
                let entry = first.checked_add(index.checked_mul(ENTRY)?)?;
                self.local(memory, pool, entry, arguments)
            };
            Some((0..count).filter_map(entry).collect::<Vec<_>>())
        };
        told().unwrap_or_else(|| {
            let access = memory.uint(at, tables.access, 2).unwrap_or(STATIC);
            by_number(&method.signature, access & STATIC != 0, &method.class)
        })
    }

    fn local(
        &self,
        memory: Memory<'_>,
        pool: Addr,
        entry: Addr,
        arguments: u64,
    ) -> Option<LocalVariable> {
        let number = |offset| memory.uint(entry, offset, 2);
        let (start, slot) = (u32::try_from(number(START)?).ok()?, number(SLOT)?);
        let end = start.checked_add(u32::try_from(number(LENGTH)?).ok()?)?;
        let is_argument = start == 0 && slot < arguments;
        // One whose name cannot be read has its place, so that nobody misses it.
        let name = self.constant(memory, pool, number(NAME)?);
        let signature = self.constant(memory, pool, number(TYPE)?);
        Some(LocalVariable {
            name: name.unwrap_or_else(|| format!("slot{slot}").into()),
            signature: signature.unwrap_or_default(),
            slot: u16::try_from(slot).ok()?,
            is_argument,
            range: (!is_argument).then_some(start..end),
        })
    }
}

/// The arguments that a signature tells of: `(IJLjava/lang/String;)V`.
fn by_number(signature: &str, is_static: bool, class: &str) -> Vec<LocalVariable> {
    let mut found = Vec::new();
    let mut slot = 0_u16;
    let mut add = |name: String, signature: String| {
        let is_wide = matches!(signature.as_str(), "J" | "D");
        let range = None;
        found.push(LocalVariable {
            name: name.into(),
            signature: signature.into(),
            slot,
            is_argument: true,
            range,
        });
        slot = slot.saturating_add(if is_wide { 2 } else { 1 });
    };
    if !is_static {
        add("this".to_owned(), format!("L{class};"));
    }
    let mut rest = signature.strip_prefix('(').unwrap_or_default();
    for number in 0..MAX_PARAMETERS {
        let Some((own, behind)) = first_type(rest) else { break };
        add(format!("arg{number}"), own.to_owned());
        rest = behind;
    }
    found
}

/// The first type of a signature, and what follows it.
fn first_type(text: &str) -> Option<(&str, &str)> {
    let element = text.trim_start_matches('[');
    let dimensions = text.len().saturating_sub(element.len());
    let len = match element.chars().next()? {
        'L' => element.find(';')?.checked_add(1)?,
        ')' => return None,
        letter => letter.len_utf8(),
    };
    text.split_at_checked(dimensions.checked_add(len)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_numbers_where_they_have_no_names() {
        let found = by_number("(IJ[[Ljava/lang/String;D)V", false, "T");
        let told: Vec<_> = found.iter().map(|it| (&*it.name, &*it.signature, it.slot)).collect();
        let strings = "[[Ljava/lang/String;";
        assert_eq!(
            told,
            [
                ("this", "LT;", 0),
                ("arg0", "I", 1),
                ("arg1", "J", 2),
                ("arg2", strings, 4),
                ("arg3", "D", 5)
            ]
        );
        assert_eq!(by_number("()V", true, "T"), []);
        assert_eq!(by_number("(Lx", true, "T"), []);
        assert_eq!(by_number("", true, "T"), []);
    }

    #[test]
    fn a_variable_is_there_in_its_range() {
        let [mut local] = <[LocalVariable; 1]>::try_from(by_number("(I)V", true, "T")).unwrap();
        assert!(local.is_there(None));
        local.range = Some(3..5);
        let there = [None, Some(2), Some(3), Some(4), Some(5)].map(|index| local.is_there(index));
        assert_eq!(there, [false, false, true, true, false]);
    }
}
