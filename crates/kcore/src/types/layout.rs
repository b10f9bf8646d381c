//! Where the members of a structure lie that the session declares: as the System V ABI says for C.

use std::{collections::HashSet, sync::Arc};

use kcore_symbols::{
    BitField, Composite, Keyword, Member, MemberPlace, Type, TypeIdentity, TypeKind,
};

use super::{DataModel, TypeLookupError};

/// Structures within structures that are looked into for their alignment.
const MAX_DEPTH: usize = 32;

/// A name with its type.
pub struct Declared {
    /// The name; `None` of an anonymous member.
    pub name: Option<Arc<str>>,
    /// The type.
    pub ty: Type,
    /// How many bits it has, for a bit-field.
    pub bits: Option<u64>,
}

/// A structure or union of these members, and its size.
///
/// # Errors
/// When one of them has no size, or all together are too big.
pub fn composite(
    keyword: Keyword,
    declared: Vec<Declared>,
    model: DataModel,
) -> Result<(TypeKind, Option<u64>), TypeLookupError> {
    let mut layout =
        Layout { is_union: keyword == Keyword::Union, model, bits: 0, align: 1, end: 0 };
    let last = declared.len().saturating_sub(1);
    let mut members = Vec::with_capacity(declared.len());
    for (index, member) in declared.into_iter().enumerate() {
        members.extend(layout.place(member, index == last)?);
    }
    let size = layout.end.div_ceil(8).checked_next_multiple_of(layout.align);
    let size = size.ok_or(TypeLookupError::Limit("2^64 bits"))?;
    let composite = Composite {
        keyword,
        bases: Vec::new(),
        members,
        statics: Vec::new(),
        variants: None,
        arguments: Vec::new(),
        is_dynamic: false,
    };
    Ok((TypeKind::Composite(Box::new(composite)), Some(size)))
}

struct Layout {
    is_union: bool,
    model: DataModel,
    /// Where the next member may begin, in bits.
    bits: u64,
    /// The greatest alignment so far, in bytes.
    align: u64,
    /// Where the members end that end last, in bits.
    end: u64,
}

impl Layout {
    /// Places a member. A bit-field of no bits only ends the unit before it.
    fn place(
        &mut self,
        declared: Declared,
        is_last: bool,
    ) -> Result<Option<Member>, TypeLookupError> {
        // So a structure that holds itself is told from one of which nothing is known.
        declared.ty.stripped()?;
        let is_open = declared.ty.size().is_none() && is_last && is_array(&declared.ty);
        let size = if is_open { Some(0) } else { declared.ty.size() };
        let size = size.ok_or_else(|| TypeLookupError::NoSize(declared.ty.spelled()))?;
        let align = align(&declared.ty, self.model, MAX_DEPTH, &mut HashSet::new());
        let bits = size.checked_mul(8).ok_or(TypeLookupError::Limit("2^64 bits"))?;
        let start = if self.is_union { 0 } else { self.bits };
        let (start, len) = match declared.bits {
            Some(0) => {
                self.bits = aligned(start, align)?;
                return Ok(None);
            }
            Some(len) if len > bits => return Err(TypeLookupError::Syntax(len.to_string())),
            Some(len) => (bit_field(start, len, bits, align)?, len),
            None => (aligned(start, align)?, bits),
        };
        self.align = self.align.max(align);
        self.bits = start.checked_add(len).ok_or(TypeLookupError::Limit("2^64 bits"))?;
        self.end = self.end.max(self.bits);
        let place = match declared.bits {
            Some(size) => MemberPlace::Bits(BitField { offset: start, size }),
            None => MemberPlace::Offset(start / 8),
        };
        Ok(Some(Member {
            name: declared.name,
            ty: declared.ty.link(),
            place,
            is_artificial: false,
        }))
    }
}

/// A bit-field lies in one unit of its type: where it would cross into the next it begins there.
fn bit_field(start: u64, len: u64, unit: u64, align: u64) -> Result<u64, TypeLookupError> {
    let unit = unit.max(1);
    let last = start.saturating_add(len).saturating_sub(1);
    if start / unit == last / unit { Ok(start) } else { aligned(start, align) }
}

fn aligned(bits: u64, align: u64) -> Result<u64, TypeLookupError> {
    let align = align.saturating_mul(8).max(8);
    bits.checked_next_multiple_of(align).ok_or(TypeLookupError::Limit("2^64 bits"))
}

fn is_array(ty: &Type) -> bool {
    ty.stripped().is_ok_and(|ty| matches!(ty.kind(), TypeKind::Array(_)))
}

/// The alignment of a type in bytes: that of its greatest part. `seen` are the types that were looked
/// into already.
fn align(ty: &Type, model: DataModel, depth: usize, seen: &mut HashSet<TypeIdentity>) -> u64 {
    let Some(depth) = depth.checked_sub(1) else { return 1 };
    let Ok(ty) = ty.stripped() else { return 1 };
    if ty.composite().is_some() && !seen.insert(ty.identity()) {
        return 1;
    }
    match ty.kind() {
        TypeKind::Array(array) => {
            ty.follow(&array.element).map_or(1, |element| align(&element, model, depth, seen))
        }
        TypeKind::Composite(composite) => {
            let links = composite.members.iter().map(|member| &member.ty);
            let all = links.chain(composite.bases.iter().map(|base| &base.ty));
            let aligns = all.filter_map(|link| ty.follow(link).ok());
            aligns.map(|member| align(&member, model, depth, seen)).max().unwrap_or(1)
        }
        _ => {
            let most = if model == DataModel::Ilp32 { 4 } else { 16 };
            ty.size().unwrap_or(1).clamp(1, most).next_power_of_two()
        }
    }
}
