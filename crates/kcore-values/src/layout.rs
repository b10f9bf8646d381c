//! The layout of a type: its members with their places, and nothing read.

use std::sync::Arc;

use kcore_symbols::{Composite, Type};

use kcore_mem::Resource;

use crate::{Content, Field, Limits, Object, Process, Value, eval::Enclosing};

/// Structures within structures, whatever the limits say.
const MAX_NESTING: u64 = 64;

impl Object {
    /// Its members and theirs, without what they hold. What lies in memory is only looked at where the
    /// place of a virtual base class depends on it.
    pub fn layout(&self, process: &dyn Process, limits: &Limits) -> Value {
        let depth = limits.depth.unwrap_or(MAX_NESTING).min(MAX_NESTING);
        let left = limits.values.min(process.budget().allowance().values_at_once);
        Layout { process, left, enclosing: Enclosing::default() }.of(self, depth)
    }
}

/// A layout under construction.
struct Layout<'a> {
    process: &'a dyn Process,
    /// Members that may still be told.
    left: u64,
    enclosing: Enclosing,
}

impl Layout<'_> {
    fn of(&mut self, object: &Object, depth: u64) -> Value {
        let fields = self.fields(object, depth);
        Value {
            ty: object.ty.clone(),
            at: object.address(),
            bits: object.place.bits(),
            content: fields.map_or(Content::Elided, Content::Fields),
        }
    }

    /// The members of a structure; `None` for what is none, or lies too deep.
    fn fields(&mut self, object: &Object, depth: u64) -> Option<Vec<Field>> {
        let depth = depth.checked_sub(1)?;
        let ty = object.complete_type(self.process).ok()?;
        let composite = ty.composite().filter(|_| !ty.node().is_declaration)?;
        if !self.enclosing.enter(object, &ty) {
            return None;
        }
        let fields = self.parts(object, &ty, composite, depth);
        self.enclosing.leave();
        fields
    }

    fn parts(
        &mut self,
        object: &Object,
        ty: &Type,
        composite: &Composite,
        depth: u64,
    ) -> Option<Vec<Field>> {
        let mut all = Vec::new();
        for (name, is_base, part) in parts(object, self.process, ty, composite) {
            self.left = self.left.checked_sub(1)?;
            self.process.budget().spend(Resource::Values, 1).then_some(())?;
            let part = match part {
                Ok(part) => part,
                Err(ty) => {
                    all.push(unplaced(ty));
                    continue;
                }
            };
            let value = self.of(&part, depth);
            let name = if is_base { part.ty.qualified_name().map(Arc::from) } else { name };
            all.push(Field { name, is_base, value });
        }
        Some(all)
    }
}

/// A virtual base class that lies at no certain place of its type: each object says where.
fn unplaced(ty: Type) -> Field {
    let name = ty.qualified_name().map(Arc::from);
    let content = Content::Other("its place depends on the object".to_owned());
    Field { name, is_base: true, value: Value { ty, at: None, bits: None, content } }
}

/// Base classes, members, and those of all variants. Of a base class whose place cannot be told there is but its
/// type.
fn parts<'a>(
    object: &'a Object,
    process: &'a dyn Process,
    ty: &'a Type,
    composite: &'a Composite,
) -> impl Iterator<Item = (Option<Arc<str>>, bool, Result<Object, Type>)> + 'a {
    let bases = composite.bases.iter().map(|base| (None, true, &base.ty, &base.place));
    let variants = composite.variants.iter().flat_map(|part| &part.variants);
    let members = composite.members.iter().chain(variants.flat_map(|variant| &variant.members));
    let members = members.map(|member| (member.name.clone(), false, &member.ty, &member.place));
    bases.chain(members).filter_map(|(name, is_base, link, place)| {
        let part = object.part(process, ty, link, place).ok();
        let part = match part {
            Some(part) => Ok(part),
            None => Err(ty.follow(link).ok().filter(|_| is_base)?),
        };
        Some((name, is_base, part))
    })
}
