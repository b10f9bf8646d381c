//! The names of one unit.

use std::ffi::CStr;

use gimli::{
    AttributeValue, DebugLineStrOffset, DebugStrOffset, DebugStrOffsetsIndex, DwForm, DwOp,
    Reader as _, Section as _, constants,
};

use kcore_mem::Watch;
use rustc_hash::FxHashSet;

use super::{
    hash::mix,
    known::{KnownName, KnownNames, is_too_much},
    raw::{Raw, Width},
    records::{ASK_ENTRY, NO_SCOPE, Record, What},
    shapes::{Fact, Shape, Shapes, Step, is_type},
};
use crate::dwarf::{Files, Reader, Unit, Walk, Which, is_number};

/// References that are followed to the name of a definition.
const MAX_REFERENCES: usize = 4;

/// What is remembered of a name, and what tells it from the same name elsewhere.
pub struct NameEntry {
    /// What is remembered. Its scope is a place in [`Scanned::scopes`].
    pub record: Record,
    /// Equal for names that say the same, wherever they stand; `None` for what is kept each time.
    pub identity: Option<u64>,
}

impl NameEntry {
    /// Whether the same was not seen before.
    pub fn is_new(&self, seen: &mut FxHashSet<u64>) -> bool {
        self.identity.is_none_or(|identity| seen.insert(identity))
    }
}

/// A scope that has names in it.
#[derive(Clone, Copy)]
pub struct FoundScope {
    /// Equal for scopes of the same names.
    pub hash: u64,
    /// The place in [`Scanned::scopes`] of the one around it.
    pub around: u32,
    /// The number of its unit.
    pub unit: u32,
    /// Where its entry begins there.
    pub offset: u32,
}

/// What was found in some units.
#[derive(Default)]
pub struct Scanned {
    /// The names, in the order in which they stand there. Those of former units may be taken out.
    pub found: Vec<NameEntry>,
    /// The scopes that they lie in.
    pub scopes: Vec<FoundScope>,
}

/// A unit that is scanned.
pub struct Scan<'a> {
    files: &'a Files,
    which: Which,
    unit: &'a Unit,
    number: u32,
    names: &'a mut KnownNames,
    open: Vec<Scope>,
    bare: Bare,
    scanned: &'a mut Scanned,
}

/// Whether classes may have the same name that are different instances of a template
/// (`clang -gsimple-template-names`). What lies in them is told apart by where it lies: not before all
/// of a class is read does one know that it is a template.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    /// Names have their arguments.
    Never,
    /// They had up to now.
    Possible,
    /// One was met that has none: the unit is to be scanned once more.
    Met,
    /// Names may have none.
    Expected,
}

impl Bare {
    fn of(unit: &Unit) -> Self {
        if unit.may_lack_arguments() { Self::Possible } else { Self::Never }
    }
}

/// A scope that the walk is in.
struct Scope {
    depth: usize,
    hash: u64,
    offset: usize,
    /// Its place among those found, once a name in it was.
    place: Option<u32>,
    /// The place of the name of the type that it is.
    found: Option<usize>,
}

/// What an entry says of itself, as far as an index wants to know it.
#[derive(Default)]
struct EntryFacts {
    name: Option<KnownName>,
    origin: Option<usize>,
    /// Of a type its size, of an enumerator its value: what tells it from others of the name.
    size: u64,
    is_declaration: bool,
    has_place: bool,
}

impl<'a> Scan<'a> {
    /// Adds the names of unit number `number`, as far as it is not damaged.
    pub fn names(
        files: &'a Files,
        which: Which,
        unit: &'a Unit,
        number: u32,
        names: &'a mut KnownNames,
        scanned: &'a mut Scanned,
    ) {
        let before = (scanned.found.len(), scanned.scopes.len());
        let open = Vec::new();
        let bare = Bare::of(unit);
        let mut scan = Self { files, which, unit, number, names, open, bare, scanned };
        scan.run();
        if scan.bare == Bare::Met {
            scan.scanned.found.truncate(before.0);
            scan.scanned.scopes.truncate(before.1);
            scan.open.clear();
            scan.bare = Bare::Expected;
            scan.run();
        }
    }

    fn run(&mut self) -> Option<()> {
        let unit = self.unit;
        let header = &unit.unit.header;
        let root = header.root_offset();
        let bytes = header.range_from(root..).ok()?;
        let bytes = bytes.to_slice().ok()?;
        let is_big_endian = self.files.units(self.which)?.file.is_big_endian();
        let mut raw = Raw::new(&bytes, header.encoding(), is_big_endian);
        let mut shapes = Shapes::new(&unit.unit.abbreviations);
        let end = root.0.saturating_add(bytes.len());
        let mut depth: usize = 0;
        let mut watch = Watch::new(&unit.budget);
        while !raw.bytes.is_empty() {
            let offset = end.saturating_sub(raw.bytes.len());
            let code = raw.leb128()?;
            if watch.is_over() {
                return None;
            }
            if code == 0 {
                depth = depth.saturating_sub(1);
                continue;
            }
            let shape = shapes.get(code, &raw)?;
            let said = self.read(&mut raw, shape)?;
            while self.open.pop_if(|scope| scope.depth >= depth).is_some() {}
            self.take(shape, said, offset, depth);
            if self.bare == Bare::Met {
                return None;
            }
            if shape.has_children {
                depth = depth.saturating_add(1);
            }
        }
        Some(())
    }

    /// Reads the attributes of an entry.
    fn read(&mut self, raw: &mut Raw<'_>, shape: &Shape) -> Option<EntryFacts> {
        let mut said = EntryFacts {
            is_declaration: shape.is_declaration,
            has_place: shape.has_value,
            size: shape.value,
            ..EntryFacts::default()
        };
        for step in &shape.steps {
            match *step {
                Step::Skip(count) => raw.skip(count as usize)?,
                Step::Pass(width) => raw.pass(width)?,
                Step::Take(fact, form) => self.note(&mut said, raw, fact, form)?,
            }
        }
        Some(said)
    }

    fn note(
        &mut self,
        said: &mut EntryFacts,
        raw: &mut Raw<'_>,
        fact: Fact,
        form: DwForm,
    ) -> Option<()> {
        let form = if form == constants::DW_FORM_indirect { raw.form()? } else { form };
        let width = raw.width(form)?;
        match (fact, width) {
            (Fact::Name, _) => said.name = self.name(raw, form, width)?,
            (Fact::Place, Width::Block(_)) => said.has_place |= is_fixed_place(raw.block(width)?),
            (Fact::Origin, _) => said.origin = reference(raw, form, width)?,
            (Fact::Size | Fact::Value, Width::Fixed(count @ 1..=8)) => {
                said.size = raw.number(count)?;
            }
            (Fact::Size | Fact::Value, Width::Leb128) => said.size = raw.leb128()?,
            (Fact::Declaration, Width::Fixed(1)) => said.is_declaration |= raw.number(1)? != 0,
            _ => raw.pass(width)?,
        }
        Some(())
    }

    fn take(&mut self, shape: &Shape, said: EntryFacts, offset: usize, depth: usize) {
        match shape.tag {
            constants::DW_TAG_namespace | constants::DW_TAG_module => {
                self.enter(shape, &said, offset, depth, None);
            }
            constants::DW_TAG_variable | constants::DW_TAG_constant
                if said.has_place || said.is_declaration || self.is_global(depth) =>
            {
                let is_kept = said.has_place;
                self.add(What::Variable, said, offset, |identity| (!is_kept).then_some(identity));
            }
            constants::DW_TAG_member if shape.has_value => {
                self.add(What::Variable, said, offset, Some);
            }
            constants::DW_TAG_subprogram if shape.has_code => {
                self.add(What::Function, said, offset, |_| None);
            }
            constants::DW_TAG_enumerator => {
                self.add(What::Enumerator, said, offset, |identity| Some(mix(identity, 1)));
            }
            constants::DW_TAG_template_type_parameter
            | constants::DW_TAG_template_value_parameter
            | constants::DW_TAG_GNU_template_template_param
            | constants::DW_TAG_GNU_template_parameter_pack => self.mark_bare(depth),
            tag if is_type(tag) => self.take_type(shape, said, offset, depth),
            _ => {}
        }
    }

    /// Whether an entry is in no function: of those in functions without a place most are locals.
    fn is_global(&self, depth: usize) -> bool {
        let around = self.open.last().map_or(0, |scope| scope.depth);
        around.saturating_add(1) == depth
    }

    fn take_type(&mut self, shape: &Shape, mut said: EntryFacts, offset: usize, depth: usize) {
        let tag = u64::from(shape.tag.0);
        said.name = said.name.or_else(|| self.name_of_origin(&said));
        let scope = EntryFacts { name: said.name, ..EntryFacts::default() };
        let found = self.add(What::Type, said, offset, |identity| Some(mix(identity, tag)));
        self.enter(shape, &scope, offset, depth, found);
    }

    /// Adds a name. `identity` makes of that of name, scope and size the one that counts.
    fn add(
        &mut self,
        what: What,
        said: EntryFacts,
        offset: usize,
        identity: impl FnOnce(u64) -> Option<u64>,
    ) -> Option<usize> {
        let name = said.name.or_else(|| self.name_of_origin(&said))?;
        let size = mix(said.size, u64::from(said.is_declaration));
        let own = mix(mix(self.scope_hash(), size), name.long());
        let scope = if said.origin.is_some() { ASK_ENTRY } else { self.scope_place()? };
        let offset = u32::try_from(offset).ok()?;
        let record = Record::new(name.hash, what, self.number, offset, scope);
        let record = record.declared(said.is_declaration);
        self.scanned.found.push(NameEntry { record, identity: identity(own) });
        self.scanned.found.len().checked_sub(1)
    }

    fn enter(
        &mut self,
        shape: &Shape,
        said: &EntryFacts,
        offset: usize,
        depth: usize,
        found: Option<usize>,
    ) {
        if !shape.has_children {
            return;
        }
        let mut hash = mix(self.scope_hash(), said.name.map_or(0, KnownName::long));
        if self.bare == Bare::Expected && is_type(shape.tag) {
            hash = mix(mix(hash, u64::from(self.number)), offset as u64);
        }
        self.open.push(Scope { depth, hash, offset, place: None, found });
    }

    fn scope_hash(&self) -> u64 {
        self.open.last().map_or(0, |scope| scope.hash)
    }

    /// The place of the innermost scope among those found; those around it get theirs as well.
    fn scope_place(&mut self) -> Option<u32> {
        let mut around = NO_SCOPE;
        for scope in &mut self.open {
            if scope.place.is_none() {
                let (hash, offset) = (scope.hash, u32::try_from(scope.offset).ok()?);
                let found = FoundScope { hash, around, unit: self.number, offset };
                scope.place = Some(u32::try_from(self.scanned.scopes.len()).ok()?);
                self.scanned.scopes.push(found);
            }
            around = scope.place.unwrap_or(NO_SCOPE);
        }
        Some(around)
    }

    /// The type right above has template arguments: unlike others, it is told apart by them alone.
    fn mark_bare(&mut self, depth: usize) {
        let above = self.open.last().filter(|scope| scope.depth.saturating_add(1) == depth);
        if let Some(at) = above.and_then(|scope| scope.found)
            && let Some(found) = self.scanned.found.get_mut(at)
            && found.record.full == found.record.stem
        {
            found.record.set_bare();
            found.identity = None;
            if self.bare == Bare::Possible {
                self.bare = Bare::Met;
            }
        }
    }

    /// The name of what an entry defines or is an instance of.
    fn name_of_origin(&mut self, said: &EntryFacts) -> Option<KnownName> {
        let mut at = gimli::UnitOffset(said.origin?);
        for _ in 0..MAX_REFERENCES {
            let (mut name, mut origin) = (None, None);
            let mut walk = Walk::new(self.unit, Some(at)).ok()?;
            let entry = walk.next(-1).ok()??;
            let read = walk.attributes(&entry, |attribute| {
                match (attribute.name(), attribute.value()) {
                    (constants::DW_AT_name, value) => name = Some(value),
                    (
                        constants::DW_AT_specification | constants::DW_AT_abstract_origin,
                        AttributeValue::UnitRef(offset),
                    ) => origin = Some(offset),
                    _ => {}
                }
                Ok(())
            });
            read.ok()?;
            if let Some(name) = name {
                return self.hash_of(name);
            }
            at = origin?;
        }
        None
    }

    /// Reads a name; the inner `None` is an empty one, or one that is not there.
    fn name(&mut self, raw: &mut Raw<'_>, form: DwForm, width: Width) -> Option<Option<KnownName>> {
        if form == constants::DW_FORM_string {
            return Some(hash_of_bytes(raw.text()?));
        }
        let number = match width {
            Width::Fixed(count) if count <= 8 => raw.number(count)?,
            Width::Leb128 => raw.leb128()?,
            _ => {
                raw.pass(width)?;
                return Some(None);
            }
        };
        let number = usize::try_from(number).ok()?;
        Some(self.hash_of(match form {
            constants::DW_FORM_strp => AttributeValue::DebugStrRef(DebugStrOffset(number)),
            constants::DW_FORM_line_strp => {
                AttributeValue::DebugLineStrRef(DebugLineStrOffset(number))
            }
            constants::DW_FORM_strp_sup | constants::DW_FORM_GNU_strp_alt => {
                AttributeValue::DebugStrRefSup(DebugStrOffset(number))
            }
            _ => AttributeValue::DebugStrOffsetsIndex(DebugStrOffsetsIndex(number)),
        }))
    }

    fn hash_of(&mut self, value: AttributeValue<Reader>) -> Option<KnownName> {
        let (of, offset) = match value {
            AttributeValue::DebugStrRef(offset) => (self.which, offset.0),
            AttributeValue::DebugStrRefSup(offset) => (Which::Supplementary, offset.0),
            AttributeValue::DebugStrOffsetsIndex(index) => (self.which, self.string(index)?),
            other => {
                let text = self.files.string(self.which, self.unit, other)?;
                return hash_of_bytes(&text.to_slice().ok()?);
            }
        };
        let files = self.files;
        let make = |long: &mut usize| {
            let strings = files.units(of)?.file.dwarf.debug_str.reader().bytes();
            let name = CStr::from_bytes_until_nul(strings.get(offset..)?).ok()?.to_bytes();
            if is_too_much(name, strings.len(), long) {
                return None;
            }
            hash_of_bytes(name)
        };
        self.names.get(of, offset, make)
    }

    /// Where a string lies that is named by its number.
    fn string(&self, index: DebugStrOffsetsIndex<usize>) -> Option<usize> {
        if !is_number(index.0) {
            return None;
        }
        let unit = &self.unit.unit;
        let offsets = &self.files.units(self.which)?.file.dwarf.debug_str_offsets;
        let format = unit.header.format();
        Some(offsets.get_str_offset(format, unit.str_offsets_base, index).ok()?.0)
    }
}

fn hash_of_bytes(text: &[u8]) -> Option<KnownName> {
    if text.is_empty() {
        return None;
    }
    Some(KnownName::of(text))
}

/// An entry of the same unit; the inner `None` is one of another.
fn reference(raw: &mut Raw<'_>, form: DwForm, width: Width) -> Option<Option<usize>> {
    let number = match width {
        Width::Fixed(count) if count <= 8 => raw.number(count)?,
        Width::Leb128 => raw.leb128()?,
        _ => return raw.pass(width).map(|()| None),
    };
    let is_near = matches!(
        form,
        constants::DW_FORM_ref1
            | constants::DW_FORM_ref2
            | constants::DW_FORM_ref4
            | constants::DW_FORM_ref8
            | constants::DW_FORM_ref_udata
    );
    Some(usize::try_from(number).ok().filter(|_| is_near))
}

/// Whether an expression gives a place that does not depend on a frame.
fn is_fixed_place(expression: &[u8]) -> bool {
    expression.first().is_some_and(|first| {
        matches!(
            DwOp(*first),
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
