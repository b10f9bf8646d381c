//! What V8 exports for debuggers, as a list: the constants `v8dbg_*` that
//! `tools/gen-postmortem-metadata.py` writes, and the names that they are made of.

use rustc_hash::FxHashMap;

use super::{V8, probe};
use crate::{Host, HostModule};

/// Constants that are listed, at most: V8 has some 500.
const MAX_CONSTANTS: usize = 1 << 14;
const PREFIX: &str = "v8dbg_";

/// What V8 exports for debuggers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Every constant without `v8dbg_`, by name.
    pub constants: Vec<(String, u32)>,
    types: FxHashMap<u64, String>,
    frames: FxHashMap<u64, String>,
}

/// A field of an object of V8's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassField<'m> {
    /// The class that declares it.
    pub class: &'m str,
    /// Its name.
    pub name: &'m str,
    /// Its type in C++, as far as the name of a constant can spell it.
    pub type_name: &'m str,
    /// Where it lies, in bytes from the beginning of the object.
    pub offset: u32,
}

impl Metadata {
    fn new(mut constants: Vec<(String, u32)>) -> Self {
        constants.sort_unstable();
        constants.dedup_by(|one, other| one.0 == other.0);
        let mut types = FxHashMap::default();
        let mut frames = FxHashMap::default();
        for (name, value) in &constants {
            if let Some((class, word)) =
                name.strip_prefix("type_").and_then(|name| name.split_once("__"))
            {
                types.entry(u64::from(*value)).or_insert_with(|| type_name(class, word));
            }
            if let Some(name) = name.strip_prefix("frametype_") {
                frames.entry(u64::from(*value)).or_insert_with(|| name.to_owned());
            }
        }
        Self { constants, types, frames }
    }

    /// The name of an instance type.
    pub fn type_name(&self, kind: u64) -> Option<&str> {
        self.types.get(&kind).map(String::as_str)
    }

    /// The name of a type of frames.
    pub fn frame_name(&self, kind: u64) -> Option<&str> {
        self.frames.get(&kind).map(String::as_str)
    }

    /// Instance types and their names, by number.
    pub fn types(&self) -> Vec<(u64, &str)> {
        in_order(&self.types)
    }

    /// Types of frames and their names, by number.
    pub fn frames(&self) -> Vec<(u64, &str)> {
        in_order(&self.frames)
    }

    /// The fields of all classes, by class and offset.
    pub fn fields(&self) -> Vec<ClassField<'_>> {
        let fields = self.constants.iter().filter_map(|(name, offset)| {
            let mut parts = name.strip_prefix("class_")?.splitn(3, "__");
            let (class, name) = (parts.next()?, parts.next()?);
            Some(ClassField { class, name, type_name: parts.next()?, offset: *offset })
        });
        let mut fields: Vec<_> = fields.collect();
        fields.sort_by_key(|field| (field.class, field.offset, field.name));
        fields.dedup_by_key(|field| (field.class, field.offset, field.name));
        fields
    }
}

fn in_order(names: &FxHashMap<u64, String>) -> Vec<(u64, &str)> {
    let mut names: Vec<_> = names.iter().map(|(number, name)| (*number, name.as_str())).collect();
    names.sort_unstable();
    names
}

/// The class of a type; of strings, which have many types, what their word says more.
fn type_name(class: &str, word: &str) -> String {
    let width = match word {
        _ if word.contains("ONE_BYTE") => "OneByte",
        _ if word.contains("TWO_BYTE") => "TwoByte",
        _ => return class.to_owned(),
    };
    match class.strip_suffix("String").filter(|_| !class.contains("Byte")) {
        Some(before) => format!("{before}{width}String"),
        None => class.to_owned(),
    }
}

impl V8 {
    /// What V8 exports for debuggers; nothing where it does not.
    pub fn metadata(&self, host: &dyn Host) -> &Metadata {
        self.metadata.get_or_init(|| {
            let modules = host.modules();
            let ours = modules.into_iter().find(|module| self.owns(*module));
            Metadata::new(ours.map(|module| constants(host, module)).unwrap_or_default())
        })
    }
}

fn constants(host: &dyn Host, module: &dyn HostModule) -> Vec<(String, u32)> {
    let symbols = module.symbols().table().iter();
    let ours = symbols.filter_map(|symbol| {
        let name = symbol.name().strip_prefix(PREFIX.as_bytes())?;
        let name = String::from_utf8_lossy(name).into_owned();
        let value = probe::number_at(host, module, symbol.value())?;
        Some((name, u32::try_from(value).ok()?))
    });
    ours.take(MAX_CONSTANTS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Metadata {
        let constants = [
            ("type_Map__MAP_TYPE", 255),
            ("type_ConsString__CONS_ONE_BYTE_STRING_TYPE", 41),
            ("frametype_EntryFrame", 1),
            ("class_ConsString__second__String", 24),
            ("class_ConsString__first__String", 16),
            ("class_FixedArray__data__uintptr_t", 16),
            ("SmiTag", 0),
        ];
        Metadata::new(constants.map(|(name, value)| (name.to_owned(), value)).into())
    }

    #[test]
    fn numbers_have_the_names_of_their_constants() {
        let metadata = metadata();
        assert_eq!(metadata.type_name(255), Some("Map"));
        assert_eq!(metadata.type_name(41), Some("ConsOneByteString"));
        assert_eq!(metadata.frame_name(1), Some("EntryFrame"));
        assert_eq!(metadata.type_name(1), None);
    }

    #[test]
    fn fields_stand_in_the_order_of_their_offsets() {
        let metadata = metadata();
        let fields: Vec<_> =
            metadata.fields().iter().map(|field| (field.class, field.name, field.offset)).collect();
        let cons = [("ConsString", "first", 16), ("ConsString", "second", 24)];
        assert_eq!(fields, [cons[0], cons[1], ("FixedArray", "data", 16)]);
    }
}
