//! Shapes of entries (abbreviations), made ready for a scan: what to pass over, and what to take.

use std::collections::hash_map::Entry;

use gimli::{Abbreviation, Abbreviations, AttributeSpecification, DwForm, DwTag, constants};
use rustc_hash::FxHashMap;

use super::raw::{Raw, Width};

/// Codes up to this have a place of their own: compilers number the shapes of a unit from 1 on. One entry
/// with a larger code must not cost places for all codes before it.
const DENSE: usize = 1 << 12;

/// What is taken of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// `DW_AT_name`.
    Name,
    /// `DW_AT_byte_size`.
    Size,
    /// `DW_AT_location`.
    Place,
    /// `DW_AT_specification` or `DW_AT_abstract_origin`.
    Origin,
    /// `DW_AT_declaration` as a byte.
    Declaration,
    /// `DW_AT_const_value` of an enumerator.
    Value,
}

/// One step through the attributes of an entry.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// So many bytes mean nothing here.
    Skip(u32),
    /// A value means nothing here, and says itself how long it is.
    Pass(Width),
    /// A value counts.
    Take(Fact, DwForm),
}

/// The shape of an entry.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What it is.
    pub tag: DwTag,
    /// Whether others follow that lie in it.
    pub has_children: bool,
    /// Whether it only announces what is defined elsewhere, as far as the shape alone says.
    pub is_declaration: bool,
    /// Whether it has code, or stands for code that was inlined.
    pub has_code: bool,
    /// Whether it has a value that the compiler knew.
    pub has_value: bool,
    /// That value, if all entries of the shape have the same one; else 0.
    pub value: u64,
    /// The way through its attributes.
    pub steps: Vec<Step>,
}

/// The shapes of a unit, made when the first entry has them.
pub struct Shapes<'a> {
    abbreviations: &'a Abbreviations,
    known: Vec<Option<Box<Shape>>>,
    sparse: FxHashMap<u64, Shape>,
}

impl<'a> Shapes<'a> {
    /// Of these abbreviations.
    pub fn new(abbreviations: &'a Abbreviations) -> Self {
        Self { abbreviations, known: Vec::new(), sparse: FxHashMap::default() }
    }

    /// The shape with a code; `None` if there is none, or it has forms that nobody knows.
    #[inline]
    pub fn get(&mut self, code: u64, raw: &Raw<'_>) -> Option<&Shape> {
        let Some(at) = usize::try_from(code).ok().filter(|at| *at < DENSE) else {
            return self.get_sparse(code, raw);
        };
        if !matches!(self.known.get(at), Some(Some(_))) {
            let shape = Shape::new(self.abbreviations.get(code)?, raw)?;
            if self.known.len() <= at {
                self.known.resize_with(at.checked_add(1)?, || None);
            }
            *self.known.get_mut(at)? = Some(Box::new(shape));
        }
        self.known.get(at)?.as_deref()
    }

    fn get_sparse(&mut self, code: u64, raw: &Raw<'_>) -> Option<&Shape> {
        Some(match self.sparse.entry(code) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Shape::new(self.abbreviations.get(code)?, raw)?),
        })
    }
}

impl Shape {
    fn new(abbreviation: &Abbreviation, raw: &Raw<'_>) -> Option<Self> {
        let tag = abbreviation.tag();
        let mut shape = Self {
            tag,
            has_children: abbreviation.has_children(),
            is_declaration: false,
            has_code: false,
            has_value: false,
            value: 0,
            steps: Vec::new(),
        };
        let has_value = |it: &AttributeSpecification| it.name() == constants::DW_AT_const_value;
        // clang describes a static member that is a constant in its class alone.
        let is_constant =
            tag == constants::DW_TAG_member && abbreviation.attributes().iter().any(has_value);
        let is_wanted = is_wanted(tag) || is_constant;
        for attribute in abbreviation.attributes() {
            shape.note(attribute);
            let (form, width) = (attribute.form(), raw.width(attribute.form())?);
            match fact(tag, attribute).filter(|_| is_wanted) {
                Some(fact) => shape.steps.push(Step::Take(fact, form)),
                None => shape.pass(width),
            }
        }
        Some(shape)
    }

    /// What an attribute says by being there.
    fn note(&mut self, attribute: &AttributeSpecification) {
        match attribute.name() {
            constants::DW_AT_declaration => {
                self.is_declaration |= attribute.form() == constants::DW_FORM_flag_present;
            }
            // It stands for a type that is described elsewhere.
            constants::DW_AT_signature => self.is_declaration = true,
            constants::DW_AT_low_pc | constants::DW_AT_ranges | constants::DW_AT_inline => {
                self.has_code = true;
            }
            constants::DW_AT_const_value => {
                self.has_value = true;
                self.value = attribute.implicit_const_value().unwrap_or(0).cast_unsigned();
            }
            _ => {}
        }
    }

    fn pass(&mut self, width: Width) {
        let Width::Fixed(count) = width else {
            self.steps.push(Step::Pass(width));
            return;
        };
        let count = u32::from(count);
        match self.steps.last_mut() {
            Some(Step::Skip(before)) => *before = before.saturating_add(count),
            _ if count == 0 => {}
            _ => self.steps.push(Step::Skip(count)),
        }
    }
}

fn fact(tag: DwTag, attribute: &AttributeSpecification) -> Option<Fact> {
    Some(match attribute.name() {
        constants::DW_AT_const_value if tag == constants::DW_TAG_enumerator => Fact::Value,
        constants::DW_AT_name => Fact::Name,
        constants::DW_AT_byte_size => Fact::Size,
        constants::DW_AT_location => Fact::Place,
        constants::DW_AT_specification | constants::DW_AT_abstract_origin => Fact::Origin,
        constants::DW_AT_declaration if attribute.form() == constants::DW_FORM_flag => {
            Fact::Declaration
        }
        _ => return None,
    })
}

/// Whether an index wants to know more of entries with this tag than that they are there.
fn is_wanted(tag: DwTag) -> bool {
    is_type(tag)
        || matches!(
            tag,
            constants::DW_TAG_namespace
                | constants::DW_TAG_module
                | constants::DW_TAG_variable
                | constants::DW_TAG_constant
                | constants::DW_TAG_subprogram
                | constants::DW_TAG_enumerator
        )
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
