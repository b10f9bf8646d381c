//! Members of an object, by name and one after the other.

use std::collections::HashSet;

use kcore_symbols::{
    Composite, Language, Member, MemberPlace, Type, TypeIdentity, TypeLink, Variant, VariantPart,
};

use super::{Object, ObjectError, virtual_place};
use crate::{Absent, Number, ObjectPlace, Process, eval::variant_name};

/// Structures within structures that a member is looked for in: damaged types are made of themselves.
const MAX_DEPTH: usize = 24;

impl Object {
    /// A member by its name: one of its own, of an anonymous member, of a base class, of the variant
    /// that it is, or of that variant's data. A member of Rust that has a number is found by it.
    ///
    /// # Errors
    /// When it has no members, or none of that name, or what tells where it lies cannot be read.
    pub fn member(&self, process: &dyn Process, name: &str) -> Result<Self, ObjectError> {
        let ty = self.complete_type(process)?;
        if ty.composite().is_none() {
            return Err(ObjectError::NotComposite(self.ty.spelled()));
        }
        if ty.node().is_declaration {
            return Err(ObjectError::Declared(ty.spelled()));
        }
        self.find_member(process, name, MAX_DEPTH, &mut HashSet::new())?
            .ok_or_else(|| self.no_member(process, &ty, name))
    }

    /// That no member has a name; of a type with variants, which of them it is.
    fn no_member(&self, process: &dyn Process, ty: &Type, name: &str) -> ObjectError {
        let (member, of) = (name.to_owned(), self.ty.spelled());
        let active = self.active_variant(process, ty).ok().flatten();
        match active.and_then(|variant| variant_name(ty, &variant.members)) {
            Some(variant) => {
                ObjectError::OtherVariant { member, of, variant: variant.as_ref().to_owned() }
            }
            None => ObjectError::NoMember { member, of },
        }
    }

    fn find_member(
        &self,
        process: &dyn Process,
        name: &str,
        depth: usize,
        seen: &mut HashSet<TypeIdentity>,
    ) -> Result<Option<Self>, ObjectError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
        let ty = self.complete_type(process)?;
        let Some(composite) = ty.composite() else { return Ok(None) };
        // A type without variants has the same members everywhere, so it is searched once.
        if composite.variants.is_none() && !seen.insert(ty.identity()) {
            return Ok(None);
        }
        if let Some(member) = own_member(&ty, composite, name) {
            return self.member_object(process, &ty, member).map(Some);
        }
        if let Some(member) = self.variant_member(process, &ty, name)? {
            return Ok(Some(member));
        }
        let data = self.variant_data(process, &ty)?;
        for part in data.into_iter().chain(self.transparent_parts(process, &ty, composite)) {
            if let Some(found) = part?.find_member(process, name, depth, seen)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A member of the variant that it is.
    fn variant_member(
        &self,
        process: &dyn Process,
        ty: &Type,
        name: &str,
    ) -> Result<Option<Self>, ObjectError> {
        let Some(variant) = self.active_variant(process, ty)? else { return Ok(None) };
        let member = variant.members.iter().find(|member| is_called(member, name));
        member.map(|member| self.member_object(process, ty, member)).transpose()
    }

    /// The structures that hold the data of the variant that it is: their members are shown as its own.
    fn variant_data(
        &self,
        process: &dyn Process,
        ty: &Type,
    ) -> Result<Vec<Result<Self, ObjectError>>, ObjectError> {
        let active = self.active_variant(process, ty)?;
        let members = active.map(|variant| variant.members.as_slice()).unwrap_or_default();
        Ok(members.iter().map(|member| self.member_object(process, ty, member)).collect())
    }

    /// Anonymous members, then base classes: what they have counts as this object's.
    fn transparent_parts<'a>(
        &'a self,
        process: &'a dyn Process,
        ty: &'a Type,
        composite: &'a Composite,
    ) -> impl Iterator<Item = Result<Self, ObjectError>> + 'a {
        let is_transparent = |member: &&Member| member.name.is_none() || is_parent(ty, member);
        let anonymous = composite.members.iter().filter(is_transparent);
        let anonymous = anonymous.map(|member| (&member.ty, &member.place));
        let bases = composite.bases.iter().map(|base| (&base.ty, &base.place));
        anonymous.chain(bases).map(|(link, place)| self.part(process, ty, link, place))
    }

    /// One of the members of its type.
    pub(crate) fn member_object(
        &self,
        process: &dyn Process,
        ty: &Type,
        member: &Member,
    ) -> Result<Self, ObjectError> {
        self.part(process, ty, &member.ty, &member.place)
    }

    /// A part of it: `link` as `ty` has it, which is its type behind aliases.
    pub(crate) fn part(
        &self,
        process: &dyn Process,
        ty: &Type,
        link: &TypeLink,
        place: &MemberPlace,
    ) -> Result<Self, ObjectError> {
        Ok(Self { ty: ty.follow(link)?, place: self.place_of(process, place)? })
    }

    fn place_of(&self, process: &dyn Process, place: &MemberPlace) -> Result<ObjectPlace, Absent> {
        match place {
            MemberPlace::Offset(offset) => Ok(self.place.part(*offset)),
            MemberPlace::Bits(bits) => Ok(self.place.bit_field(*bits)),
            MemberPlace::Expression(code) => {
                let at = self.address().ok_or(Absent::OptimizedOut)?;
                virtual_place::evaluate(process, code, at).map(ObjectPlace::Memory)
            }
        }
    }

    /// The variant that its discriminant chooses; `None` for a type without variants. `ty` is its type
    /// behind aliases.
    ///
    /// # Errors
    /// When the discriminant cannot be read, or chooses none.
    pub(crate) fn active_variant<'t>(
        &self,
        process: &dyn Process,
        ty: &'t Type,
    ) -> Result<Option<&'t Variant>, ObjectError> {
        let Some(part) = ty.composite().and_then(|composite| composite.variants.as_ref()) else {
            return Ok(None);
        };
        let Some(discriminant) = &part.discriminant else { return Ok(part.variants.first()) };
        let number = self.member_object(process, ty, discriminant)?.number(process)?;
        let chosen = number.bits;
        let holds = |variant: &&Variant| {
            variant.values.iter().any(|(first, last)| (*first..=*last).contains(&chosen))
        };
        let all_others = |variant: &&Variant| variant.values.is_empty();
        let variants = || part.variants.iter();
        let found = variants().find(holds).or_else(|| variants().find(all_others));
        match found.or_else(|| cut_off(part, &number)) {
            Some(variant) => Ok(Some(variant)),
            None => Err(Absent::Unreadable(format!("no variant has discriminant {chosen}")).into()),
        }
    }
}

/// The one variant whose value is the number without its highest bytes, which are copies of its sign: rustc writes -5 of
/// 16 bits as one byte without a sign, 251.
fn cut_off<'v>(part: &'v VariantPart, number: &Number) -> Option<&'v Variant> {
    let is_cut = |value: u128| {
        [8, 16, 32, 64].into_iter().filter(|size| *size < number.size).any(|size| {
            let short = Number { bits: value, size, signed: true };
            short.clone().cut(size) == short && short.extended(number.size).bits == number.bits
        })
    };
    let fits = |variant: &&Variant| {
        variant.values.iter().any(|(first, last)| first == last && is_cut(*first))
    };
    let mut fitting = part.variants.iter().filter(fits);
    fitting.next().filter(|_| fitting.next().is_none())
}

/// Whether a member is what a type of Fortran extends: it has the name of its own type.
fn is_parent(ty: &Type, member: &Member) -> bool {
    let own = member.name.as_deref().filter(|_| member.place == MemberPlace::Offset(0));
    let parent = || ty.follow(&member.ty).ok().filter(|parent| parent.composite().is_some());
    own.is_some_and(|own| {
        ty.language() == Some(Language::Fortran)
            && parent().is_some_and(|parent| parent.name() == Some(own))
    })
}

/// A member by its name; in Fortran capital letters are the same as small ones.
fn own_member<'c>(ty: &Type, composite: &'c Composite, name: &str) -> Option<&'c Member> {
    let members = || composite.members.iter();
    let found = members().find(|member| is_called(member, name));
    found.or_else(|| {
        let is_fortran = || ty.language() == Some(Language::Fortran);
        let is_same = |member: &&Member| {
            member.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name))
        };
        members().find(is_same).filter(|_| is_fortran())
    })
}

/// Whether a member has that name; those that Rust numbers are `__0` in debug information.
fn is_called(member: &Member, name: &str) -> bool {
    let Some(own) = member.name.as_deref() else { return false };
    own == name || own.strip_prefix("__").is_some_and(|own| own == name && is_number(own))
}

/// Whether a name is a number.
fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}
