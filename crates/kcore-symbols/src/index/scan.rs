//! The names of one unit.

use gimli::{Attribute, AttributeValue, DwTag, Reader as _, constants};
use rustc_hash::FxHashMap;

use super::{
    hash::Hash,
    records::{Record, What},
    spelled::{NameHash, Spelled},
};
use crate::dwarf::{Entry, Files, Reader, Result, Unit, UnitOffset, Walk, Which, sibling};

/// References that are followed to the name of a definition.
const MAX_REFERENCES: usize = 4;

/// Names whose hashes are known, by where linkers put them: the same name is there once.
#[derive(Default)]
pub struct KnownNames(FxHashMap<(Which, usize), NameHash>);

/// What is remembered of a name, and what tells it from the same name elsewhere.
pub struct Found {
    /// What is remembered.
    pub record: Record,
    /// Equal for names that say the same, wherever they stand; `None` for what is kept each time.
    pub identity: Option<u64>,
}

/// A unit that is scanned.
pub struct Scan<'a> {
    files: &'a Files,
    which: Which,
    unit: &'a Unit,
    number: u32,
    names: &'a mut KnownNames,
    open: Vec<Scope>,
    found: Vec<Found>,
}

/// A scope that the walk is in.
struct Scope {
    depth: isize,
    hash: u64,
    /// The place in `found` of the type that it is.
    found: Option<usize>,
}

/// What an entry says of itself, as far as an index wants to know it.
#[derive(Default)]
struct Said {
    name: Option<AttributeValue<Reader>>,
    origin: Option<UnitOffset>,
    next: Option<UnitOffset>,
    size: u64,
    is_declaration: bool,
    is_transparent: bool,
    has_place: bool,
    has_code: bool,
}

impl<'a> Scan<'a> {
    /// The names of unit number `number`, in the order in which they stand there, as far as it is not
    /// damaged.
    pub fn names(
        files: &'a Files,
        which: Which,
        unit: &'a Unit,
        number: u32,
        names: &'a mut KnownNames,
    ) -> Vec<Found> {
        let mut scan =
            Self { files, which, unit, number, names, open: Vec::new(), found: Vec::new() };
        let _ = scan.run();
        scan.found
    }

    fn run(&mut self) -> Result<()> {
        let mut walk = Walk::new(&self.unit.unit, None)?;
        while let Some(entry) = walk.next(-1)? {
            while self.open.last().is_some_and(|scope| scope.depth >= entry.depth) {
                self.open.pop();
            }
            self.take(&mut walk, &entry)?;
        }
        Ok(())
    }

    fn take(&mut self, walk: &mut Walk<'_>, entry: &Entry<'_>) -> Result<()> {
        match entry.shape.tag() {
            tag if is_type(tag) => self.take_type(walk, entry),
            constants::DW_TAG_namespace | constants::DW_TAG_module => {
                let said = Said::read(walk, entry)?;
                self.enter(entry, &said, None);
                Ok(())
            }
            constants::DW_TAG_variable => self.take_variable(walk, entry),
            constants::DW_TAG_subprogram => self.take_function(walk, entry),
            constants::DW_TAG_template_type_parameter
            | constants::DW_TAG_template_value_parameter => {
                self.mark_bare(entry.depth);
                walk.pass(entry)
            }
            _ => walk.pass(entry),
        }
    }

    fn take_type(&mut self, walk: &mut Walk<'_>, entry: &Entry<'_>) -> Result<()> {
        let said = Said::read(walk, entry)?;
        let mut found = None;
        if let Some(name) = self.hash_of(&said) {
            let mut identity = Hash::new();
            let tag = u64::from(entry.shape.tag().0);
            let facts = [self.scope(), tag, said.size, u64::from(said.is_declaration)];
            facts.into_iter().for_each(|fact| identity.add(fact));
            identity.add(u64::from(name.full) << 32 | u64::from(name.stem));
            found = self.add(name, What::Type, entry, &said, Some(identity.long()));
        }
        match entry.shape.tag() {
            constants::DW_TAG_enumeration_type => walk.pass_children(entry, said.next)?,
            _ if entry.shape.has_children() => self.enter(entry, &said, found),
            _ => {}
        }
        Ok(())
    }

    fn take_variable(&mut self, walk: &mut Walk<'_>, entry: &Entry<'_>) -> Result<()> {
        let said = Said::read(walk, entry)?;
        if !said.has_place && !said.is_declaration {
            return Ok(());
        }
        let Some(name) = self.hash_of(&said) else { return Ok(()) };
        let mut identity = Hash::new();
        for fact in [self.scope(), name.full.into(), name.stem.into()] {
            identity.add(fact);
        }
        let identity = (!said.has_place).then(|| identity.long());
        self.add(name, What::Variable, entry, &said, identity);
        Ok(())
    }

    fn take_function(&mut self, walk: &mut Walk<'_>, entry: &Entry<'_>) -> Result<()> {
        let said = Said::read(walk, entry)?;
        if said.has_code
            && let Some(name) = self.hash_of(&said)
        {
            self.add(name, What::Function, entry, &said, None);
        }
        Ok(())
    }

    fn add(
        &mut self,
        name: NameHash,
        what: What,
        entry: &Entry<'_>,
        said: &Said,
        identity: Option<u64>,
    ) -> Option<usize> {
        let offset = u32::try_from(entry.offset.0).ok()?;
        let record = Record::new(name, what, self.number, offset).declared(said.is_declaration);
        self.found.push(Found { record, identity });
        self.found.len().checked_sub(1)
    }

    fn enter(&mut self, entry: &Entry<'_>, said: &Said, found: Option<usize>) {
        if !entry.shape.has_children() {
            return;
        }
        let mut hash = Hash::new();
        hash.add(self.scope());
        match self.hash_of(said) {
            Some(name) if !said.is_transparent => hash.add(name.full.into()),
            _ => {}
        }
        self.open.push(Scope { depth: entry.depth, hash: hash.long(), found });
    }

    /// The hash of the scope that the walk is in.
    fn scope(&self) -> u64 {
        self.open.last().map_or(0, |scope| scope.hash)
    }

    /// The type right above has template arguments: unlike others, it is told apart by them alone.
    fn mark_bare(&mut self, depth: isize) {
        let above = self.open.last().filter(|scope| scope.depth.saturating_add(1) == depth);
        if let Some(at) = above.and_then(|scope| scope.found)
            && let Some(found) = self.found.get_mut(at)
            && found.record.full == found.record.stem
        {
            found.record.set_bare();
            found.identity = None;
        }
    }

    /// The hash of an entry's own name, or of the name of what it defines.
    fn hash_of(&mut self, said: &Said) -> Option<NameHash> {
        if let Some(name) = &said.name {
            return self.hash_of_text(name.clone());
        }
        let mut at = said.origin?;
        for _ in 0..MAX_REFERENCES {
            let mut walk = Walk::new(&self.unit.unit, Some(at)).ok()?;
            let entry = walk.next(-1).ok()??;
            let said = Said::read(&mut walk, &entry).ok()?;
            if let Some(name) = said.name {
                return self.hash_of_text(name);
            }
            at = said.origin?;
        }
        None
    }

    fn hash_of_text(&mut self, value: AttributeValue<Reader>) -> Option<NameHash> {
        let key = match value {
            AttributeValue::DebugStrRef(offset) => Some((self.which, offset.0)),
            AttributeValue::DebugStrRefSup(offset) => Some((Which::Supplementary, offset.0)),
            _ => None,
        };
        if let Some(known) = key.and_then(|key| self.names.0.get(&key)) {
            return Some(*known);
        }
        let text = self.files.string(self.which, self.unit, value)?;
        let text = text.to_string_lossy().ok().filter(|text| !text.is_empty())?;
        let hash = Spelled::parse(&text).hash();
        if let Some(key) = key {
            self.names.0.insert(key, hash);
        }
        Some(hash)
    }
}

impl Said {
    fn read(walk: &mut Walk<'_>, entry: &Entry<'_>) -> Result<Self> {
        let mut said = Self::default();
        walk.attributes(entry, |attribute| {
            said.take(attribute);
            Ok(())
        })?;
        Ok(said)
    }

    fn take(&mut self, attribute: &Attribute<Reader>) {
        match attribute.name() {
            constants::DW_AT_name => self.name = Some(attribute.value()),
            constants::DW_AT_specification | constants::DW_AT_abstract_origin => {
                self.origin = match attribute.value() {
                    AttributeValue::UnitRef(offset) => Some(offset),
                    _ => None,
                };
            }
            constants::DW_AT_byte_size => self.size = attribute.udata_value().unwrap_or(0),
            // A signature stands for a type that is described elsewhere.
            constants::DW_AT_declaration | constants::DW_AT_signature => self.is_declaration = true,
            constants::DW_AT_export_symbols => self.is_transparent = true,
            constants::DW_AT_location => self.has_place = is_fixed_place(&attribute.value()),
            constants::DW_AT_const_value => self.has_place = true,
            constants::DW_AT_low_pc | constants::DW_AT_ranges | constants::DW_AT_inline => {
                self.has_code = true;
            }
            constants::DW_AT_sibling => self.next = sibling(attribute),
            _ => {}
        }
    }
}

/// Whether an expression gives a place that does not depend on a frame.
fn is_fixed_place(value: &AttributeValue<Reader>) -> bool {
    let (AttributeValue::Exprloc(gimli::Expression(bytes)) | AttributeValue::Block(bytes)) = value
    else {
        return false;
    };
    let first = bytes.to_slice().ok().and_then(|bytes| bytes.first().copied());
    first.is_some_and(|first| {
        matches!(
            gimli::DwOp(first),
            constants::DW_OP_addr
                | constants::DW_OP_addrx
                | constants::DW_OP_constx
                | constants::DW_OP_const4u
                | constants::DW_OP_const8u
                | constants::DW_OP_GNU_addr_index
                | constants::DW_OP_GNU_const_index
        )
    })
}

/// Whether entries with this tag are types that may have a name.
pub const fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        constants::DW_TAG_base_type
            | constants::DW_TAG_unspecified_type
            | constants::DW_TAG_pointer_type
            | constants::DW_TAG_typedef
            | constants::DW_TAG_template_alias
            | constants::DW_TAG_structure_type
            | constants::DW_TAG_class_type
            | constants::DW_TAG_interface_type
            | constants::DW_TAG_union_type
            | constants::DW_TAG_enumeration_type
            | constants::DW_TAG_array_type
            | constants::DW_TAG_subroutine_type
            | constants::DW_TAG_subrange_type
            | constants::DW_TAG_string_type
    )
}
