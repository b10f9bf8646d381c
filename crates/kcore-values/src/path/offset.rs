//! What lies at an offset into an object: the innermost member or element.

use kcore_symbols::{MemberPlace, Type, TypeKind};

use crate::{Object, Process, eval::count_of};

/// Structures and arrays within one another that are looked into.
const MAX_DEPTH: usize = 64;

impl Object {
    /// The innermost member or element that holds the byte at an offset, with its path. `None` where
    /// nothing is, as in a hole, or where the object has no parts.
    pub fn part_at(&self, process: &dyn Process, offset: u64) -> Option<(Self, String)> {
        let (mut part, mut offset, mut path) = (self.clone(), offset, String::new());
        for _ in 0..MAX_DEPTH {
            let ty = part.complete_type(process).ok()?;
            let (inner, at, name) = match ty.kind() {
                TypeKind::Composite(_) => part.member_at(process, &ty, offset)?,
                TypeKind::Array(_) => part.element_at(process, &ty, offset)?,
                _ => return (!path.is_empty()).then_some((part, path)),
            };
            if !path.is_empty() && !name.is_empty() && !name.starts_with('[') {
                path.push('.');
            }
            path.push_str(&name);
            (part, offset) = (inner, offset.checked_sub(at)?);
        }
        None
    }

    /// The member that holds a byte, where it begins, and its name.
    fn member_at(
        &self,
        process: &dyn Process,
        ty: &Type,
        offset: u64,
    ) -> Option<(Self, u64, String)> {
        let composite = ty.composite()?;
        let bases = composite.bases.iter().map(|base| (&base.ty, &base.place, None));
        let members = composite.members.iter();
        let members = members.map(|member| (&member.ty, &member.place, member.name.as_deref()));
        bases.chain(members).find_map(|(link, place, name)| {
            let part = self.part(process, ty, link, place).ok()?;
            let (start, end) = match place {
                MemberPlace::Offset(start) => {
                    let size = part.complete_type(process).ok()?.size().unwrap_or(0);
                    (*start, start.checked_add(size)?)
                }
                MemberPlace::Bits(bits) => {
                    (bits.offset / 8, bits.offset.checked_add(bits.size)?.div_ceil(8))
                }
                MemberPlace::Expression(_) => return None,
            };
            let holds = (start..end).contains(&offset);
            holds.then(|| (part, start, name.unwrap_or_default().to_owned()))
        })
    }

    /// The element that holds a byte, where it begins, and its index.
    fn element_at(
        &self,
        process: &dyn Process,
        ty: &Type,
        offset: u64,
    ) -> Option<(Self, u64, String)> {
        let TypeKind::Array(array) = ty.kind() else { return None };
        // Elements of Fortran have indices of their own, and may lie elsewhere.
        if array.layout.is_some() {
            return None;
        }
        let element = self.index(process, 0).ok()?.complete_type(process).ok()?;
        let stride = array.stride.or_else(|| element.size()).filter(|stride| *stride > 0)?;
        let index = offset.checked_div(stride)?;
        if count_of(ty, array).is_some_and(|count| index >= count) {
            return None;
        }
        let part = self.index(process, i64::try_from(index).ok()?).ok()?;
        Some((part, index.checked_mul(stride)?, format!("[{index}]")))
    }
}
