//! The layout of a type: its members with their places, and nothing read.

use std::sync::Arc;

use kcore_symbols::{Composite, Type};

use crate::{Content, Field, Limits, Object, Process, Value};

/// Structures within structures, whatever the limits say.
const MAX_NESTING: u64 = 64;

impl Object {
    /// Its members and theirs, without what they hold. What lies in memory is only looked at where the
    /// place of a virtual base class depends on it.
    pub fn layout(&self, process: &dyn Process, limits: &Limits) -> Value {
        let depth = limits.depth.unwrap_or(MAX_NESTING).min(MAX_NESTING);
        let mut left = limits.values;
        layout(self, process, depth, &mut left)
    }
}

fn layout(object: &Object, process: &dyn Process, depth: u64, left: &mut u64) -> Value {
    let fields = fields(object, process, depth, left);
    Value {
        ty: object.ty.clone(),
        at: object.address(),
        bits: object.place.bits(),
        content: fields.map_or(Content::Elided, Content::Fields),
    }
}

/// The members of a structure; `None` for what is none, or lies too deep.
fn fields(
    object: &Object,
    process: &dyn Process,
    depth: u64,
    left: &mut u64,
) -> Option<Vec<Field>> {
    let depth = depth.checked_sub(1)?;
    let ty = object.complete_type(process).ok()?;
    let composite = ty.composite().filter(|_| !ty.node().is_declaration)?;
    let mut all = Vec::new();
    for (name, is_base, part) in parts(object, process, &ty, composite) {
        *left = left.checked_sub(1)?;
        let value = layout(&part, process, depth, left);
        let name = if is_base { part.ty.qualified_name().map(Arc::from) } else { name };
        all.push(Field { name, is_base, value });
    }
    Some(all)
}

/// Base classes, members, and those of all variants.
fn parts<'a>(
    object: &'a Object,
    process: &'a dyn Process,
    ty: &'a Type,
    composite: &'a Composite,
) -> impl Iterator<Item = (Option<Arc<str>>, bool, Object)> + 'a {
    let bases = composite.bases.iter().map(|base| (None, true, &base.ty, &base.place));
    let variants = composite.variants.iter().flat_map(|part| &part.variants);
    let members = composite.members.iter().chain(variants.flat_map(|variant| &variant.members));
    let members = members.map(|member| (member.name.clone(), false, &member.ty, &member.place));
    bases.chain(members).filter_map(|(name, is_base, link, place)| {
        Some((name, is_base, object.part(process, ty, link, place).ok()?))
    })
}
