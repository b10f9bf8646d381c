//! The types, variables and enumerators of one unit by the hashes of their names, with the function or block that
//! each lies in.

use gimli::{AttributeValue, DwTag, Reader as _, constants};

use super::{
    Reader, Result, UnitOffset,
    files::{Files, Which},
    unit::Unit,
    walk::{Entry, Walk},
};

/// Names of one unit that are told apart.
const MAX_NAMES: usize = 1 << 22;
/// Units that one unit imports, at most.
const MAX_IMPORTS: usize = 1 << 12;

/// What a unit names, by the hash of the last word of the name.
#[derive(Debug, Default)]
pub struct UnitNames {
    names: Vec<UnitName>,
    /// The units that it imports: in which file, and where each begins.
    pub imports: Vec<(Which, usize)>,
}

/// What a name of a unit belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnitNameKind {
    /// A type.
    Type,
    /// A variable.
    Variable,
    /// A value of an enumeration.
    Enumerator,
}

/// What a unit names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitName {
    stem: u32,
    /// Its entry.
    pub entry: UnitOffset,
    /// The function or block that it lies in; `None` outside of functions.
    pub block: Option<UnitOffset>,
    /// What it is.
    pub kind: UnitNameKind,
}

/// What an entry says of itself.
#[derive(Default)]
struct NameFacts {
    name: Option<AttributeValue<Reader>>,
    origin: Option<UnitOffset>,
    import: Option<AttributeValue<Reader>>,
    is_declaration: bool,
    has_place: bool,
}

impl UnitNames {
    /// Reads the whole unit. `hash` makes the hash of a name.
    pub fn read(
        files: &Files,
        which: Which,
        unit: &Unit,
        hash: fn(&[u8]) -> u32,
        is_type: fn(DwTag) -> bool,
    ) -> Result<Self> {
        let mut all = Self::default();
        let mut blocks: Vec<(isize, UnitOffset)> = Vec::new();
        let mut walk = Walk::new(unit, None)?;
        while all.names.len() < MAX_NAMES
            && let Some(entry) = walk.next(-1)?
        {
            while blocks.pop_if(|(depth, _)| *depth >= entry.depth).is_some() {}
            let tag = entry.shape.tag();
            let kind = UnitNameKind::of(tag, is_type);
            if kind.is_some() || tag == constants::DW_TAG_imported_unit {
                let facts = NameFacts::read(&mut walk, &entry)?;
                all.import(files, which, unit, &facts);
                let stem = facts.name(unit).and_then(|name| files.string(which, unit, name));
                let stem = stem.and_then(|name| Some(hash(&name.to_slice().ok()?)));
                if let (Some(stem), Some(kind)) = (stem, kind)
                    && facts.is_definition(kind)
                {
                    let block = blocks.last().map(|(_, block)| *block);
                    all.names.push(UnitName { stem, entry: entry.offset, block, kind });
                }
                continue;
            }
            walk.pass(&entry)?;
            if is_block(tag) && entry.shape.has_children() {
                blocks.push((entry.depth, entry.offset));
            }
        }
        all.names.sort_unstable();
        Ok(all)
    }

    /// The names of this hash, in the order of the unit.
    pub fn with_stem(&self, stem: u32) -> impl Iterator<Item = UnitName> {
        let first = self.names.partition_point(|name| name.stem < stem);
        let rest = self.names.get(first..).unwrap_or_default().iter();
        rest.take_while(move |name| name.stem == stem).copied()
    }

    fn import(&mut self, files: &Files, which: Which, unit: &Unit, facts: &NameFacts) {
        let Some(value) = facts.import.as_ref().filter(|_| self.imports.len() < MAX_IMPORTS) else {
            return;
        };
        self.imports.extend(files.reference(which, unit, value));
    }
}

impl UnitNameKind {
    fn of(tag: DwTag, is_type: fn(DwTag) -> bool) -> Option<Self> {
        match tag {
            constants::DW_TAG_variable | constants::DW_TAG_constant => Some(Self::Variable),
            constants::DW_TAG_enumerator => Some(Self::Enumerator),
            tag => is_type(tag).then_some(Self::Type),
        }
    }
}

impl NameFacts {
    fn read(walk: &mut Walk<'_>, entry: &Entry<'_>) -> Result<Self> {
        let mut facts = Self::default();
        walk.attributes(entry, |attribute| {
            match (attribute.name(), attribute.value()) {
                (constants::DW_AT_name, value) => facts.name = Some(value),
                (
                    constants::DW_AT_specification | constants::DW_AT_abstract_origin,
                    AttributeValue::UnitRef(origin),
                ) => facts.origin = Some(origin),
                (constants::DW_AT_import, value) => facts.import = Some(value),
                (constants::DW_AT_declaration, value) => {
                    facts.is_declaration = value == AttributeValue::Flag(true);
                }
                (constants::DW_AT_location | constants::DW_AT_const_value, _) => {
                    facts.has_place = true;
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(facts)
    }

    /// Its name; of a definition that has none of its own, that of its declaration.
    fn name(&self, unit: &Unit) -> Option<AttributeValue<Reader>> {
        if self.name.is_some() {
            return self.name.clone();
        }
        let mut walk = Walk::new(unit, Some(self.origin?)).ok()?;
        let declaration = walk.next(-1).ok()??;
        Self::read(&mut walk, &declaration).ok()?.name
    }

    fn is_definition(&self, kind: UnitNameKind) -> bool {
        !self.is_declaration && (self.has_place || kind != UnitNameKind::Variable)
    }
}

/// Whether names in such an entry are known to no one outside.
const fn is_block(tag: DwTag) -> bool {
    matches!(
        tag,
        constants::DW_TAG_subprogram
            | constants::DW_TAG_lexical_block
            | constants::DW_TAG_inlined_subroutine
    )
}
