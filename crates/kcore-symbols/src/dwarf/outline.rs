//! The scopes of a unit: which entry lies in which.

use gimli::{Abbreviation, DwTag, constants};

use super::{
    Result, UnitOffset,
    unit::Unit,
    walk::{Walk, sibling},
};

/// Scopes of one unit that are told apart.
const MAX_SCOPES: usize = 1 << 24;

/// The namespaces and types of a unit that have others in them.
#[derive(Debug, Default)]
pub struct Outline(Vec<Scope>);

/// From where to where a scope reaches, and the place of the one around it in the same list.
#[derive(Clone, Copy, Debug)]
struct Scope {
    begin: UnitOffset,
    end: UnitOffset,
    around: Option<u32>,
}

/// A scope whose end the walk has not come to.
struct Open {
    depth: isize,
    at: usize,
    is_wanted: bool,
}

impl Outline {
    /// Reads the whole unit.
    pub fn read(unit: &Unit) -> Result<Self> {
        let mut outline = Self::default();
        let mut open: Vec<Open> = Vec::new();
        let mut walk = Walk::new(unit, None)?;
        while outline.0.len() < MAX_SCOPES
            && let Some(entry) = walk.next(-1)?
        {
            outline.close(&mut open, entry.depth, entry.offset);
            let tag = entry.shape.tag();
            if may_lie_in_scope(entry.shape)
                && let Some(around) = open.last_mut()
            {
                around.is_wanted = true;
            }
            if is_scope(tag) && entry.shape.has_children() {
                let around = open.last().and_then(|around| u32::try_from(around.at).ok());
                open.push(Open { depth: entry.depth, at: outline.0.len(), is_wanted: false });
                outline.0.push(Scope { begin: entry.offset, end: entry.offset, around });
            }
            walk.pass(&entry)?;
        }
        let end = gimli::UnitOffset(unit.unit.header.length_including_self());
        outline.close(&mut open, isize::MIN, end);
        Ok(outline)
    }

    /// Closes what does not reach beyond `depth`, and forgets it if nothing in it is ever asked about.
    fn close(&mut self, open: &mut Vec<Open>, depth: isize, end: UnitOffset) {
        while let Some(scope) = open.pop_if(|scope| scope.depth >= depth) {
            if !scope.is_wanted && scope.at.checked_add(1) == Some(self.0.len()) {
                self.0.pop();
            } else if let Some(found) = self.0.get_mut(scope.at) {
                found.end = end;
            }
        }
    }

    /// The scopes around an entry, the innermost first.
    pub fn around(&self, entry: UnitOffset) -> Vec<UnitOffset> {
        let after = self.0.partition_point(|scope| scope.begin < entry);
        let mut next = after.checked_sub(1);
        let mut around = Vec::new();
        while let Some(scope) = next.and_then(|at| self.0.get(at)) {
            if scope.begin < entry && entry < scope.end {
                around.push(scope.begin);
            }
            next = scope.around.and_then(|at| usize::try_from(at).ok());
        }
        around
    }
}

/// The scopes around one entry, the innermost first, without a look at what lies behind it or, where
/// the compiler says where the next entry is, beside it.
pub fn around(unit: &Unit, wanted: UnitOffset) -> Result<Vec<UnitOffset>> {
    let mut open: Vec<(isize, UnitOffset)> = Vec::new();
    let mut walk = Walk::new(unit, None)?;
    while let Some(entry) = walk.next(-1)?
        && entry.offset <= wanted
    {
        while open.pop_if(|(depth, _)| *depth >= entry.depth).is_some() {}
        if entry.offset == wanted {
            break;
        }
        let mut next = None;
        walk.attributes(&entry, |attribute| {
            next = next.or_else(|| sibling(attribute));
            Ok(())
        })?;
        if let Some(next) = next.filter(|next| *next <= wanted) {
            walk.pass_children(&entry, Some(next))?;
        } else if is_scope(entry.shape.tag()) && entry.shape.has_children() {
            open.push((entry.depth, entry.offset));
        }
    }
    Ok(open.into_iter().rev().map(|(_, scope)| scope).collect())
}

/// Whether entries with this tag give a scope to those in them.
pub const fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        constants::DW_TAG_namespace
            | constants::DW_TAG_module
            | constants::DW_TAG_structure_type
            | constants::DW_TAG_class_type
            | constants::DW_TAG_interface_type
            | constants::DW_TAG_union_type
            | constants::DW_TAG_enumeration_type
    )
}

/// Whether the scope of an entry of this shape is ever asked for. Of members only those are that a definition elsewhere
/// may name: static ones.
fn may_lie_in_scope(shape: &Abbreviation) -> bool {
    let is_static = |name| matches!(name, constants::DW_AT_external | constants::DW_AT_declaration);
    if shape.tag() == constants::DW_TAG_member {
        return shape.attributes().iter().any(|attribute| is_static(attribute.name()));
    }
    !matches!(
        shape.tag(),
        constants::DW_TAG_inheritance
            | constants::DW_TAG_variant_part
            | constants::DW_TAG_variant
            | constants::DW_TAG_formal_parameter
            | constants::DW_TAG_subrange_type
            | constants::DW_TAG_template_type_parameter
            | constants::DW_TAG_template_value_parameter
    )
}
