//! Finding members by their names, however deep a release keeps them.

use std::collections::{HashSet, VecDeque};

use kcore_mem::{Addr, Fault};
use kcore_symbols::{Type, TypeIdentity, TypeKind};

use crate::{Object, Process, eval::Evaluator, object::complete};

/// Structures that are looked into for one member.
const MAX_LOOKED_AT: usize = 64;

impl<'a> Evaluator<'a> {
    /// A member of an object.
    pub(super) fn member(&self, object: &Object, name: &str) -> Option<Object> {
        object.member(self.process(), name).ok()
    }

    /// The first member that has one of the names, however deep it lies; of two the less deep one.
    pub(super) fn dig(&self, object: &Object, names: &[&str]) -> Option<Object> {
        search(self.process(), object, |name, _| names.contains(&name))
    }

    /// The first pointer in an object, or itself if it is one.
    pub(super) fn dig_pointer(&self, object: &Object) -> Option<Object> {
        self.dig_kind(object, |kind| matches!(kind, TypeKind::Pointer(_)))
    }

    /// The first number in an object, or itself.
    pub(super) fn dig_number(&self, object: &Object) -> Option<u64> {
        let is_number = |kind: &TypeKind| matches!(kind, TypeKind::Base(_) | TypeKind::Pointer(_));
        self.number(&self.dig_kind(object, is_number)?)
    }

    fn dig_kind(&self, object: &Object, fits: impl Fn(&TypeKind) -> bool) -> Option<Object> {
        let process = self.process();
        let is_wanted = |ty: &Type| complete(ty, process).is_ok_and(|ty| fits(ty.kind()));
        if is_wanted(&object.ty) {
            return Some(object.clone());
        }
        search(process, object, |_, ty| is_wanted(ty))
    }

    /// The number that an object is, without its sign.
    pub(super) fn number(&self, object: &Object) -> Option<u64> {
        object.number(self.process()).ok()?.unsigned()
    }

    /// The number of the first member that has one of the names.
    pub(super) fn number_in(&self, object: &Object, names: &[&str]) -> Option<u64> {
        self.dig_number(&self.dig(object, names)?)
    }

    /// The address that the first member with one of the names holds.
    pub(super) fn pointer_in(&self, object: &Object, names: &[&str]) -> Option<Addr> {
        self.number_in(object, names).map(Addr::new)
    }

    /// A pointer in memory.
    pub(super) fn pointer_at(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.go(1)?;
        self.process().space().read_addr(at.checked_add(offset)?).ok()
    }

    /// Bytes of a pointer.
    pub(super) fn word(&self) -> u64 {
        u64::from(self.process().space().target().word)
    }

    /// Whether the process had memory at an address, be it dumped or not.
    pub(super) fn is_mapped(&self, at: Addr) -> bool {
        !matches!(self.process().space().slice(at), Err(Fault::Unmapped(_)))
    }

    /// The type behind aliases.
    pub(super) fn complete(&self, ty: &Type) -> Option<Type> {
        complete(ty, self.process()).ok()
    }

    /// What a type is made of, as the arguments of its template say.
    pub(super) fn argument(&self, ty: &Type, index: usize) -> Option<Type> {
        let argument = ty.composite()?.arguments.get(index)?;
        ty.follow(&argument.ty).ok()
    }

    /// The alignment of a type: what its most demanding part has.
    pub(super) fn alignment(&self, ty: &Type) -> u64 {
        alignment(ty, self.process(), MAX_NESTED, &mut HashSet::new())
    }
}

/// Types within types that an alignment is looked for in.
const MAX_NESTED: usize = 16;

/// `seen` are the types that were searched already.
fn alignment(
    ty: &Type,
    process: &dyn Process,
    nested: usize,
    seen: &mut HashSet<TypeIdentity>,
) -> u64 {
    let (Some(nested), Ok(ty)) = (nested.checked_sub(1), complete(ty, process)) else { return 1 };
    if ty.composite().is_some() && !seen.insert(ty.identity()) {
        return 1;
    }
    let mut of = |link| ty.follow(link).map_or(1, |part| alignment(&part, process, nested, seen));
    match ty.kind() {
        TypeKind::Composite(composite) => {
            let members = composite.members.iter().map(|member| &member.ty);
            let bases = composite.bases.iter().map(|base| &base.ty);
            let parts = composite.variants.iter().flat_map(|part| &part.variants);
            let parts = parts.flat_map(|variant| &variant.members).map(|member| &member.ty);
            let discriminant =
                composite.variants.iter().filter_map(|part| part.discriminant.as_ref());
            let discriminant = discriminant.map(|member| &member.ty);
            members.chain(bases).chain(parts).chain(discriminant).map(of).max().unwrap_or(1)
        }
        TypeKind::Array(array) => of(&array.element),
        TypeKind::MemberPointer(_) => u64::from(process.space().target().word),
        _ => ty.size().unwrap_or(1).next_power_of_two().clamp(1, 16),
    }
}

/// The next multiple of an alignment.
pub fn aligned(offset: u64, alignment: u64) -> u64 {
    offset.checked_next_multiple_of(alignment.max(1)).unwrap_or(offset)
}

/// The first member, the least deep one, of a name and a type that are wanted.
fn search(
    process: &dyn Process,
    object: &Object,
    is_wanted: impl Fn(&str, &Type) -> bool,
) -> Option<Object> {
    let mut waiting = VecDeque::from([object.clone()]);
    for _ in 0..MAX_LOOKED_AT {
        let object = waiting.pop_front()?;
        let Ok(ty) = object.complete_type(process) else { continue };
        let Some(composite) = ty.composite() else { continue };
        for member in &composite.members {
            let Ok(part) = object.member_object(process, &ty, member) else { continue };
            if is_wanted(member.name.as_deref().unwrap_or_default(), &part.ty) {
                return Some(part);
            }
            waiting.push_back(part);
        }
        for base in &composite.bases {
            waiting.extend(object.part(process, &ty, &base.ty, &base.place));
        }
        if let Ok(Some(variant)) = object.active_variant(process, &ty) {
            let parts = variant.members.iter();
            waiting
                .extend(parts.filter_map(|member| object.member_object(process, &ty, member).ok()));
        }
    }
    None
}
