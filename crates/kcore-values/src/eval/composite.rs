//! Structures, classes and unions, by their members.

use std::sync::Arc;

use kcore_symbols::{BaseClass, Composite, Language, Member, MemberPlace, Type, TypeLink};

use super::Evaluator;
use crate::{Content, Field, Object, ObjectError, Value};

impl Evaluator<'_> {
    /// A structure, class or union; `ty` is its type behind aliases.
    pub(super) fn composite(
        &mut self,
        object: &Object,
        ty: &Type,
        composite: &Composite,
    ) -> Result<Content, ObjectError> {
        if ty.node().is_declaration {
            return Err(ObjectError::Declared(ty.spelled()));
        }
        if composite.variants.is_some() {
            return self.variant(object, ty, composite);
        }
        if composite.members.is_empty() && composite.bases.is_empty() {
            return Ok(Content::Empty);
        }
        let is_base = std::mem::take(&mut self.is_base);
        let around = (!is_base).then(|| std::mem::take(&mut self.virtual_bases));
        let content = self.nested(|evaluator| {
            let fields = evaluator.fields(object, ty, composite);
            Ok(if fields.is_empty() { Content::Empty } else { Content::Fields(fields) })
        });
        self.virtual_bases = around.unwrap_or_else(|| std::mem::take(&mut self.virtual_bases));
        content
    }

    /// A base class; `None` of a virtual one that the object has shown already: it has one of it alone.
    fn base(&mut self, object: &Object, ty: &Type, base: &BaseClass) -> Option<Value> {
        let place = object.part(self.process, ty, &base.ty, &base.place);
        let at = place.ok().and_then(|part| part.address()).filter(|_| base.is_virtual);
        if let Some(at) = at {
            if self.virtual_bases.contains(&(at, base.ty.clone())) {
                return None;
            }
            self.virtual_bases.push((at, base.ty.clone()));
        }
        self.is_base = true;
        Some(self.part(object, ty, &base.ty, &base.place))
    }

    /// Base classes that have anything, then members.
    fn fields(&mut self, object: &Object, ty: &Type, composite: &Composite) -> Vec<Field> {
        let mut fields = Vec::new();
        for base in &composite.bases {
            let Some(value) = self.base(object, ty, base) else { continue };
            if value.content != Content::Empty || self.limits.raw {
                let name = value.ty.qualified_name().map(Arc::from);
                fields.push(Field { name, is_base: true, value });
            }
        }
        fields.extend(self.members(object, ty, &composite.members));
        fields
    }

    /// The values of members.
    pub(super) fn members(&mut self, object: &Object, ty: &Type, members: &[Member]) -> Vec<Field> {
        let is_rust = ty.language() == Some(Language::Rust) && !self.limits.raw;
        let field = |member: &Member| {
            let value = self.part(object, ty, &member.ty, &member.place);
            let name = member
                .name
                .as_ref()
                .map(|name| if is_rust { unnumbered(name) } else { Arc::clone(name) });
            Field { name, is_base: false, value }
        };
        members.iter().map(field).collect()
    }

    /// The value of a part of an object, which may not even be found.
    fn part(&mut self, object: &Object, ty: &Type, link: &TypeLink, place: &MemberPlace) -> Value {
        match object.part(self.process, ty, link, place) {
            Ok(part) => self.value(&part),
            Err(why) => self.missing(ty.follow(link).unwrap_or_else(|_| Type::void()), why),
        }
    }
}

/// `__0` as `0`: how Rust writes members that have no name.
fn unnumbered(name: &Arc<str>) -> Arc<str> {
    match name.strip_prefix("__") {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => number.into(),
        _ => Arc::clone(name),
    }
}
